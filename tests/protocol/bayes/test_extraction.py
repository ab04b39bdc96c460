"""What answers give away, as `benchmarks/attacks` finds it: counts and weights from labels of the real protocol."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model
from mixbayes.protocol.bayes.training import run_training
from mixbayes.protocol.circuits.logarithm import FRACTION
from tests.protocol.pairs import SEEDS, layout_of, random_codes, seed

SIZES = [2, 4, 5]
LABELS = 200
ROLES = seed(1), seed(2), seed(3)
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Attacks:
    """The modules of the attacks."""

    standing: Any
    lying: Any
    legal: Any


@pytest.fixture(scope="module")
def attacks() -> Iterator[Attacks]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[3] / "benchmarks")
        yield Attacks(*(import_module(f"attacks.{name}") for name in ("standing", "lying", "legal")))


def layout_with(smoothing: str = "1", sizes: list[int] = SIZES) -> Layout:
    return layout_of(2, sizes, max_rows=5000, smoothing=smoothing)


def counts_of(layout: Layout, of_class: list[int], number: int) -> Words:
    """Counts without missing cells."""
    rng, vector = np.random.default_rng(number), np.zeros(layout.size, np.uint64)
    layout.class_counts(vector)[:] = of_class
    for a, rows in enumerate(layout.rows):
        layout.block(vector, a)[:-1] = rng.multinomial(of_class, rng.dirichlet(np.ones(rows - 1), 2)).T
    return vector


def used(layout: Layout, vector: Words) -> list[int]:
    """Class counts and counts of values, without missing cells."""
    values = [block[:-1].reshape(-1) for _, block in layout.blocks(vector)]
    counts: list[int] = np.concatenate([layout.class_counts(vector), *values]).tolist()
    return counts


def weights_of(model: Model) -> Integers:
    """The prior, then every θ[a][v]."""
    words = np.concatenate([model.prior, *(table[:-1, 0] for table in model.tables)])
    top = 64 - model.width
    signed: Integers = (words << np.uint64(top)).view(np.int64) >> np.int64(top)
    return signed


# The lying asker.


def test_offsets_read_the_exact_counts_of_all_hospitals(attacks: Attacks) -> None:
    layout = layout_with()
    tables = [counts_of(layout, [90, 40], number) for number in range(3)]
    cells, bits = attacks.lying.single_values(SIZES), attacks.lying.score_bits(layout)

    def attack(asker: Any) -> tuple[int, Integers]:
        *_, scores = attacks.lying.bisected(asker.ask_with_offsets, cells, bits)
        return asker.labels, attacks.lying.relative(scores)

    labels, scores = attacks.standing.run_attack(layout, run_training(layout, tables, ROLES), ROLES, attack)
    joint = np.stack(tables).sum(axis=0, dtype=np.uint64)
    assert scores.tolist() == weights_of(fixed_model(layout, joint)).tolist()
    found = attacks.lying.reconstructed(scores, layout, 400)
    assert (found.fitting, found.vector().tolist()) == (1, used(layout, joint))
    assert labels == (1 + sum(SIZES)) * bits < 500


@settings(max_examples=60)
@given(st.integers(1, 100), st.integers(1, 100), SEEDS, st.sampled_from(["1", "1/2", "2", "2/3"]))
def test_what_is_found_has_the_scores_and_is_the_table_if_no_other_fits(
    attacks: Attacks, first: int, second: int, number: int, smoothing: str
) -> None:
    layout = layout_with(smoothing)
    vector = counts_of(layout, [first, second], number)
    scores = weights_of(fixed_model(layout, vector))
    found = attacks.lying.reconstructed(scores, layout, first + second)
    assert weights_of(fixed_model(layout, whole(layout, found))).tolist() == scores.tolist()
    assert found.fitting > 1 or found.vector().tolist() == used(layout, vector)


def whole(layout: Layout, found: Any) -> Words:
    """As a vector of the layout."""
    vector = np.zeros(layout.size, np.uint64)
    layout.class_counts(vector)[:] = found.of_class
    for a, counts in enumerate(found.counts):
        layout.block(vector, a)[:-1] = counts
    return vector


def test_tables_that_labels_cannot_tell_apart_are_counted(attacks: Attacks) -> None:
    """With two values as often in one class as in the other, only their sum is known: here 1 + 3, 2 + 2 or 3 + 1."""
    layout = layout_of(2, [3], max_rows=100)
    vector = np.zeros(layout.size, np.uint64)
    layout.class_counts(vector)[:] = 5, 8
    layout.block(vector, 0)[:] = [[1, 1], [2, 2], [2, 5], [0, 0]]
    scores = weights_of(fixed_model(layout, vector))
    ways = attacks.lying.tables_with(scores[1:], np.array([5, 8]), layout.dictionary.smoothing)[0]
    pairs = [(x, y) for x in range(4) for y in range(4) if x + y == 3]
    assert ways == len(pairs)


@pytest.mark.parametrize("number", range(3))
def test_totals_that_are_not_the_class_counts_are_found(attacks: Attacks, number: int) -> None:
    """As noise leaves them."""
    layout = layout_with()
    vector = counts_of(layout, [211, 148], number)
    noise = np.random.default_rng(number).integers(-4, 5, vector.size)
    noisy = np.maximum(0, vector.astype(np.int64) + noise).astype(np.uint64)
    for _, block in layout.blocks(noisy):
        block[-1] = 0
    layout.class_counts(noisy)[:] = 211, 148  # without a common divisor, so that the prior names them
    scores = weights_of(fixed_model(layout, noisy))
    found = attacks.lying.reconstructed(scores, layout, 350, 30)
    assert weights_of(fixed_model(layout, whole(layout, found))).tolist() == scores.tolist()
    assert found.fitting >= 1
    assert found.fitting > 1 or found.vector().tolist() == used(layout, noisy)
    assert attacks.lying.reconstructed(scores, layout, 350) is None


# The legal asker.


def errors_of(attacks: Attacks, ask: Any, truth: Floats) -> Floats:
    """In bits, of the weights of six attributes of four values, after so many labels."""
    *_, last = islice(attacks.legal.learned(ask, 6 * [4], np.random.default_rng(0)), LABELS)
    errors: Floats = np.abs(attacks.legal.scaled(last, truth) - truth)
    return errors


def test_rows_that_could_exist_give_the_weights_away(attacks: Attacks) -> None:
    layout = layout_with(sizes=6 * [4])
    tables = [counts_of(layout, [90, 140], number) for number in range(2)]
    truth = weights_of(fixed_model(layout, np.stack(tables).sum(axis=0, dtype=np.uint64))) / 2.0**FRACTION

    def attack(asker: Any) -> Floats:
        return errors_of(attacks, asker.ask, truth)

    assert attacks.standing.run_attack(layout, run_training(layout, tables, ROLES), ROLES, attack).max() < 0.1


@pytest.mark.parametrize("number", range(3))
def test_weights_are_found_where_most_rows_have_one_label(attacks: Attacks, number: int) -> None:
    """Most of them: a value that speaks strongly for the common class is in no row near the boundary."""
    truth = np.random.default_rng(number).normal(0, 2, 25)
    truth[0] = -4

    def ask(codes: Values) -> Integers:
        labels: Integers = (attacks.legal.features(codes, 6 * [4]) @ truth > 0).astype(np.int64)
        return labels

    assert np.median(errors_of(attacks, ask, truth)) < 0.15


# The connection.


def test_questions_without_offsets_are_answered_as_by_the_protocol(attacks: Attacks) -> None:
    layout = layout_with()
    vector, rng = counts_of(layout, [90, 140], 5), np.random.default_rng(6)
    asked = [random_codes(layout, rng, rows) for rows in (1, 30, 7)]

    def attack(asker: Any) -> list[list[int]]:
        honest = [asker.ask(codes).tolist() for codes in asked]
        unmoved = [asker.ask_with_offsets(codes, np.zeros((1, codes.shape[1]), np.uint64)).tolist() for codes in asked]
        assert asker.labels == 2 * 38
        return honest + unmoved

    labels = attacks.standing.run_attack(layout, run_training(layout, [vector], ROLES), ROLES, attack)
    model = fixed_model(layout, vector)
    assert labels == 2 * [fixed_labels(layout, model, codes).tolist() for codes in asked]
