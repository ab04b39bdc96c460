"""What noise costs: the float64 models are the protocol's, and the noise is what it is said to be."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.privacy.coins import Coins
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.counts import count
from mixbayes.protocol.bayes.noise import blurred_in_clear
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model
from mixbayes.protocol.randomness import Randomness
from mixbayes.research.noise import beside, in_diffprivlib
from mixbayes.research.noise.crossing import EVEN, Effort, Mean, Split, Way, crossed, dealt, folds_of, noise_on
from mixbayes.research.noise.mechanisms import Geometric, Mechanism, Normal, OfCoins, OfEach, geometric, normal
from mixbayes.research.noise.patients import Floats, Patients
from mixbayes.research.noise.rules import PLAIN, PROTOCOL, Maker
from mixbayes.research.noise.tables import REPORTED
from mixbayes.tables.columns import Columns
from mixbayes.tables.inference import infer
from tests.research.noise.sums import of_words

ROWS = 300
COINS = Coins((4, 3, 2))


def patients(bins: int | None = None, seed: int = 0) -> Patients:
    """Two columns of numbers, one of names, and cells missing in all."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 3, ROWS)
    numbers = [(labels * 2 + random.normal(0, 3, ROWS)).round(3).astype(str) for _ in range(2)]
    names = np.array(["a", "b", "c", "d"])[np.minimum(random.integers(0, 3, ROWS) + labels // 2, 3)]
    cells = [np.where(random.random(ROWS) < 0.1, "?", column) for column in (*numbers, names)]
    classes = np.array(["x", "y", "z"])[labels]
    table = Columns.of(("one", "two", "name", "class"), [*cells, classes], ROWS)
    return Patients.of(infer([table], bins=bins), [table])


@pytest.mark.parametrize("bins", [None, 5])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=10, deadline=None)
def test_labels_are_those_of_the_protocol(bins: int | None, seed: int) -> None:
    table = patients(bins, seed)
    layout = Layout(table.dictionary, Terms(coins=COINS))
    halves = [Randomness(bytes([at]) * 32) for at in (seed % 256, seed // 256 % 256)]
    noisy = blurred_in_clear(layout, count(layout, table.codes), *halves)
    labels = fixed_labels(layout, fixed_model(layout, noisy), table.codes.codes)
    of_class, sums = of_words(layout, noisy)
    found = Maker(table.sums, PROTOCOL, COINS.deviation).model(of_class[None], sums[None]).labels(table.added)
    assert np.count_nonzero(found[0] != labels) <= 1  # a tie up to rounding


@pytest.mark.parametrize("bins", [None, 5])
def test_labels_without_noise_are_those_of_the_protocol(bins: int | None) -> None:
    table = patients(bins)
    layout = Layout(table.dictionary)
    vector = count(layout, table.codes)
    of_class, sums = of_words(layout, vector)
    labels = fixed_labels(layout, fixed_model(layout, vector), table.codes.codes)
    found = Maker(table.sums, PLAIN, 0.0).model(of_class[None], sums[None]).labels(table.added)
    assert np.count_nonzero(found[0] != labels) <= 1


def test_a_patient_adds_one_at_most() -> None:
    table = patients()
    assert table.sums.touched == Layout(table.dictionary).coordinates
    assert np.abs(table.added).max() <= 1
    assert np.abs(table.added).sum(axis=1).max() <= table.sums.touched - 1


MECHANISMS: list[Mechanism] = [
    OfCoins(COINS),
    Normal(3.0),
    Geometric(0.7),
    OfEach(Normal(2.0), 4),
    OfEach(Geometric(0.5), 3),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda one: type(one).__name__)
def test_noise_has_its_deviation(mechanism: Mechanism) -> None:
    drawn = mechanism.drawn(np.random.default_rng(0), (200, 200))
    assert drawn.mean() == pytest.approx(0, abs=0.1)
    assert drawn.std() == pytest.approx(mechanism.deviation, rel=0.05)


def test_geometric_noise_keeps_epsilon() -> None:
    """A count that moves by one changes every probability by ε / touched."""
    mechanism = geometric(2.0, 5)
    assert isinstance(mechanism, Geometric)
    assert 5 * -np.log(mechanism.ratio) == pytest.approx(2.0)


def test_normal_noise_that_is_divided() -> None:
    sums = patients().sums
    assert EVEN.touched(sums) == sums.touched
    split = Split(classes=2, squares=0.5)
    assert split.touched(sums) == pytest.approx(sums.touched - 0.75 + sums.numbers * 3)
    drawn = noise_on(patients(), normal(1.0, 4.0), split, 400, np.random.default_rng(0))
    assert drawn[:, 0].std() / drawn[:, 1].std() == pytest.approx(2, rel=0.1)
    assert drawn[:, -1].std() / drawn[:, 1].std() == pytest.approx(0.5, rel=0.1)


def test_folds_leave_out_whom_they_ask_about() -> None:
    table = patients()
    at = dealt(table.labels, np.random.default_rng(0))
    folds = folds_of(table, at)
    assert sum(len(fold.truth) for fold in folds) == ROWS
    for one, fold in enumerate(folds):
        assert fold.of_class.sum() == np.count_nonzero(at != one)
        expected = np.stack([table.added[(at != one) & (table.labels == c)].sum(axis=0) for c in range(3)], axis=1)
        np.testing.assert_allclose(fold.sums, expected)


def test_less_noise_is_no_worse() -> None:
    def made(epsilon: float, _: float) -> Mechanism:
        return Normal(1 / epsilon)

    exact, noisy = crossed(patients(5), {"": Way(made, PROTOCOL)}, [0.01, 1e6], Effort(2, 3))
    assert abs(exact.value - noisy["", 1e6].value) < 5
    assert noisy["", 0.01].value < exact.value - 3


def test_mean_and_its_error() -> None:
    mean = Mean(np.array([0.5, 0.7]))
    assert mean.value == pytest.approx(60)
    assert mean.error == pytest.approx(10)
    assert (mean - mean).error == 0


def test_another_interpreter_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys, numpy; print([numpy.load(sys.argv[1])['folds'].max(axis=1).tolist()])")
    monkeypatch.setattr(beside, "SCRIPT", script)
    (found,) = beside.measured(Path(sys.executable), patients(), [1.0], repeats=2)
    assert found.by_repeat.tolist() == [9, 9]


class AlwaysFirst:
    """A classifier in the place of diffprivlib's."""

    def __init__(self, epsilon: float, bounds: tuple[float, float], random_state: object) -> None:
        assert (epsilon, bounds) == (1.0, (-1, 1))

    def fit(self, numbers: Floats, labels: Floats) -> None:
        self._first = labels.min()

    def predict(self, numbers: Floats) -> Floats:
        return np.full(len(numbers), self._first)


def test_what_runs_beside_diffprivlib(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "diffprivlib.models", SimpleNamespace(GaussianNB=AlwaysFirst))
    monkeypatch.setitem(sys.modules, "diffprivlib", SimpleNamespace())
    file = tmp_path / "given.npz"
    labels, folds = np.array([0, 0, 0, 1]), np.array([[0, 1, 0, 1], [0, 0, 1, 1]])
    np.savez(file, numbers=np.zeros((4, 1)), labels=labels, folds=folds, epsilons=np.array([1.0]))
    in_diffprivlib.main(str(file))
    assert json.loads(capsys.readouterr().out) == [[0.75, 0.75]]


def test_means_in_the_document_are_those_of_its_lines() -> None:
    """Nobody has changed a line by hand, or taken lines from different runs."""
    document = Path(__file__).parents[3] / "docs" / "noise.md"
    lines = [line.strip("| ").split(" | ") for line in document.read_text(encoding="utf-8").splitlines()]
    compared: list[list[float]] = []
    tables = 0
    for name, *cells in lines:
        if name == "ours less theirs, points":
            compared = []
        elif name == "mean":
            tables += 1
            assert len(compared) == len(REPORTED)
            np.testing.assert_allclose(np.mean(compared, axis=0), [*map(points, cells)], atol=0.011)
        elif len(cells) == 5 and "±" in cells[0] and cells[0][0] in "+−0":
            compared.append([points(cell.split()[0]) for cell in cells])
    assert tables == 3


def points(text: str) -> float:
    return float(text.replace("−", "-"))
