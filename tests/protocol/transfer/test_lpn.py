"""The sizes in use are hard by every estimate, and the estimates agree with what is published."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mixbayes.protocol.transfer.extension import UNIT
from mixbayes.protocol.transfer.kinds import KINDS
from mixbayes.protocol.transfer.local_code import ROWS
from mixbayes.protocol.transfer.lpn import USUAL, LpnSizes


@pytest.fixture(scope="module")
def lpn() -> Iterator[Any]:
    """The benchmark, which knows the attacks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[3] / "benchmarks")
        yield import_module("lpn")


def test_every_attack_on_sizes_in_use_takes_enough(lpn: Any) -> None:
    in_use = [kind.sizes for kind in KINDS.values() if kind.sizes]
    assert in_use == [USUAL]
    for sizes in in_use:
        assert min(lpn.costs(sizes).values()) > lpn.ENOUGH


@pytest.mark.parametrize(
    ("attack", "by_its_authors"),
    [
        ("pooled Gauss", 135.10),
        ("statistical decoding", 201.58),
        ("collision decoding", 127.27),
        ("regular decoding", 127.00),
        ("hybrid", 119.83),
    ],
)
def test_estimates_are_those_of_the_authors_own_programs(lpn: Any, attack: str, by_its_authors: float) -> None:
    """Of the published estimator of Yu et al. (2025), for n = 470,016, k = 32,768, t = 918."""
    sizes = lpn.PUBLISHED["emp-ot, first stage"]
    assert lpn.ATTACKS[attack](sizes.outputs, sizes.secret, sizes.trees) == pytest.approx(by_its_authors, abs=0.5)


def solved(equations: list[tuple[int, int]]) -> int | None:
    """The unknown bits, from words of the bits that an equation names and its sum: none if no bits fit."""
    pivots: dict[int, tuple[int, int]] = {}
    for word, value in equations:
        for top, (other, its) in sorted(pivots.items(), reverse=True):
            if word >> top & 1:
                word, value = word ^ other, value ^ its
        if not word:
            if value:
                return None
            continue
        pivots[word.bit_length() - 1] = word, value
    found = 0
    for top, (word, value) in sorted(pivots.items()):
        found |= ((word & found).bit_count() + value & 1) << top
    return found


def test_few_bits_of_the_secret_are_found_from_the_outputs_that_name_no_others(lpn: Any) -> None:
    """The attack on sparse equations on a small problem, in about as many tries as its outputs are rarely noisy."""
    k, n, weight, noisy, tries = 100, 1280, 10, 20, 30
    rng = np.random.default_rng(2)
    matrix, secret = rng.integers(0, k, (n, weight)), rng.integers(0, 2, k)
    sums = secret[matrix].sum(axis=1) % 2
    sums[rng.permutation(n)[:noisy]] ^= 1
    whole, right, clean = sum(int(bit) << at for at, bit in enumerate(secret)), 0, 0.0
    for _ in range(tries):
        chosen, outputs = lpn.well_covered(matrix.tolist(), rng.permutation(k).tolist(), spare=12)
        assert len(chosen) + 12 <= len(outputs)
        assert set(matrix[outputs].reshape(-1).tolist()) <= set(chosen)
        assert len(chosen) < 0.9 * k
        clean += (1 - noisy / n) ** len(outputs)
        words = [sum(1 << bit for bit in range(k) if (row == bit).sum() % 2) for row in matrix[outputs]]
        found = solved(list(zip(words, sums[outputs].tolist(), strict=True)))
        some = sum(1 << bit for bit in chosen)
        # Every equation names an even number of bits, so the complement fits too.
        right += found is not None and found ^ whole & some in (0, some)
    assert 0.4 * clean < right < 2.5 * clean


def test_a_longer_secret_is_harder_to_find(lpn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # So many bits of a random set have as many equations; to look for better sets takes a second.
    monkeypatch.setattr(lpn, "few_secrets", lambda n, k, weight: round(k * (k / n) ** (1 / (weight - 1))))
    for attack in [*lpn.ATTACKS.values(), partial(lpn.sparse_decoding, weight=10)]:
        found = [attack(1 << 19, k, 1024) for k in (32_768, 40_960, 49_152)]
        assert found == sorted(found)
        assert found[0] + 5 < found[2]


def test_sizes_add_up() -> None:
    sizes = LpnSizes(secret=1000, trees=100, depth=6)
    assert (sizes.outputs, sizes.levels, sizes.taken) == (6400, 600, 1728)
    assert sizes.gained == (6400 - 1728) // UNIT * UNIT
    assert USUAL.taken + USUAL.gained == USUAL.outputs
    assert USUAL.outputs % ROWS == 0


def test_logarithms_of_large_numbers(lpn: Any) -> None:
    assert lpn.log_binomial(10, 3) == pytest.approx(6.9068906)
    assert lpn.log_sum(500.0, 500.0) == pytest.approx(501)
