"""What the document says beside its tables follows from them too."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mixbayes.research.study.document import document
from mixbayes.research.study.results import Results
from tests.research.study.test_study import QUIET, REFUSED


def said(results: Results) -> str:
    """As one line, so that no sentence is broken."""
    return " ".join(document(results).split())


def test_hospitals_that_lack_the_same_columns_measured_the_same(committed: Results) -> None:
    assert "The hospitals did not measure the same things. A missing cell" in said(committed)
    same = [replace(one, mostly_missing={"ca": 0.9}) for one in committed.hospitals]
    assert "The hospitals did not measure the same things" not in said(replace(committed, hospitals=same))


@pytest.mark.parametrize(
    ("kept", "part"),
    [
        ((0.9, 0.0, 0.0), "; at hungarian and switzerland it changes by less than half a point."),
        ((0.9, 0.9, 0.9), "switzerland 90.0 instead of 50.0. A higher accuracy with zeros"),
    ],
)
def test_hospitals_that_zeros_hardly_change_are_named(committed: Results, kept: tuple[float, ...], part: str) -> None:
    cleveland, hungarian, switzerland, _, everybody = committed.joining
    joining = [
        replace(
            one,
            joint=replace(one.joint, accuracy=replace(one.joint.accuracy, value=0.5)),
            zeros_kept=zeros_kept or 0.5,
        )
        for one, zeros_kept in zip((cleveland, hungarian, switzerland), kept, strict=True)
    ]
    assert part in said(replace(committed, joining=[*joining, everybody]))


def test_settings_that_a_hospital_cannot_use_are_marked(small: Results) -> None:
    text = said(small)
    assert text.count(f"| `{REFUSED}`† |") == 2
    assert f"- `{REFUSED}` at switzerland, in 6 of 6 splits: Every class needs" in text
    able = [one for one in small.protecting if not one.refused]
    assert "†" not in said(replace(small, protecting=able))


def test_promises_are_said_in_their_own_words(small: Results) -> None:
    text = said(small)
    assert "Nothing is promised to people by `class-wise-condensation` and `sap`:" in text
    assert "- `microaggregation:k=10`: 10-anonymity of age" in text
    assert text.count(f"`{QUIET}`: ") == 0


def test_who_asks_is_promised_something_by_noise_alone(committed: Results) -> None:
    rows = [line.strip("| ").split(" | ") for line in document(committed).splitlines() if line.startswith("| `")]
    asked = {row[0].strip("`†"): row[-1] for row in rows if len(row) == 7 and row[-1][:2] in ("no", "ε ")}
    assert len(asked) == len(committed.protecting)
    promised = {setting: words for setting, words in asked.items() if words != "no"}
    assert promised == {f"private-synthesis:epsilon={epsilon}": f"ε = {epsilon}" for epsilon in (1, 2, 4, 8)}
