import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.circuits.bounded import Cut, cut_small, times, widened
from mixbayes.protocol.computing_party import ComputingParty
from tests.protocol.pairs import SEEDS, additive, both, integers, opened, shared_pair, words_of

Small = tuple[int, list[int]]


@st.composite
def small(draw: st.DrawFn, most: int) -> Small:
    """A width, and words below half of its ring: the borders too."""
    width = draw(st.integers(2, most))
    half = 2 ** (width - 1)
    return width, draw(st.lists(st.one_of(st.integers(0, half - 1), st.sampled_from([0, half - 1])), min_size=2))


def shares_of(words: list[int], width: int, number: int) -> tuple[Words, Words]:
    """Additive shares, those of the first two words zero at one party."""
    of_a, of_b = additive(words_of(words, width), width, number)
    whole = words_of(words, width)
    of_a[..., 0], of_b[..., 0] = whole[..., 0], 0
    of_a[..., 1], of_b[..., 1] = 0, whole[..., 1]
    return of_a, of_b


@given(small(64), st.integers(0, 62), SEEDS)
@settings(max_examples=60)
def test_a_small_word_is_cut_by_the_top_bits_of_its_shares(example: Small, drop: int, number: int) -> None:
    width, words = example
    drop = min(drop, width - 1)
    of_a, of_b = shares_of(words, width, number)
    a, b = both(cut_small, (of_a, width, drop), (of_b, width, drop))
    carries = opened((a.carry, b.carry))
    whole = [x + y - (c << width - drop) for x, y, c in zip(a.low.tolist(), b.low.tolist(), carries, strict=True)]
    assert all(word >> drop in (number, number + 1) for word, number in zip(words, whole, strict=True))
    assert drop or whole == words


@given(small(200), st.integers(0, 150), st.integers(1, 260), SEEDS)
@settings(max_examples=60)
def test_a_small_word_comes_into_any_other_ring(example: Small, drop: int, wider: int, number: int) -> None:
    width, words = example
    drop = min(drop, width - 1)
    of_a, of_b = shares_of(words, width, number)
    found = [integers(share, wider) for share in both(widened, (of_a, width, wider, drop), (of_b, width, wider, drop))]
    sums = [(a + b) % 2**wider for a, b in zip(*found, strict=True)]
    shifted = [word >> drop for word in words]
    assert all(total in (one % 2**wider, (one - 1) % 2**wider) for total, one in zip(sums, shifted, strict=True))
    assert drop or sums == [word % 2**wider for word in words]


def test_rows_are_widened_alike() -> None:
    words = words_of([5, 2**62, 0, 2**63 - 1, 9, 1])
    of_a, of_b = (share.reshape(2, 3) for share in additive(words, 64, 3))
    a, b = both(widened, (of_a, 64, 100), (of_b, 64, 100))
    assert a.shape == (2, 2, 3)
    sums = zip(integers(a.reshape(2, -1), 100), integers(b.reshape(2, -1), 100), strict=True)
    assert [(x + y) % 2**100 for x, y in sums] == words.tolist()


@given(small(64), st.integers(1, 150), SEEDS)
@settings(max_examples=60)
def test_several_words_are_multiplied_in_one_round(example: Small, wide: int, number: int) -> None:
    """In rings that are narrower than the number too, and each word of a column by the same number."""
    width, words = example
    rng = np.random.default_rng(number)
    factors = [int.from_bytes(rng.bytes(20), "little") % 2**wide for _ in range(3 * len(words))]
    of_a, of_b = shares_of(words, width, number)
    rows = [share.reshape(*share.shape[:-1], 3, -1) for share in additive(words_of(factors, wide), wide, number)]

    def step(me: ComputingParty, word: Words, row: Words) -> tuple[Words, int]:
        parts: Cut = cut_small(me, word, width)
        before = me.channel.traffic.rounds
        return times(me, parts, row, wide), me.channel.traffic.rounds - before

    (a, rounds), (b, _) = both(step, (of_a, rows[0]), (of_b, rows[1]))
    found = [integers(share.reshape(*share.shape[:-2], -1), wide) for share in (a, b)]
    assert [(x + y) % 2**wide for x, y in zip(*found, strict=True)] == [
        word * factor % 2**wide for word, factor in zip(words * 3, factors, strict=True)
    ]
    assert rounds == 1


def test_one_round_for_a_cut_and_one_to_widen() -> None:
    traffic = shared_pair().talk.first.traffic
    before = traffic.rounds
    both(cut_small, (np.zeros(3, np.uint64), 60))
    both(widened, (np.zeros(3, np.uint64), 60, 90))
    assert traffic.rounds - before == 2
