"""What a hospital sends: two messages that add up to its counts, each of which is noise."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.parties.with_mixers.contributing import Messages, messages
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.shares import expand
from mixbayes.transport.contribution import Contribution, decode, encoded_size

DIGEST = bytes(range(32)).hex()

vectors = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=30).map(lambda cells: np.array(cells, np.uint64))
seeds = st.binary(min_size=32, max_size=32)


def both(vector: Words, seed: bytes = bytes(32), hospital: str = "va", number: int = 1) -> list[Contribution]:
    """What mixer a and mixer b read of one contribution."""
    made = messages(hospital, DIGEST, number, vector, Randomness(seed))
    return [decode(raw, "party va", vector.size) for raw in (made.to_a, made.to_b)]


def shares(contributions: list[Contribution], cells: int) -> tuple[Words, Words]:
    of_a, of_b = (contribution.share for contribution in contributions)
    assert isinstance(of_a, bytes)
    assert not isinstance(of_b, bytes)
    return expand(of_a, cells), of_b


@given(vectors, seeds)
def test_both_shares_together_are_the_counts(vector: Words, seed: bytes) -> None:
    of_a, of_b = shares(both(vector, seed), vector.size)
    assert (of_a + of_b).tolist() == vector.tolist()


@given(vectors, seeds, st.text(st.characters(exclude_categories=["Cs"]), max_size=10), st.integers(0, 2**32 - 1))
def test_both_messages_say_who_when_and_under_which_agreement(
    vector: Words, seed: bytes, hospital: str, number: int
) -> None:
    made = messages(hospital, DIGEST, number, vector, Randomness(seed))
    for raw in (made.to_a, made.to_b):
        contribution = decode(raw, "party va", vector.size)
        assert (contribution.hospital, contribution.round, contribution.digest.hex()) == (hospital, number, DIGEST)
        assert contribution.id == made.id


@given(vectors, vectors, seeds)
def test_message_to_a_and_both_sizes_do_not_depend_on_the_counts(one: Words, other: Words, seed: bytes) -> None:
    size = min(one.size, other.size)
    of_one, of_other = (messages("va", DIGEST, 1, vector[:size], Randomness(seed)) for vector in (one, other))
    assert of_one.to_a == of_other.to_a
    assert [len(of_one.to_a), len(of_one.to_b)] == [encoded_size("va", 1, None), encoded_size("va", 1, size)]
    assert len(of_one.to_b) == len(of_other.to_b)


def test_every_contribution_has_its_own_seed_and_id() -> None:
    vector, random = np.arange(8, dtype=np.uint64), Randomness(bytes(32))
    sent = [messages("va", DIGEST, 1, vector, random) for _ in range(20)]
    read = [[decode(raw, "party va", 8) for raw in (made.to_a, made.to_b)] for made in sent]
    assert len({to_a.id for to_a, _ in read}) == 20
    assert len({str(to_a.share) for to_a, _ in read}) == 20
    assert len({str(to_b.share) for _, to_b in read}) == 20


def test_share_of_b_is_masked_in_every_cell() -> None:
    zeros = np.zeros(1000, np.uint64)
    of_a, of_b = shares(both(zeros), 1000)
    assert np.unique(np.concatenate([of_a, of_b])).size == 2000


def test_messages_show_neither_seed_nor_share() -> None:
    shown = repr(Messages(b"an id", b"the seed", b"the share"))
    assert "seed" not in shown
    assert "share" not in shown
