"""Contributions that cannot lie: every lie is refused, nothing honest is, and one bit is opened.

Whether a vector is possible is decided here by plain integers, without widths, shares or carries.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol import pool, validity
from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.bounded import Cut, cut, excess, lifted, times
from mixbayes.protocol.counts import count
from mixbayes.protocol.dictionary import MOST_CLASSES, MOST_ROWS, Attribute, Dictionary, Nominal, Numeric
from mixbayes.protocol.encoding import Codes
from mixbayes.protocol.errors import LyingHospital, PeerError, WrongLength
from mixbayes.protocol.extension import Received, Sent
from mixbayes.protocol.layout import (
    ABSENT,
    MOST_CELLS,
    NUMERIC_BITS,
    PRESENT,
    SQUARES_HIGH,
    SQUARES_LOW,
    SUM,
    Layout,
)
from mixbayes.protocol.moment_validity import Sizes
from mixbayes.protocol.party import A, B, Party
from mixbayes.protocol.pool import PairPool
from mixbayes.protocol.precision import MOST_ROWS_WITH_MOMENTS
from mixbayes.protocol.products import opened
from mixbayes.protocol.shares import split
from mixbayes.protocol.validity import honest, run_validation
from mixbayes.transport.contribution import Contribution, decode, encode
from tests.protocol.adversary import (
    TappedPair,
    bias,
    bits_heard,
    bound_together,
    dealt_receive,
    dealt_send,
    difference,
    varying,
)
from tests.protocol.pairs import (
    SEEDS,
    added,
    additive,
    both,
    integers,
    layout_of,
    random_counts,
    random_for,
    seed,
    words_below,
    words_of,
)

TOP = 1 << NUMERIC_BITS
"""The largest value of a numeric attribute."""


def mixed(max_rows: int = 1000, classes: int = 2) -> Layout:
    """Numeric and nominal attributes in turn."""
    attributes: tuple[Attribute, ...] = (
        Numeric(name="x", low=0.0, high=1.0),
        Nominal(name="y", values=("no", "yes")),
        Numeric(name="z", low=0.0, high=1.0),
    )
    names = tuple(f"class {c}" for c in range(classes))
    return Layout(Dictionary(class_column="class", classes=names, attributes=attributes, max_rows=max_rows))


NOMINAL = layout_of(3, [2, 4], max_rows=1000)
MIXED = mixed()


def table(layout: Layout, rows: int, number: int, values: tuple[int, int] = (0, TOP)) -> Words:
    """The counts of random rows, with missing cells; numeric values between the two given."""
    rng = np.random.default_rng(number)

    def column(attribute: Attribute) -> np.ndarray:
        if isinstance(attribute, Numeric):
            return np.where(rng.random(rows) < 0.2, -1, rng.integers(values[0], values[1] + 1, rows))
        return rng.integers(0, attribute.size + 1, rows)

    codes = np.array([column(attribute) for attribute in layout.dictionary.attributes]).astype(np.int32)
    return count(layout, Codes(codes, rng.integers(0, layout.classes, rows).astype(np.int32)))


def possible(layout: Layout, vector: Words) -> bool:
    """Whether some table has these counts, in Python's integers."""
    of_class = layout.class_counts(vector).tolist()
    blocks = [layout.block(vector, i).tolist() for i in range(len(layout.rows))]
    kinds = [isinstance(attribute, Numeric) for attribute in layout.dictionary.attributes]
    return sum(of_class) <= layout.dictionary.max_rows and all(
        possible_numbers(column, n) if numeric else sum(column) == n
        for block, numeric in zip(blocks, kinds, strict=True)
        for column, n in zip(zip(*block, strict=True), of_class, strict=True)
    )


def possible_numbers(column: tuple[int, ...], of_class: int) -> bool:
    n, s1, low, high, absent = column
    s2 = low + TOP * high
    return n + absent == of_class and s1 <= TOP * n and low <= (TOP - 1) * n and s2 <= TOP * s1 and s1 * s1 <= n * s2


def verdicts(layout: Layout, vectors: list[Words], number: int = 1) -> list[bool]:
    """What both mixers find."""
    shares = [split(vector, seed(1000 * number + i)) for i, vector in enumerate(vectors)]
    of_a, of_b = both(honest, (layout, [s.for_a() for s in shares]), (layout, [s.for_b() for s in shares]))
    assert of_a == of_b
    return of_a


