"""The sizes in use are hard by every estimate, and the estimates agree with what is published."""

from __future__ import annotations

import pytest

from benchmarks.lpn import ATTACKS, ENOUGH, PUBLISHED, costs, log_binomial, log_sum
from mixbayes.protocol.transfer.extension import UNIT
from mixbayes.protocol.transfer.kinds import KINDS
from mixbayes.protocol.transfer.local_code import ROWS
from mixbayes.protocol.transfer.lpn import USUAL, LpnSizes


def test_every_attack_on_sizes_in_use_takes_enough() -> None:
    in_use = [kind.sizes for kind in KINDS.values() if kind.sizes]
    assert in_use == [USUAL]
    for sizes in in_use:
        assert min(costs(sizes).values()) > ENOUGH


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
def test_estimates_are_those_of_the_authors_own_programs(attack: str, by_its_authors: float) -> None:
    """Of the published estimator of Yu et al. (2025), for n = 470,016, k = 32,768, t = 918."""
    sizes = PUBLISHED["emp-ot, first stage"]
    assert ATTACKS[attack](sizes.outputs, sizes.secret, sizes.trees) == pytest.approx(by_its_authors, abs=0.5)


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_longer_secret_is_harder_to_find(attack: str) -> None:
    found = [ATTACKS[attack](1 << 19, k, 1024) for k in (32_768, 40_960, 49_152)]
    assert found == sorted(found)
    assert found[0] + 5 < found[2]


def test_sizes_add_up() -> None:
    sizes = LpnSizes(secret=1000, trees=100, depth=6)
    assert (sizes.outputs, sizes.levels, sizes.taken) == (6400, 600, 1728)
    assert sizes.gained == (6400 - 1728) // UNIT * UNIT
    assert USUAL.taken + USUAL.gained == USUAL.outputs
    assert USUAL.outputs % ROWS == 0


def test_logarithms_of_large_numbers() -> None:
    assert log_binomial(10, 3) == pytest.approx(6.9068906)
    assert log_sum(500.0, 500.0) == pytest.approx(501)
