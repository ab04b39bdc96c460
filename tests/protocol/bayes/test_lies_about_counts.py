"""Lies about counts: every one is refused, as plain integers say."""

from __future__ import annotations

import numpy as np
import pytest

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.gaussian_moments import ABSENT, SQUARES_HIGH, SQUARES_LOW, SUM
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.errors import WrongLength
from mixbayes.transport.contribution import Contribution, decode, encode
from tests.protocol.bayes.contributions import (
    MIXED,
    NOMINAL,
    NUMBERS,
    SMALL,
    at,
    changed,
    judged_as_by_integers,
    table,
    verdicts,
    whole_in,
)
from tests.protocol.pairs import layout_of


@pytest.mark.parametrize("by", [-1, -(10**6), 1, 1001, 10**6, 2**40, 2**62, 2**63, 2**64 - 101, -(2**63) + 1])
@pytest.mark.parametrize(("layout", "vector"), [(NOMINAL, SMALL), (MIXED, NUMBERS)], ids=["nominal", "mixed"])
def test_one_false_cell_is_refused(layout: Layout, vector: Words, by: int) -> None:
    small = min(by % 2**64, -by % 2**64) < 2**40
    cells = [cell for cell in range(layout.size) if not (small and cell in numbers_of(layout))]
    assert verdicts(layout, [changed(vector, {cell: by}) for cell in cells]) == [False] * len(cells)


def numbers_of(layout: Layout) -> set[int]:
    """The cells of sums, which may be a little larger or smaller in another table."""
    numeric = [i for i, attribute in enumerate(layout.dictionary.attributes) if isinstance(attribute, Gaussian)]
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
