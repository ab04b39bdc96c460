"""What became of the values of a release, and of the clusters of its rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mixbayes.report.bars import Bar, bars
from mixbayes.report.figures import exact, measured
from mixbayes.report.page import Section, Table
from mixbayes.report.palette import DOTTED, PLAIN, STRIPED
from mixbayes.report.release import Release


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


def distortion(release: Release) -> Section:
    """How much stayed, and how much moved."""
    every = list(_measures(release))
    rows = [
        (each.name, exact(each.value, measured(each.value)), release.why(each.key) or each.meaning) for each in every
    ]
    said = "; ".join(f"{each.name}: {measured(each.value)}" for each in every)
    longest = max(1.0, *(each.value / each.of for each in every if each.value is not None))
    return Section(
        "What became of the values",
        [
            "The first three say how much stayed: full bars for a release that changes nothing. The others say how "
            "much moved: no bar for a release that changes nothing. Much movement hides more, and leaves less to learn "
            "from.",
        ],
        bars([_bar(each) for each in every], f"Bars of the measures of distortion. {said}.", most=longest),
        "Blue: what stayed. Dotted: what moved. Ranks are drawn as shares of all ranks.",
        [Table("Distortion", ["measure", "value", "meaning"], rows, numbers=0)],
    )


def _bar(measure: _Measure) -> Bar:
    fill = PLAIN if measure.kept else DOTTED
    value = None if measure.value is None else max(measure.value / measure.of, 0.0)
    return Bar(measure.name, value, measured(measure.value), fill)


def clusters(release: Release) -> Section:
    """For each number of clusters, beside what k-means does to the original with another seed."""
    heading = "Clusters before and after"
    found = release.found.clusterings
    if not found:
        return Section(heading, [f"Clusters were not compared: {release.why('clusterings')}."])
    lines = [
        (f"k = {each.clusters}, {what}", one, fill)
        for each in found
        for what, one, fill in (
            ("released", each.released, DOTTED),
            ("not perturbed, another seed", each.unperturbed, STRIPED),
        )
    ]
    values = [(name, one.misclassification_error, fill) for name, one, fill in lines]
    said = "; ".join(f"{name}: {measured(error)}" for name, error, _ in values)
    rows = [
        (name, *(exact(value, measured(value)) for value in (one.misclassification_error, one.adjusted_rand)))
        for name, one, _ in lines
    ]
    return Section(
        heading,
        [
            "k-means looked for k clusters in the original and in the release. The bars show by how much the sizes of "
            "matched clusters differ, per row (misclassification error): 0 for clusters of the same sizes. The "
            "adjusted Rand index is 1 for the same clusters, and 0 for unrelated ones.",
            "k-means begins at random, and differs from itself: the striped bars are of the original alone, with two "
            "seeds. A release that does no worse than that has kept its clusters as far as k-means can tell.",
        ],
        bars(
            [Bar(name, error, measured(error), fill) for name, error, fill in values],
            f"Bars of the misclassification error. {said}.",
            most=max(0.1, *(error for _, error, _ in values)),
            tick="{:.2g}".format,
        ),
        "Misclassification error: less is better.",
        [Table("Clusters", ["clusters", "error", "adjusted Rand"], rows)],
    )
