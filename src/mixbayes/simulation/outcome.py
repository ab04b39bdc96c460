"""What a simulation found, and how it compares with pooling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.cells import positions
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.reference import real_scores
from mixbayes.simulation.by_recipe import (
    Asked,
    Truth,
    WithRecipe,
    alone,
    confusion_of,
    pooled_by,
    share_right,
    with_recipe,
)
from mixbayes.tables.changed import Changed
from mixbayes.tables.columns import Columns

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Hospital:
    """One hospital of a simulation."""

    name: str
    rows: int
    protect: str | None = None
    """What was done to its table,"""
    guarantee: str | None = None
    """and what was verified of it."""
    unlabelled: int = 0
    """Rows that this left without a class; they are not counted."""
    coarsened: int = 0
    """Cells that count as missing, because the release says less of them than any value of the dictionary."""
    changed: Changed | None = None
    """What protection changed of the numbers that it contributes; None without protection."""


@dataclass(frozen=True)
class Accuracy:
    """The share of right labels: jointly, pooled, each hospital by itself with its table as it is; None where no true
    class is known."""

    joint: float | None
    pooled: float | None
    pooled_unprotected: float | None
    alone: dict[str, float | None]


@dataclass(frozen=True)
class Seconds:
    setup: float
    contribute: float
    train: float
    classify: float
    evaluate: float | None = None
    """None where nobody evaluates."""


@dataclass(frozen=True)
class Volumes:
    """Bytes over every channel, both directions, transfers made ahead included."""

    hospitals_to_mixers: int
    training: int
    classification: int
    evaluation: int | None = None


@dataclass(frozen=True)
class Flow:
    """Bytes between two nodes for one purpose; both directions together where they converse."""

    sender: str
    receiver: str
    purpose: str
    bytes: int
    both_ways: bool


@dataclass(frozen=True)
class Rounds:
    """Changes of direction between the computing parties; in classification, at the asker too."""

    training: int
    classification: int
    evaluation: int | None = None


@dataclass(frozen=True)
class Outcome:
    """Everything `mixbayes simulate` reports; `labels` are for --labels. `document` leaves out what is for people."""

    hospitals: list[Hospital]
    protocol: str
    class_column: str
    """What was predicted."""
    classes: list[str]
    instances: int
    agreement_with_pooled: float | None
    accuracy: Accuracy
    seconds: Seconds
    bytes: Volumes
    rounds: Rounds
    labels: list[str]
    flows: list[Flow] = field(default_factory=list)
    confusion: list[list[int]] | None = None
    """How many rows of each class were given each label jointly; None where no true class is known."""
    about_noise: list[str] = field(default_factory=list)
    """In words: what is promised and by which noise, or what labels give away without noise."""
    privacy: dict[str, Any] | None = None
    """What was promised, the noise that was drawn, and the ε that it cost; nothing without noise."""
    evaluation: dict[str, dict[str, Any]] | None = None
    """By hospital, what `mixbayes evaluate --json` prints; None where nobody evaluates."""
    recipe: WithRecipe | None = None
    """How good the answers by a recipe were; None where none was asked for."""

    def document(self) -> dict[str, Any]:
        """What --json prints. Of evaluations and recipes nothing, where there are none."""
        for_people = ("labels", "flows", "confusion", "about_noise")
        found = {key: value for key, value in asdict(self).items() if key not in for_people}
        for part, key in _WHERE_ASKED:
            if (holder := found[part] if part else found)[key] is None:
                del holder[key]
        return found


_WHERE_ASKED = (
    ("", "evaluation"),
    ("", "recipe"),
    ("seconds", "evaluate"),
    ("bytes", "evaluation"),
    ("rounds", "evaluation"),
)
"""Where in the document a key stands that is there only if somebody asked for it."""


def pooled_labels(layout: Layout, vectors: list[Words], codes: Values) -> Labels:
    """The labels of the textbook classifier on the union, in float64."""
    total: Words = np.stack(vectors).sum(axis=0, dtype=np.uint64)
    return real_scores(layout, total, codes).argmax(axis=0).astype(np.int64)


def compare(
    layout: Layout,
    vectors: Mapping[str, Words],
    unprotected: Mapping[str, Words],
    codes: Values,
    questions: Columns,
    labels: Labels,
) -> tuple[float | None, Accuracy]:
    """Agreement with pooling, and accuracies where the questions carry classes."""
    pooled = pooled_labels(layout, list(vectors.values()), codes)
    truth = true_classes(layout.dictionary, questions)
    right = share_right(truth, pooled, layout.classes)
    before = pooled_labels(layout, list(unprotected.values()), codes)
    of_each = {
        name: share_right(truth, pooled_labels(layout, [vector], codes), layout.classes)
        if layout.class_counts(vector).any()
        else None
        for name, vector in unprotected.items()
    }
    return share_equal(pooled, labels), Accuracy(
        share_right(truth, labels, layout.classes), right, share_right(truth, before, layout.classes), of_each
    )


def compare_by_recipe(
    layout: Layout,
    vectors: Mapping[str, Words],
    unprotected: Mapping[str, Words],
    codes: Values,
    questions: Columns,
    parts: Mapping[str, slice],
    recipe: str,
    asked: Mapping[str, Asked],
) -> tuple[float | None, WithRecipe]:
    """Agreement with what each hospital's recipe gives on pooled counts, and how good the answers were.

    A hospital's own classifier is that of its table as it is; a personal one adds what the hospital contributed.
    """
    pooled: Words = np.stack(list(vectors.values())).sum(axis=0, dtype=np.uint64)
    truth = true_classes(layout.dictionary, questions)
    expected = [
        pooled_by(
            layout,
            one.recipe,
            pooled,
            (unprotected if one.recipe.base == "own" else vectors)[name],
            codes[:, parts[name]],
        )
        for name, one in asked.items()
    ]
    found = with_recipe(
        layout,
        recipe,
        asked,
        {name: None if truth is None else truth[parts[name]] for name in asked},
        {name: pooled_labels(alone(layout), [unprotected[name]], codes[:, parts[name]]) for name in asked},
    )
    return share_equal(np.concatenate(expected), np.concatenate([one.labels for one in asked.values()])), found


def share_equal(expected: Labels, labels: Labels) -> float | None:
    """None where nothing was asked."""
    return float(np.mean(expected == labels)) if labels.size else None


def confusion(dictionary: Dictionary, questions: Columns, labels: Labels) -> list[list[int]] | None:
    """Rows by true class and by label given; None where no true class is known."""
    return confusion_of(true_classes(dictionary, questions), labels, len(dictionary.classes))


def true_classes(dictionary: Dictionary, questions: Columns) -> Truth | None:
    """The classes of the questions, where they carry some."""
    if dictionary.class_column not in questions.names:
        return None
    return positions(questions.texts(dictionary.class_column), dictionary.classes)
