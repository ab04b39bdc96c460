"""Paillier's cryptosystem on raw integers (EUROCRYPT 1999): the one module that knows phe and gmpy2.

A ciphertext of m is (1 + N·m) · r^N modulo N². The factor r^N, here an obfuscator, does not depend on m, costs nearly
all of the time, and so is made ahead and handed in. It hides once: whoever draws obfuscators from a stock must never
meet the same one again. phe's own numbers carry a clear exponent; none of them appears here.
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
from mixbayes.protocol.randomness import Randomness

gmpy2: Any = untyped  # it publishes no types

LEAST_BITS = 2048
USUAL_BITS = 3072

Obfuscators = Iterator[int]
"""N-th powers of fresh random units modulo N², each handed out once."""

_STEP = "public key"
_BEYOND = 16
"""Bytes drawn beyond a bound before the remainder is taken: 2^-128 from uniform."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """The modulus N, and what everybody can do with it."""

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
        """The plaintext plus `number`; the randomness stays."""
        return ciphertext * (1 + self.modulus * (number % self.modulus)) % self.square

    def negated(self, ciphertext: int) -> int:
        """A ciphertext of −m."""
        return gmpy2.invert(ciphertext, self.square)

    def total(self, ciphertexts: Iterable[int]) -> int:
        """The sum of the plaintexts."""
        product = gmpy2.mpz(1)
        for ciphertext in ciphertexts:
            product = product * ciphertext % self.square
        return product

    def weighted(self, ciphertexts: Iterable[int], weights: Iterable[int]) -> int:
        """Σ weight · m."""
        return self.total(gmpy2.powmod(c, w, self.square) for c, w in zip(ciphertexts, weights, strict=True))

    def packed(self, ciphertexts: Sequence[int], width: int) -> int:
        """Σ m_i · 2^(width·i) in one ciphertext, by Horner's rule."""
        shift = gmpy2.mpz(1) << width
        result = ciphertexts[-1]
        for ciphertext in reversed(ciphertexts[:-1]):
            result = gmpy2.powmod(result, shift, self.square) * ciphertext % self.square
        return result


class SecretKey:
    """The two primes, by which everything modulo N² is done modulo p² and q², four times faster.

    A key object takes any primes; `generate` is where a key that is too short is refused.
    Powers with secret exponents run in constant time.
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
        """All there is to the key, for whoever stores it."""
        first, second = self._halves
        return first.prime, second.prime

    def decrypt(self, ciphertext: int) -> int:
        """The plaintext, in [0, N)."""
        first, second = self._halves
        return _joined(first.decrypt(ciphertext), second.decrypt(ciphertext), first.prime, second.prime, first.lift)

    def obfuscator(self, random: Randomness) -> int:
        """r^N for a fresh r, at an eighth of a full power for each prime.

        Modulo p², r^N is (r^q)^p and depends on r^q modulo p alone, which for a uniform r is uniform.
        """
        first, second = self._halves
        return _joined(first.power(random), second.power(random), first.square, second.square, first.lift_of_squares)


class _Half:
    """What the key's owner does modulo one prime."""

    def __init__(self, prime: int, other: int) -> None:
        self.prime = prime
        self.square = prime * prime
        self.lift = gmpy2.invert(other, prime)
        self.lift_of_squares = gmpy2.invert(other * other, self.square)
        # L((N + 1)^(p − 1)) = (p − 1)·q = −q modulo p.
        self._scale = gmpy2.invert(-other, prime)

    def decrypt(self, ciphertext: int) -> int:
        power = gmpy2.powmod_sec(ciphertext % self.square, self.prime - 1, self.square)
        return (power - 1) // self.prime * self._scale % self.prime

    def power(self, random: Randomness) -> int:
        return gmpy2.powmod_sec(unit(random, self.prime), self.prime, self.square)


def _joined(first: int, second: int, modulus: int, other: int, lift: int) -> int:
    """The number with these two remainders; `lift` is the inverse of `other` modulo `modulus`."""
    return second + other * ((first - second) * lift % modulus)


