"""Models as bytes: what comes back is what was kept, word by word and number by number."""

from __future__ import annotations

import io
from typing import Any

import gmpy2 as untyped
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.node.keeping import exact_bytes, exact_from, model_bytes, model_from
from mixbayes.protocol.attributes.dictionary import dictionary_from
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.log_density import FEATURES
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.paillier.key import PublicKey, SecretKey
from mixbayes.protocol.paillier.training import ExactModel, Group
from mixbayes.protocol.randomness import Randomness

gmpy2: Any = untyped  # it publishes no types
PRIMES = gmpy2.next_prime(2**200), gmpy2.next_prime(2**201)
words = st.integers(0, 2**64 - 1)
LAYOUT = Layout(
    dictionary_from(
        {
            "class_column": "class",
            "classes": ["a", "b"],
            "attributes": [
                {"name": "age", "kind": "numeric", "low": 0.0, "high": 1.0},
                {"name": "sex", "kind": "nominal", "values": ["f", "m"]},
            ],
        }
    )
)


@st.composite
def models(draw: st.DrawFn) -> Model:
    later = draw(st.integers(1, 4))
    tables = tuple(
        np.array(draw(st.lists(words, min_size=rows * later, max_size=rows * later)), np.uint64).reshape(rows, later)
        for rows in (FEATURES, 3)
    )
    prior = np.array(draw(st.lists(words, min_size=later, max_size=later)), np.uint64)
    return Model(draw(st.integers(8, 64)), prior, tables)


@given(models())
def test_share_of_a_model_comes_back_whole(model: Model) -> None:
    back = model_from(model_bytes(LAYOUT, model))
    assert back.width == model.width
    assert back.prior.dtype == np.uint64
    assert back.prior.tolist() == model.prior.tolist()
    assert [table.tolist() for table in back.tables] == [table.tolist() for table in model.tables]
    assert back.classes == model.classes


@given(models())
def test_size_of_a_share_depends_on_its_form_alone(model: Model) -> None:
    zeros = Model(model.width, np.zeros_like(model.prior), tuple(np.zeros_like(table) for table in model.tables))
    assert len(model_bytes(LAYOUT, model)) == len(model_bytes(LAYOUT, zeros))


def test_file_names_the_attributes_that_are_asked_about_by_features() -> None:
    """The first array of a kept model, as every version has written it."""
    model = Model(41, np.zeros(1, np.uint64), (np.zeros((FEATURES, 1), np.uint64), np.zeros((3, 1), np.uint64)))
    with np.load(io.BytesIO(model_bytes(LAYOUT, model)), allow_pickle=False) as arrays:
        assert arrays["arr_0"].tolist() == [41, 0]


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
