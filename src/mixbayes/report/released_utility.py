"""What a release is still good for: accuracy, each class, and how figures spread over the folds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mixbayes.report.figures import NONE, exact, measured, share
from mixbayes.report.markup import Markup
from mixbayes.report.page import Section, Table
from mixbayes.report.pairs import Two, pairs
from mixbayes.report.quartile_chart import Stroke, Strokes, quartile_chart
from mixbayes.report.release import Release, plain, shares_table, told

if TYPE_CHECKING:
    from mixbayes.local_methods.measures.comparison import OfClass
    from mixbayes.local_methods.measures.folds import Side, Sides, Spread

FOUND = {
    "pd": "found (pd)",
    "pf": "false alarms (pf)",
    "precision": "precision",
    "accuracy": "accuracy",
}
VERDICTS = {"win": "better", "tie": "no different", "loss": "worse"}
MOST_DRAWN = 24
"""Classes of a picture that is still read at a glance."""


def utility(release: Release) -> Section:
    """The accuracy of each classifier, and whether it is kept."""
    heading = "What it is still good for"
    if not release.found.utility:
        return Section(heading, [f"No classifier was tried: {release.why('utility')}."])
    both = [Two(plain(name), each.original, each.released) for name, each in release.found.utility.items()]
    return Section(
        heading,
        [
            "Classifiers learned from the original, and others from the release. This is the share of labels that each "
            "got right, on the same rows.",
            *_kept_in_words(release),
        ],
        pairs(both, f"Accuracy of classifiers, original and release. {told(both)}."),
        "Accuracy: more is better.",
        [shares_table("Accuracy of what learned from it", "classifier", both), *_kept_table(release)],
    )


def _kept_in_words(release: Release) -> Iterator[str]:
    kept = release.found.kept_utility
    if kept is None:
        return
    verdict = {None: "It is not known here", True: "Here it is kept", False: "Here it is not kept"}[kept.by_all]
    yield (
        f"By the rule of Li and Xi utility is kept if no classifier loses more than {100 * kept.tolerance:g}% of its "
        "accuracy: for the decision tree, the nearest neighbour and the support vector machine, ΔR must not be below "
        f"0. {verdict}."
    )


def _kept_table(release: Release) -> list[Table]:
    kept = release.found.kept_utility
    if kept is None:
        return []
    answers = {None: "not known", True: "yes", False: "no"}
    rows = [
        (plain(name), exact(delta, measured(delta)), answers[kept.kept[name]]) for name, delta in kept.delta_r.items()
    ]
    return [Table("Utility kept", ["classifier", "ΔR", "kept"], rows)]


def classes(release: Release) -> list[Section]:
    """How each classifier finds each class."""
    found = release.found.detection
    if not found:
        return [Section("How each class is found", [f"No classifier was tried: {release.why('detection')}."])]
    words = [
        "A classifier can be right about most rows and miss a rare class. pd is the share of the rows of a class that "
        "are found, pf the share of the other rows that are taken for it by mistake. Precision is the share of the "
        "rows said to be of the class that are; accuracy counts every row that is rightly said to be of the class or "
        "not."
    ]
    sections = [_of_classes(plain(classifier), of_class) for classifier, of_class in found.items()]
    return [_introduced(sections[0], words), *sections[1:]]


def _introduced(section: Section, words: Sequence[str]) -> Section:
    return Section(section.heading, words, section.picture, section.caption, section.tables)


def _of_classes(classifier: str, found: Mapping[str, OfClass]) -> Section:
    heading = f"How each class is found: {classifier}"
    rows = [
        Two(f"{name}: {what}", getattr(each.original, key), getattr(each.released, key))
        for name, each in found.items()
        for key, what in FOUND.items()
    ]
    table = shares_table("Each class", "class", rows)
    if len(found) > MOST_DRAWN:
        return Section(heading, [], tables=[table])
    both = [Two(name, each.original.pd, each.released.pd) for name, each in found.items()]
    drawn = pairs(both, f"Share of each class that is found, original and release. {told(both)}.")
    return Section(heading, [], drawn, "Share of the class that is found (pd): more is better.", [table])


def folds(release: Release) -> list[Section]:
    """Quartiles and tests of each classifier, if the folds were drawn more than once."""
    found = release.found.folds
    if not found:
        return []
    sections = [_spread(plain(name), spreads) for name, spreads in found.of_classifier.items()]
    words = [
        f"The folds were drawn {found.repeats} times. A stroke goes from the lower to the upper quartile of all folds "
        "and all classes, with the median on it. Beside it stands what a Mann-Whitney test says of the release at 95%, "
        "with the chance p of such a difference if there is none.",
        "Folds share rows, so the test finds too many differences rather than too few; and of twenty tests one finds a "
        "difference by chance.",
    ]
    return [_introduced(sections[0], words), *sections[1:]]


def _spread(name: str, spreads: Mapping[str, Spread]) -> Section:
    rows = [
        Strokes(FOUND[key], _stroke(each.of_all.original), _stroke(each.of_all.released), _said(each.of_all))
        for key, each in ((key, spreads[key]) for key in FOUND)
    ]
    said = "; ".join(f"{row.name}: {_written(row.before)} before, {_written(row.after)} after" for row in rows)
    return Section(
        f"From fold to fold: {name}",
        [],
        quartile_chart(rows, f"Quartiles over all folds, original and release. {said}."),
        "Of all folds and classes. pf: less is better; of the others, more.",
        [_quartile_table(spreads)],
    )


def _quartile_table(spreads: Mapping[str, Spread]) -> Table:
    rows = [
        (f"{FOUND[key]}, {name}", _part(spreads[key].of_all.original, part), _part(spreads[key].of_all.released, part))
        for key in FOUND
        for part, name in (("lower", "25%"), ("median", "median"), ("upper", "75%"))
    ]
    return Table("Quartiles of all folds and classes", ["measure", "original", "released"], rows)


def _part(side: Side, part: str) -> Markup:
    value = getattr(side.quartiles, part) if side.quartiles else None
    return exact(value, share(value))


def _stroke(side: Side) -> Stroke | None:
    of = side.quartiles
    return Stroke(of.lower, of.median, of.upper) if of else None


def _said(sides: Sides) -> str:
    test = sides.test
    return "not tested" if test is None else f"{VERDICTS[test.verdict]} (p = {test.p_value:.2g})"


def _written(stroke: Stroke | None) -> str:
    return NONE if stroke is None else ", ".join(share(value) for value in (stroke.lower, stroke.median, stroke.upper))
