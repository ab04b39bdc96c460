"""The model of the Paillier protocol as bytes: what comes back is what was kept, number by number."""

from __future__ import annotations

import json
from typing import Any

import gmpy2 as untyped
import numpy as np
import pytest

from mixbayes.parties.alone.engine import exact_bytes, exact_from
from mixbayes.protocol.paillier.key import PublicKey, SecretKey
from mixbayes.protocol.paillier.training import ExactModel, Group
from mixbayes.protocol.randomness import Randomness
from mixbayes.transport.errors import RoundOver

gmpy2: Any = untyped  # it publishes no types
PRIMES = gmpy2.next_prime(2**200), gmpy2.next_prime(2**201)


def exact_model(modulus: int, small: bool) -> ExactModel:
    numbers = np.array([[gmpy2.mpz(i * 10**90 + 7 * j) % modulus for j in range(2)] for i in range(3)], object)
    return ExactModel(Group(modulus, 120, 401, small), numbers[0], (numbers, numbers[:2]), np.array([0, 1], np.uint8))


@pytest.mark.parametrize("secret", [True, False], ids=["with the key", "with its public part"])
@pytest.mark.parametrize("small", [True, False])
def test_factors_of_any_length_come_back_with_their_key(secret: bool, small: bool) -> None:
    whole = SecretKey(*PRIMES)
    key: SecretKey | PublicKey = whole if secret else whole.public
    model = exact_model(whole.public.modulus, small)
    back_key, back = exact_from(exact_bytes(key, model))
    assert type(back_key) is type(key)
    public = back_key.public if isinstance(back_key, SecretKey) else back_key
    assert public.modulus == whole.public.modulus
    assert back.group == model.group
    assert back.start.tolist() == model.start.tolist()
    assert [table.tolist() for table in back.tables] == [table.tolist() for table in model.tables]
    assert back.empty.tolist() == [0, 1]
    assert all(isinstance(number, type(gmpy2.mpz())) for number in back.start)


def test_kept_key_still_decrypts() -> None:
    key = SecretKey(*PRIMES)
    back, _ = exact_from(exact_bytes(key, exact_model(key.public.modulus, True)))
    assert isinstance(back, SecretKey)
    assert back.decrypt(key.obfuscator(Randomness(bytes(32)))) == 0


def test_public_part_of_a_kept_key_tells_no_prime() -> None:
    key = SecretKey(*PRIMES)
    assert str(PRIMES[0]).encode() not in exact_bytes(key.public, exact_model(key.public.modulus, True))


@pytest.mark.parametrize("secret", [True, False], ids=["with the key", "with its public part"])
def test_a_model_under_a_key_that_was_not_proven_answers_nothing(secret: bool) -> None:
    key = SecretKey(*PRIMES)
    kept = json.loads(exact_bytes(key if secret else key.public, exact_model(key.public.modulus, True)))
    del kept["fits"]
    with pytest.raises(RoundOver, match=r"round close.*round new"):
        exact_from(json.dumps(kept).encode())
