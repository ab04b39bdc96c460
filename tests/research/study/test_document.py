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


def test_releases_of_some_hospitals_say_over_how_many_patients_they_are(small: Results) -> None:
    text = said(small)
    released = text[text.index("## What the released tables give away") :]
    assert f"| `{REFUSED}`† |" in released
    assert f"† Not for all hospitals: `{REFUSED}` without switzerland, over 216 of 288 patients." in released
    assert f"| `{QUIET}` | 100.0 %" in released
    able = [one for one in small.protecting if not one.refused]
    assert "†" not in said(replace(small, protecting=able))
