"""What the study found: all that its document is written from, and nothing of a single patient."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import TypeAdapter

from mixbayes.research.records import one_a_line
from mixbayes.research.study.intervals import Interval
from mixbayes.research.study.recipes import Recipes
from mixbayes.simulation.outcome import Rounds, Seconds, Volumes


@dataclass(frozen=True)
class Setup:
    """What makes the study the same again."""

    seed: int
    repeats: int
    folds: int
    quick: bool
    version: str
    recipe_repeats: int
    recipe_folds: int
    """Of the cross-validation that judges recipes."""


@dataclass(frozen=True)
class Hospital:
    """A table in numbers."""

    name: str
    rows: int
    classes: dict[str, int]
    missing: float
    """The share of cells."""
    mostly_missing: dict[str, float]
    """The columns of which more than half is missing, and how much."""
    zeros: dict[str, int]
    """By column, the zeros that are no measurement and were taken as missing."""


@dataclass(frozen=True)
class Score:
    """How a classifier did on some patients."""

    patients: int
    accuracy: Interval
    recall: dict[str, Interval]
    """By class, the share of its patients that were given their class."""


@dataclass(frozen=True)
class Joining:
    """One hospital's patients, or those of all, labelled by four classifiers that never saw them."""

    hospital: str
    alone: Score
    others: Score
    """What learned from the three other hospitals."""
    pooled: Score
    joint: Score
    commonest: float
    """The accuracy of always giving this hospital's commonest class."""
    gain: Interval
    """Joint less alone, in accuracy,"""
    gain_of_class: dict[str, Interval]
    """and in recall."""
    zeros_kept: float
    """The joint accuracy if nobody takes the zeros as missing."""


@dataclass(frozen=True)
class Privacy:
    """What a table gives away, and how far it is from the one it was made of. None: it has no such measure."""

    unchanged_rows: float
    """The share of rows that are, in every column, a row of the original."""
    k_anonymity: int | None
    reidentification: float
    attribute_disclosure: float
    confidence_interval: float | None
    vd: float | None


@dataclass(frozen=True)
class Release:
    """What one hospital's whole table became."""

    rows: int
    unlabelled: int
    promise: str
    promises_privacy: bool
    """Whether the promise is about people, and not about arithmetic alone."""
    privacy: Privacy
    seconds: float


@dataclass(frozen=True)
class Starting:
    """A hospital that has only so many patients to learn from, alone and joined with the three others."""

    hospital: str
    own: int
    alone: Interval
    joint: Interval
    gain: Interval


@dataclass(frozen=True)
class Refusal:
    """In how many splits a hospital could not use a setting, and why in the first of them."""

    splits: int
    why: str


@dataclass(frozen=True)
class Protecting:
    """One method at one strength."""

    setting: str
    joint: Score
    """Of all patients, if all hospitals protect their tables."""
    cost: Interval
    """That less the joint classifier without protection, in accuracy,"""
    cost_of_class: dict[str, Interval]
    """in recall,"""
    cost_at: dict[str, Interval]
    """and by hospital in accuracy."""
    in_one: dict[str, Interval]
    """By hospital: the cost to all patients if this one alone protects its table, in accuracy,"""
    in_one_of_class: dict[str, dict[str, Interval]]
    """and in recall. Not of a hospital that was refused."""
    releases: dict[str, Release]
    refused: dict[str, Refusal]
    """By hospital that could not always use this setting. It then contributed nothing."""

    @property
    def promises_privacy(self) -> bool:
        """Whether every hospital's release promises something about people."""
        return bool(self.releases) and all(release.promises_privacy for release in self.releases.values())


@dataclass(frozen=True)
class Checked:
    """Labels that the protocol itself gave, in memory, and how many of them are the clear-text reference's."""

    trainings: int
    labels: int
    equal: int


@dataclass(frozen=True)
class Agreement:
    """Joint labels, and how many of them the textbook classifier on the pooled tables gives in floating point."""

    labels: int
    equal: int


@dataclass(frozen=True)
class Nodes:
    """A run on real services with TLS between them."""

    protection: str
    instances: int
    agreement: float | None
    seconds: Seconds
    bytes: Volumes
    rounds: Rounds


@dataclass(frozen=True)
class Results:
    """The whole study."""

    setup: Setup
    hospitals: list[Hospital]
    joining: list[Joining]
    starting: list[Starting]
    recipes: list[Recipes]
    original: dict[str, Privacy]
    """By hospital, its table as it is."""
    protecting: list[Protecting]
    agreement: Agreement
    checked: Checked
    nodes: list[Nodes]


_ADAPTER = TypeAdapter(Results)


def as_json(results: Results) -> str:
    """One JSON document, a record on a line."""
    content = _ADAPTER.dump_python(results, mode="json")
    for run in content["nodes"]:
        # What nobody did, as evaluate, is left out.
        run |= {part: {k: v for k, v in run[part].items() if v is not None} for part in ("seconds", "bytes", "rounds")}
    return one_a_line(content)


def from_json(text: str) -> Results:
    """What `as_json` wrote."""
    return _ADAPTER.validate_json(text)
