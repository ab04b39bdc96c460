"""The modulus arrives with its proof, and none that does not fit is taken, whoever made the proof."""

from functools import lru_cache
from math import gcd

import pytest

from mixbayes.protocol.errors import OutOfRange, Unsupported, WrongLength, WrongStep
from mixbayes.protocol.paillier.key import PublicKey, SecretKey, below, generate, prime_above, to_bytes
from mixbayes.protocol.paillier.modulus import (
    LEAST_FACTOR,
    ROOTS,
    _hashed,
    _small_primes,
    fits,
    proof,
    receive_key,
    send_key,
)
from tests.protocol.paillier.test_key import small_key
from tests.protocol.pairs import Ends, random_for

BITS = 2048
BYTES = BITS // 8


@lru_cache
def key() -> SecretKey:
    return generate(BITS)


@lru_cache
def prime(bits: int, number: int = 1) -> int:
    return int(prime_above(3 << bits - 2 | below(random_for(number), 1 << bits - 2)))


def test_the_key_arrives() -> None:
    ends = Ends()
    send_key(ends.first, key())
    assert receive_key(ends.second, BITS) == key().public


def test_a_liar_passes_with_a_chance_below_two_to_the_minus_128() -> None:
    assert LEAST_FACTOR**ROOTS > 2**138
    primes = _small_primes()
    assert primes[:4] == [2, 3, 5, 7]
    assert (len(primes), primes[-1]) == (830, 6367)


def roots_of_order(modulus: int, order: int) -> list[int]:
    """As far as they exist: the best that an owner can show who knows the order of the units."""
    while (common := gcd(modulus, order)) > 1:
        order //= common
    return [pow(number, pow(modulus, -1, order), modulus) for number in _hashed(modulus)]


P, Q = prime(64), prime(65, 2)
SHARED = next(f * k + 1 for f in [P] for k in range(2, 10**4) if prime_above(f * k) == f * k + 1)
"""A prime that is one more than a multiple of P."""


@pytest.mark.parametrize(
    ("modulus", "order"),
    [
        (P * P * Q, P * (P - 1) * (Q - 1)),
        (P * SHARED, (P - 1) * (SHARED - 1)),
        (P * P, P * (P - 1)),
    ],
    ids=["p^2 q", "p divides q - 1", "a square"],
)
def test_a_modulus_with_a_factor_in_common_with_its_order_has_no_proof(modulus: int, order: int) -> None:
    assert gcd(modulus, order) > LEAST_FACTOR
    assert not fits(modulus, roots_of_order(modulus, order))


@pytest.mark.parametrize(
    ("modulus", "order"),
    [
        (3**1292, 2 * 3**1291),
        (6367 * P, 6366 * (P - 1)),
        (2 * P, P - 1),
        (P, P - 1),
        (7, 6),
    ],
    ids=["power of 3", "small factor", "even", "prime", "tiny"],
)
def test_a_modulus_is_refused_even_with_roots(modulus: int, order: int) -> None:
    assert not fits(modulus, roots_of_order(modulus, order))


def test_the_same_check_takes_what_fits() -> None:
    fitting = P * Q, (P - 1) * (Q - 1)
    assert fits(fitting[0], roots_of_order(*fitting))
    three = fitting[0] * prime(66, 3), fitting[1] * (prime(66, 3) - 1)
    assert fits(three[0], roots_of_order(*three)), "the proof does not count the factors"


def test_a_proof_is_of_one_modulus_and_of_all_roots() -> None:
    one, other = small_key(256), small_key(256, 2)
    modulus, roots = one.public.modulus, proof(one)
    assert fits(modulus, roots)
    assert not fits(other.public.modulus, roots)
    assert not fits(modulus, roots[:-1])
    assert not fits(modulus, [*roots, roots[0]])
    for at in range(ROOTS):
        for wrong in (roots[at] + 1, 0, roots[at] + modulus):
            assert not fits(modulus, [*roots[:at], wrong, *roots[at + 1 :]])


def test_the_numbers_to_root_depend_on_the_whole_modulus_and_are_all_different() -> None:
    drawn = [*_hashed(P * Q), *_hashed(P * Q + 2)]
    assert len(set(drawn)) == 2 * ROOTS
    assert max(number.bit_length() for number in drawn) > 120
    both = _hashed(3 * P * Q), _hashed(P * Q)
    assert all(one % (P * Q) != other for one, other in zip(*both, strict=True)), "drawn anew for another modulus"


@pytest.mark.parametrize(
    "modulus", [(1 << BITS - 1) - 1, 1 << BITS - 1, 3**1292, 0], ids=["shorter", "even", "power of 3", "nothing"]
)
def test_what_is_no_key_is_refused(modulus: int) -> None:
    ends = Ends()
    ends.first.send("public key", to_bytes([modulus], BYTES))
    ends.first.send("proof of the key", to_bytes([1] * ROOTS, BYTES))
    with pytest.raises(OutOfRange, match="party A, at proof of the key"):
        receive_key(ends.second, BITS)


def test_a_key_of_another_length_is_refused() -> None:
    ends = Ends()
    send_key(ends.first, small_key(BITS - 2))
    with pytest.raises(OutOfRange, match="does not have 2048 bits, or its proof does not hold"):
        receive_key(ends.second, BITS)


def test_short_keys_are_refused() -> None:
    with pytest.raises(Unsupported, match="too short"):
        receive_key(Ends().second, 2047)


@pytest.mark.parametrize(("step", "wrong"), [("encrypted cells", WrongStep), ("proof of the key", WrongLength)])
def test_a_hospital_that_does_not_prove_its_key_hears_what_to_do(step: str, wrong: type[Exception]) -> None:
    ends = Ends()
    ends.first.send("public key", to_bytes([key().public.modulus], BYTES))
    ends.first.send(step, bytes(7))
    with pytest.raises(wrong, match=r"party A, at proof of the key: .* have both hospitals install the same one\."):
        receive_key(ends.second, BITS)


def test_under_a_power_of_three_an_answer_would_not_hide_what_a_sent() -> None:
    """Why the proof is needed: mask and obfuscator reach a part of the units alone, so the rest shows."""
    public, random = PublicKey(3**5), random_for(1)
    reached = {public.encrypt(below(random, public.modulus), public.obfuscator(random)) for _ in range(5000)}
    units = 3**10 * 2 // 3
    assert len(reached) <= units // 3
