"""As much of HTTP/2 as it takes to begin calls and break them off: frames by hand, header fields as literals."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
_ACKNOWLEDGED, _END_HEADERS = 1, 4
_CANCEL = (8).to_bytes(4)
_HEAD = 9
_POST, _HTTPS, _NEW_NAME = b"\x83", b"\x87", b"\0"
"""Of HPACK: two fields of the static table, and the mark of a field that is written out and not remembered."""
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
Fields = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Frame:
    kind: int
    flags: int
    stream: int
    payload: bytes

    def __bytes__(self) -> bytes:
        head = len(self.payload).to_bytes(3) + bytes([self.kind, self.flags]) + self.stream.to_bytes(4)
        return head + self.payload


def begun(stream: int, method: str, fields: Fields) -> bytes:
    """A call that has begun, without a message."""
    usual = ((":path", method), (":authority", "a"), ("content-type", "application/grpc"), ("te", "trailers"))
    block = _POST + _HTTPS + b"".join(_NEW_NAME + _text(name) + _text(value) for name, value in (*usual, *fields))
    return bytes(Frame(HEADERS, _END_HEADERS, stream, block))


def reset(stream: int) -> bytes:
    return bytes(Frame(RESET, 0, stream, _CANCEL))


def hello() -> bytes:
    """What a caller says first."""
    return PREFACE + bytes(Frame(SETTINGS, 0, 0, b""))


def acknowledged(frame: Frame) -> bytes:
    """The answer that HTTP/2 demands to a frame, if it demands one."""
    if frame.kind in (SETTINGS, PING) and not frame.flags & _ACKNOWLEDGED:
        return bytes(Frame(frame.kind, _ACKNOWLEDGED, 0, frame.payload if frame.kind == PING else b""))
    return b""


class Frames:
    """Takes bytes as they come, and gives frames."""

    def __init__(self) -> None:
        self._left = b""

    def __call__(self, more: bytes) -> Iterator[Frame]:
        self._left += more
        while len(self._left) >= _HEAD:
            end = _HEAD + int.from_bytes(self._left[:3])
            if len(self._left) < end:
                return
            kind, flags, stream = self._left[3], self._left[4], int.from_bytes(self._left[5:_HEAD])
            payload, self._left = self._left[_HEAD:end], self._left[end:]
            yield Frame(kind, flags, stream, payload)


def context(authority: bytes, certificate: str, key: str) -> ssl.SSLContext:
    """TLS as a node speaks it, with the certificate and the key in these files."""
    made = ssl.create_default_context(cadata=authority.decode())
    made.minimum_version = ssl.TLSVersion.TLSv1_3
    made.set_alpn_protocols(["h2"])
    made.load_cert_chain(certificate, key)
    return made


def _text(text: str) -> bytes:
    """A string of HPACK without compression."""
    raw = text.encode()
    if len(raw) < 127:
        return bytes([len(raw)]) + raw
    rest, size = len(raw) - 127, bytearray([127])
    while rest >= 128:
        size.append(rest % 128 | 128)
        rest //= 128
    return bytes([*size, rest]) + raw
