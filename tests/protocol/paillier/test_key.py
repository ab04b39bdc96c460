import pickle
from collections import Counter
from functools import lru_cache
from math import gcd

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phe import paillier

from mixbayes.protocol.errors import LocalError, OutOfRange, PoolExhausted, Unsupported, WrongLength
from mixbayes.protocol.paillier.key import (
    SecretKey,
    below,
    fresh,
    from_bytes,
    generate,
    inverse,
    obfuscators,
    prime_above,
    receive_ciphertexts,
    send_ciphertexts,
    to_bytes,
    unit,
    unit_or_one,
)
from tests.protocol.pairs import SEEDS, Ends, random_for


@lru_cache
def small_key(bits: int, number: int = 1) -> SecretKey:
    """For tests alone: the package's own path to a key refuses such lengths."""
    random, half = random_for(1000 * number + bits), bits // 2
    while True:
        p, q = (prime_above(3 << half - 2 | below(random, 1 << half - 2)) for _ in "pq")
        if p != q and (p * q).bit_length() == bits:
            return SecretKey(p, q)


def randomness_of(key: SecretKey, ciphertext: int) -> int:
    """The r of a ciphertext, which only the key's owner can tell."""
    p, q = key.__reduce__()[1]
    n = p * q
    return pow(ciphertext % n, inverse(n, (p - 1) * (q - 1)), n)


BITS = st.sampled_from([64, 130, 256])


@given(BITS, SEEDS, st.integers(0, 2**300), st.integers(0, 2**300), st.integers(0, 2**300))
def test_arithmetic_under_encryption_is_arithmetic(bits: int, number: int, x: int, y: int, w: int) -> None:
    key, random = small_key(bits), random_for(number)
    public, n = key.public, key.public.modulus
    a, b = (public.encrypt(m, key.obfuscator(random)) for m in (x, y))
    assert key.decrypt(a) == x % n
    assert key.decrypt(public.added(a, w)) == (x + w) % n
    assert key.decrypt(public.total([a, b])) == (x + y) % n
    assert key.decrypt(public.weighted([a, b], [w, y])) == (x * w + y * y) % n


@given(st.lists(st.integers(0, 2**30 - 1), min_size=1, max_size=4))
def test_packed_numbers_lie_in_slots(numbers: list[int]) -> None:
    key, random = small_key(130), random_for(1)
    packed = key.public.packed([key.public.encrypt(m, key.obfuscator(random)) for m in numbers], 30)
    assert key.decrypt(packed) == sum(m << 30 * slot for slot, m in enumerate(numbers))


def test_phe_and_this_module_read_each_other() -> None:
    key = generate(2048)
    assert key.public.bits == 2048
    p, q = key.__reduce__()[1]
    public = paillier.PaillierPublicKey(int(key.public.modulus))
    private = paillier.PaillierPrivateKey(public, int(p), int(q))
    number = below(random_for(1), key.public.modulus)
    assert key.decrypt(public.raw_encrypt(int(number))) == number
    for ours in (key, key.public):
        assert private.raw_decrypt(int(key.public.encrypt(number, ours.obfuscator(random_for(2))))) == number


@pytest.mark.parametrize("bits", [512, 1024, 2047])
def test_short_keys_are_refused(bits: int) -> None:
    with pytest.raises(Unsupported, match=f"{bits} bits is too short: at least 2048"):
        generate(bits)


@pytest.mark.parametrize("owner", [False, True])
def test_obfuscators_are_uniform_n_th_powers(owner: bool) -> None:
    """With 120 of them, each is drawn 100 times or so, by the owner's shortcut as by the definition."""
    key = SecretKey(11, 13)
    stream = obfuscators(key if owner else key.public, random_for(1))
    seen = Counter(int(next(stream)) for _ in range(12000))
    powers = {pow(r, 143, 143**2) for r in range(143) if gcd(r, 143) == 1}
    assert set(seen) == powers
    chi_square = sum((count - 100) ** 2 / 100 for count in seen.values())
    assert chi_square < 119 + 6 * (2 * 119) ** 0.5


def test_primes_that_make_no_key_are_refused() -> None:
    for p, q in [(7, 7), (3, 7)]:
        with pytest.raises(LocalError):
            SecretKey(p, q)


def test_the_secret_does_not_print_but_travels_to_own_processes() -> None:
    key = small_key(256)
    p, q = key.__reduce__()[1]
    assert str(p) not in f"{key!r} {key}"
    assert str(q) not in f"{key!r} {key}"
    again = pickle.loads(pickle.dumps(key))
    assert again.decrypt(key.public.encrypt(5, key.obfuscator(random_for(1)))) == 5
    assert pickle.loads(pickle.dumps(key.public)) == key.public


def test_what_is_used_up_says_so() -> None:
    stream = iter([7])
    assert fresh(stream) == 7
    with pytest.raises(PoolExhausted):
        fresh(stream)


def test_ciphertexts_arrive_and_what_is_none_is_refused() -> None:
    key, random = small_key(256), random_for(1)
    public = key.public
    p = key.__reduce__()[1][0]
    good = [public.encrypt(m, public.obfuscator(random)) for m in (1, 2)]
    for bad in (0, public.square, public.square + 1, p, 5 * p * p, public.modulus):
        ends = Ends()
        send_ciphertexts(ends.first, "step", public, good)
        ends.first.send("step", to_bytes([good[0], bad], public.ciphertext_bytes))
        assert receive_ciphertexts(ends.second, "step", public, 2) == good
        with pytest.raises(OutOfRange, match=r"party A, at step"):
            receive_ciphertexts(ends.second, "step", public, 2)


def test_a_ciphertext_less_is_refused() -> None:
    ends, public = Ends(), small_key(256).public
    send_ciphertexts(ends.first, "step", public, [public.obfuscator(random_for(1))])
    with pytest.raises(WrongLength):
        receive_ciphertexts(ends.second, "step", public, 2)


@given(BITS, SEEDS)
def test_the_owner_takes_roots(bits: int, number: int) -> None:
    key = small_key(bits)
    n = key.public.modulus
    drawn = unit(random_for(number), n)
    assert pow(key.root(drawn), n, n) == drawn


@given(st.integers(0, 300))
def test_what_is_no_unit_becomes_one(number: int) -> None:
    assert unit_or_one(number, 15) == (number % 15 if gcd(number, 15) == 1 else 1)


@given(st.integers(1, 2**200), SEEDS)
def test_draws_stay_below_their_bound(bound: int, number: int) -> None:
    random = random_for(number)
    assert all(0 <= below(random, bound) < bound for _ in range(5))


@given(st.integers(2, 2**80), SEEDS)
@settings(max_examples=50)
def test_units_have_inverses(modulus: int, number: int) -> None:
    drawn = unit(random_for(number), modulus)
    assert drawn * inverse(drawn, modulus) % modulus == 1 % modulus


@given(st.lists(st.integers(0, 2**100 - 1)))
def test_numbers_travel(numbers: list[int]) -> None:
    raw = to_bytes(numbers, 13)
    assert raw.dtype == np.uint8
    assert from_bytes(raw, 13) == numbers
