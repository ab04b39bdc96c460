"""The study: four hospitals alone, joined and pooled, and the same with every protection of their tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

import mixbayes
from mixbayes.local_methods.tables import Table
from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.cells import missing, positions
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.errors import BadData
from mixbayes.research.joining.nested import Effort
from mixbayes.research.study.arms import Asked, Classifier, Record, asked, reference, textbook
from mixbayes.research.study.exposed import Exposed
from mixbayes.research.study.found import Found
from mixbayes.research.study.hospitals import CLASS, CLASSES, zeros, zeros_as_missing
from mixbayes.research.study.intervals import Interval, paired, share, share_of
from mixbayes.research.study.over_shares import by_protocol
from mixbayes.research.study.recipes import BEGUN, JOINED, Recipes, recipes
from mixbayes.research.study.releases import NONE, release
from mixbayes.research.study.results import (
    Agreement,
    Attacked,
    Checked,
    Contributed,
    Hospital,
    Joining,
    Nodes,
    Protecting,
    Refusal,
    Release,
    Results,
    Score,
    Setup,
    Starting,
)
from mixbayes.research.study.settings import QUICK, SETTINGS
from mixbayes.research.study.splits import Split, splits
from mixbayes.research.tasks import in_turn
from mixbayes.simulation.outcome import Labels
from mixbayes.simulation.run import simulate
from mixbayes.tables.changed import Changed, changed_by
from mixbayes.tables.columns import Columns, stacked
from mixbayes.tables.counting import counted
from mixbayes.tables.encoding import encode_query
from mixbayes.tables.inference import infer
from mixbayes.tables.method_table import as_table
from mixbayes.tables.protecting import protect, read_protection, row_privacy

Progress = Callable[[str, int, int], None]

ALONE, OTHERS, POOLED, JOINT, ZEROS_KEPT = "alone", "others", "pooled", "joint", "zeros kept"
ALL = "all four"
SMALL = (10, 20, 50, 90)
"""Patients that a hospital has when it begins, as far as all four have so many to learn from."""
ON_NODES = "class-wise-condensation:t=5"
"""What all hospitals do to their tables in the second run on real services."""


TEN_TIMES_TEN = Effort(10, 10)


@dataclass(frozen=True)
class Plan:
    """How much is done."""

    repeats: int = 10
    folds: int = 5
    settings: Sequence[str] = SETTINGS
    recipes: Effort = TEN_TIMES_TEN
    nodes: bool = True
    quick: bool = False


QUICK_PLAN = Plan(repeats=1, folds=3, settings=QUICK, recipes=Effort(1, 3), nodes=False, quick=True)


@dataclass(frozen=True, eq=False)
class Federation:
    """The four tables, the agreed dictionary, and every row in its terms."""

    tables: Mapping[str, Columns]
    dictionary: Dictionary
    layout: Layout
    codes: Mapping[str, Values]
    truth: Mapping[str, Labels]
    cells: Mapping[str, Table]
    """The tables as attacks take them."""

    @staticmethod
    def of(tables: Mapping[str, Columns]) -> Federation:
        """With the dictionary that all tables suggest, as people would agree on it beforehand."""
        dictionary = infer(list(tables.values()), CLASS)
        return Federation(
            tables,
            dictionary,
            Layout(dictionary),
            {name: encode_query(dictionary, table).codes for name, table in tables.items()},
            {name: positions(table.texts(CLASS), CLASSES).astype(np.int64) for name, table in tables.items()},
            {name: cells_of(table, dictionary) for name, table in tables.items()},
        )

    def counts(self, split: Split) -> dict[str, Words]:
        """What each hospital counts of the rows that are learned from."""
        return {
            name: counted(self.layout, table.take(split.learned[name])).vector for name, table in self.tables.items()
        }

    def asked(self, split: Split) -> Asked:
        return asked(self.codes, self.truth, split)


def cells_of(table: Columns, dictionary: Dictionary) -> Table:
    return as_table(table, [attribute.name for attribute in dictionary.attributes if attribute.numeric])


def study(tables: Mapping[str, Columns], plan: Plan, seed: int, progress: Progress) -> Results:
    """Everything, from the tables as they are in the files."""
    federation = Federation.of({name: zeros_as_missing(table) for name, table in tables.items()})
    as_they_are = Federation.of(tables)
    rows = {name: table.rows for name, table in tables.items()}
    dealt = splits({name: table.texts(CLASS) for name, table in tables.items()}, plan.repeats, plan.folds, seed)
    sizes = _sizes(dealt)
    found = Found(Record(rows, plan.repeats))
    tasks = ((federation, as_they_are, split, sizes, plan, seed, number) for number, split in enumerate(dealt))
    progress("splits", 0, len(dealt))
    for done, of_split in enumerate(in_turn(_of_split, tasks), start=1):
        found.add(of_split)
        progress("splits", done, len(dealt))
    releases = _releases(federation, [NONE, *plan.settings], seed, progress)
    effort = replace(plan.recipes, seed=seed)
    return Results(
        Setup(seed, plan.repeats, plan.folds, plan.quick, mixbayes.__version__, effort.repeats, effort.folds),
        _hospitals(tables, federation),
        [_joining(found.record, federation, name) for name in (*rows, None)],
        [_starting(found.record, name, own) for name in rows for own in sizes],
        _recipes(federation, effort, progress),
        _attacked(found.exposed[NONE], releases[NONE]),
        [_protecting(found, federation, setting, releases[setting]) for setting in plan.settings],
        Agreement(found.agreement.labels, found.agreement.equal),
        Checked(found.checked.runs, found.checked.labels, found.checked.equal),
        _on_nodes(federation, dealt[0], seed, progress) if plan.nodes else [],
    )


def _of_split(
    federation: Federation,
    as_they_are: Federation,
    split: Split,
    sizes: Sequence[int],
    plan: Plan,
    seed: int,
    number: int,
) -> Found:
    """Everything that one split is asked, which needs nothing of the others."""
    found = Found(Record({name: table.rows for name, table in federation.tables.items()}, plan.repeats))
    _join(federation, split, found)
    _note(found.record, ZEROS_KEPT, as_they_are, split, reference, list(as_they_are.counts(split).values()))
    _start(federation, split, sizes, seed, found.record)
    for name, cells in federation.cells.items():
        found.exposed_by(NONE).note(name, split, cells, cells.take(split.learned[name]))
    for setting in plan.settings:
        _protect(federation, split, setting, seed + number, found)
    return found


def _join(federation: Federation, split: Split, found: Found) -> None:
    """Alone, without the own table, pooled, and jointly by the protocol itself."""
    counts = federation.counts(split)
    everybody = list(counts.values())
    patients = federation.asked(split)
    alone = [textbook(federation.layout, [own], patients.of(name)) for name, own in counts.items()]
    others = [
        textbook(federation.layout, [them for other, them in counts.items() if other != name], patients.of(name))
        for name in counts
    ]
    pooled = textbook(federation.layout, everybody, patients.codes)
    joint = _checked(federation.layout, everybody, patients.codes, found)
    found.agreement.note(joint, pooled)
    labels = {ALONE: np.concatenate(alone), OTHERS: np.concatenate(others), POOLED: pooled, JOINT: joint}
    for arm, given in labels.items():
        found.record.note(arm, split, given == patients.truth)


def _checked(layout: Layout, vectors: Sequence[Words], codes: Values, found: Found) -> Labels:
    """By the protocol, beside the reference."""
    labels = by_protocol(layout, vectors, codes)
    found.checked.note(labels, reference(layout, vectors, codes))
    return labels


def _note(
    record: Record, arm: str, federation: Federation, split: Split, classifier: Classifier, vectors: Sequence[Words]
) -> None:
    patients = federation.asked(split)
    record.note(arm, split, classifier(federation.layout, vectors, patients.codes) == patients.truth)


def _sizes(dealt: Sequence[Split]) -> list[int]:
    fewest = min(len(rows) for split in dealt for rows in split.learned.values())
    return [size for size in SMALL if size <= fewest]


def _start(federation: Federation, split: Split, sizes: Sequence[int], seed: int, record: Record) -> None:
    """Every hospital with a few of its rows only, alone and with the others' whole tables."""
    random = np.random.default_rng([seed, split.repeat, split.fold])
    layout, counts, patients = federation.layout, federation.counts(split), federation.asked(split)
    orders = {name: random.permutation(rows) for name, rows in split.learned.items()}
    for own in sizes:
        small = {
            name: counted(layout, table.take(orders[name][:own])).vector for name, table in federation.tables.items()
        }
        alone = [textbook(layout, [few], patients.of(name)) for name, few in small.items()]
        joint = [
            textbook(layout, list((counts | {name: few}).values()), patients.of(name)) for name, few in small.items()
        ]
        for arm, labels in ((ALONE, alone), (JOINT, joint)):
            record.note(_small(arm, own), split, np.concatenate(labels) == patients.truth)


