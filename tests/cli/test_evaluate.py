"""`mixbayes evaluate` and `classify --recipe` at real nodes: figures as of pooled tables, and what is refused."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mixbayes.parties.own_patients import OwnPatients
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.bayes.evaluation import totals_in_clear, without_each
from mixbayes.protocol.bayes.recipe import JOINT, OWN, Recipe, read_recipe
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model, fixed_models
from mixbayes.protocol.bayes.validity import joint
from mixbayes.tables.encoding import encode_query
from tests.cli.typed import Prompt
from tests.services.couple import ROWS
from tests.services.helpers import Site, make_site, table

PERSONAL = "personal:weight=10:prior=own"
CAUTIOUS = "joint:unsure=1"
FOLDS = 4


@pytest.fixture(scope="module")
def wards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Three hospitals that serve, the node of one of them running."""
    folder = tmp_path_factory.mktemp("wards")
    site = make_site(folder / "site", policy={"folds": FOLDS}, recipes=[PERSONAL, CAUTIOUS])
    site.tables["north"] = table(7, rows=61, ill="small")
    with ExitStack() as stack:
        stack.enter_context(site.mixers())
        site.serve()
        stack.enter_context(site.hospital("north"))
        yield site


def own_of(site: Site, name: str) -> OwnPatients:
    return site.settings(name).own_patients


def pooled(site: Site) -> Words:
    vectors = [joint(site.federation.layout, own_of(site, name).vector) for name in site.federation.names]
    return np.stack(vectors).sum(axis=0, dtype=np.uint64)


def expected(site: Site, recipe: Recipe) -> list[list[int]]:
    """The confusion matrix of pooled tables with the same folds."""
    own, layout = own_of(site, "north"), site.federation.layout
    if recipe == OWN:
        found = own.own_totals(OWN)
    else:
        folds = own.vector.reshape(FOLDS, -1)
        models = fixed_models(layout, recipe, *without_each(layout, pooled(site), folds))
        found = totals_in_clear(own.sheet(recipe), models, own.codes, own.groups)
    return found.answers.reshape(layout.classes, 2, -1).sum(axis=1).tolist()


def evaluated(typed: Prompt, site: Site, *words: str | Path) -> dict[str, Any]:
    done = typed.at(site, "north", "evaluate", "--json", *words)
    assert done.code == 0, done.err
    return json.loads(done.out)  # type: ignore[no-any-return]


def test_figures_are_those_of_the_pooled_tables_with_the_same_folds(typed: Prompt, wards: Site, tmp_path: Path) -> None:
    found = evaluated(typed, wards, "--report", tmp_path)
    assert (found["hospital"], found["rows"], found["folds"]) == ("north", 61, FOLDS)
    results = {one["recipe"]: one for one in (found["own"], *found["recipes"])}
    assert list(results) == ["own", "joint", PERSONAL, CAUTIOUS]
    for text, one in results.items():
        assert one["confusion"] == expected(wards, read_recipe(text)), text
    assert "Is joining worth it?" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_people_see_a_table_and_a_recommendation(typed: Prompt, wards: Site) -> None:
    done = typed.at(wards, "north", "evaluate", "--recipe", "joint")
    assert done.code == 0
    assert "61 patients of north, judged in 4 folds" in done.out
    assert "Recommended:" in done.out
    assert "joint" in done.out
    assert "personal" not in done.out.partition("Recommended")[0]


def labels_by(typed: Prompt, site: Site, recipe: str, folder: Path) -> list[str]:
    table, out = folder / "new.csv", folder / "labels.csv"
    columns = [ROWS.texts(name).tolist() for name in ROWS.names]
    table.write_text("\n".join([",".join(ROWS.names), *map(",".join, zip(*columns, strict=True))]) + "\n")
    done = typed.at(site, "north", "classify", table, "-o", out, "--recipe", recipe)
    assert done.code == 0, done.err
    with out.open() as file:
        return [row[0] for row in csv.reader(file)][1:]


def expected_labels(site: Site, text: str) -> list[str]:
    recipe, layout, own = read_recipe(text), site.federation.layout, own_of(site, "north")
    codes, vector = encode_query(site.federation.dictionary, ROWS).codes, joint(layout, own.vector)
    if recipe == OWN:
        found = own.labels(OWN, codes)
    else:
        found = fixed_labels(layout, fixed_model(layout, pooled(site), recipe, vector), codes)
    return [(*site.federation.dictionary.classes, "unsure")[label] for label in found]


@pytest.mark.parametrize("recipe", ["own", "joint", PERSONAL, CAUTIOUS])
def test_a_recipe_answers(typed: Prompt, wards: Site, tmp_path: Path, recipe: str) -> None:
    assert labels_by(typed, wards, recipe, tmp_path) == expected_labels(wards, recipe)


def test_best_is_what_the_operator_said_last(typed: Prompt, wards: Site, tmp_path: Path) -> None:
    for recipe in (PERSONAL, "own"):
        done = typed.at(wards, "north", "evaluate", "--recipe", "joint", "--remember", recipe)
        assert f"stands for {recipe} from now on" in done.err
        assert labels_by(typed, wards, "best", tmp_path) == expected_labels(wards, recipe)
    found = evaluated(typed, wards, "--recipe", str(JOINT))
    assert labels_by(typed, wards, "best", tmp_path) == expected_labels(wards, "own"), found["best"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--recipe", "mine"], 2, "is no recipe"),
        (["--recipe", "personal:weight=3"], 5, "only the recipes that the agreement lists"),
        (["--remember", "joint:unsure=2"], 5, "only the recipes that the agreement lists"),
        (["--recipe", "joint:costs=dead=2"], 2, "a cost for 'dead'"),
    ],
)
def test_mistakes(typed: Prompt, wards: Site, words: list[str], code: int, said: str) -> None:
    done = typed.at(wards, "north", "evaluate", *words)
    assert (done.code, done.out) == (code, "")
    assert said in done.err


def test_a_table_that_has_changed_since_is_not_evaluated(typed: Prompt, wards: Site) -> None:
    other = table(99, rows=61)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(wards.tables, "south", other)
        with wards.hospital("south"):
            done = typed.at(wards, "south", "evaluate")
    assert done.code != 0
    assert "its table has changed" in done.err


def test_an_agreement_without_folds_says_what_to_agree_on(typed: Prompt, serving: Site) -> None:
    with serving.hospital("north"):
        done = typed.at(serving, "north", "evaluate")
    assert done.code == 2
    assert "policy, folds = 5" in done.err
