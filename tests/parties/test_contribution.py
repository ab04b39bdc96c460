"""What a hospital sends: two messages that add up to its counts, each of which is noise."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.parties.contribution import contribute, messages
from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.shares import expand
from mixbayes.transport.contribution import STEP, Contribution, decode, encoded_size

DIGEST = bytes(range(32)).hex()

vectors = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=30).map(lambda cells: np.array(cells, np.uint64))
seeds = st.binary(min_size=32, max_size=32)


def both(vector: Words, seed: bytes = bytes(32), hospital: str = "va", number: int = 1) -> list[Contribution]:
    """What mixer a and mixer b read of one contribution."""
    raws = messages(hospital, DIGEST, number, vector, Randomness(seed))
    return [decode(raw, "party va", vector.size) for raw in raws]


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
def test_both_messages_say_who_when_and_under_which_dictionary(
    vector: Words, seed: bytes, hospital: str, number: int
) -> None:
    to_a, to_b = both(vector, seed, hospital, number)
    for contribution in (to_a, to_b):
        assert (contribution.hospital, contribution.round, contribution.digest.hex()) == (hospital, number, DIGEST)
    assert to_a.id == to_b.id


@given(vectors, vectors, seeds)
def test_message_to_a_and_both_sizes_do_not_depend_on_the_counts(one: Words, other: Words, seed: bytes) -> None:
    size = min(one.size, other.size)
    of_one, of_other = (messages("va", DIGEST, 1, vector[:size], Randomness(seed)) for vector in (one, other))
    assert of_one[0] == of_other[0]
    assert [len(raw) for raw in of_one] == [encoded_size("va", 1, None), encoded_size("va", 1, size)]
    assert len(of_one[1]) == len(of_other[1])


def test_every_contribution_has_its_own_seed_and_id() -> None:
    vector, random = np.arange(8, dtype=np.uint64), Randomness(bytes(32))
    sent = [[decode(raw, "party va", 8) for raw in messages("va", DIGEST, 1, vector, random)] for _ in range(20)]
    assert len({to_a.id for to_a, _ in sent}) == 20
    assert len({str(to_a.share) for to_a, _ in sent}) == 20
    assert len({str(to_b.share) for _, to_b in sent}) == 20


def test_share_of_b_is_masked_in_every_cell() -> None:
    zeros = np.zeros(1000, np.uint64)
    of_a, of_b = shares(both(zeros), 1000)
    assert np.unique(np.concatenate([of_a, of_b])).size == 2000


def test_each_mixer_gets_its_own_message() -> None:
    to_a, at_a = memory.channels("party va", "mixer a")
    to_b, at_b = memory.channels("party va", "mixer b")
    contribute((to_a, to_b), (b"for a", b"for mixer b"))
    assert at_a.receive(STEP, 5).tobytes() == b"for a"
    assert at_b.receive(STEP, 11).tobytes() == b"for mixer b"
