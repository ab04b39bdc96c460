"""The field of 2^128 elements, as GHASH represents it (NIST SP 800-38D, section 6.3).

A block of 16 bytes is a polynomial over the bits, the lowest power first: the highest bit of the first byte is the
coefficient of X^0. Elements are Python integers here, read from a block with its first byte highest. No operation
branches on a secret.
"""

from __future__ import annotations

import numpy as np

from mixbayes.protocol.arrays import Bits, Bytes, Words

BITS = 128
BLOCK_BYTES = 16
ONE = 0x80
"""The first byte of the block of the element 1. Its other bytes are zero."""
_MODULUS = 0xE1 << 120
"""What X^128 is reduced to: 1 + X + X^2 + X^7."""


def element(block: Words | Bytes) -> int:
    """The element that a block of 16 bytes stands for."""
    return int.from_bytes(block.tobytes(), "big")


def block_of(value: int) -> bytes:
    """The block of an element."""
    return value.to_bytes(BLOCK_BYTES, "big")


def element_of_bits(bits: Bits) -> int:
    """The sum of bit i times X^i, of 128 bits."""
    return element(np.packbits(bits))


def combined(blocks: Words) -> int:
    """The sum of block i times X^i, of 128 blocks."""
    total = 0
    for block in blocks[::-1]:
        total = _times_x(total) ^ element(block)
    return total


def product(first: int, second: int) -> int:
    """The product of two elements."""
    total = 0
    for power in range(BITS):
        # The bits of an integer stand in the reverse order of the powers, so the highest power comes first.
        total = _times_x(total) ^ second & -(first >> power & 1)
    return total


def _times_x(value: int) -> int:
    return value >> 1 ^ _MODULUS & -(value & 1)