def _protect(federation: Federation, split: Split, setting: str, seed: int, found: Found) -> None:
    """One setting in all hospitals, and in one after the other."""
    plain = federation.counts(split)
    hidden = _hidden(federation, split, setting, plain, seed, found)
    patients, layout = federation.asked(split), federation.layout
    everybody = list(hidden.values())
    labels = (
        _checked(layout, everybody, patients.codes, found)
        if split.repeat == split.fold == 0
        else reference(layout, everybody, patients.codes)
    )
    found.record.note(_arm(setting), split, labels == patients.truth)
    for name, vector in hidden.items():
        _note(found.record, _arm(setting, name), federation, split, reference, [*(plain | {name: vector}).values()])


def _hidden(
    federation: Federation, split: Split, setting: str, plain: Mapping[str, Words], seed: int, found: Found
) -> dict[str, Words]:
    """What each hospital counts of its release; who cannot use the setting contributes nothing."""
    refused = found.refused.setdefault(setting, {})
    vectors, why = {}, ""
    for at, (name, table) in enumerate(federation.tables.items()):
        own = table.take(split.learned[name])
        try:
            released = protect(own, federation.dictionary, read_protection(setting), 100 * seed + at).table
        except BadData as error:
            why = str(error).removeprefix(f"{table.source}: ").removeprefix(f"{setting}: ")
            refused.setdefault(name, []).append(why)
            continue
        vectors[name] = counted(federation.layout, released).vector
        changed = changed_by(federation.layout, plain[name], vectors[name])
        found.changed.setdefault(setting, []).append(changed)
        released_cells = cells_of(released, federation.dictionary)
        found.exposed_by(setting).note(name, split, federation.cells[name], released_cells)
    if not vectors:
        raise BadData(f"No hospital can use {setting}: {why} The study needs larger tables.")
    return vectors


