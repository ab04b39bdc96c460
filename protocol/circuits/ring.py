"""Integers modulo 2^width in numpy words, without any protocol: the ring in which words are shared.

An element of up to 64 bits is one word, and an array of them has the shape of its elements. A wider element has several
words, its limbs; they lie along a first axis in front of the shape, the lowest limb first. `limbed` shows both kinds of
array as limbs. Elements are kept reduced: their bits from `width` up are zero.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mixbayes.protocol.arrays import Bits, Words, mask

WORD = 64


def limbs(width: int) -> int:
    """The number of words of an element."""
    return -(-width // WORD)


def limbed(words: Words, width: int) -> Words:
    """A view (limbs, n) of a narrow or a wide array."""
    return words.reshape(limbs(width), -1)


def reduced(words: Words, width: int) -> Words:
    """The elements modulo 2^width, with the limbs that they have."""
    if limbs(width) == 1:
        return words & mask(width)
    low = words.copy()
    low[-1] &= mask(width - WORD * (limbs(width) - 1))
    return low


def low_bits(words: Words, width: int, keep: int) -> Words:
    """Elements of `width` bits modulo 2^keep, with the limbs of elements of `keep` bits."""
    if limbs(width) == 1:
        return words & mask(keep)
    return reduced(words[: limbs(keep)] if limbs(keep) > 1 else words[0], keep)


def widened(words: Words, width: int, wider: int) -> Words:
    """Elements of `width` bits as elements of a wider ring: the same integers."""
    if limbs(width) == limbs(wider):
        return words
    wide = np.zeros((limbs(wider), *(words.shape if limbs(width) == 1 else words.shape[1:])), np.uint64)
    wide[: limbs(width)] = words
    return wide


def shifted_right(words: Words, places: int, width: int) -> Words:
    """⌊x / 2^places⌋ of elements of `width` bits, as elements of `width` − places bits."""
    if limbs(width) == 1:
        return words >> np.uint64(places)
    whole, part = divmod(places, WORD)
    moved = words[whole:] >> np.uint64(part)
    if part:
        moved[:-1] |= words[whole + 1 :] << np.uint64(WORD - part)
    keep = limbs(width - places)
    return moved[:keep] if keep > 1 else moved[0]


def constant(numbers: Sequence[int], width: int) -> Words:
    """An array of these integers, one element for each; negative ones too."""
    rows = [[(number >> WORD * limb) & int(mask(WORD)) for number in numbers] for limb in range(limbs(width))]
    words = np.array(rows, np.uint64)
    return reduced(words[0] if limbs(width) == 1 else words, width)


def add(x: Words, y: Words, width: int) -> Words:
    if limbs(width) == 1:
        return (x + y) & mask(width)
    total = x + y
    carry = total < x
    for limb in range(1, len(total)):
        # A limb carries by itself, or becomes zero when the carry from below is added to it; never both.
        total[limb] += carry[limb - 1]
        carry[limb] |= carry[limb - 1] & (total[limb] == 0)
    return reduced(total, width)


def negate(x: Words, width: int) -> Words:
    if limbs(width) == 1:
        return -x & mask(width)
    return add(~x, _one(x), width)


def subtract(x: Words, y: Words, width: int) -> Words:
    return (x - y) & mask(width) if limbs(width) == 1 else add(x, negate(y, width), width)


def signed(negative: Bits, x: Words, width: int) -> Words:
    """(1 − 2·negative) · x."""
    # −x = ~x + 1: where `negative` is set, flip all bits and add one.
    flipped = x ^ -negative.astype(np.uint64)
    if limbs(width) == 1:
        return (flipped + negative) & mask(width)
    return add(flipped, _one(x) * negative, width)


def total(words: Words, width: int) -> Words:
    """The sum over the first axis of the elements: of (k, n), or (limbs, k, n)."""
    if limbs(width) == 1:
        return words.sum(axis=0, dtype=np.uint64) & mask(width)
    result = words[:, 0]
    for k in range(1, words.shape[1]):
        result = add(result, words[:, k], width)
    return result


def shifted(x: Words, places: int, width: int) -> Words:
    """x · 2^places."""
    if limbs(width) == 1:
        return (x << np.uint64(places)) & mask(width) if places < WORD else np.zeros_like(x)
    whole, part = divmod(places, WORD)
    moved = np.zeros_like(x)
    if whole >= len(x):
        return moved
    moved[whole:] = x[: len(x) - whole] << np.uint64(part)
    if part:
        moved[whole + 1 :] |= x[: max(0, len(x) - whole - 1)] >> np.uint64(WORD - part)
    return reduced(moved, width)


def shifted_each(x: Words, places: Sequence[int], width: int) -> Words:
    """Every row of (…, rows, n) times its own power of two."""
    if limbs(width) == 1:
        return (x << np.array(places, np.uint64)[:, None]) & mask(width)
    return np.stack([shifted(x[..., row, :], place, width) for row, place in enumerate(places)], axis=-2)


def total_of_rows(words: Words, width: int) -> Words:
    """The sum over the rows of (…, rows, n)."""
    if limbs(width) == 1:
        return words.sum(axis=-2, dtype=np.uint64) & mask(width)
    return total(np.moveaxis(words, -2, 1), width)


def multiply(x: Words, y: Words, width: int) -> Words:
    """x · y. Wide elements are multiplied by halves of words, so that no product overflows a word."""
    if limbs(width) == 1:
        return (x * y) & mask(width)
    result = np.zeros_like(x)
    halves_x, halves_y = _halves(x), _halves(y)
    for i, a in enumerate(halves_x):
        # Half i times half j counts 2^(32·(i + j)); what would lie beyond the last limb is left out.
        for j, b in enumerate(halves_y[: len(halves_x) - i]):
            product = np.zeros_like(x)
            product[0] = a * b
            result = add(result, shifted(product, WORD // 2 * (i + j), width), width)
    return result


def _halves(x: Words) -> list[Words]:
    return [part for limb in x for part in (limb & mask(WORD // 2), limb >> np.uint64(WORD // 2))]


def _one(x: Words) -> Words:
    one = np.zeros_like(x)
    one[0] = 1
    return one


def bits(words: Words | Bits, width: int) -> Bits:
    """The bits (width, n) of words, the lowest first."""
    return digits(words, 0, 1, width)


def digits(words: Words | Bits, start: int, size: int, count: int) -> Bits:
    """Digits (count, n) of `size` ≤ 8 bits, from bit `start` up. Beyond the last limb they are zeros."""
    rows = (words if words.ndim > 1 else words[None]).astype(np.uint64, copy=False)
    if len(rows) == 1:
        places = np.arange(start, start + size * count, size, dtype=np.uint64)[:, None]
        return (rows >> places).astype(np.uint8) & np.uint8((1 << size) - 1)
    return np.stack([_digit(rows, start + size * i, size) for i in range(count)])


def _digit(rows: Words, place: int, size: int) -> Bits:
    limb, part = divmod(place, WORD)
    digit = rows[limb] >> np.uint64(part)
    # A digit may begin in one limb and end in the next.
    if part + size > WORD and limb + 1 < len(rows):
        digit = digit | rows[limb + 1] << np.uint64(WORD - part)
    return digit.astype(np.uint8) & np.uint8((1 << size) - 1)


def joined(parts: Bits, size: int, width: int) -> Words:
    """The words with these digits of `size` bits: the inverse of `digits`, for sizes that divide 64."""
    per_limb = WORD // size
    rows = [_joined_limb(parts[per_limb * limb : per_limb * (limb + 1)], size) for limb in range(limbs(width))]
    return reduced(rows[0] if len(rows) == 1 else np.stack(rows), width)


def _joined_limb(parts: Bits, size: int) -> Words:
    places = np.arange(0, size * len(parts), size, dtype=np.uint64)[:, None]
    return np.bitwise_or.reduce(parts.astype(np.uint64) << places, axis=0)
