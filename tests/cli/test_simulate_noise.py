"""`mixbayes simulate --epsilon`, and what is said without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.simulating import Refused, Simulated, document_of, without, write_csv

ROWS = [{"sex": "fm"[i % 2], "grade": str(i % 3), "class": "yes" if i % 5 else "no"} for i in range(60)]


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "patients.csv", ROWS)


def test_the_document_tells_what_was_promised_and_spent(patients: Path, simulated: Simulated) -> None:
    done = simulated(patients, "--epsilon", 4, "--delta", "1e-3", "--json")
    privacy = document_of(done)["privacy"]
    assert (privacy["epsilon"], privacy["delta"]) == (4.0, 1e-3)
    assert 2 < privacy["spent"] <= 4
    assert privacy["noise"]["standard_deviation"] > 0
    assert "mixbayes: warning: the promise does not cover what the dictionary tells" in done.err


def test_people_are_told_too(patients: Path, simulated: Simulated, tmp_path: Path) -> None:
    done = simulated(patients, "--two-party", "--epsilon", 4, "--delta", "1e-3", "--report", tmp_path / "page")
    assert "Promised: epsilon 4 and delta 0.001 a round, for one row more or less in one hospital's table" in done.out
    assert "Labels equal to the pooled classifier's without noise:" in done.out
    assert "of weight 1" in done.out
    assert "error" not in done.out
    assert "epsilon 4 and delta 0.001" in (tmp_path / "page" / "report.html").read_text()


def test_without_noise_it_is_said_what_labels_give_away(patients: Path, simulated: Simulated) -> None:
    done = simulated(patients, "--two-party")
    assert "whoever may ask about as many rows as there are cells, here 16," in done.out
    assert "warning" not in done.err
    assert document_of(simulated(patients, "--two-party", "--json"))["privacy"] is None


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--epsilon", "0"], "An epsilon of 0 is not possible"),
        (["--epsilon", "4", "--delta", "1"], "A delta of 1 is not possible"),
        (["--epsilon", "4", "--total-epsilon", "1"], "One round costs epsilon"),
        (["--total-epsilon", "4"], "--total-epsilon is about noise"),
        (["--release", "model"], "--release model is about noise"),
        (["--min-rows", "5", "--max-rows-each", "4"], "needs 5 rows, and may have 4"),
    ],
)
def test_promises_that_cannot_be_made_are_wrong_usage(
    patients: Path, flags: list[str], said: str, refused: Refused
) -> None:
    assert said in refused(2, "simulate", patients, *flags)


def test_a_hospital_with_too_few_rows_is_named(patients: Path, tmp_path: Path, refused: Refused) -> None:
    few = write_csv(tmp_path / "few.csv", without(ROWS[:9]))
    told = refused(6, "simulate", patients, few, "--min-rows", 10, "--classify", patients)
    assert "few.csv: The table breaks the dictionary: it has 9 rows, and every hospital needs 10." in " ".join(
        told.split()
    )