def _small(arm: str, own: int) -> str:
    return f"{arm} with {own}"


def _arm(setting: str, name: str = "") -> str:
    return f"{setting} in {name or 'all'}"


def _hospitals(tables: Mapping[str, Columns], federation: Federation) -> list[Hospital]:
    found = zeros(tables)
    return [
        _hospital(name, table, {column: by[name] for column, by in found.items() if name in by})
        for name, table in federation.tables.items()
    ]


def _hospital(name: str, table: Columns, zeros_found: dict[str, int]) -> Hospital:
    gone = {column: float(missing(table.texts(column)).mean()) for column in table.names if column != CLASS}
    return Hospital(
        name,
        table.rows,
        {label: int((table.texts(CLASS) == label).sum()) for label in CLASSES},
        float(np.mean(list(gone.values()))),
        {column: part for column, part in gone.items() if part > 0.5},
        zeros_found,
    )


def _joining(record: Record, federation: Federation, hospital: str | None) -> Joining:
    of = {arm: record.of(arm, hospital) for arm in (ALONE, OTHERS, POOLED, JOINT, ZEROS_KEPT)}
    truth = _truth(federation, hospital)
    scores = {arm: _score(of[arm], truth) for arm in (ALONE, OTHERS, POOLED, JOINT)}
    return Joining(
        hospital or ALL,
        scores[ALONE],
        scores[OTHERS],
        scores[POOLED],
        scores[JOINT],
        _commonest(federation, hospital),
        paired(of[JOINT], of[ALONE]),
        _of_classes(of[JOINT], of[ALONE], truth),
        float(of[ZEROS_KEPT].mean()),
    )


def _starting(record: Record, hospital: str, own: int) -> Starting:
    alone, joint = (record.of(_small(arm, own), hospital) for arm in (ALONE, JOINT))
    return Starting(hospital, own, share(alone), share(joint), paired(joint, alone))


