"""A hospital's own checks before it takes part: its table against the dictionary, and the status of the round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mixbayes.agreement.agreement import Federation
from mixbayes.node.doctor.finding import Finding, Trouble, fine, looking_at, problem, warning
from mixbayes.node.doctor.peers import Answer
from mixbayes.node.doctor.state import ROUND, round_finding
from mixbayes.node.rounds.status import combined, decode
from mixbayes.tables.counting import counted, refuse_empty, refuse_too_few
from mixbayes.tables.profile import Profile
from mixbayes.tables.sources.how import How
from mixbayes.tables.sources.opening import open_table
from mixbayes.transport.errors import LyingHospital, Unjudged

TABLE = "table"


def table_findings(federation: Federation, data: str, how: How) -> Iterator[Finding]:
    """The findings of `mixbayes party` about the table. Nothing of the table leaves this machine."""
    try:
        with looking_at(TABLE):
            table = open_table(data, how)
            found = counted(federation.layout, table)
            refuse_empty(found.rows, table.title)
            refuse_too_few(found.rows, federation.policy.min_rows, table.title)
            beyond = table.profile(list(found.clipped)) if found.clipped else None
    except Trouble as trouble:
        yield trouble.finding
        return
    most = federation.layout.rows_each
    unnamed = set(table.names) - {*federation.dictionary.names, federation.dictionary.class_column}
    ignored = f"; columns that it does not name, and that are not looked at: {len(unnamed)}" if unnamed else ""
    yield fine(TABLE, f"{found.rows} rows keep to the agreement, which allows a hospital {most}{ignored}")
    numbers = {attribute.name for attribute in federation.dictionary.attributes if attribute.numeric}
    clipped = {name: times for name, times in found.clipped.items() if name in numbers}
    if clipped and beyond:
        said = f"{sum(clipped.values())} values lie beyond the agreed bounds and count as the bound: {_named(clipped)}"
        yield warning("values beyond the bounds", said, _remedy_for(beyond, clipped))
    shortened = {name: times for name, times in found.clipped.items() if name not in numbers}
    if shortened:
        said = f"{sum(shortened.values())} cells have more values than count: {_named(shortened)}"
        yield warning("values that do not count", said, "Agree on a larger `most`, if the last listed ones matter")


def _named(times: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in times.items())


def _remedy_for(table: Profile, clipped: Mapping[str, int]) -> str:
    """A patient or two may lie beyond the bounds; most of them do if the numbers mean something else."""
    most = [name for name, times in clipped.items() if 2 * times > table.columns[name].present]
    if not most:
        return "Look at these columns: another unit, or bounds too narrow?"
    return (
        f"More than half of the values of {', '.join(most)} do: it is probably in another unit. "
        "Convert it before the node starts"
    )


def asked_round(federation: Federation, name: str, answers: list[Answer]) -> Iterator[Finding]:
    """The status of the round, from the nodes that answered."""
    if not answers:
        return
    try:
        with looking_at(ROUND):
            status = combined([decode(answer.report, answer.title) for answer in answers], {})
    except Trouble as trouble:
        yield trouble.finding
        return
    if name in status.refused:
        said = f"round {status.round}: this hospital's contribution was found not to be the counts of any table"
        said += f", or the mixers did not come to a verdict on it ({Unjudged.code})"
        yield problem(ROUND, said, "Compare versions and tables, and contribute in a new round", LyingHospital)
        return
    absent = "; missing: " + ", ".join(map(federation.title, status.missing)) if status.missing else ""
    budget = f"; {status.budget_left} of {status.budget} rows may still be asked about"
    yield round_finding(status.round, status.state, status.reason, absent + budget)
    if status.budget and not status.budget_left:
        yield warning("budget", "no rows are left in this round", "Only a new round has a new budget")
