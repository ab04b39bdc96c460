"""The page of an evaluation: whether joining is worth it for a hospital, for which patients, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mixbayes.evaluation.intervals import wilson
from mixbayes.report import evaluated_numbers as numbers
from mixbayes.report.calibration_chart import Calibrated, calibration_chart
from mixbayes.report.confusion import MOST_SQUARES, confusions
from mixbayes.report.evaluated_words import (
    INTERVALS,
    about_folds,
    about_many,
    briefly,
    compared,
    for_whom,
    is_own,
    of_hospital,
    one_answer,
    opened,
    points,
    probability,
    quoted,
    span,
    verdict,
)
from mixbayes.report.evaluation_document import Evaluated, Result, read_evaluated
from mixbayes.report.figures import many, share
from mixbayes.report.page import Page, Section
from mixbayes.report.roc_chart import Curve, roc_chart
from mixbayes.report.whiskers import Group, Kind, Whisker, whiskers

_MOST_DRAWN = 24
"""Classes of a picture that is still read at a glance."""
_SHORT = 12
_COMMONEST = "share of the commonest class"
Document = Mapping[str, Any]


def evaluated(documents: Iterable[Document], *, joint: bool = False, notes: Sequence[str] = ()) -> Page:
    """The page of the documents that `evaluate --json` prints, one for each hospital.

    `joint` says that they are sums over all hospitals; `notes` are sentences on what the figures cost or rest on, such
    as noise.
    """
    several = [read_evaluated(each) for each in documents]
    return Page(
        title="Is joining worth it? An evaluation",
        lead=list(_lead(several)),
        keys=list(_keys(several)),
        sections=[*_summary(several), *_by_hospital(several)],
        gives_away=[*opened(several, joint), *notes],
    )


def evaluation_sections(documents: Iterable[Document]) -> list[Section]:
    """One for a page that tells more than an evaluation; none where there is no document."""
    several = [read_evaluated(each) for each in documents]
    parts = [*_summary(several), *(_hospital(found, [INTERVALS] * (len(several) == 1)) for found in several)]
    return [Section("Is joining worth it?", [], parts=parts)] if parts else []


def what_was_opened(documents: Iterable[Document]) -> list[str]:
    """For the end of such a page."""
    return opened([read_evaluated(each) for each in documents], joint=False)


def _lead(several: Sequence[Evaluated]) -> Iterator[str]:
    if len(several) == 1:
        yield from _first_lines(several[0])
        return
    for found in several:
        yield " ".join([verdict(found), *briefly(found)])
    yield from dict.fromkeys(map(of_hospital, several))


def _first_lines(found: Evaluated) -> Iterator[str]:
    yield verdict(found)
    yield compared(found)
    yield from for_whom(found)
    yield f"{of_hospital(found)} {one_answer(found)}"


def _keys(several: Sequence[Evaluated]) -> Iterator[tuple[str, str]]:
    if len(several) == 1:
        yield from _of_one(several[0])
        return
    worth = sum(_gains(found) for found in several)
    yield str(len(several)), "hospitals"
    yield f"{sum(found.rows for found in several):,}", "patients"
    yield str(worth), "for which a recipe is recommended"
    yield str(sum(found.recommended is None for found in several)), "for which nothing is recommended"


def _gains(found: Evaluated) -> bool:
    return found.recommended is not None and not is_own(found.recommended)


def _of_one(found: Evaluated) -> Iterator[tuple[str, str]]:
    one = found.compared
    yield share(found.own.accuracy), "right labels of the own classifier"
    if one is not None:
        yield share(one.accuracy), f"right labels {_with(found, one)}"
        if one.difference is not None:
            yield points(one.difference.points), "percentage points compared with own"
            yield probability(one.difference.p), "p (McNemar's exact test)"


def _with(found: Evaluated, one: Result) -> str:
    """Its name if that is a short one."""
    if len(one.recipe) <= _SHORT:
        return f"with {one.recipe}"
    if one.recipe == found.recommended:
        return "with the recipe recommended"
    return "with the recipe that the node takes" if one.recipe == found.best else "with the best other recipe"


def _summary(several: Sequence[Evaluated]) -> list[Section]:
    if len(several) < 2:
        return []
    groups = [Group(found.hospital, _accuracies(found), found.commonest_share) for found in several]
    told = "; ".join(f"{found.hospital}: {_told_accuracies(found)}" for found in several)
    return [
        Section(
            "All hospitals",
            ["The share of right labels at every hospital, by its own classifier and by each recipe.", INTERVALS],
            whiskers(groups, f"Shares of right labels by hospital, with intervals. {told}.", _COMMONEST),
            "The broken line is the share of the hospital's commonest class: what always naming it is right about.",
            numbers.summary(several),
        )
    ]


def _by_hospital(several: Sequence[Evaluated]) -> list[Section]:
    return _parts(several[0], [INTERVALS]) if len(several) == 1 else [_hospital(found) for found in several]


def _hospital(found: Evaluated, intervals: Sequence[str] = ()) -> Section:
    return Section(found.hospital, list(_first_lines(found)), parts=_parts(found, intervals))


def _parts(found: Evaluated, intervals: Sequence[str]) -> list[Section]:
    """`intervals` say what those are, where nothing before has."""
    return [
        _right(found, intervals),
        _of_classes(found),
        _taken_for(found),
        *_scored(found),
        *_calibrated(found),
        _compared(found),
    ]


def _kind(found: Evaluated, one: Result) -> Kind:
    if one is found.own:
        return Kind.OWN
    if one.recipe == found.recommended:
        return Kind.CHOSEN
    return Kind.TAKEN if one.recipe == found.named else Kind.RECIPE


def _accuracies(found: Evaluated) -> list[Whisker]:
    return [Whisker(one.recipe, one.accuracy, one.interval, _short(one), _kind(found, one)) for one in found.results]


def _short(one: Result) -> str:
    """Beside a mark; the table has more digits."""
    if one.accuracy is None or one.interval is None:
        return share(one.accuracy)
    low, high = one.interval
    return f"{one.accuracy:.1%} ({low:.1%} to {high:.1%})"


def _told_accuracies(found: Evaluated) -> str:
    told = ", ".join(f"{one.recipe} {share(one.accuracy)} ({span(one.interval)})" for one in found.results)
    return f"{told}, commonest class {share(found.commonest_share)}"


def _right(found: Evaluated, intervals: Sequence[str]) -> Section:
    return Section(
        "How often the labels are right",
        [
            f"The share of {many(found.rows, 'patient')} who get the label that is known to be theirs."
            + " Unsure does not count as right." * any(one.unsure is not None for one in found.results),
            f"Recommended: {found.recommended or 'nothing'}. {found.why}".strip(),
            *intervals,
            *about_many(found),
        ],
        whiskers(
            [Group("", _accuracies(found), found.commonest_share)],
            f"Shares of right labels with intervals. {_told_accuracies(found)}.",
            _COMMONEST,
        ),
        f"The broken line is at {share(found.commonest_share)}: so many are of class {quoted(found.commonest)}.",
        numbers.all_numbers(found),
    )


def _of_classes(found: Evaluated) -> Section:
    heading = "What is found of each class"
    words = [
        "The share of the patients of each class who are labelled so (recall). A classifier can be right about most "
        "patients and miss a rare class. Balanced accuracy is the mean over the classes: every class counts alike, "
        "however rare it is.",
    ]
    tables = numbers.found_of_classes(found)
    if len(found.classes) > _MOST_DRAWN:
        return Section(heading, words, tables=tables)
    groups = [_class_group(found, at, name) for at, name in enumerate(found.classes)]
    balanced = [
        Whisker(one.recipe, one.balanced, None, share(one.balanced), _kind(found, one)) for one in found.results
    ]
    told = "; ".join(
        f"{group.name}: " + ", ".join(f"{row.name} {row.written}" for row in group.rows) for group in groups
    )
    return Section(
        heading,
        words,
        whiskers([*groups, Group("balanced accuracy", balanced)], f"Shares of each class that are found. {told}."),
        "Share of the class that is found, with 95% intervals; the fewer patients, the wider.",
        tables,
    )


def _class_group(found: Evaluated, at: int, name: str) -> Group:
    return Group(
        f"{name} ({many(found.patients[at], 'patient')})",
        [
            Whisker(
                one.recipe,
                one.recall[name],
                _interval(one, at),
                f"{share(one.recall[name])}, {one.confusion[at][at]:,} of {sum(one.confusion[at]):,}",
                _kind(found, one),
            )
            for one in found.results
        ],
    )


def _interval(one: Result, at: int) -> tuple[float, float] | None:
    rows = sum(one.confusion[at])
    return wilson(one.confusion[at][at], rows) if rows else None


def _taken_for(found: Evaluated) -> Section:
    heading = "Which classes are taken for which"
    tables = [numbers.confusion_table(found, one) for one in found.results]
    words = ["How many patients of each true class got each label, by recipe."]
    if len(found.classes) > MOST_SQUARES:
        return Section(
            heading, [*words, "There are too many classes for a picture; the tables have all."], tables=tables
        )
    told = "; ".join(f"{one.recipe}: {_told_confusion(found, one)}" for one in found.results)
    return Section(
        heading,
        words,
        confusions(
            found.classes, [(one.recipe, one.confusion) for one in found.results], f"Squares of counts. {told}."
        ),
        "Framed and blue: rightly labelled. Vermilion: taken for another class, or unsure. The darker, the larger the "
        "share of the patients of that class.",
        tables,
    )


def _told_confusion(found: Evaluated, one: Result) -> str:
    return ", ".join(
        f"{row[at]:,} of {sum(row):,} of {name} rightly"
        for at, (name, row) in enumerate(zip(found.classes, one.confusion, strict=True))
    )


def _scored(found: Evaluated) -> list[Section]:
    """For two classes: how well the score tells them apart."""
    scored = [(one, one.scores) for one in found.results if one.scores is not None]
    if not scored:
        return []
    first, second = map(quoted, found.classes)
    curves = [
        Curve(one.recipe, scores.curve(), f"area {numbers.area(scores.area)} ({_area_span(scores.interval)})")
        for one, scores in scored
    ]
    told = "; ".join(f"{curve.name}: {curve.written}" for curve in curves)
    return [
        Section(
            "How well the score tells the classes apart",
            [
                f"A patient's score says by how many bits {second} is more probable than {first}. Whoever wants to "
                f"miss fewer of {second} can draw the line at a lower score, and pays with false alarms. The curve "
                "shows all these lines at once; dots stand at the public thresholds.",
                f"The area under it is the chance that a patient of {second} has a higher score than one of {first}: "
                "0.5 for guessing, 1 for no mistake. In brackets its 95% interval.",
            ],
            roc_chart(
                curves,
                f"{found.classes[0]}: false alarms",
                f"{found.classes[1]}: found",
                f"ROC curves from histograms of the score. {told}.",
            ),
            f"ROC curves. Across: the share of {first} taken for {second}. Upwards: the share of {second} that is "
            "found. The dotted diagonal is guessing.",
            [numbers.score_table(found, one, scores) for one, scores in scored],
        )
    ]


def _area_span(interval: tuple[float, float] | None) -> str:
    return "no interval" if interval is None else f"{numbers.area(interval[0])} to {numbers.area(interval[1])}"


def _calibrated(found: Evaluated) -> list[Section]:
    """For two classes: whether probabilities are right at their word."""
    scored = [(one, one.scores) for one in found.results if one.scores is not None]
    if not scored:
        return []
    second = quoted(found.classes[-1])
    told = "; ".join(
        f"{one.recipe}: "
        + ", ".join(
            f"{numbers.fine(each.low)} to {numbers.fine(each.high)} predicted, {share(each.share)} of "
            f"{many(each.rows, 'patient')} found"
            for each in scores.calibration
        )
        for one, scores in scored
    )
    return [
        Section(
            "Whether probabilities are right at their word",
            [
                f"Patients are put together by the probability of {second} that the classifier gives them. Of those "
                f"with 20%, one in five should be of {second}: then the mark is on the dotted diagonal. Below it the "
                f"classifier says {second} too confidently, above it too seldom. Naive Bayes is often too confident at "
                "both ends, which does not make its labels wrong.",
            ],
            calibration_chart(
                [Calibrated(one.recipe, scores.calibration) for one, scores in scored],
                f"predicted probability of {second}",
                f"share of {second} found",
                f"Calibration. {told}.",
            ),
            "Each mark is as wide as its range of probabilities, and as high as the 95% interval of what was found. "
            "Below, the number of patients in each range.",
            [numbers.calibration_table(one, scores) for one, scores in scored],
        )
    ]


def _compared(found: Evaluated) -> Section:
    return Section(
        "What was compared",
        [of_hospital(found), one_answer(found), about_folds(found)],
        tables=[numbers.recipes(found), numbers.patients(found)],
    )