def _recipes(federation: Federation, effort: Effort, progress: Progress) -> list[Recipes]:
    found: list[Recipes] = []
    situations = len(JOINED) + len(BEGUN)
    progress("recipes", 0, situations)
    for one in recipes(federation.tables, ALL, effort):
        found.append(one)
        progress("recipes", len(found), situations)
    return found


def _commonest(federation: Federation, hospital: str | None) -> float:
    """The share right if every patient is given the commonest class of the own hospital."""
    truths = [own for name, own in federation.truth.items() if hospital in (None, name)]
    return sum(int(np.bincount(own).max()) for own in truths) / sum(map(len, truths))


def _truth(federation: Federation, hospital: str | None) -> Labels:
    return np.concatenate([own for name, own in federation.truth.items() if hospital in (None, name)])


def _score(right: np.ndarray, truth: Labels) -> Score:
    recall = {label: share(right[truth == at]) for at, label in enumerate(CLASSES)}
    return Score(len(right), share(right), recall)


def _of_classes(first: np.ndarray, second: np.ndarray, truth: Labels) -> dict[str, Interval]:
    return {label: paired(first[truth == at], second[truth == at]) for at, label in enumerate(CLASSES)}


def _protecting(found: Found, federation: Federation, setting: str, releases: dict[str, Release]) -> Protecting:
    record, truth = found.record, _truth(federation, None)
    refused = found.refused[setting]
    able = [name for name in federation.tables if name not in refused]
    hidden, plain = record.of(_arm(setting)), record.of(JOINT)
    promised = row_privacy(read_protection(setting))
    return Protecting(
        setting,
        _score(hidden, truth),
        paired(hidden, plain),
        {name: paired(record.of(_arm(setting, name)), plain) for name in able},
        _contributed(found.changed[setting]),
        promised and promised[0],
        _attacked(found.exposed[setting], releases),
        releases,
        {name: Refusal(len(why), why[0]) for name, why in refused.items()},
    )


def _contributed(changed: Sequence[Changed]) -> Contributed:
    """Over all hospitals and splits."""
    differing = sum(one.differing for one in changed) / sum(one.numbers for one in changed)
    return Contributed(differing, float(np.mean([one.median for one in changed])))


def _attacked(exposed: Exposed, releases: Mapping[str, Release]) -> Attacked:
    """Reconstruction is of one release of every whole table; the other attacks are of the releases of all splits."""
    patients = sum(one.patients for one in releases.values())
    given_back, guessed = (
        sum(values) / patients
        for values in zip(*((one.given_back, one.guessed) for one in releases.values()), strict=True)
    )
    return Attacked(share_of(given_back, patients), guessed, *exposed.attacks())


def _releases(
    federation: Federation, settings: Sequence[str], seed: int, progress: Progress
) -> dict[str, dict[str, Release]]:
    """By setting and hospital; a hospital that cannot use the setting has none."""
    found: dict[str, dict[str, Release]] = {}
    progress("measured", 0, len(settings))
    for done, (setting, of_setting) in enumerate(
        zip(settings, in_turn(_of_setting, ((federation, setting, seed) for setting in settings)), strict=True), start=1
    ):
        found[setting] = of_setting
        progress("measured", done, len(settings))
    return found


def _of_setting(federation: Federation, setting: str, seed: int) -> dict[str, Release]:
    found = {}
    for name, table in federation.tables.items():
        with suppress(BadData):
            found[name] = release(table, federation.dictionary, setting, seed)
    return found


def _on_nodes(federation: Federation, split: Split, seed: int, progress: Progress) -> list[Nodes]:
    """The first split on real services, without protection and with one."""
    learned = {name: table.take(split.learned[name]) for name, table in federation.tables.items()}
    questions = stacked([table.take(split.asked[name]) for name, table in federation.tables.items()])
    found = []
    for protection in ("", ON_NODES):
        outcome = simulate(
            learned, classify=questions, class_column=CLASS, protect=protection, seed=seed, progress=progress
        )
        found.append(
            Nodes(
                protection,
                outcome.instances,
                outcome.agreement_with_pooled,
                outcome.seconds,
                outcome.bytes,
                outcome.rounds,
            )
        )
    return found
