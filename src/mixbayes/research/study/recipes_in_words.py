"""What may be said of recipes, and their tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mixbayes.evaluation.recommendation import COMPARED, OWN
from mixbayes.research.joining.compared import BEST, RECOMMENDED, Compared
from mixbayes.research.study.hospitals import CLASSES, PEOPLE
from mixbayes.research.study.recipes import BEGUN, EXACT, FEW, JOINED, NOISY, Recipes, Situation, of_situation
from mixbayes.research.study.words import listed, percent, points, signed, table

JOINT, PRIOR, PERSONAL = COMPARED
BEHIND = 0.01
"""A point."""
MUCH = 0.1
"""A difference in what is found of a class."""
NAMES = {OWN: "own", JOINT: "joint", PRIOR: "own prior", PERSONAL: "personal", BEST: "best", RECOMMENDED: "recommended"}


def who_still_loses(all_: Sequence[Recipes]) -> Iterator[str]:
    """The first sentences of the document."""
    for situation in (EXACT, NOISY):
        *hospitals, everybody = of_situation(all_, situation)
        yield (
            f"**Does anybody still lose, {_noise(situation)}?** {_answer(hospitals)} {_whole(everybody)} By hospital, "
            f"in points beside its own classifier: {_gains(hospitals)}."
        )
    least = Situation(True, None, min(FEW))
    *hospitals, _ = of_situation(all_, least)
    yield (
        f"**And if it begins with {least.few} patients?** {_answer(hospitals)} In points: {_gains(hospitals)}. With so "
        "few it joins on trust: they cannot show what suits it."
    )
    yield from _overlooked(of_situation(all_, EXACT)[:-1])


def _answer(hospitals: Sequence[Compared]) -> str:
    behind = [one.hospital for one in hospitals if one.gain[BEST].value < -BEHIND]
    if not behind:
        return "No: no hospital is more than a point behind, with the recipe that its node takes after an evaluation."
    return f"Yes: {listed(behind)}, even with the recipe that the node takes after an evaluation."


def _overlooked(hospitals: Sequence[Compared]) -> Iterator[str]:
    """Where a recipe as accurate as what is taken finds many more of a class."""
    for one in hospitals:
        for label in CLASSES:
            best, personal = (one.recall[way][label] for way in (BEST, PERSONAL))
            if personal - best > MUCH and one.accuracy[PERSONAL].value > one.accuracy[BEST].value - BEHIND:
                yield (
                    f"**Accuracy is not all.** At {one.hospital} `{PERSONAL}` is as accurate as what the node takes, "
                    f"and finds {percent(personal)} instead of {percent(best)} % of the {PEOPLE[label]}. The rule "
                    "looks at accuracy alone; an evaluation shows both."
                )


def _whole(everybody: Compared) -> str:
    own, best = (percent(everybody.accuracy[way].value) for way in (OWN, BEST))
    return f"Of all patients {best} % are labelled rightly, and {own} % by their hospitals' own classifiers."


def _gains(hospitals: Sequence[Compared]) -> str:
    return ", ".join(f"{one.hospital} {signed(one.gain[BEST].value)}" for one in hospitals)


def _noise(situation: Situation) -> str:
    kind = "Gaussian attributes" if situation.gaussian else "five bins"
    return f"with {kind} and noise (ε = {situation.epsilon:g})" if situation.epsilon else f"with {kind}, without noise"


def section(all_: Sequence[Recipes], repeats: int, folds: int) -> str:
    """Recipes, with and without noise, and for hospitals that begin."""
    return f"""
## A recipe for each hospital

A hospital need not take the joint classifier as it is. *Own prior* (`{PRIOR}`) is the joint classifier with the share
of sick people of this hospital, *personal* (`{PERSONAL}`) counts its own patients ten times more. Here each hospital
evaluates all of them and its own classifier by five folds of its own patients, and takes what
[the rule](joining.md) gives it: *recommended* is a recipe that is better by more than chance, else the own
classifier; *best* is what a node takes if it is left the choice. The patients in the table took no part in any of
this: {folds} folds, {repeats} {"time" if repeats == 1 else "times"}. So these folds are others than those above.

{"".join(_joined(all_, situation) for situation in JOINED)}
*Best less own* has its 95 % interval over patients. *Taken* is in how many of a hundred evaluations the node took own,
joint, own prior and personal. How many of the healthy are called healthy, and of the sick, sick, without noise and
with numbers {_numbers(EXACT)}:

{_recalls(of_situation(all_, EXACT))}

The same with numbers {_numbers(NOISY)}, {_noise(NOISY)}:

{_recalls(of_situation(all_, NOISY))}

If a hospital begins with few patients, and the three others have all of theirs: accuracy of its own classifier, of
the joint one, of the personal one, of what its node takes, and what this gains in points.

{_begun(all_)}
"""


def _numbers(situation: Situation) -> str:
    return "as Gaussian attributes" if situation.gaussian else "in five bins"


def _joined(all_: Sequence[Recipes], situation: Situation) -> str:
    ways = (OWN, *COMPARED, RECOMMENDED, BEST)
    head = ("patients of", *(NAMES[way] for way in ways), "best less own", "taken")
    rows = (
        (
            one.hospital,
            *(percent(one.accuracy[way].value) for way in ways),
            points(one.gain[BEST]),
            ", ".join(f"{100 * one.taken[recipe]:.0f}" for recipe in (OWN, *COMPARED)),
        )
        for one in of_situation(all_, situation)
    )
    said = f"Numbers {_numbers(situation)}, {_noise(situation)}:"
    return f"{said}\n\n{table(head, rows)}\n\n"


def _recalls(found: Sequence[Compared]) -> str:
    ways = (OWN, *COMPARED, BEST)
    rows = (
        (one.hospital, PEOPLE[label], *(percent(one.recall[way][label]) for way in ways))
        for one in found
        for label in CLASSES
    )
    return table(("patients of", "", *(NAMES[way] for way in ways)), rows)


def _begun(all_: Sequence[Recipes]) -> str:
    ways = (OWN, JOINT, PERSONAL, BEST)
    head = ("patients of", "its own", "noise", *(NAMES[way] for way in ways), "best less own")
    rows = (
        (
            one.hospital,
            f"{situation.few}",
            f"ε = {situation.epsilon:g}" if situation.epsilon else "none",
            *(percent(one.accuracy[way].value) for way in ways),
            points(one.gain[BEST]),
        )
        for situation in BEGUN
        for one in of_situation(all_, situation)
    )
    return table(head, rows)
