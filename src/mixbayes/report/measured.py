"""The page of a release: what became of the values, what it is still good for, what it gives away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mixbayes.report.bars import Bar, bars
from mixbayes.report.figures import exact, many, measured, share
from mixbayes.report.page import Page, Section, Table
from mixbayes.report.pairs import Two, pairs
from mixbayes.report.palette import DOTTED, PLAIN, STRIPED

if TYPE_CHECKING:
    from mixbayes.local_methods.measures.comparison import Comparison

_CLASSIFIERS = {
    "nearest-neighbour": "nearest neighbour",
    "naive-bayes": "naive Bayes",
    "tree": "decision tree",
    "svm": "support vector machine",
}
_MOST_NAMES = 6


@dataclass(frozen=True)
class Release:
    """A comparison, and the sizes that its measures are seen against."""

    found: Comparison
    rows: tuple[int, int]
    """Of the original and of the release."""
    attributes: int
    """Those that were measured."""
    notes: Sequence[str] = ()
    """What the figures are about."""


def measured_release(release: Release) -> Page:
    """Distortion, utility, risk."""
    before, after = release.rows
    return Page(
        title="What a release keeps, and what it gives away",
        lead=[
            f"The original has {many(before, 'row')}, the release {after:,}; {many(release.attributes, 'attribute')} "
            f"{'was' if release.attributes == 1 else 'were'} compared.",
            *_sentences(release),
        ],
        keys=_keys(release),
        sections=[
            Section("What the figures are about", release.notes),
            *(_alike(release), _risk(release), _utility(release), _distortion(release)),
        ],
        gives_away=[
            "The page holds names of columns, shares and averages, and no row and no cell of either table.",
            "Its measures are of one kind of attacker each: who knows the quasi-identifiers named above of somebody in "
            "the original, and looks for them in the table. They say nothing about attackers who know something else, "
            "and they promise nothing about what can be worked out by combining this release with another one.",
        ],
    )


def _sentences(release: Release) -> Iterator[str]:
    found = release.found
    before, after = found.original_risk.k_anonymity, found.risk.k_anonymity
    if before is not None and after is not None:
        yield (
            f"To somebody who knows {_known(found.quasi_identifiers)}, the rarest person of the original looks like "
            f"{_others(before)}, and the rarest of the release like {_others(after)}."
        )
    losses = [
        (each.original - each.released, name)
        for name, each in (found.utility or {}).items()
        if each.original is not None and each.released is not None
    ]
    if losses:
        most, name = max(losses)
        yield (
            f"What learns from the release loses at most {100 * most:.2f} percentage points of accuracy "
            f"({_plain(name)})."
            if most > 0
            else "No classifier loses accuracy by learning from the release."
        )


def _known(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= _MOST_NAMES else f"these {len(names)} quasi-identifiers of somebody"


def _others(k: int) -> str:
    return "nobody else" if k == 1 else f"{many(k - 1, 'other')}"


def _plain(name: str) -> str:
    return _CLASSIFIERS.get(name, name)


def _keys(release: Release) -> list[tuple[str, str]]:
    risk = release.found.risk
    keys = [(measured(risk.k_anonymity), "rows share the rarest combination in the release")]
    if risk.reidentification is not None:
        keys.append((share(risk.reidentification), "chance to pick the right one of those who match (S1)"))
    losses = [each.released for each in (release.found.utility or {}).values() if each.released is not None]
    if losses:
        keys.append((share(max(losses)), "accuracy of the best classifier that learned from the release"))
    return keys


def _alike(release: Release) -> Section:
    before, after = release.found.original_risk.k_anonymity, release.found.risk.k_anonymity
    rows = [(name, exact(k, measured(k))) for name, k in (("original", before), ("released", after))]
    told = f"original: {measured(before)}; released: {measured(after)}"
    drawn = [
        Bar(name, k, measured(k), fill) for name, k, fill in (("original", before, STRIPED), ("released", after, PLAIN))
    ]
    return Section(
        "How many look alike",
        [
            "Of all combinations of the quasi-identifiers, the rarest: so many rows share it (k-anonymity). With 1, "
            "somebody is the only one of the kind. More is better.",
            *filter(None, [_why(release, "k_anonymity")]),
        ],
        bars(drawn, f"Bars of the rows with the rarest combination. {told}.", tick="{:,.0f}".format, whole=True),
        "Rows that share the rarest combination.",
        [Table("k-anonymity", ["table", "rows"], rows)],
    )


def _risk(release: Release) -> Section:
    before, after = release.found.original_risk, release.found.risk
    both = [
        Two("re-identification (S1)", before.reidentification, after.reidentification),
        Two("attribute disclosure (S2)", before.attribute_disclosure, after.attribute_disclosure),
    ]
    missing = (_why(release, "reidentification"), _why(release, "attribute_disclosure"))
    return Section(
        "What an attacker finds",
        [
            "An attacker knows something of somebody in the original, and looks for it in the table. S1 is the chance "
            "to pick the right row among those that match, S2 the share of the commonest class among them: at 100% "
            "nothing is left to guess.",
            *(f"{two.name} has no value: {why}." for two, why in zip(both, missing, strict=True) if why),
        ],
        pairs(both, f"Chances of an attacker, original and release. {_told(both)}."),
        "Chances of an attacker: less is better.",
        [_table("Risk", "measure", both)],
    )


def _utility(release: Release) -> Section:
    heading = "What it is still good for"
    if not release.found.utility:
        return Section(heading, [f"No classifier was tried: {_why(release, 'utility')}."])
    both = [Two(_plain(name), each.original, each.released) for name, each in release.found.utility.items()]
    return Section(
        heading,
        [
            "Classifiers learned from the original, and others from the release. This is the share of labels that each "
            "got right, on the same rows."
        ],
        pairs(both, f"Accuracy of classifiers, original and release. {_told(both)}."),
        "Accuracy: more is better.",
        [_table("Accuracy of what learned from it", "classifier", both)],
    )


def _table(caption: str, what: str, both: Sequence[Two]) -> Table:
    rows = [(two.name, *(exact(value, share(value)) for value in (two.before, two.after))) for two in both]
    return Table(caption, [what, "original", "released"], rows)


def _told(both: Sequence[Two]) -> str:
    return "; ".join(f"{two.name}: {share(two.before)} before, {share(two.after)} after" for two in both)


def _why(release: Release, key: str) -> str:
    return release.found.why_not.get(key, "")


@dataclass(frozen=True)
class _Measure:
    """One measure of what became of the values: its key, name and meaning, and what it is a share of."""

    key: str
    name: str
    meaning: str
    value: float | None
    of: float = 1.0
    kept: bool = False
    """Whether 1 says that all stayed; else 0 does."""


def _measures(release: Release) -> Iterator[_Measure]:
    found = release.found
    rows, attributes = max(release.rows[0], 1), max(release.attributes, 1)
    clusters = found.clustering
    yield _Measure(
        "rk", "values that keep their rank (RK)", "share of values that keep their rank", found.rk, kept=True
    )
    yield _Measure(
        "ck", "means that keep their rank (CK)", "share of attributes whose mean keeps its rank", found.ck, kept=True
    )
    rand = clusters.adjusted_rand if clusters else None
    yield _Measure(
        "clustering",
        "clusters that stay (adjusted Rand)",
        "1 for the same clusters, 0 for unrelated ones",
        rand,
        kept=True,
    )
    width = "width that holds 95% of the differences, in ranges of the column"
    yield _Measure("confidence_interval", "width of the 95% interval", width, found.confidence_interval)
    yield _Measure("vd", "size of the change (VD)", "norm of the differences over that of the original", found.vd)
    yield _Measure(
        "rp", "ranks by which values move (RP)", f"ranks by which a value moves, of {rows:,}", found.rp, rows
    )
    yield _Measure(
        "cp",
        "ranks by which means move (CP)",
        f"ranks by which an attribute's mean moves, of {attributes:,}",
        found.cp,
        attributes,
    )
    error = clusters.misclassification_error if clusters else None
    meaning = "misclassification error: differences of the sizes of matched clusters, per row"
    yield _Measure("clustering", "change of cluster sizes", meaning, error)


def _distortion(release: Release) -> Section:
    every = list(_measures(release))
    rows = [
        (each.name, exact(each.value, measured(each.value)), _why(release, each.key) or each.meaning) for each in every
    ]
    told = "; ".join(f"{each.name}: {measured(each.value)}" for each in every)
    longest = max(1.0, *(each.value / each.of for each in every if each.value is not None))
    return Section(
        "What became of the values",
        [
            "The first three say how much stayed: full bars for a release that changes nothing. The others say how "
            "much moved: no bar for a release that changes nothing. Much movement hides more, and leaves less to learn "
            "from.",
        ],
        bars([_bar(each) for each in every], f"Bars of the measures of distortion. {told}.", most=longest),
        "Blue: what stayed. Dotted: what moved. Ranks are drawn as shares of all ranks.",
        [Table("Distortion", ["measure", "value", "meaning"], rows, numbers=0)],
    )


def _bar(measure: _Measure) -> Bar:
    fill = PLAIN if measure.kept else DOTTED
    value = None if measure.value is None else max(measure.value / measure.of, 0.0)
    return Bar(measure.name, value, measured(measure.value), fill)
