"""What may be said of the results in a few sentences: by the side of zero on which the intervals lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mixbayes.study.hospitals import ABSENT, PRESENT
from mixbayes.study.results import Agreement, Joining, Protecting, Results, Starting
from mixbayes.study.words import listed, percent, points

ONE_SIDED = 0.85
"""A share of one class above which accuracy says little."""


def in_short(results: Results) -> str:
    """The first section."""
    found = [
        _same(results.agreement),
        *_gains(results.joining[:-1]),
        *_with_few(results.starting),
        _costs(results.protecting),
        "**Eight people.** What is said of Switzerland's healthy patients rests on them."
        if _fewest(results) == 8
        else f"**Few people.** The smallest class of any hospital has {_fewest(results)} patients.",
    ]
    return "## In short\n\n" + "\n".join(f"- {one}" for one in found)


def _fewest(results: Results) -> int:
    return min(min(one.classes.values()) for one in results.hospitals)


def _same(agreement: Agreement) -> str:
    alike = (
        "the pooled classifier's, without exception"
        if agreement.equal == agreement.labels
        else f"the pooled classifier's in {agreement.equal:,} of {agreement.labels:,} cases"
    )
    return (
        f"**To join costs nothing against pooling.** The labels that the four hospitals get jointly are {alike}, "
        "and nobody shows a table for them."
    )


def _gains(joining: Sequence[Joining]) -> Iterator[str]:
    better, worse, unclear = ([one for one in joining if one.gain.side == side] for side in (1, -1, 0))
    if better:
        yield f"**Joining helps {_who(better)}:** {_gained(better)} points of accuracy."
    if unclear:
        yield (
            f"**At {_who(unclear)} no gain in accuracy can be shown:** {_gained(unclear)} points; zero is in "
            f"{'every' if len(unclear) > 1 else 'the'} interval."
        )
    for one in worse:
        yield (
            f"**At {one.hospital} joining lowers accuracy:** {points(one.gain)} points."
            + (_why(one) if one.commonest > ONE_SIDED else "")
        )


def _why(one: Joining) -> str:
    """Of a hospital nearly all of whose patients are of one class."""
    own, joint = one.alone.recall[ABSENT], one.joint.recall[ABSENT]
    own_sick, joint_sick = one.alone.recall[PRESENT], one.joint.recall[PRESENT]
    return (
        f" {percent(one.commonest)} % of its patients are sick, far more than elsewhere, and to call everybody sick "
        f"would be right as often. Its own classifier comes near to that: it finds {percent(own.value)} % of the "
        f"healthy and {percent(own_sick.value)} % of the sick. The joint one expects the share of sick people that all "
        f"four have together: it finds {percent(joint.value)} % and {percent(joint_sick.value)} %."
    )


def _with_few(starting: Sequence[Starting]) -> Iterator[str]:
    least = min(one.own for one in starting)
    better = [one for one in starting if one.own == least and one.gain.side == 1]
    if better:
        gains = ", ".join(f"{one.hospital} {points(one.gain)}" for one in better)
        yield (
            f"**Who has few patients gains most.** With {least} patients of its own to learn from instead of all, a "
            f"hospital that joins gains, in points of accuracy: {gains}."
        )


def _costs(protecting: Sequence[Protecting]) -> str:
    lossy = sorted((one for one in protecting if one.cost.side == -1), key=lambda one: one.cost.value)
    worst = f", most of all `{lossy[0].setting}`: {points(lossy[0].cost)} points" if lossy else ""
    return (
        f"**To protect the tables first** costs accuracy with {len(lossy)} of {len(protecting)} settings{worst}. With "
        "the others no loss can be shown. A small loss is no recommendation: many of these settings promise nothing "
        "about privacy."
    )


def _who(ones: Sequence[Joining]) -> str:
    return listed([one.hospital for one in ones])


def _gained(ones: Sequence[Joining]) -> str:
    return ", ".join(f"{one.hospital} {points(one.gain)}" for one in ones)
