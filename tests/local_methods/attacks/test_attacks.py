"""Every attack succeeds on a release as it was once made, and gets no more than guessing from one of today."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mixbayes.local_methods import AdditiveNoise, ClassWiseCondensation, Microaggregation
from mixbayes.local_methods.attacks import fractions
from mixbayes.local_methods.attacks.averaging import by_averaging
from mixbayes.local_methods.attacks.claims import (
    Claims,
    ClaimScore,
    Guess,
    drawn,
    nearby,
    of_their_class,
    released_rows,
    right_claims,
    score,
)
from mixbayes.local_methods.attacks.difference import by_difference
from mixbayes.local_methods.attacks.flat import in_flats
from mixbayes.local_methods.attacks.group_means import by_group_means
from mixbayes.local_methods.attacks.known_seed import by_known_seed
from mixbayes.local_methods.attacks.lattice import BITS_A_ROW
from mixbayes.local_methods.attacks.moments import fractions_of
from mixbayes.local_methods.attacks.piles import by_piles
from mixbayes.local_methods.attacks.position import by_position
from mixbayes.local_methods.attacks.rare_values import by_rare_values
from mixbayes.local_methods.attacks.suppressed import by_suppressed_cells
from mixbayes.local_methods.attacks.view import AttackersView, known_of
from mixbayes.local_methods.attacks.whole_groups import by_fractions, by_lattice
from mixbayes.local_methods.tables import Nominal, Numeric, Table
from tests.local_methods.attacks.former import (
    blanked_where_original,
    clipped_at_patients,
    condensed,
    in_the_flat,
    people,
    shuffled,
)
from tests.local_methods.mixed import real_table

K = 4
TABLE, LABELS = people(96, 1)
KNOWN = known_of(TABLE)
TRUTH = AttackersView.of(TABLE, LABELS, KNOWN).rounded()

Attack = Callable[[AttackersView], Claims]


def seen(table: Table, labels: Nominal | None = LABELS) -> AttackersView:
    return AttackersView.of(table, labels, KNOWN)


def today(seed: int = 0, k: int = K, table: Table = TABLE, labels: Nominal = LABELS) -> AttackersView:
    released, classes = ClassWiseCondensation(k=k, random_state=seed).fit_resample(table, labels)
    return seen(released, classes)


def former(seed: int = 0, k: int = K) -> AttackersView:
    return seen(*condensed(TABLE, LABELS, k, seed))


def scored(attack: Attack, release: AttackersView, guess: Guess = drawn) -> ClaimScore:
    return score(attack(release), guess, release, TRUTH, 0)


@pytest.mark.parametrize("k", [3, 4])
def test_fractions_give_back_nearly_all_patients_of_exact_moments(k: int) -> None:
    release = seen(*shuffled(*condensed(TABLE, LABELS, k, 0), 1))
    found = scored(by_fractions, release)
    assert found.right == found.claims >= 0.8 * TABLE.rows
    assert found.beats_guessing
    assert found.patients == found.right


def test_a_search_by_fractions_that_gives_up_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not by_fractions(former()).cut_off
    monkeypatch.setattr(fractions, "MOST_HITS", 0)
    claims = by_fractions(former())
    assert claims.cut_off
    assert len(claims) == 0


def test_fractions_survive_rounding_to_three_decimals() -> None:
    released, labels = condensed(TABLE, LABELS, 3, 0)
    found = scored(by_fractions, seen(released.with_numbers(released.numbers().round(3)), labels))
    assert found.right == found.claims >= 0.5 * TABLE.rows


def test_lattice_reduction_gives_back_patients_of_larger_groups() -> None:
    table, labels = people(48, 3)
    known = known_of(table)
    release = AttackersView.of(*condensed(table, labels, 8, 0), known)
    found = score(by_lattice(release), drawn, release, AttackersView.of(table, labels, known).rounded(), 0)
    assert found.right == found.claims > 0
    assert found.beats_guessing


def test_the_flat_through_a_group_gives_back_patients_though_moments_are_kept_in_expectation_only() -> None:
    release = seen(*condensed(TABLE, LABELS, 3, 0, in_the_flat))
    found = scored(in_flats, release)
    assert found.beats_guessing
    assert found.patients > 0.4 * TABLE.rows
    assert scored(by_fractions, release).claims == 0


def test_the_position_tells_cells_where_rows_stay_in_their_places() -> None:
    assert scored(by_position, former(), of_their_class).beats_guessing
    assert not scored(by_position, seen(*shuffled(*condensed(TABLE, LABELS, K, 0), 1)), of_their_class).beats_guessing


def test_piles_at_extreme_patients_tell_their_numbers() -> None:
    assert scored(by_piles, seen(clipped_at_patients(TABLE, 2.0, 0)), nearby).beats_guessing


def test_a_rare_value_that_was_kept_is_a_patients() -> None:
    swapped = TABLE.with_numbers(np.random.default_rng(0).permuted(TABLE.numbers(), axis=0))
    assert scored(by_rare_values, seen(swapped), nearby).beats_guessing


def test_a_suppressed_cell_tells_that_the_rest_is_a_patients() -> None:
    numbers = TABLE.numbers() + (np.arange(TABLE.rows) % 16 > 0)[:, None]  # one row of sixteen is a patient's
    released = blanked_where_original(TABLE.with_numbers(numbers), TABLE)
    found = scored(by_suppressed_cells, seen(released), released_rows)
    assert found.right == found.claims > 0


def test_the_mean_of_many_noisy_releases_is_the_original() -> None:
    def noisy(seed: int) -> AttackersView:
        return seen(*AdditiveNoise(scale=0.3, random_state=seed).fit_resample(TABLE, LABELS))

    one, many = (
        score(by_averaging([noisy(seed) for seed in range(count)]), of_their_class, noisy(0), TRUTH, 0)
        for count in (1, 60)
    )
    assert many.share.low > one.share.high


@pytest.mark.parametrize("correlated", [True, False])
def test_noise_of_a_known_seed_is_undone(correlated: bool) -> None:
    def protect(seed: int) -> Callable[[Table], Table]:
        return lambda table: AdditiveNoise(correlated=correlated, random_state=seed).fit_resample(table, LABELS)[0]

    released = protect(0)(TABLE)
    right, wrong = (
        score(by_known_seed(released, protect(seed), seen(released)), of_their_class, seen(released), TRUTH, 0)
        for seed in (0, 1)
    )
    assert right.patients == TABLE.rows
    assert wrong.patients < 0.1 * TABLE.rows


def test_the_mean_of_a_small_group_at_a_bound_is_everybodys() -> None:
    random = np.random.default_rng(0)
    flags = (random.random((90, 3)) < [0.1, 0.5, 0.9]).astype(float)
    table = Table(("a", "b", "c"), tuple(Numeric(np.ascontiguousarray(column)) for column in flags.T), 90)
    released, _ = Microaggregation(k=3).fit_resample(table)
    release, truth = (AttackersView.of(each, None, known_of(table)) for each in (released, table))
    assert score(by_group_means(release), of_their_class, release, truth.rounded(), 0).beats_guessing


@pytest.mark.parametrize("person", [0, 17, 40])
def test_where_totals_are_kept_two_releases_differ_by_a_patient(person: int) -> None:
    rest = np.delete(np.arange(TABLE.rows), person)
    without = seen(*condensed(TABLE.take(rest), LABELS.take(rest), K, 5))
    claim = by_difference(former(), without)
    assert right_claims(Claims(claim.cells, np.array([person])), TRUTH).tolist() == [1.0]
    now = by_difference(today(), today(5, table=TABLE.take(rest), labels=LABELS.take(rest)))
    assert right_claims(Claims(now.cells, np.array([person])), TRUTH)[0] < 0.5


@pytest.mark.parametrize(
    ("attack", "guess"),
    [
        (by_fractions, drawn),
        (by_lattice, drawn),
        (by_position, of_their_class),
        (by_rare_values, nearby),
        (by_piles, nearby),
    ],
)
@pytest.mark.parametrize("k", [3, 5, 10, 20])
def test_of_todays_condensation_an_attack_gets_no_more_than_guessing(attack: Attack, guess: Guess, k: int) -> None:
    assert not scored(attack, today(k, k), guess).beats_guessing


def test_of_todays_condensation_the_mean_of_releases_is_no_better_than_another_row_of_the_class() -> None:
    found = by_averaging([today(seed) for seed in range(6)])
    assert not score(found, of_their_class, today(), TRUTH, 0).beats_guessing


def test_of_todays_condensation_even_its_seed_undoes_nothing() -> None:
    released, labels = ClassWiseCondensation(k=K, random_state=0).fit_resample(TABLE, LABELS)

    def protect(table: Table) -> Table:
        return ClassWiseCondensation(k=K, random_state=0).fit_resample(table, labels)[0]

    release = seen(released, labels)
    assert not score(by_known_seed(released, protect, release), of_their_class, release, TRUTH, 0).beats_guessing


@pytest.mark.real_tables
@pytest.mark.parametrize("seed", [0, 1])
def test_heart_comes_back_complete_from_exact_moments_and_not_from_todays_release(seed: int) -> None:
    table, labels = real_table("heart_statlog.csv")
    known = known_of(table)
    truth = AttackersView.of(table, labels, known).rounded()
    before = AttackersView.of(*shuffled(*condensed(table, labels, 5, seed), 1), known)
    found = score(by_fractions(before), drawn, before, truth, 0)
    assert found.patients == found.claims > 0.9 * table.rows
    after = AttackersView.of(*ClassWiseCondensation(k=5, random_state=seed).fit_resample(table, labels), known)
    assert by_fractions(after).cells.size == by_lattice(after).cells.size == 0


@pytest.mark.parametrize("k", [2, 3])
def test_means_of_few_whole_numbers_have_fractions_that_match_by_chance_and_say_nothing(k: int) -> None:
    release = seen(*Microaggregation(k=k).fit_resample(TABLE, LABELS))
    assert fractions_of(release, np.arange(TABLE.rows), 3).bits < BITS_A_ROW[0] * TABLE.rows
    assert len(by_fractions(release)) == len(by_lattice(release)) == 0


def test_a_column_of_zeros_in_one_class_is_no_obstacle() -> None:
    released, labels = condensed(TABLE, LABELS, 3, 0)
    numbers = np.column_stack([released.numbers()[:, :-1], 7.0 * labels.codes]).astype(np.float64)
    assert len(by_fractions(seen(released.with_numbers(numbers), labels))) > 0
