import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.shares import expand, split
from tests.protocol.adversary import LAYOUT, counts_of
from tests.protocol.pairs import SEEDS, random_for, seed, words_below, words_of
from tests.protocol.views import RUNS, as_bits, tells_nothing

vectors = st.lists(words_below(64), max_size=40)


def test_expansion_of_the_zero_seed_is_the_known_answer() -> None:
    assert [f"{word:016x}" for word in expand(bytes(32), 2)] == ["898940a278c095dc", "8720849214a248ad"]


@given(vectors, SEEDS)
def test_shares_add_up_to_the_vector(vector: list[int], number: int) -> None:
    share = split(words_of(vector), seed(number))
    both = zip(share.for_a().tolist(), share.for_b().tolist(), strict=True)
    assert [(a + b) % 2**64 for a, b in both] == vector


@given(st.lists(st.tuples(words_below(64), words_below(64), words_below(64)), min_size=1), SEEDS)
def test_sums_of_shares_are_shares_of_the_sums(cells: list[tuple[int, int, int]], number: int) -> None:
    hospitals = np.array(cells, np.uint64).T
    shares = [split(vector, seed(number + i)) for i, vector in enumerate(hospitals)]
    of_a = np.array([share.for_a() for share in shares]).sum(axis=0)
    of_b = np.array([share.for_b() for share in shares]).sum(axis=0)
    assert (of_a + of_b).tolist() == [sum(cell) % 2**64 for cell in cells]


@given(vectors, vectors, SEEDS)
def test_share_of_a_depends_on_the_seed_and_the_size_alone(one: list[int], other: list[int], number: int) -> None:
    size = min(len(one), len(other))
    of_one = split(words_of(one[:size]), seed(number)).for_a()
    of_other = split(words_of(other[:size]), seed(number)).for_a()
    assert of_one.tolist() == of_other.tolist() == expand(seed(number), size).tolist()


def test_share_of_zeros_is_not_zeros() -> None:
    share = split(np.zeros(100, np.uint64), seed(1))
    assert np.unique(np.concatenate([share.for_a(), share.for_b()])).size == 200


def test_it_shows_neither_half() -> None:
    share = split(words_of([123456789]), b"secret seed".ljust(32))
    assert "secret" not in repr(share)
    assert str(share.masked[0]) not in repr(share)


def test_what_each_mixer_gets_is_uniform_whatever_was_counted() -> None:
    """Mixer a the seed, mixer b the masked words: of hospitals without patients, and of others with many."""
    vectors = np.zeros(LAYOUT.size, np.uint64), counts_of(LAYOUT, 200, 8)
    shares = [
        [split(vector, random_for(100 * at + run).bytes(32)) for run in range(RUNS)]
        for at, vector in enumerate(vectors)
    ]
    tells_nothing([np.stack([as_bits(np.frombuffer(one.seed, np.uint8)) for one in some]) for some in shares], 0)
    tells_nothing([np.stack([as_bits(one.masked) for one in some]) for some in shares], 0)
