"""An original and its release compared by every measure that has a meaning for the two tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mixbayes.local_methods.attacks.attacks import Attacks
from mixbayes.local_methods.base import Progress, silent
from mixbayes.local_methods.classifiers import Points
from mixbayes.local_methods.errors import BadParameter
from mixbayes.local_methods.measures import release as measures
from mixbayes.local_methods.measures.asked import Asked, Undefined
from mixbayes.local_methods.measures.attacker import Attacker, Risk
from mixbayes.local_methods.measures.clustering import OTHER_SEED, Clustering, k_means
from mixbayes.local_methods.measures.detection import Detected, Detection
from mixbayes.local_methods.measures.disclosure import Unknown
from mixbayes.local_methods.measures.folds import Folds
from mixbayes.local_methods.measures.kept_utility import TOLERANCE, KeptUtility
from mixbayes.local_methods.measures.pair import Pair
from mixbayes.local_methods.measures.utility import Accuracy, Answers, Labelled, answers
from mixbayes.local_methods.tables import Codes, Table

CLUSTERS = 4
"""Where no class says how many to look for: the middle of Roy's 2 to 6."""

MOST_CLASSES = 50
"""With more, what is called the class is a measurement: there is a support vector machine for each pair of classes."""

NOTHING_LEARNED = "one of the tables has no row to learn from, or there is none to ask about"
SHARES_OF_NOTHING = {
    "pd": "no row that was asked about is of the class",
    "precision": "no row was said to be of the class",
    "pf": "every row that was asked about is of the class",
    "accuracy": NOTHING_LEARNED,
}


@dataclass(frozen=True)
class OfClass:
    """How a classifier finds one class, after learning from either table."""

    original: Detected
    released: Detected


@dataclass(frozen=True)
class Clusters:
    """The clusters of the release beside the original's, and those of the original with another seed."""

    clusters: int
    """How many were looked for."""
    released: Clustering
    unperturbed: Clustering
    """What k-means does to itself."""


@dataclass(frozen=True)
class Comparison:
    """Every measure of a release, None where these two tables do not have it."""

    confidence_interval: float | None
    vd: float | None
    rp: float | None
    rk: float | None
    cp: float | None
    ck: float | None
    risk: Risk
    utility: Mapping[str, Accuracy] | None
    kept_utility: KeptUtility | None
    detection: Mapping[str, Mapping[str, OfClass]] | None
    """By classifier and class."""
    folds: Folds | None
    clustering: Clustering | None
    """Of `clusters` clusters."""
    clusterings: Sequence[Clusters] | None
    """Of each number of clusters that was asked for."""
    original_risk: Risk
    """The risk of the original, to the same attacker."""
    why_not: Mapping[str, str]
    """For each measure that is None, the reason."""
    sensitive: str | None
    """What is to be hidden: the class, unless another column was named."""
    quasi_identifiers: Sequence[str]
    """What an attacker may know."""
    unknown: Unknown
    """What a missing cell is to an attacker."""
    queries: int
    """How many an attacker asked."""
    clusters: int
    """How many were looked for in `clustering`."""
    attacks: Attacks
    paired_by_chance: bool
    """Whether no column says that row i of the release stands for row i of the original."""


def compare(
    original: Table,
    released: Table,
    *,
    class_column: str | None = None,
    sensitive: str | None = None,
    test: Table | None = None,
    holdout: Table | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    clusters: Sequence[int] = (),
    unknown: Unknown = Unknown.WILDCARD,
    repeats: int = 1,
    tolerance: float = TOLERANCE,
    seed: int = 0,
    progress: Progress = silent,
) -> Comparison:
    """Measure a release against its original, over the attributes that both have.

    The class is no attribute: it counts in attribute disclosure and in utility alone, and is what is `sensitive` unless
    another column is named. Quasi-identifiers, which an attacker may know, are all attributes but the sensitive one
    unless they are named. As many clusters are looked for as there are classes, unless `clusters` says how many; of
    several numbers, `clustering` is the one of as many as there are classes, or else the first. `holdout` has people of
    the same kind who were not in the original: without them nobody can say what membership changes.
    """
    if test is not None and repeats > 1:
        raise BadParameter("Folds are drawn anew in each repeat, and with a test table there are none. Choose one.")
    pair = Pair.of(original, released, class_column, test, sensitive)
    attacker = Attacker.of(pair, quasi_identifiers, unknown, seed)
    usual = pair.classes if 0 < pair.classes <= MOST_CLASSES else CLUSTERS
    sought = list(dict.fromkeys(clusters)) or [usual]
    chosen = usual if usual in sought else sought[0]
    asked, unasked = Asked(), Asked()
    distortion = {
        "confidence_interval": asked(
            "confidence_interval", lambda: measures.confidence_interval(*pair.paired_numbers())
        ),
        "vd": asked("vd", lambda: measures.vd(*pair.paired_numbers())),
        "rp": asked("rp", lambda: measures.rp(*pair.paired_numbers())),
        "rk": asked("rk", lambda: measures.rk(*pair.paired_numbers())),
        "cp": asked("cp", lambda: measures.cp(*pair.numbers())),
        "ck": asked("ck", lambda: measures.ck(*pair.numbers())),
    }
    risk = attacker.risk(pair.released, 1, asked)
    learned = _Learned(asked("utility", lambda: _answers(pair, repeats, seed, progress)), pair, asked)
    attacks = Attacks.of(pair, (original, released), holdout, seed, asked)
    clusterings = asked("clusterings", lambda: _clusterings(pair, sought, seed, progress))
    return Comparison(
        **distortion,
        risk=risk,
        utility=learned.utility(),
        kept_utility=learned.kept_utility(tolerance),
        detection=learned.detection(),
        folds=learned.folds(repeats),
        clustering=asked("clustering", lambda: _of(chosen, clusterings, asked.why_not)),
        clusterings=clusterings,
        original_risk=attacker.risk(pair.original, 0, unasked),
        why_not=asked.why_not,
        sensitive=pair.sought.name,
        quasi_identifiers=[pair.original.names[at] for at in attacker.at],
        unknown=unknown,
        queries=len(attacker.queries),
        clusters=chosen,
        attacks=attacks,
        paired_by_chance=pair.by_chance,
    )


