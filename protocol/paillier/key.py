"""Paillier's cryptosystem on raw integers (Paillier, EUROCRYPT 1999): the one module that imports phe and gmpy2.

A ciphertext of m is (1 + N·m) · r^N modulo N², with r random. It is additively homomorphic: the product of ciphertexts
is a ciphertext of the sum of their plaintexts, and a power of a ciphertext is one of a multiple. The factor r^N, here
called an obfuscator, does not depend on m and costs nearly all of the time, so it is made ahead and passed in. An
obfuscator hides one plaintext: a stock of them must never hand out the same one again. phe's own encrypted numbers
carry an exponent in clear text, which would leak; none of them appears here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import gmpy2 as untyped
import numpy as np
from phe import paillier

from mixbayes.protocol.arrays import Bytes, Numbers
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import LocalError, OutOfRange, PoolExhausted, Unsupported
from mixbayes.protocol.paillier.exact import USUAL_BITS
from mixbayes.protocol.randomness import Randomness

gmpy2: Any = untyped  # it publishes no types

LEAST_BITS = 2048

Obfuscators = Iterator[int]
"""N-th powers of fresh random units modulo N², each handed out once."""

_BEYOND = 16
"""Bytes drawn beyond those of a bound, before the remainder is taken: the result is within 2^-128 of uniform."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """The modulus N, and what everybody who knows it can compute."""

    modulus: int
    square: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "modulus", gmpy2.mpz(self.modulus))
        object.__setattr__(self, "square", self.modulus * self.modulus)

    @property
    def bits(self) -> int:
        return self.modulus.bit_length()

    @property
    def ciphertext_bytes(self) -> int:
        return size_of(self.square)

    def obfuscator(self, random: Randomness) -> int:
        """r^N for a fresh r."""
        return gmpy2.powmod(unit(random, self.modulus), self.modulus, self.square)

    def encrypt(self, number: int, obfuscator: int) -> int:
        """A ciphertext of `number` modulo N."""
        return self.added(obfuscator, number)

    def added(self, ciphertext: int, number: int) -> int:
        """A ciphertext of m + `number`, with the same randomness."""
        return ciphertext * (1 + self.modulus * (number % self.modulus)) % self.square

    def total(self, ciphertexts: Iterable[int]) -> int:
        """A ciphertext of the sum of the plaintexts."""
        product = gmpy2.mpz(1)
        for ciphertext in ciphertexts:
            product = product * ciphertext % self.square
        return product

    def weighted(self, ciphertexts: Iterable[int], weights: Iterable[int]) -> int:
        """A ciphertext of Σ weight · m."""
        return self.total(gmpy2.powmod(c, w, self.square) for c, w in zip(ciphertexts, weights, strict=True))

    def packed(self, ciphertexts: Sequence[int], width: int) -> int:
        """One ciphertext of Σ m_i · 2^(width·i), by Horner's rule."""
        shift = gmpy2.mpz(1) << width
        result = ciphertexts[-1]
        for ciphertext in reversed(ciphertexts[:-1]):
            result = gmpy2.powmod(result, shift, self.square) * ciphertext % self.square
        return result


class SecretKey:
    """The two primes p and q, which make powers modulo N² about four times faster.

    Powers are computed modulo p² and q², and the results are joined by the Chinese remainder theorem. Powers with
    secret exponents run in constant time. This class takes any primes; `generate` refuses keys that are too short.
    """

    def __init__(self, p: int, q: int) -> None:
        p, q = gmpy2.mpz(p), gmpy2.mpz(q)
        if p == q or gmpy2.gcd(p * q, (p - 1) * (q - 1)) != 1:
            raise LocalError("These two primes make no Paillier key.")
        self.public = PublicKey(p * q)
        self._halves = _Half(p, q), _Half(q, p)

    def __repr__(self) -> str:
        return f"SecretKey(bits={self.public.bits})"

    def __reduce__(self) -> tuple[type[SecretKey], tuple[int, int]]:
        return SecretKey, self.primes

    @property
    def primes(self) -> tuple[int, int]:
        """The whole key, for storing it."""
        first, second = self._halves
        return first.prime, second.prime

    def decrypt(self, ciphertext: int) -> int:
        """The plaintext, in [0, N)."""
        first, second = self._halves
        return _joined(first.decrypt(ciphertext), second.decrypt(ciphertext), first.prime, second.prime, first.lift)

    def obfuscator(self, random: Randomness) -> int:
        """r^N for a fresh r, at an eighth of the cost of a full power for each prime.

        Modulo p², r^N is (r^q)^p, and a p-th power modulo p² depends on its base modulo p alone. That base, r^q modulo
        p, is uniform if r is, so each prime draws its own base.
        """
        first, second = self._halves
        return _joined(first.power(random), second.power(random), first.square, second.square, first.lift_of_squares)

    def root(self, number: int) -> int:
        """The N-th root modulo N."""
        first, second = self._halves
        return _joined(first.root(number), second.root(number), first.prime, second.prime, first.lift)


