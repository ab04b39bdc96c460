"""Products of integer polynomials modulo X^N + 1, exact, with coefficients modulo 2^(24·L).

A coefficient modulo 2^(24·L) is L limbs of 24 bits, the lowest first. Limbs are multiplied as float64 by a Fourier
transform: with x folded to the N/2 complex numbers x_j + i·x_(j + N/2), times the powers of a 2N-th root of unity, a
pointwise product is a product modulo X^N + 1 (the right-angle convolution of Crandall and Fagin, 1994).

The results are integers, so they are exact once rounding errors are below 1/2. For vectors x, y of N/2 = 2^n complex
numbers the error of a convolution is below ‖x‖·‖y‖·ε·(3n + √5·(3n + 1) + 3n·β/ε), where ε = 2^-53 and β is the error
of the roots of unity (Brent, Percival and Zimmermann, Mathematics of Computation 76, 2007). For N = 8192 and β = ε, and
with n = 13 because of the multiplications before and after the transforms, this is 1.9·10^-14 · ‖x‖·‖y‖. Adding up
`TOGETHER` = 64 products adds at most 64·ε to the factor. A limb polynomial has a norm of at most 2^24·√N, and a
polynomial with coefficients -1, 0 and 1 has a norm of at most √N. So a sum of 64 products is off by less than 0.23.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Bytes, Words, mask, slices

LIMB = 24
LIMB_BYTES = LIMB // 8
_LOW = np.uint32((1 << LIMB) - 1)
TOGETHER = 64
"""Products that are added up before they are rounded."""

Limbs = NDArray[np.uint32]
"""Coefficients (…, L, N), each limb below 2^24."""
Integers = NDArray[np.int64]
"""The same before carries: sums of limbs of any sign."""
Spectrum = NDArray[np.complex128]
"""A transformed polynomial (…, N/2)."""


def spectrum(polynomial: NDArray[Any]) -> Spectrum:
    """The transform of real polynomials (…, N)."""
    half = polynomial.shape[-1] // 2
    folded = np.empty((*polynomial.shape[:-1], half), np.complex128)
    folded.real, folded.imag = polynomial[..., :half], polynomial[..., half:]
    folded *= _twist(half)
    return np.fft.fft(folded)


def integers(of: Spectrum) -> Integers:
    """The polynomials (…, N) of these transforms, rounded to integers."""
    half = of.shape[-1]
    folded = np.fft.ifft(of)
    folded *= _twist(half).conj()
    result = np.empty((*of.shape[:-1], 2 * half), np.int64)
    np.rint(folded.real, out=result[..., :half], casting="unsafe")
    np.rint(folded.imag, out=result[..., half:], casting="unsafe")
    return result


@lru_cache
def _twist(half: int) -> Spectrum:
    return np.exp(1j * np.pi * np.arange(half) / (2 * half))


def sum_of_products(terms: Spectrum, factors: Spectrum) -> Integers:
    """Σ_k terms[k] · factors[k], of terms (k, …, N/2) and factors (k, N/2)."""
    total: Integers | int = 0
    for part in slices(len(terms), TOGETHER):
        total = total + integers(_weighted_sum(terms[part], factors[part]))
    return np.asarray(total)


def _weighted_sum(terms: Spectrum, factors: Spectrum) -> Spectrum:
    total = terms[0] * factors[0]
    term = np.empty_like(total)
    for k in range(1, len(terms)):
        total += np.multiply(terms[k], factors[k], out=term)
    return total


def carried(sums: Integers) -> Limbs:
    """The limbs (…, L, N) of these sums modulo 2^(24·L). The sums are overwritten."""
    for limb in range(sums.shape[-2] - 1):
        sums[..., limb + 1, :] += sums[..., limb, :] >> LIMB
    return (sums & ((1 << LIMB) - 1)).astype(np.uint32)


def from_words(words: Words, places: int, limbs: int) -> Limbs:
    """Words (…, N) times 2^places, as limbs (…, L, N)."""
    shifts = [places - LIMB * limb for limb in range(limbs)]
    return np.stack([_shifted(words, shift) & mask(LIMB) for shift in shifts], axis=-2).astype(np.uint32)


def top_bits(limbs: Limbs, width: int) -> Words:
    """The highest `width` ≤ 64 bits of coefficients (…, L, N), as words (…, N)."""
    places = LIMB * limbs.shape[-2] - width
    words = np.zeros((*limbs.shape[:-2], limbs.shape[-1]), np.uint64)
    for limb in range(limbs.shape[-2]):
        words |= _shifted(limbs[..., limb, :].astype(np.uint64), LIMB * limb - places)
    return words


def _shifted(words: Words, places: int) -> Words:
    """Words times 2^places, rounded down; what leaves the word is lost."""
    if places >= 64 or places <= -64:
        return np.zeros_like(words)
    return words << np.uint64(places) if places >= 0 else words >> np.uint64(-places)


def to_bytes(limbs: Limbs) -> Bytes:
    """Three bytes for each limb, in their order."""
    one, two, three, four = _in_fours(limbs.reshape(-1))
    packed = np.empty((one.size, LIMB_BYTES), np.uint32)
    # Four limbs are three words of 32 bits.
    packed[:, 0] = one | two << 24
    packed[:, 1] = two >> 8 | three << 16
    packed[:, 2] = three >> 16 | four << 8
    return packed.view(np.uint8).reshape(-1)[: LIMB_BYTES * limbs.size]


def from_bytes(raw: Bytes, *shape: int) -> Limbs:
    """The limbs of this shape. Every value of the bytes is a limb."""
    count = raw.size // LIMB_BYTES
    padding = np.zeros(LIMB_BYTES * (-count % 4), np.uint8)
    one, two, three = np.concatenate([raw, padding]).view(np.uint32).reshape(-1, LIMB_BYTES).T
    limbs = np.empty((one.size, 4), np.uint32)
    limbs[:, 0] = one & _LOW
    limbs[:, 1] = (one >> 24 | two << 8) & _LOW
    limbs[:, 2] = (two >> 16 | three << 16) & _LOW
    limbs[:, 3] = three >> 8
    return limbs.reshape(-1)[:count].reshape(shape)


def _in_fours(limbs: Limbs) -> Limbs:
    """(4, n): every fourth limb, beginning with the first ones; zeros follow the last one."""
    padding = np.zeros(-limbs.size % 4, np.uint32)
    return np.concatenate([limbs, padding]).reshape(-1, 4).T


def drawn(random: Bytes, *shape: int) -> Limbs:
    """Uniform limbs of this shape, from four random bytes each."""
    return random.view(np.uint32).reshape(shape) & _LOW
