"""Reports of real runs opened in a real browser: on a phone, on a desk, on paper."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_iris

from mixbayes.report.page import built
from mixbayes.report.simulated import simulated
from mixbayes.report.tuned import Tuning, tuned
from tests.report.browser import browser, opened, printed
from tests.report.pages import EVIL, RUN, document, evaluation, outcome, release, simulation, tuning
from tests.report.test_pages import POINTS

PHONE, DESK = 360, 1280
RECIPE = "personal:weight=3:prior=mixed:costs=sick=5:unsure=1"


def run(*arguments: object, folder: Path) -> tuple[str, dict[str, Any]]:
    """The page and the JSON document of one command."""
    words = [sys.executable, "-c", "from mixbayes.cli import main; main()", *map(str, arguments)]
    done = subprocess.run(
        [*words, "--json", "--report", "out"], cwd=folder, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    return (folder / "out" / "report.html").read_text(), json.loads(done.stdout)


@pytest.fixture(autouse=True, scope="module")
def _browser() -> None:
    """Looked for before any run."""
    browser()


@pytest.fixture
def iris(tmp_path: Path) -> Path:
    X, y = load_iris(return_X_y=True)
    lines = ["a,b,c,d,class", *(",".join(map(str, [*row, f"kind {c}"])) for row, c in zip(X, y, strict=True))]
    path = tmp_path / "iris.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def shares(text: str) -> set[str]:
    return set(re.findall(r"\d+\.\d\d%", text))


@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize(
    "page",
    [
        simulation([f"{EVIL} {i}" for i in range(3)], [EVIL, "b", "W" * 80, "医" * 60], EVIL),
        simulation([f"hospital-{i}" for i in range(12)], [f"class {i}" for i in range(11)]),
        tuning(*POINTS, setting="W" * 90, method="m" * 300),
        release(["a" * 300, EVIL, "b"], why_not={"rp": "w" * 200}),
        evaluation(*(document(name, [EVIL, "W" * 80], ["joint", EVIL, RECIPE]) for name in ("医" * 60, EVIL))),
        evaluation(document("north", [*(f"stage {i}, with metastases" for i in range(8))], ["joint", RECIPE])),
    ],
    ids=["simulation", "many", "tuning", "release", "evaluation", "stages"],
)
def test_any_name_fits_and_none_is_run(page: str, width: int) -> None:
    seen = opened(page, width)
    assert seen.width == width  # no scrolling sideways
    assert seen.outside == []
    assert not seen.hacked
    assert seen.fetched == []
    assert seen.letters >= 10
    assert seen.pictures
    assert all(wide > 250 and high > 40 for wide, high in seen.pictures)


@pytest.mark.parametrize("width", [360, 400, 590, 610, 900, 1600])
def test_pictures_are_as_wide_as_their_column_and_letters_as_those_of_the_text(width: int) -> None:
    seen = opened(evaluation(document("north", ["no", "yes"], ["joint", RECIPE])), width)
    column = min(width, 736) - 32
    assert seen.width == width
    assert all(wide == pytest.approx(column, abs=1) for wide, _ in seen.pictures)
    assert 10 <= seen.letters <= 24
    assert len(seen.pictures) == 5  # and not each of them twice


def test_a_command_is_broken_between_words() -> None:
    line = f"mixbayes measure {' '.join(['--class-column diagnosis'] * 9)}"
    seen = opened(built(simulated(outcome(["north", "south"], ["no", "yes"])), replace(RUN, line=line)), PHONE)
    assert (seen.broken, seen.width) == ([], PHONE)
    assert line in " ".join(seen.text.split())


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_short_words_in_a_table_are_whole(width: int) -> None:
    long = ["universitaetsklinikum-nord", "kreiskrankenhaus-sued"]
    many = outcome(["cleveland", "switzerland"], ["absent", "present"])
    front = Tuning("dmpd", "Found.", "So.", "rows that share the rarest combination", POINTS)
    pages = [
        simulation(long, ["absent", "present"], "condensation:k=5"),
        built(simulated(replace(many, confusion=[[10_000, 345], [1, 3_456]])), RUN),
        built(tuned(replace(front, privacy="width of the 95% interval, in ranges", setting="group size")), RUN),
        built(tuned(front), RUN),
        release(["age", "sex"]),
        evaluation(document("north", ["absent", "present"], ["joint", RECIPE])).replace("<details>", "<details open>"),
    ]
    for page in pages:
        seen = opened(page, width)
        assert ({*seen.torn} - {*long}, seen.width) == (set(), width)


def test_a_simulation(tmp_path: Path) -> None:
    page, document = run("simulate", "--protect", "hospital-1=microaggregation:k=5", folder=tmp_path)
    seen = opened(page, PHONE)
    assert (seen.width, seen.outside, seen.fetched) == (PHONE, [], [])
    assert seen.title == "3 hospitals classify together: a simulation"
    accuracy, moved, rounds = document["accuracy"], document["bytes"], document["rounds"]
    told = [accuracy["joint"], accuracy["pooled"], accuracy["pooled_unprotected"], *accuracy["alone"].values()]
    assert {f"{value:.2%}" for value in (*told, document["agreement_with_pooled"])} <= shares(seen.text)
    values = {float(value) for value in seen.values}
    assert {*told, *moved.values(), *rounds.values(), *document["seconds"].values()} <= values
    assert f"{moved['training']:,}" in seen.text
    assert "microaggregation:k=5" in seen.text
    rows = [
        int(count.replace(",", ""))
        for count in re.findall(r"(?:benign|malignant)\t(?:benign|malignant)\t([\d,]+)", seen.text)
    ]
    assert sum(rows) == document["instances"]
    sent = re.findall(r"(?:random seed|masked counts|training|classification)\t([\d,]+)\n", seen.text)
    assert sum(int(count.replace(",", "")) for count in sent) == sum(moved.values())
    assert seen.text.count("→ mixer a") == seen.text.count("→ mixer b") == 3


def test_a_search(tmp_path: Path, iris: Path) -> None:
    command = ("tune", iris.name, "--method", "class-wise-condensation", "-t", 38, "--repeats", 1)
    page, document = run(*command, folder=tmp_path)
    seen = opened(page, PHONE)
    assert (seen.width, seen.outside, seen.fetched) == (PHONE, [], [])
    assert len(seen.pictures) == 2
    for tried in document["tried"]:
        assert f"{tried['group_size']}\t{tried['accuracy']:.2%}\t{tried['privacy']:.4g}" in seen.text
    assert f"Group size {document['best']['group_size']}: the most privacy" in seen.text


def test_a_release(tmp_path: Path, iris: Path) -> None:
    lines = iris.read_text().splitlines()
    (tmp_path / "released.csv").write_text("\n".join([lines[0], *(f"1{line}" for line in lines[1:])]) + "\n")
    page, document = run("measure", iris.name, "released.csv", folder=tmp_path)
    seen = opened(page, PHONE)
    assert (seen.width, seen.outside, seen.fetched) == (PHONE, [], [])
    values = {float(value) for value in seen.values}
    measures = ("confidence_interval", "vd", "rp", "rk", "cp", "ck", "k_anonymity", "reidentification")
    assert {document[name] for name in measures} <= values
    assert {share for each in document["utility"].values() for share in each.values()} <= values
    assert set(document["clustering"].values()) <= values


def test_it_prints(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(simulation(["north", "south"], ["no", "yes"], "sap:p=1"))
    pdf = printed(tmp_path / "page.html", tmp_path / "page.pdf")
    assert pdf.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 8
