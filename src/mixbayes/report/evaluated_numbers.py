"""The numbers behind the pictures of an evaluation, in tables that a phone can show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from mixbayes.evaluation.intervals import wilson
from mixbayes.report.confusion import answers
from mixbayes.report.evaluated_words import breakable, meaning, points, probability
from mixbayes.report.evaluation_document import Bin, Evaluated, Result, Scores
from mixbayes.report.figures import exact, share
from mixbayes.report.markup import Markup, element, joined
from mixbayes.report.page import Table, whole_words

_BESIDE = 2
"""So many recipes stand beside the own classifier in one table."""
_SQUARE = 3
"""Up to so many classes are columns."""
_NARROW = 7
"""Letters of a word that goes over no end of a line where there are many columns."""
_NONE = "–"

Cell = Callable[[Result], Markup]


def count(value: int) -> Markup:
    return exact(value, f"{value:,}")


def shared(value: float | None) -> Markup:
    return exact(value, share(value))


def recipes(found: Evaluated) -> Table:
    """What each of them is."""
    rows = [(breakable(one.recipe), meaning(one.recipe)) for one in found.results]
    return Table("Recipes", ["recipe", "what it is"], rows, numbers=0)


def patients(found: Evaluated) -> Table:
    """How many of each class."""
    rows = [
        (name, count(number), shared(number / found.rows if found.rows else None))
        for name, number in zip(found.classes, found.patients, strict=True)
    ]
    return Table("Patients by class", ["class", "patients", "share"], [*rows, ("all", count(found.rows), _none())])


def all_numbers(found: Evaluated) -> list[Table]:
    """The own classifier beside every recipe."""
    kinds = list(_kinds(found))
    return [_beside(found, kinds, some, at) for at, some in enumerate(_some(found.recipes))]


def _some(results: Sequence[Result]) -> list[Sequence[Result]]:
    return [results[at : at + _BESIDE] for at in range(0, max(len(results), 1), _BESIDE)]


def _beside(found: Evaluated, kinds: Sequence[tuple[str, Cell]], some: Sequence[Result], at: int) -> Table:
    shown = [found.own, *some]
    rows = [(name, *(cell(one) for one in shown)) for name, cell in kinds]
    more = " (more recipes)" if at else ""
    return Table(f"All numbers{more}", ["measure", *(breakable(one.recipe) for one in shown)], rows)


def _kinds(found: Evaluated) -> Iterator[tuple[str, Cell]]:
    yield "labelled rightly", lambda one: count(one.right)
    yield "accuracy", lambda one: shared(one.accuracy)
    yield "accuracy, 95% from", lambda one: shared(one.interval and one.interval[0])
    yield "accuracy, 95% to", lambda one: shared(one.interval and one.interval[1])
    if any(one.unsure is not None for one in found.results):
        yield "unsure", lambda one: _none() if one.unsure is None else count(one.unsure)
    yield "balanced accuracy", lambda one: shared(one.balanced)
    for name in found.classes:
        yield f"found of {name}", _found(name)
    yield "points compared with own", _points
    yield "difference, 95% from", lambda one: _reach(one, 0)
    yield "difference, 95% to", lambda one: _reach(one, 1)
    yield "only own is right", lambda one: count(one.difference.only_own) if one.difference else _none()
    yield "only this is right", lambda one: count(one.difference.only_this) if one.difference else _none()
    yield "p", _p
    if any(one.scores for one in found.results):
        yield "area under ROC", lambda one: _area(one, lambda scores: scores.area)
        yield "area, 95% from", lambda one: _area(one, lambda scores: scores.interval and scores.interval[0])
        yield "area, 95% to", lambda one: _area(one, lambda scores: scores.interval and scores.interval[1])


def _found(name: str) -> Cell:
    return lambda one: shared(one.recall[name])


def _none() -> Markup:
    return exact(None, _NONE)


def _points(one: Result) -> Markup:
    return exact(one.difference.points, points(one.difference.points)) if one.difference else _none()


def _reach(one: Result, end: int) -> Markup:
    between = one.difference.interval if one.difference else None
    return _none() if between is None else exact(between[end], points(between[end]))


def _p(one: Result) -> Markup:
    return exact(one.difference.p, probability(one.difference.p)) if one.difference else _none()


def _area(one: Result, value: Callable[[Scores], float | None]) -> Markup:
    found = None if one.scores is None else value(one.scores)
    return exact(found, area(found))


def area(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4f}"


def found_of_classes(found: Evaluated) -> list[Table]:
    """Of each class, how many are found."""
    return [
        Table(
            "Found, of the patients of each class" + " (more recipes)" * bool(at),
            ["class", *(breakable(one.recipe) for one in (found.own, *some))],
            [(_sized(found, place), *_found_of(place, (found.own, *some))) for place in range(len(found.classes))],
        )
        for at, some in enumerate(_some(found.recipes))
    ]


def _sized(found: Evaluated, at: int) -> Markup:
    """A class and its patients."""
    return joined(found.classes[at], " (", count(found.patients[at]), ")")


def _found_of(at: int, results: Sequence[Result]) -> Iterator[Markup]:
    return (count(one.confusion[at][at]) for one in results)


def confusion_table(found: Evaluated, one: Result) -> Table:
    """Patients by true class and label given."""
    caption, given = f"Labels given by {one.recipe}", answers(found.classes, one.confusion)
    if len(found.classes) <= _SQUARE:
        rows = [(name, *map(count, row)) for name, row in zip(found.classes, one.confusion, strict=True)]
        return Table(caption, ["true class", *(whole_words(name, _NARROW) for name in given)], rows, folded=True)
    long = [
        (name, given[j], count(number))
        for name, row in zip(found.classes, one.confusion, strict=True)
        for j, number in enumerate(row)
        if number
    ]
    return Table(caption, ["true class", "label given", "patients"], long, numbers=1, folded=True)


def score_table(found: Evaluated, one: Result, scores: Scores) -> Table:
    """Patients by score, and what share has this score or a higher one."""
    none: list[tuple[float | None, float | None]] = [(None, None)] * len(scores.counts[0])
    above = list(reversed(scores.curve()))[:-1] or none
    rows = [
        (_scored(scores.thresholds, at), count(first), count(second), _short(x), _short(y))
        for at, (first, second, (x, y)) in enumerate(zip(*scores.counts, above, strict=True))
    ]
    heads = ["score, bits", *(whole_words(name, _NARROW) for name in found.classes), "false alarms", "found"]
    return Table(f"Patients by score with {one.recipe}", heads, rows, folded=True)


def _short(value: float | None) -> Markup:
    return exact(value, "unknown" if value is None else f"{value:.1%}")


def _scored(thresholds: Sequence[float], at: int) -> Markup:
    """Between which thresholds."""
    if at == 0:
        return joined("below ", _bits(thresholds[0]))
    begins = _bits(thresholds[at - 1])
    return joined(begins, " to ", _bits(thresholds[at])) if at < len(thresholds) else joined(begins, " or more")


def _bits(value: float) -> Markup:
    return exact(value, f"{value:g}".replace("-", "−"))


def calibration_table(one: Result, scores: Scores) -> Table:
    """What was predicted, and what was found."""
    rows = [(_predicted(each), count(each.rows), shared(each.share), _sure(each)) for each in scores.calibration]
    return Table(
        f"Predicted and found with {one.recipe}",
        ["predicted", "patients", "found", "95% interval"],
        rows,
        folded=True,
    )


def _predicted(one: Bin) -> Markup:
    return joined(exact(one.low, fine(one.low)), " to ", exact(one.high, fine(one.high)))


def fine(value: float) -> str:
    """A probability near 0 or 1 is not written as if it were that."""
    return f"{100 * value:.4g}%"


def _sure(one: Bin) -> Markup:
    if one.share is None:
        return exact(None, _NONE)
    low, high = (element("span", share(end)) for end in wilson(round(one.share * one.rows), one.rows))
    return joined(low, " to ", high)


def summary(several: Sequence[Evaluated]) -> list[Table]:
    """A line for each hospital."""
    right = [(found.hospital, count(found.rows), shared(found.own.accuracy), _right(found)) for found in several]
    return [
        Table("Right labels by hospital", ["hospital", "patients", "own", "recipe"], right),
        Table(
            "The recipe recommended or taken, else the one that is right most often",
            ["hospital", "recipe", "points", "p"],
            [(found.hospital, *_best(found)) for found in several],
        ),
    ]


def _right(found: Evaluated) -> Markup:
    return _none() if found.compared is None else shared(found.compared.accuracy)


def _best(found: Evaluated) -> tuple[Markup, ...]:
    one = found.compared
    if one is None:
        return (_none(),) * 3
    said = {found.best: " (taken)", found.recommended: " (recommended)"}.get(one.recipe, "")
    return joined(breakable(one.recipe), said), _points(one), _p(one)
