"""What protections cost, what their releases give away, and against whom they help, in tables and words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mixbayes.research.study.hospitals import ABSENT, CLASSES, PRESENT
from mixbayes.research.study.results import Attacked, Protecting, Results
from mixbayes.research.study.settings import SHORT_SEARCH
from mixbayes.research.study.words import listed, percent, points, share, signed, table

KEEPING = "class-wise-condensation"
"""The method that keeps what naive Bayes counts."""
PRIVATE = "private-synthesis"
NAMED = 3
"""Settings with the least, and with the most."""


def in_short(results: Results) -> Iterator[str]:
    """The first sentences of the document."""
    protecting = results.protecting
    yield from _kept([one for one in protecting if one.method == KEEPING and not one.refused])
    private = [one for one in protecting if one.epsilon is not None]
    yield _asked(private, results.joining[-1].joint.accuracy.value)
    yield _got(protecting, results.original)
    lossy = sorted((one for one in protecting if one.cost.side == -1), key=lambda one: one.cost.value)
    if lossy:
        yield (
            f"**Protecting all tables first costs accuracy** with {len(lossy)} of {len(protecting)} settings. The "
            f"largest loss is that of `{lossy[0].setting}`: {points(lossy[0].cost)} points."
        )
    rest = [one for one in protecting if one.cost.side != -1]
    if rest:
        yield _equally_accurate(rest, len(protecting))


def _kept(condensed: Sequence[Protecting]) -> Iterator[str]:
    """What is true of class-wise condensation as long as no setting of it costs accuracy."""
    if not condensed:
        return
    moved = f"{_tenths([100 * one.contributed.median for one in condensed])} % of the patients of their class"
    costs = f"accuracy changes by {listed([points(one.cost) for one in condensed])} points"
    figures = f"With {_settings(condensed)}, {costs}; half of the counts that change move by less than {moved}."
    if any(one.cost.side == -1 for one in condensed):
        yield f"**Class-wise condensation changes what naive Bayes counts.** {figures}"
        return
    yield (
        "**Class-wise condensation keeps what naive Bayes counts; that is why accuracy does not suffer, and why it "
        f"hides nothing from labels.** {figures}"
    )


def _tenths(values: Sequence[float]) -> str:
    return listed([f"{value:.1f}" for value in values])


def _asked(private: Sequence[Protecting], unprotected: float) -> str:
    said = (
        "**Against somebody who asks the joint classifier, only noise helps**: [in the counts](noise.md), or in the "
        f"release (`{PRIVATE}`). No other method here promises anything about [what labels tell](what-labels-tell.md)."
    )
    if not private:
        return said
    accuracy = listed([f"{percent(one.joint.accuracy.value)} % at ε = {one.epsilon:g}" for one in private])
    return (
        f"{said} If all hospitals release by `{PRIVATE}`, the joint classifier labels {accuracy} of the patients "
        f"correctly, instead of {percent(unprotected)} %."
    )


def _got(protecting: Sequence[Protecting], original: Attacked) -> str:
    """Who is hidden from somebody who has the released tables."""
    found = [one.attacked.succeeding(original) for one in protecting]
    safe = [one for one, succeeding in zip(protecting, found, strict=True) if not succeeding]
    named = f": {_settings(safe)}" if safe else ""
    times = [f"{name} with {sum(name in succeeding for succeeding in found)}" for name in original.gains()]
    return (
        f"**Against somebody who gets the released tables, {len(safe)} of {len(protecting)} settings help**{named}. "
        "Every attack gets less than a tenth there of what it gets from the unchanged tables. More is got by "
        f"{listed(times)} settings."
    )


def _equally_accurate(equal: Sequence[Protecting], of: int) -> str:
    private = sum(one.people is not None for one in equal)
    ranked = sorted(equal, key=lambda one: one.attacked.membership.value)
    least, most = (
        [f"{_settings([one])} ({signed(one.attacked.membership.value)})" for one in some]
        for some in (ranked[:NAMED], ranked[: -NAMED - 1 : -1])
    )
    return (
        f"**With {len(equal)} of {of} settings no loss can be shown.** This alone does not recommend them: {private} "
        f"{'promises' if private == 1 else 'promise'} something about people, and {len(equal) - private} nothing. "
        f"Of these {len(equal)}, a bet on who was in the table gains least, in points over a coin, with "
        f"{listed(least)}, and most with {listed(most)}."
    )


def _settings(ones: Sequence[Protecting]) -> str:
    return listed([f"`{one.setting.replace(SHORT_SEARCH, '')}`" for one in ones])


def section(results: Results) -> str:
    """Both sections on protections."""
    joint = results.joining[-1].joint
    costs = ("protection", "accuracy", "change", "healthy found", "sick found", "numbers changed", "by")
    attacks = ("given back", "membership", "attributes", "of anybody", "succeed")
    guessed = max(one.attacked.guessed for one in results.protecting)
    return f"""