class _Half:
    """The computations of the key's owner modulo one prime and its square."""

    def __init__(self, prime: int, other: int) -> None:
        self.prime = prime
        self.square = prime * prime
        self.lift = gmpy2.invert(other, prime)
        self.lift_of_squares = gmpy2.invert(other * other, self.square)
        # With L(x) = (x − 1) / p as in the paper, L((N + 1)^(p − 1)) = (p − 1)·q = −q modulo p.
        self._scale = gmpy2.invert(-other, prime)
        self._rooting = gmpy2.invert(prime * other, prime - 1)

    def decrypt(self, ciphertext: int) -> int:
        # The power p − 1 removes r^N, since r^(N·(p − 1)) = 1 modulo p², and leaves 1 + (p − 1)·N·m.
        power = gmpy2.powmod_sec(ciphertext % self.square, self.prime - 1, self.square)
        return (power - 1) // self.prime * self._scale % self.prime

    def power(self, random: Randomness) -> int:
        return gmpy2.powmod_sec(unit(random, self.prime), self.prime, self.square)

    def root(self, number: int) -> int:
        return gmpy2.powmod_sec(number % self.prime, self._rooting, self.prime)


def _joined(first: int, second: int, modulus: int, other: int, lift: int) -> int:
    """The number with these two remainders (Garner's formula). `lift` is the inverse of `other` modulo `modulus`."""
    return second + other * ((first - second) * lift % modulus)


class _Key(Protocol):
    def obfuscator(self, random: Randomness) -> int: ...


def generate(bits: int = USUAL_BITS) -> SecretKey:
    """A new key, with primes that phe draws from the operating system."""
    refuse_short(bits)
    private = paillier.generate_paillier_keypair(n_length=bits)[1]
    return SecretKey(*(int(prime or 0) for prime in (private.p, private.q)))


def refuse_short(bits: int) -> None:
    """Refuse keys of so few bits."""
    if bits < LEAST_BITS:
        raise Unsupported(
            f"A Paillier key of {bits} bits is too short: at least {LEAST_BITS} are possible, {USUAL_BITS} are usual."
        )


def obfuscators(key: _Key, random: Randomness) -> Obfuscators:
    """Obfuscators that are made when they are asked for. `mixbayes.parties.alone.obfuscators` makes them ahead."""
    while True:
        yield key.obfuscator(random)


def fresh(obfuscators: Obfuscators) -> int:
    """The next obfuscator."""
    obfuscator = next(obfuscators, None)
    if obfuscator is None:
        raise PoolExhausted("The encryption randomness made ahead is used up.")
    return obfuscator


def send_ciphertexts(other: Channel, step: str, key: PublicKey, ciphertexts: Iterable[int]) -> None:
    other.send(step, to_bytes(ciphertexts, key.ciphertext_bytes))


def receive_ciphertexts(other: Channel, step: str, key: PublicKey, count: int) -> list[int]:
    """Receive `count` ciphertexts, and check that each is a unit modulo N²."""
    ciphertexts = from_bytes(other.receive(step, count * key.ciphertext_bytes), key.ciphertext_bytes)
    for ciphertext in ciphertexts:
        if not 0 < ciphertext < key.square or gmpy2.gcd(ciphertext, key.modulus) != 1:
            raise OutOfRange(other.peer, step, "a number is no ciphertext of this key")
    return ciphertexts


def big_numbers(plain: Sequence[object]) -> Numbers:
    """An array of integers of any length, with the shape of these nested lists."""
    return np.vectorize(gmpy2.mpz, otypes=[object])(np.array(plain, object))


def below(random: Randomness, bound: int) -> int:
    """Uniform in [0, bound)."""
    return gmpy2.mpz.from_bytes(random.bytes(size_of(bound) + _BEYOND), "little") % bound


def unit(random: Randomness, modulus: int) -> int:
    """Uniform among the units: the numbers below the modulus that have an inverse."""
    while True:
        number = below(random, modulus)
        if gmpy2.gcd(number, modulus) == 1:
            return number


def unit_or_one(number: int, modulus: int) -> int:
    """The number modulo the modulus if it is a unit, and one if it is none."""
    reduced = number % modulus
    return reduced if gmpy2.gcd(reduced, modulus) == 1 else gmpy2.mpz(1)


def inverse(number: int, modulus: int) -> int:
    return gmpy2.invert(number, modulus)


def prime_above(number: int) -> int:
    return gmpy2.next_prime(number)


def is_prime(number: int) -> bool:
    return bool(gmpy2.is_prime(number))


def size_of(number: int) -> int:
    """The number of bytes that hold this number."""
    return -(-number.bit_length() // 8)


def to_bytes(numbers: Iterable[int], size: int) -> Bytes:
    """The numbers one after the other, each in `size` bytes, the lowest byte first."""
    return np.frombuffer(b"".join(number.to_bytes(size, "little") for number in numbers), np.uint8)


def from_bytes(raw: Bytes, size: int) -> list[int]:
    whole = raw.tobytes()
    return [gmpy2.mpz.from_bytes(whole[at : at + size], "little") for at in range(0, len(whole), size)]
