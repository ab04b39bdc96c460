"""Everything that reads what came from elsewhere: bytes in, and out comes a value or one of the errors it may raise.

These decoders are fed with random bytes here and nowhere else. The tests beside a decoder say what it makes of one
given input, or claim more than this: that every change of a sealed value is noticed, that every cut message is refused.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from google.protobuf.message import DecodeError, Message

from mixbayes.agreement.files import read_federation
from mixbayes.keys.authority import make_authority, make_request, sign
from mixbayes.keys.pem import certificates_in, private_key_in, request_in
from mixbayes.keys.problems import BadKeys
from mixbayes.node import model_codec, questions
from mixbayes.parties.applications import table_of
from mixbayes.protocol.attributes.dictionary import Dictionary, dictionary_from
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import BadData, DictionaryTooLarge, PeerError
from mixbayes.protocol.randomness import SEED_BYTES
from mixbayes.tables.columns import Columns
from mixbayes.tables.encoding import encode_query
from mixbayes.tables.sources.opening import read_table
from mixbayes.transport import contribution
from mixbayes.transport.streams import StreamWire
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1 import node_pb2
from mixbayes.wire.v1.node_pb2 import Chunk

Decoder = Callable[[bytes], object]
PEER = "party north"
CELLS = 3
DICTIONARY = {
    "class_column": "class",
    "classes": ["ill", "well"],
    "attributes": [
        {"name": "age", "kind": "numeric", "low": 0, "high": 9},
        {"name": "x", "kind": "nominal", "values": ["a"]},
        {"name": "y", "kind": "several", "values": ["a", "b"], "separator": "|"},
    ],
}
MESSAGES: dict[str, Callable[[], Message]] = {
    name: getattr(node_pb2, name) for name in node_pb2.DESCRIPTOR.message_types_by_name
}


def expecting(*errors: type[Exception]) -> Callable[[Decoder], Decoder]:
    """What a decoder may raise, blaming the peer if anybody; anything else is a find."""

    def around(decode: Decoder) -> Decoder:
        def decoder(raw: bytes) -> object:
            try:
                return decode(raw)
            except errors as error:
                if getattr(error, "peer", PEER) != PEER:
                    raise
                return None

        return decoder

    return around


@expecting(PeerError)
def read_contribution(raw: bytes) -> object:
    found = contribution.decode(raw, PEER, CELLS)
    assert len(found.digest) == contribution.DIGEST_BYTES
    assert len(found.id) == contribution.ID_BYTES
    assert len(found.share) == (SEED_BYTES if isinstance(found.share, bytes) else CELLS)
    return found


@expecting(PeerError)
def read_command(raw: bytes) -> object:
    """The bytes cut into pieces, as a wire has them; the first one says how long the pieces are."""
    step = 1 + (raw[0] if raw else 0)
    pieces = [Chunk(data=raw[start : start + step]) for start in range(1, len(raw), step)]
    wire = StreamWire(PEER, 5, Watch()).attach(iter(pieces), lambda: None)
    try:
        return questions.receive(Channel(PEER, wire))
    finally:
        wire.abandoned()


@expecting(PeerError)
def read_verdict(raw: bytes) -> object:
    wire = StreamWire(PEER, 5, Watch()).attach(iter([Chunk(data=raw)]), lambda: None)
    try:
        return questions.receive_verdict(Channel(PEER, wire))
    finally:
        wire.abandoned()


@expecting(DecodeError)
def read_messages(raw: bytes) -> object:
    for make in MESSAGES.values():
        make().ParseFromString(raw)
    return None


@expecting(BadData, DecodeError)
def read_rows(raw: bytes) -> object:
    """What an application sends to its hospital's node, from the bytes on."""
    return encode_query(_dictionary(), table_of(node_pb2.Rows.FromString(raw).columns)).codes


def _dictionary() -> Dictionary:
    return dictionary_from(DICTIONARY)


@expecting(BadData, DictionaryTooLarge)
def read_agreement(raw: bytes) -> object:
    return read_federation(_file(raw, ".toml"))


@expecting(BadData)
def read_csv(raw: bytes) -> Columns:
    return read_table(_file(raw, ".csv"))


@expecting(BadKeys, ValueError)
def read_pem(raw: bytes) -> object:
    for read in (certificates_in, private_key_in, request_in):
        try:
            read(raw)
        except ValueError:
            continue
    return None


@expecting(BadKeys, BadData)
def read_request(raw: bytes) -> object:
    """As whoever signs certificates gets it from a hospital."""
    return sign(_file(raw, ".csr"), _authority(), _folder() / "signed.pem")


@expecting(Exception)
def read_model(raw: bytes) -> object:
    """Comes out of the node's own seal alone; here it may fail in any way but run what it reads."""
    return model_codec.model_from(raw)


DECODERS: dict[str, Decoder] = {
    name.removeprefix("read_"): found
    for name, found in list(globals().items())
    if name.startswith("read_") and name not in ("read_federation", "read_table")
}

_folders: list[tempfile.TemporaryDirectory[str]] = []


def _folder() -> Path:
    if not _folders:
        _folders.append(tempfile.TemporaryDirectory())
    return Path(_folders[0].name)


def _file(raw: bytes, suffix: str) -> Path:
    path = _folder() / f"input{suffix}"
    path.write_bytes(raw)
    return path


def _authority() -> Path:
    folder = _folder() / "authority"
    if not folder.exists():
        make_authority(folder)
    return folder


def seeds() -> dict[str, list[bytes]]:
    """Some that are right, to begin from."""
    to_a, to_b = (
        contribution.encode(contribution.Contribution(bytes(32), 1, "north", bytes(16), share))
        for share in (bytes(SEED_BYTES), np.arange(CELLS, dtype=np.uint64))
    )
    asked = questions.Question(questions.Kind.PRIVATE, 1, 3).encoded()
    cells = {"age": "3", "x": "a", "y": "a|b"}
    rows = node_pb2.Rows(columns=[node_pb2.Column(name=name, cells=[cell]) for name, cell in cells.items()])
    request = make_request("north", _folder() / "keys").file.read_bytes()
    return {
        "contribution": [to_a, to_b],
        "command": [b"\xff" + _framed(questions.NEXT, asked)],
        "verdict": [_framed(questions.VERDICT, b"\0")],
        "rows": [rows.SerializeToString()],
        "messages": [rows.SerializeToString()],
        "request": [request],
        "pem": [request, (_authority() / "authority.pem").read_bytes(), (_authority() / "authority.key").read_bytes()],
        "agreement": [
            b'name = "x"\n[[parties]]\nname = "a"\n[policy]\nminimum = 2\n[dictionary]\nclasses = ["a", "b"]\n'
        ],
        "csv": [b"age,x,class\n1,a,ill\n"],
    }


def _framed(step: str, payload: bytes) -> bytes:
    class Kept:
        def __init__(self) -> None:
            self.data = b""

        def write(self, parts: object, step: str) -> None:
            self.data += b"".join(bytes(part) for part in parts)  # type: ignore[attr-defined]

        def read(self, into: memoryview, step: str) -> None: ...

        def close(self) -> None: ...

    kept = Kept()
    Channel(PEER, kept).send(step, payload)
    return kept.data
