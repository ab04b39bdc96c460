"""`mixbayes evaluate`: what each classifier would be worth to this hospital, by its own patients."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column
from rich.table import Table as Grid
from rich.text import Text

from mixbayes.agreement.agreement import Federation
from mixbayes.cli.desks import own_desk
from mixbayes.cli.node_options import Agreed, Keys, Name, Node
from mixbayes.cli.progress import Talk
from mixbayes.cli.report_file import Report, ReportFile
from mixbayes.evaluation.document import Evaluation
from mixbayes.evaluation.intervals import Interval
from mixbayes.evaluation.jointly import JointEvaluation, joint_evaluation
from mixbayes.node.log import printable
from mixbayes.parties.applications import NO_JOINT_TEST, refuse_not_agreed
from mixbayes.parties.desk import AtOwnNode
from mixbayes.parties.evaluating import compared, evaluated, table_of
from mixbayes.protocol.bayes.recipe import Recipe, read_recipe
from mixbayes.protocol.errors import Unsupported
from mixbayes.transport.errors import RefusedByPolicy

RECOMMENDED = "recommended"
EXACT = (
    "These figures are exact numbers of this hospital's own patients. The agreed epsilon does not protect them here: "
    "keep this page inside the hospital."
)
EXAMPLES = """Examples:

mixbayes evaluate --federation federation.toml --name north --keys keys

mixbayes evaluate --federation federation.toml --name north --keys keys --report report --remember recommended

mixbayes evaluate --federation federation.toml --name north --keys keys --recipe joint --recipe personal:weight=3 --json

mixbayes evaluate --federation federation.toml --name north --keys keys --joint
"""


def evaluate(
    federation: Agreed,
    name: Name,
    keys: Keys,
    recipe: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RECIPE",
            help="Compare this one with the own classifier; repeatable.",
            show_default="joint, own prior, ten times the own patients, and all that the agreement lists",
        ),
    ] = None,
    remember: Annotated[
        str,
        typer.Option(
            metavar="RECIPE",
            help="What `classify --recipe best` stands for from now on: a recipe, or `recommended` for what this "
            "evaluation finds best, which is the own classifier unless another is probably better.",
        ),
    ] = "",
    joint: Annotated[
        bool,
        typer.Option(
            "--joint",
            help="The joint classifier over all hospitals instead, on the patients whom they keep aside (test_share).",
        ),
    ] = False,
    report: Report = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    node: Node = "",
) -> None:
    """See what joining is worth to this hospital: its own classifier beside the joint ones, on its own patients.

    Every patient is judged by classifiers that do not count that patient. Nobody, not even this hospital, sees what a
    joint classifier answers for a single patient: only totals are opened. The hospital's own node must run.
    """
    page = ReportFile(report) if report else None
    if joint:
        _refuse_with_joint(recipe, remember)
        _jointly(federation, name, keys, node, page, as_json)
        return
    with own_desk(federation, name, keys, node) as (agreed, behind):
        recipes = compared(agreed, recipe or [])
        chosen = None if remember in ("", RECOMMENDED) else read_recipe(remember)
        if chosen:
            refuse_not_agreed(agreed, chosen)
        with Talk() as talk:
            found = evaluated(agreed, name, behind, recipes, partial(talk, "classifiers judged"))
        if remember:
            _remember(behind, chosen or read_recipe(found.recommendation.best))
    if as_json:
        typer.echo(json.dumps(found.as_json(), indent=2))
    else:
        show(found)
    if page:
        from mixbayes.report.evaluated import evaluated as evaluated_page

        page.write(evaluated_page([found.as_json()], notes=[EXACT] if agreed.privacy else []))


def _refuse_with_joint(recipe: Sequence[str] | None, remember: str) -> None:
    if recipe or remember:
        option = "--recipe" if recipe else "--remember"
        raise Unsupported(f"--joint judges the plain joint classifier, over all hospitals. Leave out {option}.")


def _jointly(federation: Path, name: str, keys: Path, node: str, page: ReportFile | None, as_json: bool) -> None:
    """The joint test: all hospitals, one classifier, and no hospital's own patients."""
    with own_desk(federation, name, keys, node) as (agreed, behind):
        refuse_no_joint_test(agreed)
        figures, hospitals = behind.figures()
    deviation = agreed.test_coins.deviation if agreed.test_coins else None
    found = joint_evaluation(table_of(agreed), hospitals, figures, deviation)
    if as_json:
        typer.echo(json.dumps(found.as_json(), indent=2))
    else:
        show_jointly(found)
    if page:
        from mixbayes.report.jointly import joint_page

        page.write(joint_page(found.as_json()))