class _Key(Protocol):
    def obfuscator(self, random: Randomness) -> int: ...


def generate(bits: int = USUAL_BITS) -> SecretKey:
    """A new key, with primes that phe draws from the operating system."""
    if bits < LEAST_BITS:
        raise Unsupported(_too_short(bits))
    private = paillier.generate_paillier_keypair(n_length=bits)[1]
    return SecretKey(*(int(prime or 0) for prime in (private.p, private.q)))


def obfuscators(key: _Key, random: Randomness) -> Obfuscators:
    """Made one by one when they are asked for; `mixbayes.parties.alone.obfuscators` makes them ahead."""
    while True:
        yield key.obfuscator(random)


def fresh(obfuscators: Obfuscators) -> int:
    """The next one."""
    obfuscator = next(obfuscators, None)
    if obfuscator is None:
        raise PoolExhausted("The encryption randomness made ahead is used up.")
    return obfuscator


def send_key(other: Channel, key: PublicKey) -> None:
    """A's modulus, to B."""
    other.send(_STEP, to_bytes([key.modulus], size_of(key.modulus)))


def receive_key(holder: Channel, bits: int) -> PublicKey:
    """The modulus of the hospital that holds the secret key, of the agreed length."""
    if bits < LEAST_BITS:
        raise Unsupported(_too_short(bits))
    (modulus,) = from_bytes(holder.receive(_STEP, size_of(1 << bits - 1)), size_of(1 << bits - 1))
    if modulus.bit_length() != bits or not gmpy2.is_odd(modulus) or gmpy2.is_prime(modulus):
        raise OutOfRange(holder.peer, _STEP, f"the key is no product of two primes of {bits} bits")
    return PublicKey(modulus)


def send_ciphertexts(other: Channel, step: str, key: PublicKey, ciphertexts: Iterable[int]) -> None:
    other.send(step, to_bytes(ciphertexts, key.ciphertext_bytes))


def receive_ciphertexts(other: Channel, step: str, key: PublicKey, count: int) -> list[int]:
    """So many ciphertexts, each a unit modulo N²."""
    ciphertexts = from_bytes(other.receive(step, count * key.ciphertext_bytes), key.ciphertext_bytes)
    for ciphertext in ciphertexts:
        if not 0 < ciphertext < key.square or gmpy2.gcd(ciphertext, key.modulus) != 1:
            raise OutOfRange(other.peer, step, "a number is no ciphertext of this key")
    return ciphertexts


def big_numbers(plain: Sequence[object]) -> Numbers:
    """An array of integers of any length, of the shape of these nested lists."""
    return np.vectorize(gmpy2.mpz, otypes=[object])(np.array(plain, object))


def below(random: Randomness, bound: int) -> int:
    """Uniform in [0, bound)."""
    return gmpy2.mpz.from_bytes(random.bytes(size_of(bound) + _BEYOND), "little") % bound


def unit(random: Randomness, modulus: int) -> int:
    """Uniform among the numbers below the modulus that have an inverse."""
    while True:
        number = below(random, modulus)
        if gmpy2.gcd(number, modulus) == 1:
            return number


def inverse(number: int, modulus: int) -> int:
    return gmpy2.invert(number, modulus)


def prime_above(number: int) -> int:
    return gmpy2.next_prime(number)


def size_of(number: int) -> int:
    """Bytes it takes."""
    return -(-number.bit_length() // 8)


def to_bytes(numbers: Iterable[int], size: int) -> Bytes:
    """Each in `size` bytes, the lowest first."""
    return np.frombuffer(b"".join(number.to_bytes(size, "little") for number in numbers), np.uint8)


def from_bytes(raw: Bytes, size: int) -> list[int]:
    whole = raw.tobytes()
    return [gmpy2.mpz.from_bytes(whole[at : at + size], "little") for at in range(0, len(whole), size)]


def _too_short(bits: int) -> str:
    return f"A Paillier key of {bits} bits is too short: at least {LEAST_BITS} are possible, {USUAL_BITS} are usual."
