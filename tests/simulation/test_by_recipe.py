"""How answers by a recipe are checked against pooling, and against the truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.bayes.recipe import read_recipe
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model
from mixbayes.simulation.by_recipe import Asked, Labels, pooled_by, with_recipe
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted
from mixbayes.tables.encoding import encode_query

CLASSES = ("cold", "flu", "well")
LAYOUT = Layout(
    Dictionary(
        class_column="class",
        classes=CLASSES,
        attributes=(Nominal(name="x", values=("1", "2", "3")), Nominal(name="y", values=("1", "2"))),
    )
)
RECIPES = (
    "own",
    "own:costs=flu=3",
    "joint",
    "joint:unsure=1",
    "personal:weight=0:prior=own",
    "personal:weight=4:prior=joint",
    "personal:weight=4:prior=mixed:costs=cold=0.3",
    "personal:weight=10:prior=own:costs=flu=7:unsure=0.3",
)
UNSURE = len(CLASSES)


def table(seed: int, rows: int, classes: tuple[str, ...] = CLASSES) -> Columns:
    random = np.random.default_rng(seed)
    cells = (random.choice(["1", "2", "3"], rows), random.choice(["1", "2"], rows), random.choice(classes, rows))
    return Columns.of(("x", "y", "class"), cells, rows)


@given(st.sampled_from(RECIPES), st.integers(0, 1000), st.integers(1, 40), st.booleans())
def test_labels_of_pooling_are_those_of_the_recipe(text: str, seed: int, rows: int, some_classes: bool) -> None:
    """But for ties of fractions, which fixed point may break otherwise."""
    recipe = read_recipe(text)
    mine = table(seed, rows, CLASSES[:2] if some_classes else CLASSES)
    own, others = counted(LAYOUT, mine).vector, counted(LAYOUT, table(seed + 1, 50)).vector
    codes = encode_query(LAYOUT.dictionary, table(seed + 2, 60)).codes
    layout, vector = LAYOUT.weighing(recipe.weight), own if recipe.base == "own" else own + others
    expected = fixed_labels(layout, fixed_model(LAYOUT, vector, recipe, own), codes)
    found = pooled_by(LAYOUT, recipe, own + others, own, codes)
    differ = {tuple(row) for row in codes[:, found != expected].T}
    assert len(differ) <= 1  # of six kinds of rows


def test_a_prior_of_ones_own_moves_labels() -> None:
    """Here all are well, elsewhere nobody is; the attributes tell nothing."""
    mine, others = [
        (Columns.of(("x", "y", "class"), (np.full(9, "1"), np.full(9, "1"), np.full(9, name)), 9))
        for name in ("well", "flu")
    ]
    own, codes = counted(LAYOUT, mine).vector, encode_query(LAYOUT.dictionary, mine.take(np.arange(1))).codes
    pooled = own + np.uint64(2) * counted(LAYOUT, others).vector
    labels = {text: CLASSES[pooled_by(LAYOUT, read_recipe(text), pooled, own, codes)[0]] for text in RECIPES[2:6:2]}
    assert labels == {"joint": "flu", "personal:weight=0:prior=own": "well"}


@pytest.mark.parametrize(("elsewhere", "label"), [("1", "well"), ("3", "cold")])
def test_a_class_of_which_the_hospital_has_nobody_counts_half_a_patient(elsewhere: str, label: str) -> None:
    """Cold wins where all else speaks for it, and not where nothing does; a whole patient would win always."""
    wells = Columns.of(("x", "y", "class"), (np.full(50, elsewhere), np.full(50, "1"), np.full(50, "well")), 50)
    colds = Columns.of(("x", "y", "class"), (np.full(50, "1"), np.full(50, "1"), np.full(50, "cold")), 50)
    own = counted(LAYOUT, wells.take(np.arange(1))).vector
    pooled = counted(LAYOUT, wells).vector + counted(LAYOUT, colds).vector
    codes = encode_query(LAYOUT.dictionary, colds.take(np.arange(1))).codes
    found = pooled_by(LAYOUT, read_recipe("personal:weight=0:prior=own"), pooled, own, codes)
    assert CLASSES[found[0]] == label


def labels(*positions: int) -> Labels:
    return np.array(positions, np.int64)


def truth(*positions: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(positions, np.int32)


def test_answers_are_counted_by_hospital_and_together() -> None:
    unsure = read_recipe("joint:unsure=1")
    asked = {
        "north": Asked(unsure, labels(0, UNSURE, 1, 2), labels(0, 1, 1, 2)),
        "south": Asked(read_recipe("own"), labels(1, 1), labels(2, 1)),
    }
    found = with_recipe(
        LAYOUT,
        "best",
        asked,
        {"north": truth(0, 1, 1, UNSURE), "south": truth(1, 1)},  # of north's last row nobody knows the class
        {"north": labels(0, 0, 0, 0), "south": labels(1, 1)},
    )
    north, south = found.hospitals.values()
    assert (found.recipe, north.recipe, south.recipe) == ("best", "joint:unsure=1", "own")
    assert (found.rows, north.rows, south.rows) == (6, 4, 2)
    assert north.accuracy == {"own": pytest.approx(1 / 3), "joint": 1.0, "recipe": pytest.approx(2 / 3)}
    assert south.accuracy == {"own": 1.0, "joint": 0.5, "recipe": 1.0}
    assert found.accuracy == {"own": 0.6, "joint": 0.8, "recipe": 0.8}
    assert (found.unsure, north.unsure, south.unsure) == (1, 1, None)
    assert north.confusion["recipe"] == [[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 0, 0]]
    assert north.confusion["joint"] == [[1, 0, 0], [0, 2, 0], [0, 0, 0]]
    assert found.confusion["recipe"] == [[1, 0, 0, 0], [0, 3, 0, 1], [0, 0, 0, 0]]


def test_without_known_classes_answers_are_counted_and_not_judged() -> None:
    asked = {"north": Asked(read_recipe("joint:unsure=1"), labels(0, UNSURE), labels(0, 1))}
    found = with_recipe(LAYOUT, "joint:unsure=1", asked, {"north": None}, {"north": labels(0, 0)})
    nothing = dict.fromkeys(("own", "joint", "recipe"))
    assert (found.accuracy, found.confusion, found.unsure) == (nothing, nothing, 1)
    assert found.hospitals["north"].accuracy == nothing
