"""Lies about sums and sums of squares: every impossible one is refused, as plain integers say."""

from __future__ import annotations

import pytest

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.gaussian_moments import ABSENT, PRESENT, SQUARES_HIGH, SQUARES_LOW, SUM
from tests.protocol.bayes.contributions import MIXED, NUMBERS, TOP, at, changed, judged_as_by_integers, with_moments


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
