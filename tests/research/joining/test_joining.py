"""Nested cross-validation of recipes: models are the protocol's, and nobody judges with what he learned from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.evaluation.recommendation import COMPARED, OWN, Difference, recommend
from mixbayes.privacy.coins import Coins
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.noise import blurred_in_clear
from mixbayes.protocol.bayes.recipe import read_recipe
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model
from mixbayes.protocol.randomness import Randomness
from mixbayes.research.joining import nested as module
from mixbayes.research.joining.compared import BEST, RECIPES, RECOMMENDED, WAYS, compared
from mixbayes.research.joining.models import Counted, Makers
from mixbayes.research.joining.nested import INNER, Effort, Nested, nested
from mixbayes.research.joining.rules import RULES, always, by_errors, by_test, recommended, unless_behind
from mixbayes.research.joining.tables import CHOSEN_BY, LEAST, REPORTED, Cut, Sites
from mixbayes.research.noise.mechanisms import Normal
from mixbayes.tables.columns import Columns
from tests.research.noise.sums import of_words

COINS = Coins((4, 3, 2))
SMALL = Effort(2, 3)
MORE = ("personal:weight=10:prior=joint", "personal:weight=3:prior=mixed", "personal:weight=100:prior=own")


def table(rows: int, seed: int, sick: float = 0.5) -> Columns:
    """Two columns of numbers and one of names that say something of the class; some cells are missing."""
    random = np.random.default_rng(seed)
    labels = (random.random(rows) < sick).astype(int)
    numbers = [(labels + random.normal(0, 1, rows)).round(3).astype(str) for _ in range(2)]
    names = np.array(["a", "b", "c"])[np.minimum(random.integers(0, 2, rows) + labels, 2)]
    cells = [np.where(random.random(rows) < 0.1, "?", column) for column in (*numbers, names)]
    return Columns.of(("one", "two", "name", "class"), [*cells, np.array(["no", "yes"])[labels]], rows)


NORTH, SOUTH, WEST = table(90, 1), table(60, 2, 0.8), table(40, 3, 0.2)


def sites(gaussian: bool = False) -> Sites:
    return Sites.of({"north": NORTH, "south": SOUTH, "west": WEST}, gaussian)


@pytest.mark.parametrize("gaussian", [True, False])
@pytest.mark.parametrize("coins", [None, COINS])
@pytest.mark.parametrize("text", [*COMPARED, *MORE])
@given(seed=st.integers(0, 2**16 - 1))
@settings(max_examples=3, deadline=None)
def test_labels_are_those_of_the_protocol(gaussian: bool, coins: Coins | None, text: str, seed: int) -> None:
    one_class = table(30, 4, 1.0)
    patients = Sites.of({"north": NORTH, "south": SOUTH, "east": one_class}, gaussian).patients
    recipe = read_recipe(text)
    layout = Layout(patients.dictionary, Terms(coins=coins))
    here = patients.hospitals == seed % 3
    whole = count(layout, patients.codes)
    own = count(layout, Codes(patients.codes.codes[:, here], patients.labels[here].astype(np.int32)))
    if coins:
        halves = [Randomness(bytes([at]) * 32) for at in (seed % 256, seed // 256)]
        whole = blurred_in_clear(layout, whole, *halves)
    labels = fixed_labels(layout, fixed_model(layout, whole, recipe, own), patients.codes.codes)
    makers = Makers(patients.sums, coins.deviation if coins else 0.0)
    model = makers.models([recipe], _counted(layout, whole), _counted(layout, own))
    scores = patients.added @ model.words[0, 0] + model.prior[0, 0]
    assert np.count_nonzero(scores.argmax(axis=1) != labels) <= 1  # a tie up to rounding


def _counted(layout: Layout, words: Words) -> Counted:
    of_class, sums = of_words(layout, words)
    return Counted(of_class[None], sums[None])


@pytest.fixture(scope="module")
def found() -> Nested:
    return nested(sites().patients, RECIPES, effort=SMALL)


def test_every_patient_is_judged_once_in_each_repetition(found: Nested) -> None:
    patients = found.patients
    for at in found.outer:
        for hospital in range(3):
            sizes = np.bincount(at[patients.hospitals == hospital], minlength=3)
            assert sizes.max() - sizes.min() <= 2
    assert len(found.opened) == 2 * 3 * 3
    assert [one.recipe for one in found.opened[0, 0, 0]] == found.names == [OWN, *COMPARED]


def test_hospitals_evaluate_on_whom_they_contribute(found: Nested) -> None:
    for (repeat, fold, hospital), opened in found.opened.items():
        others = (found.outer[repeat] != fold) & (found.patients.hospitals == hospital)
        assert {one.rows for one in opened} == {others.sum()}
        assert opened[0].only_own_right == opened[0].only_this_right == 0


def test_the_own_classifier_is_that_of_the_hospital_alone() -> None:
    """Whatever the others have; and inner folds leave out whom they ask about."""
    alone = Sites.of({"north": table(90, 1)}).patients
    found = nested(alone, RECIPES, effort=SMALL)
    assert np.array_equal(found.right[..., 0], found.right[..., 1])
    assert {one.gain for opened in found.opened.values() for one in opened[:3]} == {0.0}


def test_inner_folds_leave_out_whom_they_ask_about() -> None:
    """Labels at random: whoever has learned from the patients that he is asked about knows some of them."""
    random = np.random.default_rng(0)
    codes = np.array([f"p{at}" for at in range(200)])
    random_classes = np.array(["no", "yes"])[random.integers(0, 2, 200)]
    names = Columns.of(("name", "class"), [codes, random_classes], 200)
    patients = Sites.of({"one": names, "two": names}).patients
    found = nested(patients, RECIPES, effort=Effort(1, 2))
    assert found.right[..., 0].mean() < 0.65
    twins = found.right[..., 1].mean()  # the other hospital has the same patients
    assert twins > 0.65
    for opened in found.opened.values():
        assert opened[1].gain > 0.1


def test_rows_are_dealt_in_order() -> None:
    groups = np.array([0, 1, 0, 0, 1, 2])
    assert module._in_order(groups).tolist() == [0, 0, 1, 2, 1, 0]
    assert INNER == 5


def test_few_patients_to_learn_from() -> None:
    found = nested(sites().patients, RECIPES, few=10, effort=SMALL)
    assert {one.rows for opened in found.opened.values() for one in opened} == {10}


def test_noise_spoils_only_what_is_joint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "of_coins", lambda *_: Normal(1e4))
    exact, noisy = (nested(sites().patients, RECIPES, e, effort=Effort(4, 3)) for e in (None, 1.0))
    assert np.array_equal(exact.right[..., 0], noisy.right[..., 0])
    assert noisy.right[..., 1].mean() < exact.right[..., 1].mean() - 0.1


def test_what_is_chosen_is_what_is_judged(found: Nested) -> None:
    for at, name in enumerate(found.names):
        assert np.array_equal(found.judged(found.choices(always(name))), found.right[..., at])
    mixed = {at: found.names[at[2]] for at in found.opened}
    right = found.judged(mixed)
    for hospital in range(3):
        here = found.patients.hospitals == hospital
        assert np.array_equal(right[:, here], found.right[:, here, hospital])


def test_figures_are_of_the_patients(found: Nested) -> None:
    *hospitals, everybody = compared(found, ("north", "south", "west"), "all")
    assert [one.patients for one in hospitals] == [90, 60, 40]
    assert everybody.patients == 190
    for way in WAYS:
        mean = sum(one.patients * one.accuracy[way].value for one in hospitals) / 190
        assert everybody.accuracy[way].value == pytest.approx(mean)
    north = hospitals[0]
    here = found.patients.hospitals == 0
    assert north.accuracy["joint"].value == pytest.approx(found.right[:, here, 1].mean())
    assert north.gain["joint"].value == pytest.approx(north.accuracy["joint"].value - north.accuracy[OWN].value)
    assert sum(north.taken.values()) == pytest.approx(1)
    assert set(north.recall[BEST]) == {"no", "yes"}
    sizes = np.bincount(found.patients.labels[here])
    of_classes = [north.recall[RECOMMENDED][label] for label in ("no", "yes")]
    assert np.average(of_classes, weights=sizes) == pytest.approx(north.accuracy[RECOMMENDED].value)


def opened(*pairs: tuple[int, int]) -> list[Difference]:
    names = (OWN, *COMPARED)
    return [Difference(name, 100, own, this) for name, (own, this) in zip(names, ((0, 0), *pairs), strict=True)]


def test_rules() -> None:
    joint, prior, personal = COMPARED
    ahead = opened((0, 2), (1, 12), (5, 4))
    assert by_errors(0.0)(ahead) == by_test(ahead) == recommended(ahead) == prior
    behind = opened((9, 1), (8, 1), (2, 1))
    assert by_errors(0.0)(behind) == by_test(behind) == recommended(behind) == OWN
    assert unless_behind(personal)(behind) == OWN
    assert unless_behind(personal, 1.0)(behind) == personal
    assert by_errors(2.0)(opened((0, 2), (0, 0), (0, 0))) == OWN
    assert RULES["the rule"](ahead) == recommend(ahead).best
    assert RULES["odds of 3 to 1, 2 points, 0.25 patients"](opened((3, 8), (0, 0), (0, 0))) == joint
    assert RULES["odds of 3 to 1, 2 points, 0.25 patients"](behind) == OWN


def written(folder: Path, name: str, columns: dict[str, np.ndarray]) -> None:
    rows = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    (folder / f"{name}.csv").write_text("\n".join([",".join(columns), *rows]) + "\n")


def test_a_table_is_cut_by_a_column_that_is_gone_then(tmp_path: Path) -> None:
    at = np.repeat(["a", "b", "c", "?"], [LEAST, LEAST + 1, LEAST - 1, LEAST])
    sign = np.arange(len(at)) % 2
    written(tmp_path, "t", {"where": at, "sign": sign, "class": sign})
    found = Cut("t", "where").sites(tmp_path)
    assert found.names == ("a", "b")
    assert np.bincount(found.patients.hospitals).tolist() == [LEAST, LEAST + 1]
    assert found.patients.dictionary.names == ("sign",)
    assert Cut("t", "where", first=LEAST).sites(tmp_path).names == ("a",)


def test_numbers_cut_at_quartiles_and_classes_of_a_target(tmp_path: Path) -> None:
    values = np.arange(4 * LEAST)
    written(tmp_path, "t", {"age": values, "sign": values % 2, "wage": values[::-1]})
    found = Cut("t", "age", quarters=True, target="wage").sites(tmp_path)
    assert found.names == ("below 49.75", "49.75 to 99.5", "99.5 to 149.25", "149.25 and more")
    assert np.bincount(found.patients.hospitals).tolist() == [LEAST] * 4
    assert found.patients.dictionary.names == ("sign",)
    assert np.bincount(found.patients.labels[found.patients.hospitals == 0]).tolist() == [LEAST]


def test_no_table_is_reported_by_which_the_rule_was_chosen() -> None:
    assert {cut.table for cut in REPORTED} & {cut.table for cut in CHOSEN_BY} == set()
    assert all(cut.why for cut in REPORTED)
