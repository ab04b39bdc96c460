"""The bytes of a contribution: what goes in comes out, and whatever else comes in blames who sent it."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.errors import OutOfRange, PeerError, WrongLength
from mixbayes.protocol.randomness import SEED_BYTES
from mixbayes.transport.contribution import DIGEST_BYTES, ID_BYTES, Contribution, decode, encode, encoded_size
from mixbayes.wire.v1 import contribution_pb2 as wire

CELLS = 5
PEER = "party va"

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
rounds = st.integers(0, 2**32 - 1)
seeds = st.binary(min_size=SEED_BYTES, max_size=SEED_BYTES)
cells = st.lists(st.integers(0, 2**64 - 1), min_size=CELLS, max_size=CELLS)
words = cells.map(lambda values: np.array(values, np.uint64))
contributions = st.builds(
    Contribution,
    st.binary(min_size=DIGEST_BYTES, max_size=DIGEST_BYTES),
    rounds,
    names,
    st.binary(min_size=ID_BYTES, max_size=ID_BYTES),
    st.one_of(seeds, words),
)


def fields_of(contribution: Contribution) -> list[object]:
    """Its fields, the words of its share as a list."""
    share = contribution.share if isinstance(contribution.share, bytes) else contribution.share.tolist()
    return [contribution.digest, contribution.round, contribution.hospital, contribution.id, share]


def message(**changes: bytes) -> bytes:
    """A message whose share is a seed, right but for these fields."""
    raw = wire.Contribution(federation_digest=bytes(DIGEST_BYTES), round=1, hospital="va", id=bytes(ID_BYTES))
    for name, value in ({"seed": bytes(SEED_BYTES)} | changes).items():
        setattr(raw, name, value)
    return raw.SerializeToString()


@given(contributions)
def test_what_is_encoded_comes_back(contribution: Contribution) -> None:
    assert fields_of(decode(encode(contribution), PEER, CELLS)) == fields_of(contribution)


@given(contributions)
def test_size_follows_from_what_is_public(contribution: Contribution) -> None:
    cells = None if isinstance(contribution.share, bytes) else CELLS
    assert len(encode(contribution)) == encoded_size(contribution.hospital, contribution.round, cells)


@given(contributions)
def test_one_contribution_is_one_message(contribution: Contribution) -> None:
    again = dataclasses.replace(contribution)
    assert encode(contribution) == encode(again)


@given(contributions, st.data())
def test_truncation_is_refused(contribution: Contribution, data: st.DataObject) -> None:
    raw = encode(contribution)
    kept = data.draw(st.integers(0, len(raw) - 1))
    with pytest.raises(PeerError, match=PEER):
        decode(raw[:kept], PEER, CELLS)


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        (message(federation_digest=bytes(31)), "its digest has 31 bytes instead of 32"),
        (message(federation_digest=b""), "its digest has 0 bytes instead of 32"),
        (message(id=bytes(17)), "its id has 17 bytes instead of 16"),
        (message(seed=bytes(33)), "its seed has 33 bytes instead of 32"),
        (message(words=bytes(8 * CELLS - 1)), "its share has 39 bytes instead of 40"),
        (message(words=bytes(8 * CELLS + 8)), "its share has 48 bytes instead of 40"),
        (message(words=b""), "its share has 0 bytes instead of 40"),
        (message()[: -SEED_BYTES - 2], "it carries no share"),
    ],
    ids=["short digest", "no digest", "long id", "long seed", "odd words", "too many words", "no words", "no share"],
)
def test_field_of_another_size_is_refused(raw: bytes, complaint: str) -> None:
    with pytest.raises(WrongLength, match=f"{PEER}, at contribution: {complaint}"):
        decode(raw, PEER, CELLS)


@pytest.mark.parametrize("more", [b"\x78\x05", b"\x10\x01", b"\x7a\x00"], ids=["unknown", "round again", "empty"])
def test_another_form_of_the_same_contribution_is_refused(more: bytes) -> None:
    """Whatever ends in bytes that pass for a field of their own."""
    assert decode(message(), PEER, CELLS)
    with pytest.raises(OutOfRange, match="written in another way"):
        decode(message() + more, PEER, CELLS)


def test_name_that_is_no_text_is_refused() -> None:
    raw = message().replace(b"va", b"\xff\xfe")
    with pytest.raises(OutOfRange, match="cannot be read"):
        decode(raw, PEER, CELLS)


def test_words_are_little_endian() -> None:
    raw = encode(Contribution(bytes(DIGEST_BYTES), 1, "va", bytes(ID_BYTES), np.array([1, 2**56], np.uint64)))
    assert raw.endswith(bytes([1, *bytes(7), *bytes(7), 1]))


def test_it_shows_nothing_of_its_share() -> None:
    contribution = Contribution(bytes(DIGEST_BYTES), 1, "va", bytes(ID_BYTES), b"secret seed".ljust(SEED_BYTES))
    assert "secret" not in repr(contribution)
