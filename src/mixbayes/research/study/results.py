"""What the study found: all that its document is written from, and nothing of a single patient."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import TypeAdapter

from mixbayes.research.records import one_a_line
from mixbayes.research.study.intervals import Interval
from mixbayes.research.study.recipes import Recipes
from mixbayes.simulation.outcome import Rounds, Seconds, Volumes

TENTH = 0.1
"""What is less is taken for no success of an attack."""


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
class Attacked:
    """What somebody who gets the released tables learns of the patients in them."""

    given_back: Interval
    """The share of patients who are reconstructed in every cell that they have,"""
    guessed: float
    """and the share that as many guesses give back."""
    membership: Interval
    """The advantage over a coin of a bet on who was in the table."""
    attribute_inference: Interval
    """The share of attributes that are told of members, less"""
    anybody: float
    """that of people who were not in the table."""

    def gains(self) -> dict[str, float]:
        """By attack, what it gets beyond guessing."""
        return {
            "reconstruction": self.given_back.value - self.guessed,
            "membership": self.membership.value,
            "attributes": self.attribute_inference.value,
        }

    def succeeding(self, unprotected: Attacked) -> list[str]:
        """The attacks that get a tenth or more of what they get from the unchanged tables."""
        most = unprotected.gains()
        return [name for name, gain in self.gains().items() if gain >= TENTH * most[name]]


@dataclass(frozen=True)
class Release:
    """What one hospital's whole table became."""

    patients: int
    """Of the table; the release has as many rows or other ones."""
    unlabelled: int
    promise: str
    people: str | None
    """What the promise says of people; None is nothing."""
    attack: str
    """The one that gives most patients back,"""
    given_back: float
    """how many,"""
    guessed: float
    """and how many as many guesses give back."""
    seconds: float


@dataclass(frozen=True)
class Contributed:
    """How far the numbers that hospitals contribute differ from those of their tables as they are."""

    differing: float
    """The share of numbers that differ,"""
    median: float
    """and by how much half of these differ at least, as a share of the patients of their class."""


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
    """That less the joint classifier without protection."""
    in_one: dict[str, Interval]
    """By hospital: the cost to all patients if this one alone protects its table. Not of one that was refused."""
    contributed: Contributed
    epsilon: float | None
    """Of the promise to everybody in the table, whatever is computed from the release; None if there is none."""
    attacked: Attacked
    """Over the hospitals that could use the setting."""
    releases: dict[str, Release]
    refused: dict[str, Refusal]
    """By hospital that could not always use this setting. It then contributed nothing."""

    @property
    def method(self) -> str:
        return self.setting.partition(":")[0]

    @property
    def people(self) -> str | None:
        """What every hospital's release promises people, in the words of the first; None if one promises nothing."""
        promised = [release.people for release in self.releases.values()]
        return promised[0] if promised and all(promised) else None


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
    original: Attacked
    """The tables as they are."""
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
