"""Public instances on their way to the mixers: every cell in as few bits as its attribute needs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

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
    of_bits = codes.astype(form.kind).take(form.column_of_bit, axis=0)
    mixer.send(_STEP, pack_bits((of_bits >> form.place_of_bit[:, None] & 1).astype(np.uint8)))


def receive(asker: Channel, layout: Layout, count: int) -> Shown:
    """The rows that a hospital shows, each code checked to be one that its attribute has."""
    form = _Form.of(layout)
    shape = form.place_of_bit.size, count
    raw = asker.receive(_STEP, bits_bytes(shape[0] * count))
    bits = unpack_bits(raw, shape[0] * count, asker.peer, _STEP).reshape(shape).astype(form.kind, copy=False)
    codes = np.bitwise_or.reduceat(bits << form.place_of_bit[:, None], form.first_bit, axis=0)
    if (codes > form.highest[:, None]).any():
        raise OutOfRange(asker.peer, _STEP, "a cell is none that its attribute can have")
    return Shown(codes.astype(np.int32), hashlib.sha256(raw.data).digest())


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
    """How rows travel: the bits of every column in as many rows of bits as its codes need, the lowest bit first."""

    kind: np.dtype[np.unsignedinteger]
    """The smallest unsigned type that holds every code."""
    highest: NDArray[np.unsignedinteger]
    """The highest code of each column."""
    first_bit: NDArray[np.intp]
    """Where the bits of each column begin."""
    column_of_bit: NDArray[np.intp]
    place_of_bit: NDArray[np.unsignedinteger]

    @classmethod
    @lru_cache
    def of(cls, layout: Layout) -> _Form:
        codes = [a.codes for a in layout.dictionary.attributes for _ in range(a.columns)]
        widths = [max(1, (count - 1).bit_length()) for count in codes]
        kind = np.min_scalar_type((1 << max(widths)) - 1)
        return cls(
            kind=kind,
            highest=np.array([count - 1 for count in codes]).astype(kind),
            first_bit=np.array([0, *accumulate(widths[:-1])], np.intp),
            column_of_bit=np.repeat(np.arange(len(widths)), widths),
            place_of_bit=np.concatenate([np.arange(width) for width in widths]).astype(kind),
        )