def _answers(pair: Pair, repeats: int, seed: int, progress: Progress) -> Mapping[str, Answers]:
    if pair.labels is None:
        raise Undefined(pair.no_labels)
    if pair.classes > MOST_CLASSES:
        raise Undefined(f"the class has {pair.classes} values, and classifiers are tried on {MOST_CLASSES} at most")
    original, released = Labelled(pair.original, pair.labels[0]), Labelled(pair.released, pair.labels[1])
    return answers(original, released, pair.test, seed=seed, repeats=repeats, progress=progress)


class _Learned:
    """What follows from the answers of the classifiers, if they were asked."""

    def __init__(self, found: Mapping[str, Answers] | None, pair: Pair, asked: Asked) -> None:
        self._found, self._pair, self._asked = found, pair, asked

    def utility(self) -> dict[str, Accuracy] | None:
        if self._found is None:
            return None
        found = {name: each.accuracy for name, each in self._found.items()}
        if any(None in (each.original, each.released) for each in found.values()):
            self._asked.why_not["utility"] = NOTHING_LEARNED
        return found

    def kept_utility(self, tolerance: float) -> KeptUtility | None:
        utility = self.utility()
        if utility is None:
            self._asked.why_not["delta_r"] = self._asked.why_not["utility"]
            return None
        kept = KeptUtility.of(utility, tolerance)
        if None in kept.delta_r.values():
            self._asked.why_not["delta_r"] = NOTHING_LEARNED
        return kept

    def detection(self) -> dict[str, dict[str, OfClass]] | None:
        return self._asked("detection", self._by_class)

    def folds(self, repeats: int) -> Folds | None:
        return self._asked("quartiles", lambda: self._by_fold(repeats))

    def _by_class(self) -> dict[str, dict[str, OfClass]]:
        found = {name: self._of_classes(each) for name, each in self._given().items()}
        sides = [side for each in found.values() for one in each.values() for side in (one.original, one.released)]
        for measure, reason in SHARES_OF_NOTHING.items():
            if any(getattr(side, measure) is None for side in sides):
                self._asked.why_not[measure] = reason
        return found

    def _of_classes(self, found: Answers) -> dict[str, OfClass]:
        sides = [_detected(matrices, self._pair.classes) for matrices in (found.original, found.released)]
        pairs = zip(self._class_names(), *sides, strict=True)
        return {name: OfClass(before, after) for name, before, after in pairs}

    def _by_fold(self, repeats: int) -> Folds:
        found = self._given()
        if self._pair.test:
            raise Undefined("with a test table every classifier is asked once")
        if repeats < 2:
            raise Undefined("the folds were drawn once, which is too few for quartiles: draw them 5 times")
        if any(each.original is None or each.released is None for each in found.values()):
            raise Undefined(NOTHING_LEARNED)
        return Folds.of(found, self._class_names(), repeats)

    def _class_names(self) -> list[str]:
        return [str(value) for value in self._pair.labels[0].values.tolist()] if self._pair.labels else []

    def _given(self) -> Mapping[str, Answers]:
        if self._found is None:
            raise Undefined(self._asked.why_not["utility"])
        return self._found


def _detected(matrices: Codes | None, classes: int) -> list[Detected]:
    """Of all answers together."""
    if matrices is None:
        return [Detected(None, None, None, None)] * classes
    return Detection.of(matrices.sum(axis=0)).by_class()


def _clusterings(pair: Pair, sought: Sequence[int], seed: int, progress: Progress) -> list[Clusters]:
    pair.refuse_unpaired()
    space = Points.of(pair.original)
    before, after = space.place(pair.original), space.place(pair.released)
    found = []
    for done, clusters in enumerate(sought):
        progress("clusters", done, len(sought))
        original = k_means(before, clusters, seed)
        released, again = k_means(after, clusters, seed), k_means(before, clusters, seed + OTHER_SEED)
        found.append(Clusters(clusters, Clustering.of(original, released), Clustering.of(original, again)))
    progress("clusters", len(sought), len(sought))
    return found


def _of(clusters: int, found: Sequence[Clusters] | None, why_not: Mapping[str, str]) -> Clustering:
    if found is None:
        raise Undefined(why_not["clusterings"])
    return next(each.released for each in found if each.clusters == clusters)
