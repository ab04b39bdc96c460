"""Public instances on their way to the mixers: every cell in as few bits as its attribute needs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Values, slices
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.errors import OutOfRange
from mixbayes.protocol.packing import bits_bytes, pack_bits, unpack_bits

_STEP = "public instances"
_PIECE = 1 << 14


def pieces(count: int) -> Iterator[slice]:
    """The rows, as many at a time as are compared at once."""
    return slices(count, _PIECE)


@dataclass(frozen=True, slots=True, repr=False)
class Shown:
    """Rows as a mixer received them: codes (columns, n), and a digest of the message."""

    codes: Values
    digest: bytes


def send(mixer: Channel, layout: Layout, codes: Values) -> None:
    """Show these rows (columns, n) to a mixer."""
    form = _Form.of(layout)
    widest_first = codes.take(form.order, axis=0).astype(form.kind)
    planes = [widest_first[:columns] >> form.kind.type(place) & 1 for place, columns in enumerate(form.columns)]
    mixer.send(_STEP, pack_bits(np.concatenate(planes).astype(np.uint8, copy=False)))


def receive(asker: Channel, layout: Layout, count: int) -> Shown:
    """The rows that a hospital shows, each code checked to be one that its attribute has."""
    form = _Form.of(layout)
    raw = asker.receive(_STEP, bits_bytes(sum(form.columns) * count))
    planes = unpack_bits(raw, sum(form.columns) * count, asker.peer, _STEP).reshape(-1, count)
    widest_first, first = np.zeros((layout.columns, count), form.kind), 0
    for place, columns in enumerate(form.columns):
        plane = planes[first : first + columns].astype(form.kind, copy=False)
        widest_first[:columns] |= plane << form.kind.type(place)
        first += columns
    if (widest_first > form.highest).any():
        raise OutOfRange(asker.peer, _STEP, "a cell is none that its attribute can have")
    codes = np.empty((layout.columns, count), np.int32)
    codes[form.order] = widest_first
    return Shown(codes, hashlib.sha256(raw.data).digest())


def drop(asker: Channel, layout: Layout, count: int) -> None:
    """Take rows that the hospital has shown, and that are not asked about after all."""
    for piece in pieces(count):
        receive(asker, layout, piece.stop - piece.start)


def start_comparing(me: ComputingParty, asker: Channel, rows: Shown) -> Callable[[], None]:
    """A hospital that shows the two mixers different rows learns differences of θ: refuse.

    This sends the digest. What is returned receives that of the other mixer, and is called before a label leaves: until
    then both mixers have sent each other masked words alone. A false digest of the other mixer looks the same as
    different rows, so the error names both.
    """
    theirs = me.channel.start_swap("digest of public instances", rows.digest)

    def refuse_others() -> None:
        if theirs().tobytes() != rows.digest:
            perhaps = f"{asker.peer} or {me.channel.peer}"
            raise OutOfRange(perhaps, _STEP, "the two mixers say that they were shown different rows")

    return refuse_others


@dataclass(frozen=True, slots=True)
class _Form:
    """How rows travel: the lowest bit of every column, then the second one of all columns that have two, and so on."""

    kind: np.dtype[np.unsignedinteger]
    """The smallest unsigned type that holds every code."""
    order: NDArray[np.intp]
    """The columns, those with the most bits first."""
    columns: tuple[int, ...]
    """By place of a bit, how many columns have it."""
    highest: NDArray[np.unsignedinteger]
    """(columns, 1): the highest code of each column, in this order."""

    @classmethod
    @lru_cache
    def of(cls, layout: Layout) -> _Form:
        highest = [attribute.codes - 1 for attribute in layout.dictionary.attributes for _ in range(attribute.columns)]
        order = sorted(range(len(highest)), key=highest.__getitem__, reverse=True)
        kind, bits = np.min_scalar_type(max(highest)), max(highest).bit_length()
        return cls(
            kind=kind,
            order=np.array(order),
            columns=tuple(sum(code >> place > 0 for code in highest) for place in range(bits)),
            highest=np.array([highest[column] for column in order], kind)[:, None],
        )