def refuse_no_joint_test(agreed: Federation) -> None:
    """Refuse before anybody is asked."""
    if agreed.two_party:
        raise Unsupported(NO_JOINT_TEST)
    if not agreed.joint_test:
        raise RefusedByPolicy(
            "Nobody keeps patients aside for a joint test. Agree on a share (policy, test_share; `mixbayes federation "
            "new --test-share`), or evaluate your own patients without --joint."
        )


def show_jointly(found: JointEvaluation) -> None:
    """The figures for people, on stdout."""
    console, about = Console(highlight=False), found.as_json()
    classes, (result,) = about["classes"], about["recipes"]
    console.print(Text(f"What is predicted: {printable(about['class_column'])}"), soft_wrap=True)
    roughly = "about " if found.deviation else ""
    title = f"{roughly}{about['rows']} patients of {len(found.hospitals)} hospitals, who count nowhere"
    labelled = [Column(Text(f"labelled {printable(name)}"), justify="right") for name in classes]
    grid = Grid("true class", *labelled, "found", "95 % interval", title=Text(title))
    for name, row, share in zip(classes, result["confusion"], found.recalls, strict=True):
        grid.add_row(Text(printable(name)), *map(str, row), _percent(share.value), _between(share.interval))
    console.print(grid)
    accuracy, commonest = found.accuracy, about["commonest_class"]
    right = f"{_percent(accuracy.value) or 'unknown'} (95 % interval {_between(accuracy.interval)})"
    of = f"{printable(commonest['class'])}, is {_percent(commonest['share']) or 'an unknown share'} of the patients"
    said = f"Right: {right}, balanced {_percent(result['balanced_accuracy']) or 'unknown'}. The commonest class, {of}."
    for line in (said, found.why):
        console.print(Text(line), soft_wrap=True)


def _between(interval: Interval) -> str:
    return f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"


def _remember(behind: AtOwnNode, recipe: Recipe) -> None:
    behind.remember_best(recipe)
    typer.echo(f"`classify --recipe best` stands for {recipe} from now on.", err=True)


def show(found: Evaluation) -> None:
    """The results for people, on stdout."""
    console, about = Console(highlight=False), found.as_json()
    commonest, classes = about["commonest_class"], about["classes"]
    console.print(Text(f"What is predicted: {printable(about['class_column'])}"), soft_wrap=True)
    title = f"{about['rows']} patients of {about['hospital']}, judged in {about['folds']} folds"
    found_of = [Column(Text(f"found of {printable(name)}")) for name in classes]
    grid = Grid(Column("", no_wrap=True), "right", "95 % interval", "balanced", *found_of, title=Text(title))
    for one in [about["own"], *about["recipes"]]:
        shares = [_percent(one["recall"][name]) for name in classes]
        between = _between(Interval(*one["interval"]))
        grid.add_row(
            Text(one["recipe"]), _percent(one["accuracy"]), between, _percent(one["balanced_accuracy"]), *shares
        )
    console.print(grid)
    said = f"The commonest class, {printable(commonest['class'])}, is {commonest['share']:.1%} of the patients."
    console.print(Text(said), soft_wrap=True)
    for line in _recommended(found):
        console.print(Text(line), soft_wrap=True)


def _recommended(found: Evaluation) -> Iterator[str]:
    yield f"Recommended: {found.recommendation.recipe or 'nothing'}. {found.recommendation.why}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"
