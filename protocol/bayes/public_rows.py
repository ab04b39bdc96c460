"""Public instances on their way to the mixers: every cell in as few bytes as its attribute needs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from mixbayes.protocol.arrays import Bytes, Values, slices
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.errors import OutOfRange

_STEP = "public instances"
_PIECE = 1 << 14


def pieces(count: int) -> Iterator[slice]:
    """The rows, as many at a time as are compared at once."""
    return slices(count, _PIECE)


def send(mixer: Channel, layout: Layout, codes: Values) -> None:
    """Show these rows (columns, n) to a mixer."""
    columns = [cells.astype(_kind(attribute.codes)).reshape(-1) for attribute, cells in layout.cells(codes)]
    mixer.send(_STEP, np.concatenate([column.view(np.uint8) for column in columns]))


def receive(asker: Channel, layout: Layout, count: int) -> Values:
    """The rows a hospital shows, each code checked to be one that its attribute has."""
    sizes = [count * a.columns * _kind(a.codes).itemsize for a in layout.dictionary.attributes]
    raw = np.split(asker.receive(_STEP, sum(sizes)), np.cumsum(sizes)[:-1])
    codes = np.empty((layout.columns, count), np.int32)
    for (attribute, cells), part in zip(layout.cells(codes), raw, strict=True):
        cells[:] = _checked(part, attribute.codes, asker).reshape(cells.shape)
    return codes


def drop(asker: Channel, layout: Layout, count: int) -> None:
    """Take rows that the hospital has shown, and that are not asked about after all."""
    for piece in pieces(count):
        receive(asker, layout, piece.stop - piece.start)


def compare(me: ComputingParty, asker: Channel, codes: Values) -> None:
    """A hospital that shows the two mixers different rows learns differences of θ: refuse.

    A false digest of the other mixer looks the same, so the error names both.
    """
    mine = hashlib.sha256(codes.tobytes()).digest()
    if me.channel.swap("digest of public instances", mine).tobytes() != mine:
        perhaps = f"{asker.peer} or {me.channel.peer}"
        raise OutOfRange(perhaps, _STEP, "the two mixers say that they were shown different rows")


def _checked(raw: Bytes, codes: int, asker: Channel) -> Values:
    column = raw.view(_kind(codes))
    if column.size and int(column.max()) >= codes:
        raise OutOfRange(asker.peer, _STEP, "a cell is none that its attribute can have")
    return column.astype(np.int32)


def _kind(codes: int) -> np.dtype[np.unsignedinteger]:
    """The smallest unsigned type that holds this many different codes."""
    return np.min_scalar_type(codes - 1)
