"""Public instances on their way to the mixers: every cell in as few bytes as its attribute needs."""

from __future__ import annotations

import numpy as np

from mixbayes.protocol.arrays import Bytes, Values
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import OutOfRange
from mixbayes.protocol.layout import Layout

_STEP = "public instances"


def send(mixer: Channel, layout: Layout, codes: Values) -> None:
    """Show these rows (attributes, n) to a mixer."""
    columns = [row.astype(_kind(rows)).view(np.uint8) for row, rows in zip(codes, layout.rows, strict=True)]
    mixer.send(_STEP, np.concatenate(columns))


def receive(asker: Channel, layout: Layout, count: int) -> Values:
    """The rows a hospital shows, each cell checked to be a position of its attribute."""
    raw = asker.receive(_STEP, sum(count * _kind(rows).itemsize for rows in layout.rows))
    codes = np.empty((len(layout.rows), count), np.int32)
    at = 0
    for row, rows in zip(codes, layout.rows, strict=True):
        row[:] = _column(raw[at:], count, rows, asker)
        at += count * _kind(rows).itemsize
    return codes


def _column(raw: Bytes, count: int, rows: int, asker: Channel) -> Values:
    column = raw[: count * _kind(rows).itemsize].view(_kind(rows))
    if column.size and int(column.max()) >= rows:
        raise OutOfRange(asker.peer, _STEP, "a cell is not a position of its attribute")
    return column.astype(np.int32)


def _kind(rows: int) -> np.dtype[np.unsignedinteger]:
    """The smallest unsigned type that holds the positions 0 … rows − 1."""
    return np.min_scalar_type(rows - 1)
