"""Bits and words as bytes of a message: a word of 41 bits takes 41 bits.

The whole bytes of words are sent as planes: first the low 8, 4, 2 or 1 bytes of all words, then the next, so that each
plane takes one cast of a numpy array. The up to seven bits of a word above its whole bytes follow as planes of bits,
one behind the other, eight bits in a byte. Whatever arrives is checked: padding behind the last bit must be zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Bits, Bytes, Words
from mixbayes.protocol.errors import OutOfRange


def bits_bytes(count: int) -> int:
    return -(-count // 8)


def pack_bits(bits: Bits) -> Bytes:
    return np.packbits(bits.reshape(-1))


def unpack_bits(packed: Bytes, count: int, peer: str, step: str) -> Bits:
    """The bits of a message, as one row."""
    bits = np.unpackbits(packed)
    if bits[count:].any():
        raise OutOfRange(peer, step, "padding bits are set")
    return bits[:count]


def words_bytes(count: int, width: int) -> int:
    return count * (width // 8) + bits_bytes(count * (width % 8))


def pack_words(words: Words | Bits, width: int) -> Bytes:
    """Words below 2^width as bytes. Bits from `width` up must be zero."""
    flat, (whole, rest) = words.reshape(-1), divmod(width, 8)
    planes = [_plane(flat, shift, size).view(np.uint8) for shift, size in _planes(whole)]
    if rest:
        planes.append(_packed_top(_plane(flat, whole, 1), rest))
    return planes[0] if len(planes) == 1 else np.concatenate(planes)


def unpack_words(packed: Bytes, count: int, width: int, peer: str, step: str) -> Words:
    """The words of a message, as one row."""
    words, (whole, rest), at = np.zeros(count, np.uint64), divmod(width, 8), 0
    for shift, size in _planes(whole):
        plane = packed[at : at + size * count].view(_TYPES[size])
        words |= plane.astype(np.uint64) << np.uint64(8 * shift)
        at += size * count
    if rest:
        top = _unpacked_top(unpack_bits(packed[at:], rest * count, peer, step), rest)
        words |= top.astype(np.uint64) << np.uint64(8 * whole)
    return words


_TYPES = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def _planes(size: int) -> list[tuple[int, int]]:
    """(first byte, number of bytes) of each plane of words of `size` whole bytes."""
    planes, at = [], 0
    for part in (8, 4, 2, 1):
        if size - at >= part:
            planes.append((at, part))
            at += part
    return planes


def _plane(words: Words | Bits, shift: int, size: int) -> NDArray[np.unsignedinteger[Any]]:
    return (words >> np.uint64(8 * shift)).astype(_TYPES[size]) if shift else words.astype(_TYPES[size])


def _packed_top(top: NDArray[np.unsignedinteger[Any]], rest: int) -> Bytes:
    """The bits of these bytes plane by plane, the lowest plane first."""
    if rest == 1:
        return pack_bits(top)
    return pack_bits((top >> np.arange(rest, dtype=np.uint8)[:, None]) & np.uint8(1))


def _unpacked_top(bits: Bits, rest: int) -> Bytes:
    planes = bits.reshape(rest, -1)
    top = planes[0].copy()
    for place in range(1, rest):
        top |= planes[place] << np.uint8(place)
    return top
