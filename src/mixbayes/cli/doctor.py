"""`mixbayes doctor`: what could keep a node from working, before it starts or while it runs."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from mixbayes.agreement.addresses import host_and_port
from mixbayes.cli.node_options import Agreed, Keys, Name
from mixbayes.cli.reading import USUAL, reads_tables
from mixbayes.node.doctor.finding import Finding, Verdict, worst
from mixbayes.node.log import printable
from mixbayes.parties.examination import ANY_PORT, Patient, ask_health, examined
from mixbayes.protocol.errors import Unsupported
from mixbayes.tables.sources.how import How

EXAMPLES = """Examples:

mixbayes doctor --federation federation.toml --name north --keys keys --data patients.csv --state state

mixbayes doctor --federation federation.toml --name a --keys keys --state state --json

mixbayes doctor --federation federation.toml --name a --keys keys --health
"""


@reads_tables
def doctor(
    federation: Agreed,
    name: Name,
    keys: Keys,
    data: Annotated[
        str | None, typer.Option(metavar="TABLE", help="A hospital's table.", envvar="MIXBAYES_DATA_TABLE")
    ] = None,
    state: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The node's state folder.", envvar="MIXBAYES_STATE")
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="As the node itself is given it.", envvar="MIXBAYES_LISTEN"),
    ] = None,
    health: Annotated[
        bool, typer.Option("--health", help="Ask only whether this node serves, on this machine; print nothing if so.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    how: How = USUAL,
) -> None:
    """Look at everything that can keep a node from working: a line for each thing, with the remedy.

    Run it before the node starts, or while it runs; nothing is changed, and every wait ends within seconds.
    The exit code is 0 without a problem, else that of the problem, the highest of several: 1 state folder, disk or own
    port; 2 usage or software; 3 keys, connections or clocks; 4 no answer in time; 6 agreement or table.
    """
    _refuse_unreadable(listen)
    patient = Patient(federation, name, keys, data, how, state, listen)
    if health:
        ask_health(patient)
        return
    findings = []
    for finding in examined(patient):
        findings.append(finding)
        if not as_json:
            typer.echo(_shown(finding))
    if as_json:
        typer.echo(json.dumps(_document(name, findings), indent=2))
    _sum_up(findings)
    raise typer.Exit(worst(findings))


def _refuse_unreadable(listen: str | None) -> None:
    if listen is None or listen.endswith(ANY_PORT):
        return
    try:
        host_and_port(listen)
    except ValueError as error:
        raise Unsupported(f"--listen: {error}.") from None


def _shown(finding: Finding) -> str:
    """A line, and what belongs to it below, e.g. the columns of a table that do not fit."""
    remedy = f" {finding.remedy}{'' if finding.remedy.endswith('?') else '.'}" if finding.remedy else ""
    code = f" [{finding.code}]" if finding.code else ""
    whole = f"{finding.verdict:7}  {finding.what}: {finding.said}.{remedy}{code}"
    return "\n".join(map(printable, whole.split("\n")))


def _document(name: str, findings: list[Finding]) -> dict[str, object]:
    counts = {verdict: sum(finding.verdict is verdict for finding in findings) for verdict in Verdict}
    return {
        "name": name,
        "problems": counts[Verdict.PROBLEM],
        "warnings": counts[Verdict.WARNING],
        "exit_code": worst(findings),
        "checks": [asdict(finding) for finding in findings],
    }


def _sum_up(findings: list[Finding]) -> None:
    problems = sum(finding.verdict is Verdict.PROBLEM for finding in findings)
    warnings = sum(finding.verdict is Verdict.WARNING for finding in findings)
    said = f"{_many(problems, 'problem')} and {_many(warnings, 'warning')} among {len(findings)} checks"
    typer.echo(f"mixbayes: {said}", err=True)


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
