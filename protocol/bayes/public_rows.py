"""Public instances on their way to the mixers: every cell in as few bytes as its attribute needs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from mixbayes.protocol.arrays import Bytes, Values, slices
from mixbayes.protocol.attributes.dictionary import Numeric
from mixbayes.protocol.attributes.layout import NUMERIC_BITS, Layout
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.errors import OutOfRange

_STEP = "public instances"
_PIECE = 1 << 14
_MISSING_NUMBER = (1 << NUMERIC_BITS) + 1
"""How a missing value of a Gaussian attribute travels: one beyond the largest."""


def pieces(count: int) -> Iterator[slice]:
    """The rows, as many at a time as are compared at once."""
    return slices(count, _PIECE)


def send(mixer: Channel, layout: Layout, codes: Values) -> None:
    """Show these rows (attributes, n) to a mixer."""
    columns = [
        np.where(row < 0, _MISSING_NUMBER, row).astype(_kind(cells)).view(np.uint8)
        for row, cells in zip(codes, _cells(layout), strict=True)
    ]
    mixer.send(_STEP, np.concatenate(columns))


def receive(asker: Channel, layout: Layout, count: int) -> Values:
    """The rows a hospital shows, each cell checked to be one its attribute can have."""
    raw = asker.receive(_STEP, sum(count * _kind(cells).itemsize for cells in _cells(layout)))
    codes = np.empty((len(layout.rows), count), np.int32)
    at = 0
    for row, cells, attribute in zip(codes, _cells(layout), layout.dictionary.attributes, strict=True):
        row[:] = _column(raw[at:], count, cells, asker)
        if isinstance(attribute, Numeric):
            row[row == _MISSING_NUMBER] = -1
        at += count * _kind(cells).itemsize
    return codes


def compare(me: ComputingParty, asker: Channel, codes: Values) -> None:
    """A hospital that shows the two mixers different rows learns differences of θ: refuse."""
    mine = hashlib.sha256(codes.tobytes()).digest()
    if me.channel.swap("digest of public instances", mine).tobytes() != mine:
        raise OutOfRange(asker.peer, _STEP, "it shows the two mixers different rows")


def _cells(layout: Layout) -> list[int]:
    """How many different cells each attribute can have, the missing one included."""
    attributes = zip(layout.dictionary.attributes, layout.rows, strict=True)
    return [_MISSING_NUMBER + 1 if isinstance(attribute, Numeric) else rows for attribute, rows in attributes]


def _column(raw: Bytes, count: int, cells: int, asker: Channel) -> Values:
    column = raw[: count * _kind(cells).itemsize].view(_kind(cells))
    if column.size and int(column.max()) >= cells:
        raise OutOfRange(asker.peer, _STEP, "a cell is none that its attribute can have")
    return column.astype(np.int32)


def _kind(cells: int) -> np.dtype[np.unsignedinteger]:
    """The smallest unsigned type that holds so many different cells."""
    return np.min_scalar_type(cells - 1)
