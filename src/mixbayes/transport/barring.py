"""Addresses from which the system takes no new connections for us: its kernel drops what asks for one.

To end such a connection after it was accepted is not enough. In the meantime it can begin a hundred calls, and its
caller makes the next one. Linux alone has this; elsewhere such connections are accepted, and then ended.
"""

from __future__ import annotations

import ctypes
import ipaddress
import socket
import struct
import sys
from collections.abc import Collection, Iterator

MOST = 64
_ATTACH, _DETACH = 26, 27  # SO_ATTACH_FILTER and SO_DETACH_FILTER, which Python does not name
_LOAD_WORD, _LOAD_BYTE, _SHIFT_RIGHT, _SKIP_UNLESS, _JUMP, _RETURN = 0x20, 0x30, 0x74, 0x15, 0x05, 0x06
"""Instructions of the classic Berkeley packet filter (BPF)."""
_IP = 0x1_0000_0000 - 0x10_0000  # SKF_NET_OFF: the packet from its IP header on
_SOURCE_4, _SOURCE_6 = 12, 8
_DROP, _PASS = 0, 0xFFFF_FFFF
Instruction = tuple[int, int, int, int]
"""Its code, how many instructions it skips if it holds and if it does not, and its number."""


def bar(sites: Collection[str], listening: socket.socket) -> bool:
    """Take new connections from everywhere but these sites. Whether the system can do that."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        if not sites:
            listening.setsockopt(socket.SOL_SOCKET, _DETACH, 0)
            return True
        raw = b"".join(struct.pack("=HBBI", *one) for one in program(sorted(sites)[:MOST]))
        kept = ctypes.create_string_buffer(raw, len(raw))
        about = struct.pack("@HP", len(raw) // 8, ctypes.addressof(kept))
        listening.setsockopt(socket.SOL_SOCKET, _ATTACH, about)
    except OSError:
        return False
    return True


def program(sites: Collection[str]) -> list[Instruction]:
    """Looks at the source of a packet: an IPv4 address, or the first half of an IPv6 address."""
    networks = [ipaddress.ip_network(site) for site in sites]
    of_4 = [one for network in networks if network.version == 4 for one in _drop_4(network.network_address.packed)]
    of_6 = [one for network in networks if network.version == 6 for one in _drop_6(network.network_address.packed)]
    of_4 = [(_LOAD_WORD, 0, 0, _IP + _SOURCE_4), *of_4, (_RETURN, 0, 0, _PASS)]
    return [
        (_LOAD_BYTE, 0, 0, _IP),
        (_SHIFT_RIGHT, 0, 0, 4),
        (_SKIP_UNLESS, 0, 1, 6),
        (_JUMP, 0, 0, len(of_4)),
        *of_4,
        *of_6,
        (_RETURN, 0, 0, _PASS),
    ]


def _drop_4(address: bytes) -> Iterator[Instruction]:
    yield _SKIP_UNLESS, 0, 1, int.from_bytes(address)
    yield _RETURN, 0, 0, _DROP


def _drop_6(network: bytes) -> Iterator[Instruction]:
    yield _LOAD_WORD, 0, 0, _IP + _SOURCE_6
    yield _SKIP_UNLESS, 0, 3, int.from_bytes(network[:4])
    yield _LOAD_WORD, 0, 0, _IP + _SOURCE_6 + 4
    yield _SKIP_UNLESS, 0, 1, int.from_bytes(network[4:8])
    yield _RETURN, 0, 0, _DROP
