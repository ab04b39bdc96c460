"""What attackers get from releases: python benchmarks/undoing.py FOLDER [--table NAME] [--method NAME] [--k N]

FOLDER holds the public tables as CSV files with a column `class`. Every method with a setting for every k is attacked
on every table. The first lines of a table say what was claimed: how many claims are right, with the 95 % interval of
their share, and the share of as many guesses. Its last lines compare the methods on one half of the table with the
other held out: the accuracy of naive Bayes that learned from the release, the advantage over a coin of who bets on
members, from one release and from several, and how many more attributes are told of members than of others. A star
stands where no other release has the accuracy and gives an attacker less.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mixbayes.local_methods.attacks.averaging import by_averaging
from mixbayes.local_methods.attacks.claims import Claims, ClaimScore, of_their_class, score
from mixbayes.local_methods.attacks.difference import by_difference
from mixbayes.local_methods.attacks.known_seed import by_known_seed
from mixbayes.local_methods.attacks.membership import membership
from mixbayes.local_methods.attacks.people import Estimate, People, pooled
from mixbayes.local_methods.attacks.reconstruction import reconstructed
from mixbayes.local_methods.attacks.rehearsal import OfPeople, halves, with_class
from mixbayes.local_methods.attacks.view import AttackersView, known_of
from mixbayes.local_methods.classifiers import NAIVE_BAYES, train
from mixbayes.local_methods.containers import read_columns, read_labels
from mixbayes.local_methods.errors import MethodError
from mixbayes.local_methods.measures.alignment import aligned, same_values
from mixbayes.local_methods.registry import METHODS, method_class
from mixbayes.local_methods.tables import Nominal, Numeric, Table

TABLES = ("heart_statlog", "iris", "pima", "wdbc")
SIZES = (3, 5, 10, 20)
RELEASES = 5
"""That are averaged."""

PEOPLE = 8
"""Who are left out of a second table, one at a time."""

OF_K: Mapping[str, Callable[[int], Mapping[str, Any]]] = {
    "condensation": lambda k: {"k": k},
    "class-wise-condensation": lambda k: {"k": k},
    "microaggregation": lambda k: {"k": k},
    "perturbation-tree": lambda k: {"leaf_size": 2 * k},
    "generalisation": lambda k: {"k": k},
    "dmpd": lambda k: {"k": k, "population": 10, "generations": 5},
}
ONCE: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "svd": [{"rank": 2}],
    "sparsified-svd": [{"rank": 2, "sparsity": 0.1}],
    "additive-noise": [{"scale": 0.1}, {"scale": 0.5}],
    "multiplicative-noise": [{"scale": 0.1}, {"scale": 0.5}],
    "private-synthesis": [{"epsilon": epsilon} for epsilon in (0.5, 1, 2, 4, 8)],
}
"""Settings of methods that have no k; of others that are not listed, the default."""


@dataclass(frozen=True, eq=False)
class Setting:
    """A method with its parameters."""

    method: str
    parameters: Mapping[str, Any]

    @property
    def name(self) -> str:
        return " ".join([self.method, *(f"{key}={value}" for key, value in self.parameters.items())])

    def released(self, table: Table, labels: Nominal, seed: int) -> tuple[Table, Nominal]:
        made: Any = method_class(self.method)(**self.parameters, **{"random_state": seed})
        return made.fit_resample(table, labels)


def settings(methods: Sequence[str], sizes: Sequence[int]) -> Iterator[Setting]:
    for method in methods:
        if method in OF_K:
            yield from (Setting(method, OF_K[method](k)) for k in sizes)
        else:
            yield from (Setting(method, each) for each in ONCE.get(method, [{}]))


@dataclass(frozen=True)
class Judged:
    """What a release is good for, and what it tells about people."""

    accuracy: float
    people: OfPeople
    several: Estimate
    """Membership, by several releases with different seeds."""


@dataclass(frozen=True, eq=False)
class Patients:
    """A table with its classes."""

    table: Table
    labels: Nominal
    seed: int

    @staticmethod
    def of(path: Path, seed: int) -> Patients:
        frame = pd.read_csv(path, na_values="?")
        return Patients(read_columns(frame.drop(columns="class"))[0], read_labels(frame["class"])[0], seed)

    def attacked(self, setting: Setting) -> Iterator[tuple[str, ClaimScore]]:
        """All attacks on one release, and those that need more than it."""
        released, labels = setting.released(self.table, self.labels, self.seed)
        columns = aligned([self.table, released], self.table.names)
        known = known_of(columns[0])
        classes = same_values([self.labels, labels])
        original, seen = (AttackersView.of(table, label, known) for table, label in zip(columns, classes, strict=True))
        yield from reconstructed(seen, original, self.seed).scores.items()
        if seen.rows == original.rows and released.numeric and _alike(self.table, released):
            yield from self._with_more(setting, released, seen, original.rounded())

    def _with_more(
        self, setting: Setting, released: Table, seen: AttackersView, truth: Any
    ) -> Iterator[tuple[str, ClaimScore]]:
        def again(seed: int, table: Table = self.table) -> AttackersView:
            return AttackersView.of(*setting.released(table, self.labels, seed), known_of(self.table))

        averaged = by_averaging([again(self.seed + at) for at in range(RELEASES)])
        yield f"mean of {RELEASES} releases", score(averaged, of_their_class, seen, truth, self.seed)
        protect = lambda table: setting.released(table, self.labels, self.seed)[0]  # noqa: E731
        yield "known seed", score(by_known_seed(released, protect, seen), of_their_class, seen, truth, self.seed)
        people = np.linspace(0, self.table.rows - 1, PEOPLE).astype(int)
        missed = np.vstack([self._missed(setting, seen, person).cells for person in people])
        yield "difference of two releases", score(Claims(missed, people), of_their_class, seen, truth, self.seed)

    def _missed(self, setting: Setting, seen: AttackersView, person: int) -> Claims:
        """What two releases of different seeds tell of somebody who is not in the second table."""
        rest = np.delete(np.arange(self.table.rows), person)
        fewer = setting.released(self.table.take(rest), self.labels.take(rest), self.seed + 1)
        return by_difference(seen, AttackersView.of(*fewer, known_of(self.table)))

    def judged(self, setting: Setting) -> Judged:
        """Naive Bayes on those held out, and what is told of those who were not."""
        found, right, several = [], [], []
        whole = with_class(self.table, self.labels)
        for inside, outside in halves(self.table.rows, self.labels, self.seed, 1):
            seeds = range(self.seed, self.seed + RELEASES)
            made = [setting.released(self.table.take(inside), self.labels.take(inside), seed) for seed in seeds]
            members, others = whole.take(inside), whole.take(outside)
            people = [People.of(members, others, with_class(*each), self.seed) for each in made]
            found.append(OfPeople.of(people[0]))
            several.append(membership(*people))
            right.append(_accuracy(*made[0], self.table.take(outside), self.labels.take(outside)))
        return Judged(float(np.mean(right)), OfPeople.mean(found), pooled(several))


def _alike(table: Table, released: Table) -> bool:
    kinds = zip(table.columns, released.columns, strict=True)
    return all(isinstance(one, Numeric) == isinstance(other, Numeric) for one, other in kinds)


def _accuracy(released: Table, labels: Nominal, asked: Table, classes: Nominal) -> float:
    learned, tested = aligned([released, asked], asked.names)
    known, right = same_values([labels, classes])
    return float((train(NAIVE_BAYES, learned, known, 0)(tested) == right.codes).mean())


def print_attacks(name: str, setting: Setting, patients: Patients) -> None:
    for attack, found in patients.attacked(setting):
        if found.claims:
            print(
                f"{name:14} {setting.name:38} {attack:26} {found.claims:6} {found.right:8.1f}"
                f"   {found.share.low:.3f}-{found.share.high:.3f} {found.guessed.value:6.3f} {found.patients:8.0f}"
                f"   {'more' if found.beats_guessing else 'no more'}{', cut off' if found.cut_off else ''}",
                flush=True,
            )


def print_front(name: str, judged: Mapping[str, Judged]) -> None:
    """The most accurate first."""
    print(f"\n{'table':14} {'setting':38} accuracy  membership          of {RELEASES} releases        inference")
    for setting, found in sorted(judged.items(), key=lambda item: -item[1].accuracy):
        shown = (found.people.membership, found.several, found.people.attribute_inference)
        figures = " ".join(f"{each.value:6.3f} ({each.low:5.2f} to {each.high:4.2f})" for each in shown)
        beaten = any(_less(other, found) for other in judged.values())
        print(f"{name:14} {setting:38} {found.accuracy:8.3f}  {figures} {'' if beaten else '*'}".rstrip())


def _less(one: Judged, other: Judged) -> bool:
    """Whether one gives an attacker less than the other, and is as accurate."""
    mine, theirs = (
        (each.people.membership.value, each.several.value, each.people.attribute_inference.value)
        for each in (one, other)
    )
    return one.accuracy >= other.accuracy and all(a < b for a, b in zip(mine, theirs, strict=True))


def main(folder: Path, tables: Sequence[str], methods: Sequence[str], sizes: Sequence[int], seed: int = 0) -> None:
    for name in tables:
        patients = Patients.of(folder / f"{name}.csv", seed)
        begun, judged, refused = time.process_time(), {}, []
        print(f"{'table':14} {'setting':38} {'attack':26} claims    right   95 %        guessed patients than guessing")
        for setting in settings(methods, sizes):
            try:
                print_attacks(name, setting, patients)
                judged[setting.name] = patients.judged(setting)
            except MethodError as error:
                refused.append(f"{name}: {setting.name} refuses: {error}")
        print_front(name, judged)
        print("\n".join(["", *refused, f"{name}: {time.process_time() - begun:.0f} s of processor", ""]), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--table", nargs="+", default=TABLES, choices=TABLES)
    parser.add_argument("--method", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--k", nargs="+", type=int, default=SIZES)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    main(given.folder, given.table, given.method, given.k, given.seed)
