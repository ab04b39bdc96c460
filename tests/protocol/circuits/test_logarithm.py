from fractions import Fraction
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Words, mask
from mixbayes.protocol.circuits.logarithm import (
    ERROR,
    FRACTION,
    INDEX,
    PLACE,
    fixed_log2,
    shared_log2,
)
from tests.protocol.pairs import SEEDS, added, additive, both, opened, random_for, shared_pair, words_of

NEAR = np.arange(-300, 301)


def assert_close(x: Words) -> None:
    fixed = fixed_log2(x).astype(np.float64) / 2**FRACTION
    errors = np.abs(fixed - np.log2(x.astype(np.float64)))
    assert errors.max() < min(ERROR, 1e-9)


def assert_shared(x: Words, bits: int, width: int, number: int) -> None:
    of_a, of_b = additive(x, 64, number)
    (log_a, some_a), (log_b, some_b) = both(shared_log2, (of_a, bits, width), (of_b, bits, width))
    assert max(int(log_a.max()), int(log_b.max())) < 1 << width
    assert added((log_a, log_b), width) == (fixed_log2(x) & mask(width)).tolist()
    assert opened((some_a, some_b)) == [int(word > 0) for word in x.tolist()]


def test_every_count_up_to_a_million() -> None:
    assert_close(np.arange(1, 2**20 + 1, dtype=np.uint64))


@pytest.mark.parametrize("power", range(20, 53))
def test_counts_around_every_power_of_two(power: int) -> None:
    assert_close((2**power + NEAR[NEAR + 2**power < 2**53]).astype(np.uint64))


def test_ends_and_middle_of_every_interval() -> None:
    """Where the fit is worst, and where the table passes from one row to the next."""
    steps = np.concatenate([np.linspace(0, 2**PLACE - 1, 33, dtype=np.int64), [1, 2**11 - 1, 2**11]])
    for power in (40, 52):
        start = 2**power + np.arange(2**INDEX)[:, None] * 2 ** (power - INDEX)
        assert_close((start + (steps << (power - INDEX - PLACE))).reshape(-1).astype(np.uint64))


def test_large_counts_at_random() -> None:
    for power in range(20, 53):
        assert_close((random_for(power).words(5000) & mask(power)) | np.uint64(1 << power))


def test_numpy_s_logarithm_is_as_close_as_these_tests_need() -> None:
    """Against the logarithm of the mantissa alone, which loses no bits to the exponent."""
    for x in (3, 1000003, 2**40 - 1, 2**52 + 1):
        nearest = float(np.log2(np.float64(x)))
        whole = int(nearest)
        assert abs(log2(Fraction(x, 2**whole)) - (nearest - whole)) < 2.0**-46


def test_no_count_has_the_logarithm_zero() -> None:
    assert fixed_log2(words_of([0, 1])).tolist() == [0, 0]


@given(st.integers(1, 52), st.sampled_from([40, 46, 63, 64]), st.data(), SEEDS)
@settings(max_examples=60)
def test_shared_logarithm_is_the_fixed_one(bits: int, width: int, data: st.DataObject, number: int) -> None:
    counts = st.one_of(st.integers(0, 2**bits - 1), st.integers(0, min(9, 2**bits - 1)))
    assert_shared(words_of(data.draw(st.lists(counts, min_size=1, max_size=7))), bits, width, number)


@pytest.mark.parametrize("bits", range(1, 53))
def test_shared_logarithm_at_every_power_of_two(bits: int) -> None:
    counts = {0, *(1 << i for i in range(bits)), *((2 << i) - 1 for i in range(bits)), 2**bits - 2}
    assert_shared(words_of(sorted(counts - {-1})), bits, 46, bits)


def test_shared_logarithm_of_many_counts() -> None:
    x = np.concatenate([np.arange(600, dtype=np.uint64), random_for(1).words(1401) & mask(41)])
    assert_shared(x, 41, 46, 1)


def test_shares_of_the_logarithm_at_the_borders_of_the_ring() -> None:
    """Shares of a count that wrap around, and such that do not."""
    x = words_of([0, 1, 5, 2**41 - 1] * 5)
    of_a = np.repeat(words_of([0, 1, 2**63, 2**64 - 1, 2**41]), 4)
    (log_a, _), (log_b, _) = both(shared_log2, (of_a, 41, 46), (x - of_a, 41, 46))
    assert added((log_a, log_b), 46) == fixed_log2(x).tolist()


def test_every_place_of_one_interval_on_shares() -> None:
    """The polynomial's bits one by one, in the first interval and in the last."""
    places = [1 << i for i in range(PLACE)] + [0, 2**PLACE - 1]
    rows = [(2**INDEX | row) << PLACE for row in (0, 2**INDEX - 1)]
    assert_shared(words_of([row + place for row in rows for place in places]), INDEX + PLACE + 1, 64, 1)


def test_rounds_do_not_grow_with_how_many() -> None:
    rounds = []
    for size in (1, 600, 700):
        before = shared_pair().talk.first.traffic.rounds
        both(shared_log2, (np.ones(size, np.uint64), 41, 46))
        rounds.append(shared_pair().talk.first.traffic.rounds - before)
    assert rounds[0] <= rounds[1] == rounds[2] < 45


@pytest.mark.parametrize(("bits", "most"), [(12, 680), (22, 1170), (52, 1900)])
def test_bytes_of_a_logarithm(bits: int, most: int) -> None:
    """Of both parties together, with the transfers made. Zeros that are known take none."""
    traffic, size = shared_pair().talk.first.traffic, 800
    before = traffic.sent + traffic.received
    both(shared_log2, (np.ones(size, np.uint64), bits, 46))
    assert traffic.sent + traffic.received - before < most * size