def changed(vector: Words, changes: dict[int, int]) -> Words:
    """With so much added to cells, modulo 2^64."""
    lie = vector.copy()
    for cell, by in changes.items():
        lie[cell] = (int(lie[cell]) + by) % 2**64
    return lie


def judged_as_by_integers(layout: Layout, vectors: list[Words], number: int = 1) -> list[bool]:
    expected = [possible(layout, vector) for vector in vectors]
    assert verdicts(layout, vectors, number) == expected
    return expected


def at(layout: Layout, attribute: int, row: int, label: int = 0) -> int:
    """Where a cell stands."""
    places = np.arange(layout.size)
    return int(layout.block(places, attribute)[row, label])


# Honest vectors


def whole_in(layout: Layout, row: int, rows: int, label: int = 0) -> Words:
    """All rows in one class and, in every attribute, in one row of its block; numeric ones present only if row is 0."""
    vector = np.zeros(layout.size, np.uint64)
    layout.class_counts(vector)[label] = rows
    for i, attribute in enumerate(layout.dictionary.attributes):
        rest = (PRESENT if row == 0 else ABSENT) if isinstance(attribute, Numeric) else row
        layout.block(vector, i)[rest, label] = rows
    return vector


def with_moments(layout: Layout, n: int, s1: int, s2: int, low: int | None = None) -> Words:
    """n rows of the first class, in both numeric attributes with these moments; low and high as one value has them."""
    vector = whole_in(layout, 0, n)
    first = s2 % TOP if low is None else low
    for i in (0, 2):
        layout.block(vector, i)[[SUM, SQUARES_LOW, SQUARES_HIGH], 0] = words_of([s1, first, (s2 - first) // TOP])
    return vector


@pytest.mark.parametrize("max_rows", [1, 2, 3, 7, 8, 1000, 2**20 - 1, 2**20, 2**31, 2**39, MOST_ROWS - 1, MOST_ROWS])
def test_no_honest_extreme_is_accused(max_rows: int) -> None:
    layout = layout_of(3, [1, 4], max_rows=max_rows)
    vectors = [whole_in(layout, row, rows, label) for row in (0, 1) for rows in (0, 1, max_rows) for label in (0, 2)]
    vectors += [random_counts(layout, np.random.default_rng(i), max_rows) for i in range(5)]
    assert verdicts(layout, vectors) == [True] * len(vectors)


def test_patients_without_any_value_are_not_accused() -> None:
    missing = np.zeros(NOMINAL.size, np.uint64)
    NOMINAL.class_counts(missing)[:] = [400, 0, 600]
    for i in range(2):
        NOMINAL.block(missing, i)[-1] = [400, 0, 600]
    assert verdicts(NOMINAL, [missing]) == [True]
    assert verdicts(MIXED, [whole_in(MIXED, 2, 1000)]) == [True]


@pytest.mark.parametrize("max_rows", [1, 2, 1000, 2**20, 2**31, MOST_ROWS_WITH_MOMENTS - 1, MOST_ROWS_WITH_MOMENTS])
def test_no_extreme_of_moments_is_accused(max_rows: int) -> None:
    """Everybody at either bound, or at half of the range, or half at each; one row of every kind of value."""
    layout = mixed(max_rows)
    one_value = [(n, n * x, x) for n in (0, 1, max_rows) for x in (0, 1, TOP // 2, TOP - 1, TOP)]
    vectors = [with_moments(layout, n, s1, n * x * x, n * (x * x % TOP)) for n, s1, x in one_value]
    half = max_rows // 2
    vectors.append(with_moments(layout, max_rows, half * TOP, half * TOP * TOP, 0))
    root = 4095  # the largest value below 2^12: its square has only a low half, as large as low halves come
    vectors.append(with_moments(layout, max_rows, max_rows * root, max_rows * root**2, max_rows * root**2))
    assert verdicts(layout, vectors) == [True] * len(vectors)


@given(st.integers(0, 60), SEEDS, st.sampled_from([(0, TOP), (0, 0), (TOP, TOP), (0, 1), (TOP - 1, TOP)]))
@settings(max_examples=40)
def test_no_table_is_accused(rows: int, number: int, values: tuple[int, int]) -> None:
    layout = mixed(60)
    vectors = [table(layout, rows, number + i, values) for i in range(8)]
    assert judged_as_by_integers(layout, vectors) == [True] * 8


def test_nobody_contributed() -> None:
    assert both(honest, (NOMINAL, []), (NOMINAL, [])) == ([], [])


def test_the_largest_dictionaries_wrap_nowhere() -> None:
    """The sums that are compared modulo 2^64 are below it, and moments fit a word with a bit to spare."""
    assert MOST_CELLS * (2 ** MOST_ROWS.bit_length() - 1) < 2**64
    assert MOST_CLASSES * 2 ** MOST_ROWS.bit_length() + MOST_ROWS < 2**63
    assert Sizes(MOST_ROWS_WITH_MOMENTS).sum == 63
    for rows in (1, 2, 1000, MOST_ROWS_WITH_MOMENTS):
        sizes, n = Sizes(rows), 2 ** rows.bit_length() - 1
        largest = 2**sizes.sum - 1
        assert (1 + TOP) * largest < 2 ** (sizes.square - 1)
        assert (TOP * n) ** 2 < 2 ** (sizes.product - 1)
        assert sizes.square <= sizes.product


# Lies about counts

SMALL = table(NOMINAL, 100, 3)
NUMBERS = table(MIXED, 100, 4)


@pytest.mark.parametrize("by", [-1, -(10**6), 1, 1001, 10**6, 2**40, 2**62, 2**63, 2**64 - 101, -(2**63) + 1])
@pytest.mark.parametrize(("layout", "vector"), [(NOMINAL, SMALL), (MIXED, NUMBERS)], ids=["nominal", "mixed"])
def test_one_false_cell_is_refused(layout: Layout, vector: Words, by: int) -> None:
    small = min(by % 2**64, -by % 2**64) < 2**40
    cells = [cell for cell in range(layout.size) if not (small and cell in numbers_of(layout))]
    assert verdicts(layout, [changed(vector, {cell: by}) for cell in cells]) == [False] * len(cells)


def numbers_of(layout: Layout) -> set[int]:
    """The cells of sums, which may be a little larger or smaller in another table."""
    numeric = [i for i, attribute in enumerate(layout.dictionary.attributes) if isinstance(attribute, Numeric)]
    return {at(layout, i, row, c) for i in numeric for row in (SUM, SQUARES_LOW, SQUARES_HIGH) for c in range(2)}


@pytest.mark.parametrize(("layout", "vector"), [(NOMINAL, SMALL), (MIXED, NUMBERS)], ids=["nominal", "mixed"])
@pytest.mark.parametrize("sign", [1, -1])
def test_every_power_of_two_on_every_cell(layout: Layout, vector: Words, sign: int) -> None:
    lies = [changed(vector, {cell: sign << k}) for cell in range(layout.size) for k in range(64)]
    expected = judged_as_by_integers(layout, lies)
    counts = [cell for cell in range(layout.size) if cell not in numbers_of(layout)]
    assert not any(expected[64 * cell + k] for cell in counts for k in range(64))
    assert not any(expected[64 * cell + k] for cell in range(layout.size) for k in range(37, 64))


@pytest.mark.parametrize("k", range(64))
def test_every_power_of_two_taken_from_another_cell_of_the_same_sum(k: int) -> None:
    """The identities hold modulo 2^64; only the range is left to refuse it."""
    column = [at(NOMINAL, 1, row) for row in range(5)]
    pairs = [(one, other) for one in column for other in column if one != other]
    lies = [changed(SMALL, {one: 1 << k, other: -1 << k}) for one, other in pairs]
    expected = judged_as_by_integers(NOMINAL, lies)
    assert k < 7 or not any(expected)
    assert k > 3 or any(expected)


@pytest.mark.parametrize("k", range(64))
def test_every_power_of_two_put_wherever_the_sums_need_it(k: int) -> None:
    """More patients of a class than the federation agreed on, in every attribute alike."""
    everywhere = {0: 1 << k, at(NOMINAL, 0, 1): 1 << k, at(NOMINAL, 1, 2): 1 << k}
    between = {**everywhere, 1: -1 << k, at(NOMINAL, 0, 1, 1): -1 << k, at(NOMINAL, 1, 2, 1): -1 << k}
    expected = judged_as_by_integers(NOMINAL, [changed(SMALL, everywhere), changed(SMALL, between)])
    assert expected[0] == (k < 10)  # 100 patients, at most 1,000
    assert not expected[1] or k < 7


@pytest.mark.parametrize("k", range(58, 64))
def test_powers_of_two_that_cancel_in_several_cells(k: int) -> None:
    """Two of 2^63, four of 2^62, and so on, add up to nothing modulo 2^64."""
    layout = layout_of(2, [64], max_rows=1000)
    column = [at(layout, 0, row) for row in range(1 << (64 - k))]
    assert judged_as_by_integers(layout, [changed(table(layout, 100, 5), dict.fromkeys(column, 1 << k))]) == [False]


def test_a_cell_moved_between_classes_is_refused() -> None:
    moves = [
        {at(NOMINAL, i, row, c): -1, at(NOMINAL, i, row, (c + 1) % 3): 1}
        for i, size in enumerate(NOMINAL.rows)
        for row in range(size)
        for c in range(3)
    ]
    classes = [{c: -1, (c + 1) % 3: 1} for c in range(3)]
    assert not any(judged_as_by_integers(NOMINAL, [changed(SMALL, lie) for lie in moves + classes]))


@pytest.mark.parametrize(
    ("layout", "vector", "missing"),
    [(NOMINAL, SMALL, [(0, 2), (1, 4)]), (MIXED, NUMBERS, [(0, ABSENT), (1, 2), (2, ABSENT)])],
    ids=["nominal", "mixed"],
)
def test_a_forged_missing_cell_is_refused(layout: Layout, vector: Words, missing: list[tuple[int, int]]) -> None:
    cells = [at(layout, *place) for place in missing]
    assert vector[cells].all()
    lies = [changed(vector, {cell: by}) for cell in cells for by in (-1, 1, 5, -int(vector[cell]), 2**63)]
    assert not any(judged_as_by_integers(layout, lies))


def test_errors_that_cancel_between_attributes_or_classes_are_refused() -> None:
    """The sums of all identities, or of all cells, are right; none of them alone is."""
    cells = [at(NOMINAL, 0, 0), at(NOMINAL, 1, 0), at(NOMINAL, 0, 0, 1), at(NOMINAL, 1, 2, 2), 0, 1]
    pairs = [(one, other) for one in cells for other in cells if one != other]
    lies = [changed(SMALL, {one: by, other: -by}) for one, other in pairs for by in (1, 2**10, 2**63)]
    assert not any(judged_as_by_integers(NOMINAL, lies))


@pytest.mark.parametrize("max_rows", [1, 2, 3, 7, 8, 9, 1000, 2**40])
def test_more_rows_than_agreed_are_refused(max_rows: int) -> None:
    layout = layout_of(2, [3], max_rows=max_rows)
    spread = changed(whole_in(layout, 0, max_rows), {1: 1, at(layout, 0, 0, 1): 1})
    vectors = [whole_in(layout, 0, max_rows), whole_in(layout, 0, max_rows + 1), spread]
    assert judged_as_by_integers(layout, vectors) == [True, False, False]


def test_a_different_layout_of_the_same_size_is_refused() -> None:
    """Attributes, or rows and columns, in another order."""
    other = layout_of(3, [4, 2], max_rows=1000)
    flipped = SMALL.copy()
    for i in range(2):
        NOMINAL.block(flipped, i)[:] = NOMINAL.block(SMALL, i).reshape(3, -1).T
    turned = table(other, 100, 3)
    vectors = [turned, flipped, SMALL[::-1].copy(), np.roll(SMALL, 1)]
    assert judged_as_by_integers(NOMINAL, vectors) == [False] * 4


def test_a_different_layout_of_another_size_is_refused_on_arrival() -> None:
    message = encode(Contribution(bytes(32), 1, "va", bytes(16), np.zeros(NOMINAL.size + 1, np.uint64)))
    with pytest.raises(WrongLength, match="va"):
        decode(message, "va", NOMINAL.size)


# Lies about moments


def near_its_borders(n: int) -> list[Words]:
    """Every inequality at its border, and on both sides of it."""
    s1s = sorted({s1 for s1 in (0, 1, n * TOP // 3, n * TOP // 2, n * TOP - 1, n * TOP, n * TOP + 1) if s1 >= 0})
    return [
        with_moments(MIXED, n, s1, s2, low)
        for s1 in s1s
        for border in (-(-s1 * s1 // n) if n else 0, TOP * s1)
        for s2 in range(max(0, border - 1), border + 2)
        for low in (s2 % TOP, min(s2, (TOP - 1) * n) // TOP * TOP + s2 % TOP)
        if low <= s2
    ]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 17, 999, 1000])
def test_moments_on_both_sides_of_every_inequality(n: int) -> None:
    expected = judged_as_by_integers(MIXED, near_its_borders(n))
    assert any(expected)
    assert not all(expected)


@pytest.mark.parametrize("n", [1, 5, 1000])
def test_low_halves_are_below_their_bound(n: int) -> None:
    """The same sum of squares, with as much of it in the low halves as there can be, and with more."""
    s1, s2 = n * TOP // 2, n * TOP * TOP // 3
    most = (TOP - 1) * n - ((TOP - 1) * n - s2) % TOP
    vectors = [with_moments(MIXED, n, s1, s2, most + by * TOP) for by in (0, 1, 2, TOP // 8)]
    assert judged_as_by_integers(MIXED, vectors) == [True, False, False, False]


IMPOSSIBLE: dict[str, tuple[int, int, int]] = {
    "values beyond the bounds": (10, 10 * TOP + 1, 10 * TOP * TOP),
    "sum without rows": (0, 5, 25),
    "squares without rows": (0, 0, 7),
    "squares without a sum": (10, 0, 7),
    "squares too large": (10, 5 * TOP, 5 * TOP * TOP + 1),
    "negative variance": (10, 5 * TOP, 5 * TOP * TOP // 2 - 1),
    "no squares at all": (10, 10, 0),
}


@pytest.mark.parametrize("lie", IMPOSSIBLE)
def test_impossible_moments_are_refused(lie: str) -> None:
    assert judged_as_by_integers(MIXED, [with_moments(MIXED, *IMPOSSIBLE[lie])]) == [False]


@pytest.mark.parametrize("k", range(64))
def test_every_power_of_two_moved_between_low_and_high_halves(k: int) -> None:
    """The same sum of squares modulo 2^64, as 2^24 high halves make one low half."""
    low, high = at(MIXED, 0, SQUARES_LOW), at(MIXED, 0, SQUARES_HIGH)
    lies = [changed(NUMBERS, {low: sign << k, high: -sign * (1 << k) // TOP}) for sign in (1, -1)]
    judged_as_by_integers(MIXED, lies)


@pytest.mark.parametrize("k", range(64))
def test_every_power_of_two_moved_between_present_and_missing(k: int) -> None:
    """More values than patients, and fewer than none missing; or the other way round."""
    present, absent = at(MIXED, 0, PRESENT), at(MIXED, 0, ABSENT)
    lies = [changed(NUMBERS, {present: sign << k, absent: -sign << k}) for sign in (1, -1)]
    expected = judged_as_by_integers(MIXED, lies)
    assert k < 6 or not any(expected)


def test_moments_moved_between_classes_are_refused() -> None:
    vector = with_moments(MIXED, 10, 10 * TOP, 10 * TOP * TOP, 0)
    places = [(at(MIXED, 0, row), at(MIXED, 0, row, 1)) for row in (PRESENT, SUM, SQUARES_HIGH)]
    lies = [changed(vector, {one: -1, other: 1}) for one, other in places]
    assert judged_as_by_integers(MIXED, lies) == [False] * 3


# Any lie


@given(st.data(), st.sampled_from(["nominal", "mixed"]), st.integers(0, 1000), SEEDS)
@settings(max_examples=80)
def test_any_lie_is_judged_as_by_integers(data: st.DataObject, kind: str, rows: int, number: int) -> None:
    layout = NOMINAL if kind == "nominal" else MIXED
    vector = table(layout, rows, number)
    by = st.one_of(st.integers(-3, 3), words_below(64), st.integers(0, 63).map(lambda k: 1 << k))
    changes = st.dictionaries(st.integers(0, layout.size - 1), by, max_size=4)
    lies = [changed(vector, lie) for lie in data.draw(st.lists(changes, min_size=1, max_size=20))]
    judged_as_by_integers(layout, lies, number)


@given(st.lists(st.lists(words_below(64), min_size=13, max_size=13), min_size=1, max_size=9), SEEDS)
@settings(max_examples=30)
def test_arbitrary_words_are_judged_as_by_integers(rows: list[list[int]], number: int) -> None:
    layout = layout_of(2, [1, 1], max_rows=5)
    judged_as_by_integers(layout, [words_of(row[: layout.size]) for row in rows], number)


# Steps


@pytest.mark.parametrize("width", range(1, 64))
def test_both_hold_the_same_exactly_in_range(width: int) -> None:
    borders = [0, 1, 2**width - 1, 2**width, 2**width + 1, 2**63, 2**64 - 1, 2**64 - 2**width]
    numbers = [n % 2**64 for n in borders] + [1 << k for k in range(64)]

    def step(me: Party, share: Words) -> Words:
        return excess(me, share, cut(me, share, width))

    words = words_of(numbers)
    chosen = [np.full_like(words, n % 2**64) for n in borders]  # by a hospital that hopes for a certain carry
    for of_a in [random_for(width).words(words.size), *chosen]:
        mine, other = both(step, (of_a,), (words - of_a,))
        assert (mine == other).tolist() == [n < 2**width for n in numbers]
        assert not (mine >> np.uint64(64 - width)).any()


@given(st.integers(1, 63), st.integers(1, 140), SEEDS)
def test_a_cut_word_is_lifted_and_multiplied_in_wider_rings(width: int, more: int, number: int) -> None:
    rng, wide = np.random.default_rng(number), width + more
    numbers = [int(n) for n in rng.integers(0, 2**width, 5, dtype=np.uint64)] + [0, 2**width - 1]
    factors = [int.from_bytes(rng.bytes(wide // 8 + 1), "little") % 2**wide for _ in numbers]

    def step(me: Party, share: Words, factor: Words) -> tuple[Words, Words]:
        parts: Cut = cut(me, share, width)
        return lifted(me, parts, wide), times(me, parts, factor, wide)

    (word_a, word_b) = additive(words_of(numbers), 64, number)
    factor_a, factor_b = additive(words_of(factors, wide), wide, number + 1)
    (lift_a, times_a), (lift_b, times_b) = both(step, (word_a, factor_a), (word_b, factor_b))
    assert added((lift_a, lift_b), wide) == numbers
    assert added((times_a, times_b), wide) == [n * f % 2**wide for n, f in zip(numbers, factors, strict=True)]


def linear(words: Words, nonce: bytes) -> bytes:
    """A random linear combination modulo 2^64, in place of a digest."""
    factors = np.random.default_rng(int.from_bytes(nonce, "little")).integers(0, 2**64, words.size, dtype=np.uint64)
    return int((words * factors).sum(dtype=np.uint64)).to_bytes(16, "little")


def test_linear_combination_would_pass_two_to_the_63_half_of_the_time() -> None:
    words = random_for(1).words(20)
    lie = changed(words, {3: 2**63})
    nonces = [random_for(n).bytes(32) for n in range(200)]
    passed = sum(linear(words, nonce) == linear(lie, nonce) for nonce in nonces)
    assert 60 < passed < 140
    assert not any(validity._digest(words, nonce) == validity._digest(lie, nonce) for nonce in nonces)


def test_digest_depends_on_every_bit_of_every_word_and_on_the_nonce() -> None:
    words = np.zeros(3, np.uint64)
    lies = [changed(words, {cell: 1 << k}) for cell in range(3) for k in range(64)]
    digests = {validity._digest(words, seed(n)) for n in range(50)} | {validity._digest(lie, seed(0)) for lie in lies}
    assert len(digests) == 50 + 192
    assert {len(digest) for digest in digests} == {16}


def test_nonce_is_common_and_new_every_time() -> None:
    nonces = [both(validity._common_nonce, ()) for _ in range(3)]
    assert all(of_a == of_b for of_a, of_b in nonces)
    assert len({of_a for of_a, _ in nonces}) == 3


@pytest.mark.parametrize("bit", range(128))
def test_every_bit_of_the_digests_is_compared(bit: int) -> None:
    digest = random_for(3).bytes(16)
    other = (int.from_bytes(digest, "little") ^ 1 << bit).to_bytes(16, "little")

    def step(me: Party, digests: list[bytes]) -> list[bool]:
        verdict = opened(me, "validity", validity._all(me, validity._equal_bits(me, digests)))
        return verdict.astype(bool).tolist()

    assert both(step, ([digest] * 3,), ([digest, other, digest],)) == ([True, False, True],) * 2


@pytest.mark.parametrize("cells", [1, 7, 40])
def test_pieces_change_nothing(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = [table(MIXED, 50, i) for i in range(4)]
    vectors += [changed(vector, {i: 1}) for i, vector in enumerate(vectors)]
    monkeypatch.setattr(validity, "_CELLS", cells)
    monkeypatch.setattr(validity, "_MOMENTS", max(1, cells // 3))
    assert verdicts(MIXED, vectors) == [True] * 4 + [False] * 4


def test_shares_may_come_one_by_one() -> None:
    shares = [split(vector, seed(i)) for i, vector in enumerate([SMALL, changed(SMALL, {0: 1}), SMALL])]
    results = both(
        lambda me, side: honest(me, NOMINAL, (share.for_a() if side == A else share.for_b() for share in shares)),
        (A,),
        (B,),
    )
    assert results == ([True, False, True],) * 2


# Several hospitals


@given(st.lists(st.booleans(), min_size=1, max_size=7), SEEDS)
@settings(max_examples=15)
def test_exactly_the_liars_are_refused_and_the_rest_adds_up_as_without_them(lies: list[bool], number: int) -> None:
    rng = np.random.default_rng(number)
    vectors = [table(MIXED, 50, number + i) for i in range(len(lies))]
    sent = [
        changed(vector, {int(rng.integers(2)): int(rng.integers(1, 2**63))}) if lie else vector
        for vector, lie in zip(vectors, lies, strict=True)
    ]
    shares = [split(vector, seed(number + i)) for i, vector in enumerate(sent)]
    found, of_a, of_b = run_validation(MIXED, shares, (seed(1), seed(2)))
    assert found == [not lie for lie in lies]
    accepted = [vector for vector, lie in zip(vectors, lies, strict=True) if not lie]
    assert integers(of_a + of_b) == integers(sum(accepted, np.zeros(MIXED.size, np.uint64)))
    without = [share for share, lie in zip(shares, lies, strict=True) if not lie]
    _, alone_a, alone_b = run_validation(MIXED, without, (seed(3), seed(4)))
    assert np.array_equal(of_a, alone_a)
    assert np.array_equal(of_b, alone_b)


def test_sums_of_honest_contributions_are_honest_up_to_the_agreed_rows() -> None:
    """A node may check its sum as it checks a contribution: only too many rows together can make it fail."""
    vectors = [table(MIXED, 300, i) for i in range(4)]
    assert verdicts(MIXED, [sum(vectors[:3], np.zeros_like(vectors[0])), sum(vectors, np.zeros_like(vectors[0]))]) == [
        True,
        False,
    ]


def test_refusal_names_the_hospital() -> None:
    error = LyingHospital("party vb", "check of contributions", "its counts are those of no table")
    assert isinstance(error, PeerError)
    assert (error.peer, error.code, error.exit_code) == ("party vb", "E220", 3)
    assert str(error).startswith("party vb, at check of contributions: its counts are those of no table. ")


# What the mixers see


class Counted(PairPool):
    """Counts what it hands out."""

    def __init__(self, plain: PairPool) -> None:
        vars(self).update(vars(plain))
        self.taken = 0

    def take(self, count: int) -> tuple[Sent, Received]:
        self.taken += count
        return super().take(count)


@pytest.mark.parametrize("max_rows", [1000, 2**20, 2**40])
def test_a_cell_costs_about_three_halves_of_a_transfer_a_bit(max_rows: int) -> None:
    layout, bits = layout_of(5, [100] * 4, max_rows), max_rows.bit_length()
    pair = TappedPair(21, 22)
    pair.with_pools(Counted)
    share = split(random_counts(layout, np.random.default_rng(1), 1000), seed(1))
    assert pair.run(honest, (layout, [share.for_a()]), (layout, [share.for_b()])) == ([True], [True])
    assert isinstance(pair.a.pool, Counted)
    assert 2 * pair.a.pool.taken <= (1.5 * bits + 2) * layout.size + 2 * 200


def everybody(layout: Layout) -> Words:
    """All patients alike, numeric values at the upper bound."""
    return with_moments(layout, 1000, TOP * 1000, TOP * TOP * 1000, 0) if layout is MIXED else whole_in(layout, 0, 1000)


SECRETS: dict[str, Callable[[Layout], Words]] = {
    "no patients": lambda layout: np.zeros(layout.size, np.uint64),
    "all patients": everybody,
    "a lie": lambda layout: random_for(5).words(layout.size),
}


def script(layout: Layout, vectors: list[Words], number: int) -> tuple[object, object, int]:
    """Every message's step and length as either mixer hears them, and the rounds."""
    pair = TappedPair(number, number + 1)
    shares = [split(vector, seed(number + i)) for i, vector in enumerate(vectors)]
    pair.run(honest, (layout, [s.for_a() for s in shares]), (layout, [s.for_b() for s in shares]))
    heard = [[(step, raw.size) for step, raw in tap.heard] for tap in (pair.talk.first, pair.talk.second)]
    return heard[0], heard[1], pair.talk.first.traffic.rounds


@pytest.mark.parametrize("layout", [NOMINAL, MIXED], ids=["nominal", "mixed"])
def test_lengths_and_rounds_depend_on_nothing_but_the_dictionary(layout: Layout) -> None:
    scripts = [script(layout, [make(layout)] * 3, 30 + 10 * i) for i, make in enumerate(SECRETS.values())]
    assert scripts[0] == scripts[1] == scripts[2]


@pytest.mark.parametrize("layout", [NOMINAL, MIXED], ids=["nominal", "mixed"])
def test_one_bit_a_contribution_is_opened_and_no_digest_is_sent(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests: list[bytes] = []
    plain = validity._digest

    def noted(words: Words, nonce: bytes) -> bytes:
        digests.append(plain(words, nonce))
        return digests[-1]

    monkeypatch.setattr(validity, "_digest", noted)
    pair = TappedPair(61, 62)
    shares = [split(make(layout), seed(i)) for i, make in enumerate(SECRETS.values())]
    pair.run(honest, (layout, [s.for_a() for s in shares]), (layout, [s.for_b() for s in shares]))
    circuit = {"announce choice of slots", "choice of slots", "bit and word", "bit times word"}
    for tap in (pair.talk.first, pair.talk.second):
        steps = [step for step, _ in tap.heard]
        assert [steps[0], steps[-1]] == ["nonce of the validity check", "validity"]
        assert tap.heard[-1][1].size == 1
        assert tap.heard[-1][1][0] & 0b11111 == 0  # padding behind three bits
        assert set(steps[1:-1]) <= circuit
        everything = b"".join(raw.tobytes() for _, raw in tap.heard)
        assert not any(digest[:8] in everything or digest[8:] in everything for digest in digests)
    assert len(digests) == 6


RUNS = 64
LIMIT = 8.0
"""Standard deviations of a chi-square."""
WATCHED = layout_of(2, [2], max_rows=200)
WATCHED_NUMBERS = mixed(200)


@pytest.fixture
def dealt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "send_base", dealt_send)
    monkeypatch.setattr(pool, "receive_base", dealt_receive)


@lru_cache
def pairs_seen_by(role: int) -> list[TappedPair]:
    """The role's seed is always the same, the other's always another."""
    return [TappedPair(7, 700 + run) if role == A else TappedPair(700 + run, 7) for run in range(RUNS)]


def heard_by(role: int, layout: Layout, vector: Words) -> tuple[Bits, Bits]:
    """What the role hears before the end while its own share stays the same; and what the end opens to."""
    own = random_for(40).words(layout.size)
    shares = (own, vector - own) if role == A else (vector - own, own)
    views, ends = [], []
    for pair in pairs_seen_by(role):
        tap = pair.talk.first if role == A else pair.talk.second
        tap.forget()
        pair.run(lambda me, share: honest(me, layout, [share]), (shares[0],), (shares[1],))
        views.append(bits_heard(tap.heard[:-1]))
        said, heard = tap.said[-1][1], tap.heard[-1][1]
        ends.append(np.unpackbits(said ^ heard))
    return np.stack(views), np.stack(ends)


@pytest.mark.parametrize("role", [A, B], ids=["A", "B"])
@pytest.mark.parametrize("layout", [WATCHED, WATCHED_NUMBERS], ids=["nominal", "mixed"])
@pytest.mark.usefixtures("dealt")
def test_what_a_mixer_hears_is_uniform_and_opens_to_the_verdict_alone(layout: Layout, role: int) -> None:
    secrets = [np.zeros(layout.size, np.uint64), whole_in(layout, 2, 200), random_for(9).words(layout.size)]
    seen = [heard_by(role, layout, vector) for vector in secrets]
    for (_, ends), vector in zip(seen, secrets, strict=True):
        assert (ends == np.unpackbits(np.array([128 * possible(layout, vector)], np.uint8))).all()
    views = [view for view, _ in seen]
    coins = varying(*views)
    for view in views:
        assert not view[:, ~coins].any()
        assert abs(bias(view[:, coins])) < LIMIT
        assert bound_together(view[:, coins], 3000) == 0
    for other in views[1:]:
        assert abs(difference(views[0][:, coins], other[:, coins])) < LIMIT
