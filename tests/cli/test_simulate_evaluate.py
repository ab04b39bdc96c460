"""`mixbayes simulate --evaluate` and `--recipe`: every hospital judges and asks for itself."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from mixbayes.cli import simulate as command
from mixbayes.evaluation.recommendation import COMPARED
from mixbayes.protocol.errors import Unsupported
from mixbayes.simulation.stage import stage
from mixbayes.tables.columns import Columns
from mixbayes.tables.inference import infer
from tests.cli.oracle import Row
from tests.cli.simulating import Refused, Simulated, check_document, labels_in, write_csv

OF_ONE = {
    *("hospital", "rows", "classes", "class_column", "columns", "folds", "commonest_class", "own", "recipes"),
    *("recommended", "best", "why"),
}


def patients(number: int, rows: int, lean: float) -> list[Row]:
    random = np.random.default_rng(number)
    found = []
    for _ in range(rows):
        ill = random.random() < lean
        signs = {name: "yn"[int(random.random() < (0.3 if ill else 0.7))] for name in ("cough", "fever", "rash")}
        found.append({**signs, "class": "ill" if ill else "well"})
    return found


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Path, Path]:
    return (
        write_csv(tmp_path / "north.csv", patients(1, 50, 0.8)),
        write_csv(tmp_path / "south.csv", patients(2, 30, 0.3)),
    )


def test_documents_are_those_of_evaluate_and_all_else_is_as_ever(
    tables: tuple[Path, Path], simulated: Simulated
) -> None:
    document = simulated(*tables, "--evaluate", "--folds", 3, "--json").document
    evaluation = document.pop("evaluation")
    for part, key in (("seconds", "evaluate"), ("bytes", "evaluation"), ("rounds", "evaluation")):
        assert document[part].pop(key) > 0
    check_document(document)
    assert {name: (one["hospital"], one["rows"], one["folds"]) for name, one in evaluation.items()} == {
        "north": ("north", 35, 3),
        "south": ("south", 21, 3),
    }
    for one in evaluation.values():
        assert set(one) == OF_ONE
        assert one["own"]["recipe"] == "own"
        assert [found["recipe"] for found in one["recipes"]] == list(COMPARED)
        assert sum(map(sum, one["recipes"][0]["confusion"])) == one["rows"]


def test_people_get_a_table_of_classifiers_by_hospital_and_a_page(
    tables: tuple[Path, Path], simulated: Simulated, tmp_path: Path
) -> None:
    recipe = "personal:weight=2:prior=mixed:unsure=0.5"
    done = simulated(*tables, "--evaluate", "--recipe", recipe, "--report", tmp_path / "page")
    assert done.code == 0, done.err
    assert "Judged by every hospital's own patients, in 5 folds" in done.out
    for said in ("35 patients", "21 patients", *COMPARED[:2], recipe, "best", "unsure", "together", ", evaluation "):
        assert said in done.out
    assert COMPARED[2] not in done.out  # two personal recipes may be agreed on, and one is asked by
    assert "north: recommended is " in done.out
    assert "Labels equal to those of the same recipe on pooled counts: 100.00%" in done.out
    page = (tmp_path / "page" / "report.html").read_text()
    for heading in ("Is joining worth it?", "What a classifier of its own choice brings each hospital", "ROC"):
        assert heading in page


def test_labels_by_a_recipe_are_in_the_order_of_the_rows(
    tables: tuple[Path, Path], simulated: Simulated, tmp_path: Path
) -> None:
    """Costs that nothing outweighs: every hospital calls all its rows ill, and the document counts them."""
    out = tmp_path / "labels.csv"
    found = simulated(*tables, "--recipe", "joint:costs=ill=1000", "--labels", out, "--json").document["recipe"]
    assert Counter(labels_in(out)) == {"ill": 24}
    assert [one["rows"] for one in found["hospitals"].values()] == [15, 9]
    for one in (found, *found["hospitals"].values()):
        (ill, wrongly), (well, rightly) = one["confusion"]["recipe"]
        assert (ill + well, wrongly + rightly) == (one["rows"], 0)
        assert one["accuracy"]["recipe"] == pytest.approx(ill / one["rows"])
        assert one["unsure"] is None


def test_a_table_to_classify_is_asked_about_by_one_hospital(
    tables: tuple[Path, Path], simulated: Simulated, tmp_path: Path
) -> None:
    document = simulated(*tables, "--classify", tables[1], "--recipe", "own", "--json").document
    assert {name: one["rows"] for name, one in document["recipe"]["hospitals"].items()} == {"north": 30}
    with open(tables[1], newline="") as file:
        assert sum(1 for _ in csv.reader(file)) == 1 + document["instances"]
    assert document["recipe"]["accuracy"]["own"] == document["accuracy"]["alone"]["north"]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--evaluate", "--two-party", "--protocol", "paillier"], "--evaluate judges classifiers on shares"),
        (["--evaluate", "--folds", "1"], "--evaluate with --folds 1"),
        (["--folds", "5"], "--folds is about evaluations"),
        (["--recipe", "better"], "'better' is no recipe"),
        (["--compare", "joint"], "--compare is about evaluations"),
        (["--evaluate", "--folds", "21"], "--folds"),
        (["--test-share", "0.7"], "--test-share"),
    ],
)
def test_what_does_not_go_together_is_said_before_a_table_is_read(
    flags: list[str], said: str, tmp_path: Path, refused: Refused
) -> None:
    assert said in refused(2, "simulate", tmp_path / "none.csv", *flags)


def test_costs_of_no_class_are_refused_before_a_node_begins(tables: tuple[Path, Path], refused: Refused) -> None:
    said = refused(2, "simulate", *tables, "--recipe", "own:costs=sick=5")
    assert "has a cost for 'sick'; the classes are ill, well" in " ".join(said.split())


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--evaluate"], True),
        (["--recipe", "best"], True),
        (["--evaluate", "--max-rows-each", "100"], False),
        (["--recipe", "joint"], False),
    ],
)
def test_that_noise_makes_an_evaluation_long_is_said_before_it_begins(
    flags: list[str], told: bool, tables: tuple[Path, Path], simulated: Simulated, monkeypatch: pytest.MonkeyPatch
) -> None:
    def agreed_only(given: dict[str, Columns], **asked: Any) -> NoReturn:
        asked["agreed"](infer(list(given.values()), None, (), (), None, "1", None))
        raise Unsupported("That is enough.")

    monkeypatch.setattr(command, "run_simulation", agreed_only)
    done = simulated(*tables, "--epsilon", 2, *flags)
    assert "That is enough." in done.err
    assert ("takes time; --max-rows-each N makes them fewer" in " ".join(done.err.split())) == told


def test_what_it_costs_on_a_link_is_said_before_the_nodes_begin(
    tables: tuple[Path, Path], simulated: Simulated, monkeypatch: pytest.MonkeyPatch
) -> None:
    def staged_only(given: dict[str, Columns], **asked: Any) -> NoReturn:
        dictionary = infer(list(given.values()), None, (), (), None, "1", None)
        with stage(list(given), dictionary, "shares", two_party=False, timeout=5.0) as made:
            asked["staged"](made.federation)
        raise Unsupported("That is enough.")

    monkeypatch.setattr(command, "run_simulation", staged_only)
    (said,) = (line for line in simulated(*tables, "--delay", 25).err.splitlines() if line.startswith("Over links"))
    assert said.startswith("Over links of 25 ms one way and 100 Mbit/s each way a training takes about ")
    assert "private question about 1 row" in said
