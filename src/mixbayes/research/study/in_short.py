"""What may be said of the results in a few sentences: by the side of zero on which the intervals lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mixbayes.research.study.hospitals import ABSENT, PEOPLE, PRESENT
from mixbayes.research.study.recipes_in_words import who_still_loses
from mixbayes.research.study.releases_in_words import in_short as of_releases
from mixbayes.research.study.results import Agreement, Hospital, Joining, Results, Starting
from mixbayes.research.study.words import listed, percent, points

ONE_SIDED = 0.85
"""A share of one class above which accuracy says little."""


def in_short(results: Results) -> str:
    """The first section."""
    found = [
        *of_releases(results),
        *who_still_loses(results.recipes),
        _same(results.agreement),
        *_gains(results.joining[:-1], results.hospitals),
        *_with_few(results.starting),
        _fewest(results.hospitals),
    ]
    return "## In short\n\n" + "\n".join(f"- {one}" for one in found)


def _same(agreement: Agreement) -> str:
    if agreement.equal == agreement.labels:
        return (
            f"**Joining gives the same labels as pooling.** All {agreement.labels:,} joint labels equal the pooled "
            "classifier's, and nobody shows a table for them."
        )
    return (
        f"**Joining against pooling.** {agreement.equal:,} of {agreement.labels:,} joint labels equal the pooled "
        "classifier's; nobody shows a table for them."
    )


def _gains(joining: Sequence[Joining], hospitals: Sequence[Hospital]) -> Iterator[str]:
    better, worse, unclear = ([one for one in joining if one.gain.side == side] for side in (1, -1, 0))
    if better:
        yield f"**Joining helps {_who(better)}:** {_gained(better)} points of accuracy."
    if unclear:
        yield (
            f"**At {_who(unclear)} the plain joint classifier shows neither a gain nor a loss of accuracy:** "
            f"{_gained(unclear)} points; zero is in {'every' if len(unclear) > 1 else 'the'} interval."
        )
    for one in worse:
        at = next(hospital for hospital in hospitals if hospital.name == one.hospital)
        what = f"**At {one.hospital} the plain joint classifier lowers accuracy:** {points(one.gain)} points."
        yield what + _why(one, at)


def _why(one: Joining, hospital: Hospital) -> str:
    """Of a hospital nearly all of whose patients are of one class."""
    if one.commonest <= ONE_SIDED:
        return ""
    people = PEOPLE[max(hospital.classes, key=lambda label: hospital.classes[label])]
    own, joint = (
        f"{percent(score.recall[ABSENT].value)} % of the healthy and {percent(score.recall[PRESENT].value)} % of the "
        "sick"
        for score in (one.alone, one.joint)
    )
    return (
        f" {percent(one.commonest)} % of its patients are {people}, so always answering *{people}* is right as often. "
        f"Its own classifier finds {own}. The joint classifier expects the share of sick people of all four hospitals "
        f"together, and finds {joint}."
    )


def _with_few(starting: Sequence[Starting]) -> Iterator[str]:
    least = min(one.own for one in starting)
    better, worse, unclear = (
        [one for one in starting if one.own == least and one.gain.side == side] for side in (1, -1, 0)
    )
    parts = (("gain at", better), ("loss at", worse), ("neither can be shown at", unclear))
    said = "; ".join(f"{what} {_gained(ones)}" for what, ones in parts if ones)
    yield (
        f"**A hospital with only {least} patients to learn from**, with the plain joint classifier, in points of "
        f"accuracy: {said}."
    )


def _fewest(hospitals: Sequence[Hospital]) -> str:
    number, name, label = min((size, one.name, label) for one in hospitals for label, size in one.classes.items())
    return f"**{number} people.** All figures for the {PEOPLE[label]} patients of {name} depend on so few people."


def _who(ones: Sequence[Joining]) -> str:
    return listed([one.hospital for one in ones])


def _gained(ones: Sequence[Joining] | Sequence[Starting]) -> str:
    return ", ".join(f"{one.hospital} {points(one.gain)}" for one in ones)
