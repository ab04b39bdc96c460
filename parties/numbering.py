"""The ids of questions. Mixers see them, so they are made of rows under a key that only this hospital has."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from mixbayes.node.disk.sealing import Seal
from mixbayes.node.questions import ID_BYTES, Kind
from mixbayes.protocol.arrays import Values

Numbering = Callable[[bytes, int, Kind, Values], bytes]
"""Of the id that an application gave, the part of its table, how it is asked, and its rows."""


def numbering(seal: Seal) -> Numbering:
    """The same for the same rows alone, under one id; without an id, new whenever it is asked for."""

    def numbered(id: bytes, part: int, kind: Kind, codes: Values) -> bytes:
        if not id:
            return fresh_id()
        about = b"question" + id + bytes([kind]) + part.to_bytes(8, "little")
        return seal.tag(about + codes.astype("<i8").tobytes())[:ID_BYTES]

    return numbered


def fresh_id() -> bytes:
    return secrets.token_bytes(ID_BYTES)
