"""The page of the joint test: how good the joint classifier is over all hospitals, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mixbayes.report.figures import many, share
from mixbayes.report.page import Page, Section, Table
from mixbayes.report.whiskers import Group, Whisker, whiskers

Document = Mapping[str, Any]
Ends = Sequence[float]


def joint_page(document: Document) -> Page:
    """The page of what `evaluate --joint --json` prints."""
    (result,) = document["recipes"]
    rows, hospitals = document["rows"], document["hospitals"]
    about = f"{'about ' * bool(document['noise'])}{many(rows, 'patient')} of {many(len(hospitals), 'hospital')}"
    return Page(
        title="How good is the joint classifier? A joint test",
        lead=[_said(result, about), document["why"]],
        keys=[
            (share(result["accuracy"]), "right labels of the joint classifier"),
            (share(result["balanced_accuracy"]), "balanced accuracy"),
            (f"{rows:,}", "patients" + ", with noise" * bool(document["noise"])),
        ],
        sections=[_shares(document, result), _figures(document, result)],
        gives_away=[
            "Opened were only these figures, summed over all hospitals, the same for each of them: how many patients "
            "of each true class got each label. No label of a patient, no row, and no figure of a single hospital left "
            "the computation.",
            *_promised(document),
        ],
    )


def _said(result: Document, about: str) -> str:
    if result["accuracy"] is None:
        return "The noise is larger than what was counted, so that nothing can be said of the joint classifier."
    return (
        f"The joint classifier labels {share(result['accuracy'])} of {about} rightly (95% interval "
        f"{_span(result['interval'])}). None of these patients counts in it."
    )


def _promised(document: Document) -> list[str]:
    if not document["noise"]:
        return ["They are exact: whoever knows the figures of all hospitals but one knows those of that one."]
    return ["Noise that nobody knows hides each single patient in them, as the agreement promises."]


def _shares(document: Document, result: Document) -> Section:
    commonest = document["commonest_class"]["share"]
    accuracy = Whisker(
        "joint", result["accuracy"], result["interval"], _written(result["accuracy"], result["interval"])
    )
    found = [
        Whisker(name, value, result["recall_intervals"][name], _written(value, result["recall_intervals"][name]))
        for name, value in result["recall"].items()
    ]
    told = "; ".join(f"{one.name} {one.written}" for one in (accuracy, *found))
    return Section(
        "How often the labels are right",
        [
            "The share of all patients who get the label that is known to be theirs, and of the patients of each class "
            "the share that is found. The line through a mark is its 95% interval: how far chance reaches, and noise "
            "where there is any."
        ],
        whiskers(
            [Group("right labels", [accuracy], commonest), Group("found of each class", found)],
            f"Shares with intervals. {told}.",
            "share of the commonest class",
        ),
        f"The broken line is the share of the commonest class, {document['commonest_class']['class']}.",
    )


def _figures(document: Document, result: Document) -> Section:
    classes = document["classes"]
    rows = [(name, *map(_figure, row)) for name, row in zip(classes, result["confusion"], strict=True)]
    return Section(
        "What was opened",
        ["Patients of all hospitals by true class and by the label that the joint classifier gives them."],
        tables=[Table("Patients by true class and label", ["true class", *classes], rows)],
    )


def _figure(number: int) -> str:
    return f"{number:,}".replace("-", "−")


def _written(value: float | None, interval: Ends) -> str:
    return f"{share(value)} ({_span(interval)})"


def _span(interval: Ends) -> str:
    return f"{share(interval[0])} to {share(interval[1])}"
