"""What `mixbayes simulate` says to people, on stdout."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from mixbayes.node.log import printable
from mixbayes.parties.applications import BEST
from mixbayes.simulation.by_recipe import JOINT, OWN, RECIPE, Answered, WithRecipe
from mixbayes.simulation.outcome import Outcome


def show(outcome: Outcome) -> None:
    """The results for people, on stdout."""
    console = Console(highlight=False)
    judged = outcome.accuracy.joint is not None
    columns = ["", "rows", *(["accuracy"] if judged else [])]
    console.print(Text(f"What is predicted: {printable(outcome.class_column)}"), soft_wrap=True)
    title = f"{outcome.instances} rows classified, {len(outcome.classes)} classes"
    table = Table(*columns, title=title)
    for row in _rows(outcome):
        table.add_row(*row[: len(columns)])
    console.print(table)
    if outcome.agreement_with_pooled is not None:
        console.print(f"Labels equal to {_pooled(outcome)}: {_percent(outcome.agreement_with_pooled)}")
    if outcome.evaluation:
        _show_evaluations(console, outcome.evaluation)
    if outcome.recipe:
        _show_answers(console, outcome.recipe)
    for hospital in outcome.hospitals:
        if hospital.changed:
            console.print(Text(f"{hospital.name}: {hospital.changed}"), soft_wrap=True)
        if hospital.coarsened:
            said = (
                f"{hospital.name}: {hospital.coarsened:,} cells were generalised or suppressed: they count as missing"
            )
            console.print(Text(said), soft_wrap=True)
    seconds, moved, rounds = outcome.seconds, outcome.bytes, outcome.rounds
    console.print(
        f"Seconds: set-up {seconds.setup:.2f}, contributions {seconds.contribute:.2f}, "
        f"training {seconds.train:.2f}, "
        + ("" if seconds.evaluate is None else f"evaluation {seconds.evaluate:.2f}, ")
        + f"classification {seconds.classify:.2f}",
        soft_wrap=True,
    )
    console.print(
        f"Bytes: contributions {moved.hospitals_to_mixers:,}, training {moved.training:,} in {rounds.training} rounds, "
        + ("" if moved.evaluation is None else f"evaluation {moved.evaluation:,} in {rounds.evaluation} rounds, ")
        + f"classification {moved.classification:,} in {rounds.classification} rounds",
        soft_wrap=True,
    )
    for line in _about_noise(outcome):
        console.print(Text(line), soft_wrap=True)


def _pooled(outcome: Outcome) -> str:
    whose = "those of the same recipe on pooled counts" if outcome.recipe else "the pooled classifier's"
    return whose + " without noise" * bool(outcome.privacy)


def _show_evaluations(console: Console, evaluation: dict[str, dict[str, Any]]) -> None:
    """Own, joint and personal classifiers at every hospital, and what is recommended there."""
    folds = next(iter(evaluation.values()))["folds"]
    title = f"Judged by every hospital's own patients, in {folds} folds"
    grid = Table("", Column("classifier", overflow="fold"), "right", "95 % interval", "", title=title)
    for name, found in evaluation.items():
        beside = chain([printable(name), f"{found['rows']} patients"], repeat(""))
        for said, one in zip(beside, [found["own"], *found["recipes"]], strict=False):
            low, high = one["interval"]
            between = f"{100 * low:.1f} to {100 * high:.1f}"
            grid.add_row(Text(said), Text(one["recipe"]), _tenths(one["accuracy"]), between, _marks(found, one))
        grid.add_section()
    console.print(grid)
    for name, found in evaluation.items():
        said = f"{printable(name)}: recommended is {found['recommended'] or 'nothing'}. {found['why']}"
        console.print(Text(said), soft_wrap=True)


def _marks(found: dict[str, Any], one: dict[str, Any]) -> str:
    return ", ".join(mark for mark in ("recommended", "best") if found[mark] == one["recipe"])


def _show_answers(console: Console, found: WithRecipe) -> None:
    """What the recipe was worth to every hospital, on the rows that it asked about."""
    everybody = [("together", found)] if len(found.hospitals) > 1 else []
    title = f"Right labels of the rows that were asked about by {found.recipe}"
    grid = Table("", "rows", "own", "joint", "as asked", title=Text(title))
    if found.unsure is not None:
        grid.add_column("unsure")
    if found.recipe == BEST:
        grid.add_column("best", overflow="fold")
    for name, one in [*found.hospitals.items(), *everybody]:
        unsure = [] if found.unsure is None else [str(one.unsure or 0)]
        recipe = [Text(one.recipe)] if found.recipe == BEST and one is not found else []
        grid.add_row(Text(printable(name)), str(one.rows), *_shares(one), *unsure, *recipe)
    console.print(grid)


def _shares(one: Answered) -> list[str]:
    return [_tenths(one.accuracy[key]) for key in (OWN, JOINT, RECIPE)]


def _tenths(share: float | None) -> str:
    return "unknown" if share is None else f"{share:.1%}"


def _about_noise(outcome: Outcome) -> Iterator[str]:
    if not outcome.privacy:
        yield from outcome.about_noise
        return
    promise, noise = outcome.about_noise
    yield f"Promised: {promise}. The noise really cost epsilon {outcome.privacy['spent']:.4g}."
    yield f"Noise: {noise}. Where it changes a label, that is the price of the promise."


def _rows(outcome: Outcome) -> Iterator[tuple[Text, str, str]]:
    """Whose classifier, the rows that it learned from, and its accuracy."""
    for hospital in outcome.hospitals:
        yield Text(f"{hospital.name} alone"), str(hospital.rows), _percent(outcome.accuracy.alone[hospital.name])
    everybody = str(sum(hospital.rows for hospital in outcome.hospitals))
    if any(hospital.protect for hospital in outcome.hospitals):
        yield Text("pooled without protection"), "", _percent(outcome.accuracy.pooled_unprotected)
    yield Text("all tables pooled"), everybody, _percent(outcome.accuracy.pooled)
    yield Text("jointly, nothing pooled"), everybody, _percent(outcome.accuracy.joint)


def _percent(share: float | None) -> str:
    return "unknown" if share is None else f"{share:.2%}"