## What protecting a table costs

A hospital may change its table by one of the local methods before it counts. Without protection, the joint classifier
labels {share(joint.accuracy)} % of all patients correctly, {percent(joint.recall[ABSENT].value)} % of the healthy and
{percent(joint.recall[PRESENT].value)} % of the sick. The table has the same figures if **all four** hospitals protect
their tables in the same way, in percent, with the change of accuracy in points. *Numbers changed* is the share of the
contributed numbers that differ from the unprotected ones; half of these differ by more than *by*, in percent of the
patients of their class.

{table(costs, map(_cost_row, results.protecting))}

{_refusals(results)}

## What the released tables give away

In a federation nobody sees these tables: only shares of their counts leave a hospital. This table says what somebody
would learn who got the released tables, in percent, with the 95 % interval in parentheses.

{table(("protection", *attacks, "who asks"), _rows(results))}

- *Given back*: patients of whom every cell is reconstructed, by the most successful of the attacks of `mixbayes
  measure` on one release of each whole table. As many guesses give back {percent(guessed)} % at most.
- *Membership*: by how much a bet on who was in the table is better than a coin: 0 is a coin, 100 is certainty. Every
  release is made of four fifths of the patients; the others were held out.
- *Attributes*: the share of the released attributes that the release tells of patients who were in it, less the share
  that it tells of those who were not (*of anybody*).
- *Succeed*: the attacks that get a tenth or more of what they get from the unchanged tables. Where none does, the
  method helps against somebody who gets the table and tries these attacks. It is no promise against others.
- *Who asks*: the promise about anything that is computed from the release, and so about labels. Small changes of the
  numbers promise nothing, nor do large ones.

{_promises(results)}
"""


def _cost_row(one: Protecting) -> tuple[str, ...]:
    return (
        f"`{one.setting}`" + "†" * bool(one.refused),
        percent(one.joint.accuracy.value),
        points(one.cost),
        *(percent(one.joint.recall[label].value) for label in CLASSES),
        f"{percent(one.contributed.differing)} %",
        f"{percent(one.contributed.median)} %",
    )


def _rows(results: Results) -> Iterator[tuple[str, ...]]:
    original = results.original
    yield "none: the unchanged table", *_exposed(original, original), "no"
    for one in results.protecting:
        asked = "no" if one.epsilon is None else f"ε = {one.epsilon:g}"
        yield f"`{one.setting}`" + "†" * bool(one.refused), *_exposed(one.attacked, original), asked


def _exposed(found: Attacked, original: Attacked) -> tuple[str, ...]:
    return (
        share(found.given_back),
        points(found.membership),
        points(found.attribute_inference),
        percent(found.anybody),
        ", ".join(found.succeeding(original)) or "none",
    )


def _refusals(results: Results) -> str:
    splits = results.setup.repeats * results.setup.folds
    found = [
        f"- `{one.setting}` at {name}, in {refusal.splits} of {splits} splits: {refusal.why}"
        for one in results.protecting
        for name, refusal in one.refused.items()
    ]
    if not found:
        return "Every hospital can use every setting."
    said = "† A hospital cannot always use this setting. It then contributes and releases nothing:"
    return "\n".join([said, "", *found])


def _promises(results: Results) -> str:
    """In the words of the first setting of each method."""
    first = {one.method: one for one in reversed(results.protecting)}
    names = list(dict.fromkeys(one.method for one in results.protecting))
    kept = [f"- `{first[name].setting}`: {first[name].people}" for name in names if first[name].people]
    silent = listed([f"`{name}`" for name in names if not first[name].people])
    said = f"Nothing is promised to people by {silent}: what these promise is about rows and numbers." if silent else ""
    if kept:
        said += f" What other settings promise the people in the table, as verified at {results.hospitals[0].name}:\n"
    return "\n".join([said, *kept])
