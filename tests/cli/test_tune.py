"""`mixbayes tune`: sizes that were tried, the best of them, a picture, and what is refused."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from tests.cli.in_process import Command, command

METHOD = ("--method", "class-wise-condensation")
PARAMETER_KEYS = [
    "method",
    "parameter",
    "settings",
    "search",
    "from",
    "to",
    "privacy_measure",
    "commonest_class",
    "best",
    "tried",
    "seconds",
]
KEYS = ["method", "search", "threshold", "approximate_gcd", "best", "tried", "seconds"]


@pytest.fixture
def tune(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return command("tune", monkeypatch, capsys)


@pytest.fixture
def iris(tmp_path: Path) -> Path:
    X, y = load_iris(return_X_y=True)
    lines = ["a,b,c,d,class", *(",".join(map(str, [*row, f"kind {c}"])) for row, c in zip(X, y, strict=True))]
    path = tmp_path / "iris.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_document_has_every_size_tried(tune: Command, iris: Path) -> None:
    document = tune(iris, *METHOD, "-t", 10, "--json").document
    assert list(document) == KEYS
    assert (document["search"], document["threshold"], document["approximate_gcd"]) == ("rule", 10, 40)
    assert [tried["group_size"] for tried in document["tried"]] == [10, 21, 31, 37, 41, 43, 44, 45]
    assert document["best"] in document["tried"]
    assert all(0 <= tried["accuracy"] <= 1 and tried["privacy"] > 0 for tried in document["tried"])


def test_the_exhaustive_search_tries_more(tune: Command, iris: Path) -> None:
    document = tune(iris, *METHOD, "--search", "exhaustive", "-t", 38, "--repeats", 1, "--json").document
    assert [tried["group_size"] for tried in document["tried"]] == list(range(38, 46))
    document = tune(iris, *METHOD, "--search", "exhaustive", "-t", 10, "--most-sizes", 3, "--json").document
    assert [tried["group_size"] for tried in document["tried"]] == [10, 28, 45]


@pytest.mark.usefixtures("_every_step_is_told")
def test_text_marks_the_size_that_was_found(tune: Command, iris: Path) -> None:
    done = tune(iris, *METHOD, "-t", 30, "--repeats", 1)
    assert done.code == 0
    assert "chosen" in done.out
    assert "the most privacy among sizes within 5% of the best accuracy; without a search it would be 30" in done.out
    assert "trying group sizes" in done.err


def test_text_says_on_how_many_rows_an_accuracy_stands(tune: Command, iris: Path) -> None:
    iris.write_text("\n".join(iris.read_text().splitlines()[:-9]) + "\n")
    done = tune(iris, *METHOD, "-t", 36, "--repeats", 3)
    assert "Judged on 15 rows, 3 times: one answer is 2.2 points of accuracy." in done.out
    assert "Judged on 15 rows: one answer is 6.7 points" in tune(iris, *METHOD, "-t", 36, "--repeats", 1).out
    tried = tune(iris, *METHOD, "-t", 36, "--json").document["tried"]
    assert all((45 * one["accuracy"]) == pytest.approx(round(45 * one["accuracy"])) for one in tried)


def test_text_has_the_command_that_releases_the_table(
    tune: Command, iris: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    iris.write_text(iris.read_text().replace("class", "the kind", 1))
    done = tune(iris, *METHOD, "-t", 44, "--repeats", 1, "--class-column", "the kind", "--numeric", "a,b")
    (line,) = [line.removeprefix("Next: mixbayes protect ") for line in done.out.splitlines() if "Next:" in line]
    words = [str(iris.parent / "released.csv") if word == "OUT" else word for word in shlex.split(line)]
    released = command("protect", monkeypatch, capsys)(*words, "--json").document
    assert f"Group size {released['parameters']['k']}: " in done.out


def test_without_a_number_the_largest_is_chosen(tune: Command, tmp_path: Path) -> None:
    rows = [f"{'ab'[row % 2]},{'xy'[row % 2]}" for row in range(40)]
    (tmp_path / "in.csv").write_text("\n".join(["a,class", *rows]) + "\n")
    assert "the largest among sizes within 5%" in tune(tmp_path / "in.csv", *METHOD, "-t", 9).out


def test_the_picture_is_a_png(tune: Command, iris: Path, tmp_path: Path) -> None:
    picture = tmp_path / "sizes.png"
    assert tune(iris, *METHOD, "-t", 40, "--repeats", 1, "--plot", picture).code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


PARAMETERS = {
    "condensation": ("k", 40, 42, ("--set", "seeds=kmeans")),
    "microaggregation": ("k", 3, 5, ()),
    "perturbation-tree": ("leaf_size", 10, 12, ("--set", "min_group=4")),
    "sap": ("p", 0.2, 0.22, ()),
    "svd": ("rank", 2, 3, ()),
    "sparsified-svd": ("sparsity", 0.1, 0.11, ("--set", "rank=3")),
    "dmpd": ("k", 10, 11, ("--set", "population=4", "--set", "generations=1")),
}


@pytest.mark.parametrize("method", PARAMETERS)
def test_a_parameter_of_another_method(tune: Command, iris: Path, method: str) -> None:
    parameter, low, high, others = PARAMETERS[method]
    bounds = ("--parameter", parameter, "--from", low, "--to", high)
    document = tune(iris, "--method", method, *bounds, *others, "--repeats", 1, "--json").document
    assert list(document) == PARAMETER_KEYS
    assert (document["method"], document["parameter"], document["search"]) == (method, parameter, "rule")
    assert (document["from"], document["to"]) == (low, high)
    assert document["settings"] == dict(pair.split("=") for pair in others if pair != "--set")
    values = [tried["value"] for tried in document["tried"]]
    assert values == sorted(set(values))
    assert {low, high} <= set(values)
    assert document["best"] in document["tried"]


def test_the_group_size_by_its_name_is_the_same_search(tune: Command, iris: Path) -> None:
    asked = (*METHOD, "-t", 44, "--repeats", 1, "--json")
    one, other = (tune(iris, *asked, *named).document for named in ((), ("--parameter", "k")))
    assert {**one, "seconds": 0} == {**other, "seconds": 0}


@pytest.mark.usefixtures("_every_step_is_told")
def test_text_picture_and_page_of_a_parameter(
    tune: Command, iris: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("--method", "sparsified-svd", "--parameter", "rank", "--set", "sparsity=0.1", "--repeats", 1)
    done = tune(iris, *asked, "--plot", iris.parent / "ranks.png", "--report", iris.parent / "report")
    assert done.code == 0
    assert "chosen" in done.out
    assert "To give every row the commonest class would be right for 33.33%." in done.out
    assert "Privacy: width of the 95% interval, in ranges." in done.out
    assert "trying values of rank" in done.err
    assert (iris.parent / "ranks.png").read_bytes().startswith(b"\x89PNG")
    page = (iris.parent / "report" / "report.html").read_text()
    assert "Privacy against accuracy: sparsified-svd" in page
    assert "Accuracy and privacy by rank" in page
    (line,) = [line.removeprefix("Next: mixbayes protect ") for line in done.out.splitlines() if "Next:" in line]
    words = [str(iris.parent / "released.csv") if word == "OUT" else word for word in shlex.split(line)]
    released = command("protect", monkeypatch, capsys)(*words, "--json").document
    assert f"rank = {released['parameters']['rank']}: the most privacy among values within 5%" in done.out
    assert released["parameters"]["sparsity"] == 0.1


@pytest.mark.parametrize("classifier", ["naive-bayes", "tree", "svm"])
def test_other_classifiers(tune: Command, iris: Path, classifier: str) -> None:
    document = tune(iris, *METHOD, "-t", 42, "--repeats", 1, "--classifier", classifier, "--json").document
    assert document["best"]["accuracy"] > 0.8


def test_the_same_seed_gives_the_same_answer(tune: Command, iris: Path) -> None:
    one, same, other = (
        tune(iris, *METHOD, "-t", 40, "--repeats", 1, "--seed", seed, "--json").document["tried"] for seed in (1, 1, 2)
    )
    assert one == same != other


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--method", "guess"), 2, "nothing to tune of 'guess'. --method can be condensation,"),
        (("--method", "condensation"), 2, "Say what is to be looked for: --parameter k."),
        (("--method", "sparsified-svd"), 2, "--parameter rank or sparsity."),
        (("--method", "svd", "--parameter", "k"), 2, "'k' of svd cannot be searched for; rank can"),
        ((*METHOD, "--parameter", "t"), 2, "'t' of class-wise-condensation cannot be searched for; k can"),
        ((*METHOD, "--from", "10"), 2, "--from: only any method with --parameter has it"),
        (("--method", "svd", "--parameter", "rank", "-t", "9"), 2, "--threshold: only --method class-wise-conden"),
        (("--method", "sap", "--parameter", "p", "--set", "target"), 2, "--set target: say it as KEY=VALUE"),
        (("--method", "sap", "--parameter", "p", "--set", "target=all"), 2, "target of sap must be"),
        (("--method", "sparsified-svd", "--parameter", "rank"), 2, "sparsified-svd needs sparsity"),
        (("--method", "svd", "--parameter", "rank", "--from", "5"), 6, "there are 4 numeric columns"),
        ((*METHOD, "-t", "2"), 2, "'t' parameter"),
        ((*METHOD, "-t", "46"), 6, "smallest class has 45"),
        ((*METHOD, "--plot", "sizes.jpg"), 2, "PNG"),
        ((*METHOD, "--class-column", "kind"), 6, "no column 'kind'"),
        ((*METHOD, "--jobs", "0"), 2, "--jobs 0"),
    ],
)
def test_what_cannot_be_is_refused(tune: Command, iris: Path, arguments: tuple[str, ...], code: int, said: str) -> None:
    done = tune(iris, *arguments)
    assert (done.code, done.out) == (code, "")
    assert said in done.err


@pytest.mark.parametrize(
    ("rows", "said"),
    [([], "in.csv: A table of 0 rows"), (["1,2,x"], "in.csv: 1 rows are too few"), (["?,,x"] * 9, "No column")],
)
@pytest.mark.filterwarnings("error")
def test_tables_with_nothing_to_learn_from_are_refused(
    tune: Command, tmp_path: Path, rows: list[str], said: str
) -> None:
    (tmp_path / "in.csv").write_text("\n".join(["a,b,class", *rows]) + "\n")
    done = tune(tmp_path / "in.csv", *METHOD, "-t", 3)
    assert (done.code, done.out) == (6, "")
    assert said in done.err


@pytest.mark.parametrize("classifier", ["nearest-neighbour", "naive-bayes", "tree", "svm"])
def test_one_class_and_a_column_without_a_cell_are_no_obstacle(tune: Command, tmp_path: Path, classifier: str) -> None:
    rows = [f"{row},{row % 3},?,x" for row in range(20)]
    (tmp_path / "in.csv").write_text("\n".join(["a,b,c,class", *rows]) + "\n")
    settings = ("-t", 8, "--repeats", 1, "--classifier", classifier, "--json")
    document = tune(tmp_path / "in.csv", *METHOD, *settings).document
    assert document["best"]["accuracy"] == 1


def test_a_word_among_numbers_is_told(tune: Command, iris: Path) -> None:
    iris.write_text(iris.read_text() + "n/a,3,4,1,kind 2\n")
    assert "column 'a' has numbers, and words among them" in tune(iris, *METHOD, "-t", 44, "--repeats", 1).err


def test_a_table_without_a_class_is_refused(tune: Command, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a\n" + "\n".join(map(str, np.arange(30))))
    done = tune(tmp_path / "in.csv", *METHOD)
    assert done.code == 6
    assert "--class-column" in done.err
