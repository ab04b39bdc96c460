"""What may be said of recipes, and their tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mixbayes.evaluation.recommendation import COMPARED, OWN
from mixbayes.research.joining.compared import BEST, RECOMMENDED, Compared
from mixbayes.research.study.hospitals import CLASSES, PEOPLE
from mixbayes.research.study.recipes import BEGUN, EXACT, FEW, NOISY, Recipes, Situation, of_situation
from mixbayes.research.study.words import listed, percent, points, signed, table

JOINT, PRIOR, PERSONAL = COMPARED
SHOWN = (EXACT, NOISY)
"""The situations that have a table; the measurements have all of them."""
BEGINNING = [one for one in BEGUN if one.gaussian]
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
            f"**Does any hospital still lose, {_noise(situation)}?** {_answer(hospitals)} {_whole(everybody)} By "
            f"hospital, in points above its own classifier: {_gains(hospitals)}."
        )
    least = Situation(True, None, min(FEW))
    *hospitals, _ = of_situation(all_, least)
    yield (
        f"**And if it begins with {least.few} patients?** {_answer(hospitals)} In points: {_gains(hospitals)}. So few "
        "patients cannot show which recipe suits a hospital, so it has to join on trust."
    )
    yield from _overlooked(of_situation(all_, EXACT)[:-1])


def _answer(hospitals: Sequence[Compared]) -> str:
    behind = [one.hospital for one in hospitals if one.gain[BEST].value < -BEHIND]
    if not behind:
        return (
            "No: no hospital is more than a point behind, if its node takes the recipe that an evaluation finds best."
        )
    return f"Yes: {listed(behind)}, even if the node takes the recipe that an evaluation finds best."


def _overlooked(hospitals: Sequence[Compared]) -> Iterator[str]:
    """Where a recipe as accurate as what is taken finds many more of a class."""
    for one in hospitals:
        for label in CLASSES:
            best, personal = (one.recall[way][label] for way in (BEST, PERSONAL))
            if personal - best > MUCH and one.accuracy[PERSONAL].value > one.accuracy[BEST].value - BEHIND:
                yield (
                    f"**Accuracy is not everything.** At {one.hospital} `{PERSONAL}` is as accurate as the recipe that "
                    f"the node takes, and finds {percent(personal)} instead of {percent(best)} % of the "
                    f"{PEOPLE[label]}. The rule considers only accuracy; an evaluation shows both."
                )


def _whole(everybody: Compared) -> str:
    own, best = (percent(everybody.accuracy[way].value) for way in (OWN, BEST))
    return f"These recipes label {best} % of all patients correctly, and the hospitals' own classifiers {own} %."


def _gains(hospitals: Sequence[Compared]) -> str:
    return ", ".join(f"{one.hospital} {signed(one.gain[BEST].value)}" for one in hospitals)


def _noise(situation: Situation) -> str:
    kind = "Gaussian attributes" if situation.gaussian else "five bins"
    return f"with {kind} and noise (ε = {situation.epsilon:g})" if situation.epsilon else f"with {kind}, without noise"


def section(all_: Sequence[Recipes], repeats: int, folds: int) -> str:
    """Recipes, with and without noise, and for hospitals that begin."""
    return f"""
## A recipe for each hospital

A hospital need not use the plain joint classifier. *Own prior* (`{PRIOR}`) is the joint classifier with this
hospital's own share of sick people. *Personal* (`{PERSONAL}`) also counts the hospital's own patients ten times more.
Each hospital evaluates these recipes and its own classifier by five folds of its own patients, and [the
rule](joining.md) chooses: *recommended* is a recipe that is better by more than chance, or else the own classifier;
*best* is what a node takes if the choice is left to it. The patients in the tables took no part in any of this:
{folds} folds, {repeats} {"time" if repeats == 1 else "times"}. These folds differ from those above.

{"".join(_joined(all_, situation) for situation in SHOWN)}
*Best less own* has its 95 % interval over patients. *Taken* says in how many of a hundred evaluations the node took
own, joint, own prior and personal. The next table says how many percent of the healthy are labelled healthy, and of the
sick, sick, {_noise(EXACT)}:

{_recalls(of_situation(all_, EXACT))}

The last table is for a hospital that begins with few patients, while the three others have all of theirs, without
noise:

{_begun(all_)}
"""


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
    said = _noise(situation)
    return f"{said[0].upper()}{said[1:]}:\n\n{table(head, rows)}\n\n"


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
    head = ("patients of", "its own", *(NAMES[way] for way in ways), "best less own")
    rows = (
        (
            one.hospital,
            f"{situation.few}",
            *(percent(one.accuracy[way].value) for way in ways),
            points(one.gain[BEST]),
        )
        for situation in BEGINNING
        for one in of_situation(all_, situation)
    )
    return table(head, rows)
