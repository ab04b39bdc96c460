"""Public instances on their way to the mixers: every cell in as few bits as its attribute needs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

import numpy as np

from mixbayes.protocol.arrays import Bits, Values, slices
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
    send_all([mixer], layout, codes)


def send_all(mixers: Sequence[Channel], layout: Layout, codes: Values) -> None:
    """Show these rows to each of them. The message is made once."""
    form = _Form.of(layout)
    whole = (codes.take(form.column_of_byte, axis=0) >> form.place_of_byte[:, None]).astype(np.uint8)
    tops = (codes >> form.place_of_top[:, None]).astype(np.uint8).take(form.column_of_bit, axis=0)
    message = np.concatenate([whole.reshape(-1), pack_bits(tops >> form.place_of_bit[:, None] & np.uint8(1))])
    for mixer in mixers:
        mixer.send(_STEP, message)


def receive(asker: Channel, layout: Layout, count: int) -> Shown:
    """The rows that a hospital shows, each code checked to be one that its attribute has."""
    form = _Form.of(layout)
    whole, bits = form.column_of_byte.size, form.column_of_bit.size
    raw = asker.receive(_STEP, whole * count + bits_bytes(bits * count))
    tops = unpack_bits(raw[whole * count :], bits * count, asker.peer, _STEP).reshape(bits, count)
    codes = np.zeros((form.highest.size, count), np.int32)
    codes[form.with_top] = np.bitwise_or.reduceat(tops << form.place_of_bit[:, None], form.first_bit, axis=0)
    codes <<= form.place_of_top[:, None]
    rows = raw[: whole * count].reshape(whole, count)
    for column, place, row in zip(form.column_of_byte, form.place_of_byte, rows, strict=True):
        codes[column] |= row.astype(np.int32) << place
    if (codes > form.highest[:, None]).any():
        raise OutOfRange(asker.peer, _STEP, "a cell is none that its attribute can have")
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
    """How rows travel: of columns with more bits than a byte their whole bytes, and then the other bits of all columns.

    Every byte of a column, and every other bit of it, is a row of the message, the lowest first.
    """

    highest: Values
    """The highest code of each column."""
    column_of_byte: Values
    place_of_byte: Values
    place_of_top: Values
    """How many bits of each column are in whole bytes."""
    with_top: Values
    """The columns that have other bits."""
    first_bit: Values
    """Where the bits of each of these begin."""
    column_of_bit: Values
    place_of_bit: Bits

    @classmethod
    @lru_cache
    def of(cls, layout: Layout) -> _Form:
        codes = [a.codes for a in layout.dictionary.attributes for _ in range(a.columns)]
        widths = [max(1, (count - 1).bit_length()) for count in codes]
        in_bytes = [width // 8 if width > 8 else 0 for width in widths]
        tops = [width - 8 * whole for width, whole in zip(widths, in_bytes, strict=True)]
        return cls(
            highest=_numbers(count - 1 for count in codes),
            column_of_byte=np.repeat(np.arange(len(widths), dtype=np.int32), in_bytes),
            place_of_byte=_numbers(8 * byte for whole in in_bytes for byte in range(whole)),
            place_of_top=_numbers(8 * whole for whole in in_bytes),
            with_top=np.flatnonzero(tops).astype(np.int32),
            first_bit=_numbers(accumulate((top for top in tops if top), initial=0))[:-1],
            column_of_bit=np.repeat(np.arange(len(widths), dtype=np.int32), tops),
            place_of_bit=_numbers(place for top in tops for place in range(top)).astype(np.uint8),
        )


def _numbers(numbers: Iterable[int]) -> Values:
    return np.fromiter(numbers, np.int32)
