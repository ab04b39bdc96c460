"""The seal on what a node keeps."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.node.disk.sealing import NONCE_BYTES, TAG_BYTES, Seal, fingerprint, place
from mixbayes.transport.errors import BadState

KEY = bytes(range(32))
OTHER_KEY = bytes(32)
PLACE = place("contribution", "share", "north", 3)

keys = st.binary(min_size=32, max_size=32)


@given(keys, st.binary(max_size=300), st.text(max_size=50))
def test_what_was_closed_opens_at_its_place(key: bytes, plain: bytes, where: str) -> None:
    sealed = Seal(key).close(plain, where)
    assert len(sealed) == NONCE_BYTES + len(plain) + TAG_BYTES
    assert Seal(key).open(sealed, where) == plain


@given(st.binary(max_size=60), st.data())
def test_any_changed_bit_is_noticed(plain: bytes, data: st.DataObject) -> None:
    sealed = bytearray(Seal(KEY).close(plain, PLACE))
    bit = data.draw(st.integers(0, 8 * len(sealed) - 1))
    sealed[bit // 8] ^= 1 << bit % 8
    with pytest.raises(BadState):
        Seal(KEY).open(bytes(sealed), PLACE)


@given(st.binary(max_size=60), st.data())
def test_any_lost_end_is_noticed(plain: bytes, data: st.DataObject) -> None:
    sealed = Seal(KEY).close(plain, PLACE)
    kept = data.draw(st.integers(0, len(sealed) - 1))
    with pytest.raises(BadState):
        Seal(KEY).open(sealed[:kept], PLACE)


@given(st.text(max_size=20), st.text(max_size=20))
def test_a_value_opens_at_no_other_place(here: str, there: str) -> None:
    sealed = Seal(KEY).close(b"share", place("contribution", "share", here))
    if here != there:
        with pytest.raises(BadState):
            Seal(KEY).open(sealed, place("contribution", "share", there))


def test_another_key_does_not_open_and_the_error_names_the_place_alone() -> None:
    sealed = Seal(OTHER_KEY).close(b"a secret", PLACE)
    with pytest.raises(BadState) as caught:
        Seal(KEY).open(sealed, PLACE)
    assert 'contribution.share["north", 3]' in str(caught.value)
    assert "empty one" in str(caught.value)
    assert caught.value.code == "E121"
    assert not any(text in str(caught.value) for text in ("secret", sealed.hex(), KEY.hex()))


def test_the_same_value_is_never_closed_alike() -> None:
    assert len({Seal(KEY).close(b"", PLACE) for _ in range(100)}) == 100


names = st.text(max_size=5)


@given(st.lists(names | st.integers()), st.lists(names | st.integers()))
def test_places_differ_when_their_rows_do(one: list[str | int], other: list[str | int]) -> None:
    assert (place("t", "c", *one) == place("t", "c", *other)) == (one == other)


@given(keys, keys)
def test_a_fingerprint_tells_keys_apart_and_shows_none(one: bytes, other: bytes) -> None:
    assert (fingerprint(one) == fingerprint(other)) == (one == other)
    assert Seal(one).fingerprint == fingerprint(one)
    assert fingerprint(one) not in one.hex()


def test_the_sealing_key_is_not_the_state_key() -> None:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    sealed = Seal(KEY).close(b"share", PLACE)
    with pytest.raises(InvalidTag):
        AESGCM(KEY).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], PLACE.encode())


@pytest.mark.parametrize("length", [0, 16, 31, 33])
def test_a_key_of_another_length_is_a_mistake(length: int) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        Seal(bytes(length))


def test_a_seal_shows_nothing_and_stays_where_it_is() -> None:
    seal = Seal(KEY)
    assert repr(seal) == str(seal) == "Seal()"
    assert KEY not in vars(seal).values()
    for leave in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError):
            leave(seal)
