"""Bits and words as bytes of a message: eight bits in a byte, and words in as many bytes as their width needs.

The bytes of words are sent as planes: first the low 8, 4, 2 or 1 bytes of all words, then the next, so that each plane
takes one cast of a numpy array. Whatever arrives is checked: a bit beyond the width or in the padding is out of range.
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
    if width == 1:
        return bits_bytes(count)
    return count * bits_bytes(width)


def pack_words(words: Words | Bits, width: int) -> Bytes:
    """Words below 2^width as bytes, or as bits if the width is 1. Bits from `width` up must be zero."""
    if width == 1:
        return pack_bits(words.astype(np.uint8, copy=False))
    flat = words.reshape(-1)
    return np.concatenate([_plane(flat, shift, size).view(np.uint8) for shift, size in _planes(bits_bytes(width))])


def unpack_words(packed: Bytes, count: int, width: int, peer: str, step: str) -> Words:
    """The words of a message, as one row."""
    if width == 1:
        return unpack_bits(packed, count, peer, step).astype(np.uint64)
    words = np.zeros(count, np.uint64)
    at = 0
    for shift, size in _planes(bits_bytes(width)):
        plane = packed[at : at + size * count].view(_TYPES[size])
        if _beyond(plane, width - 8 * shift):
            raise OutOfRange(peer, step, f"a word has more than its {width} bits")
        words |= plane.astype(np.uint64) << np.uint64(8 * shift)
        at += size * count
    return words


_TYPES = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def _planes(size: int) -> list[tuple[int, int]]:
    """(first byte, number of bytes) of each plane of words of `size` bytes."""
    planes, at = [], 0
    for part in (8, 4, 2, 1):
        if size - at >= part:
            planes.append((at, part))
            at += part
    return planes


def _plane(words: Words | Bits, shift: int, size: int) -> NDArray[np.unsignedinteger[Any]]:
    return (words >> np.uint64(8 * shift)).astype(_TYPES[size]) if shift else words.astype(_TYPES[size])


def _beyond(plane: NDArray[np.unsignedinteger[Any]], bits: int) -> bool:
    """Whether any number has more than `bits` bits."""
    return bool(bits < 8 * plane.itemsize and plane.size and int(plane.max()) >> bits)
