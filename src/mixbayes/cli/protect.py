"""`mixbayes protect`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, cast

import numpy as np
import typer
from rich.console import Console
from rich.table import Table as Shown
from rich.text import Text

from mixbayes.agreement.files import read_federation
from mixbayes.cli.doubts import tell_doubts, tell_identities
from mixbayes.cli.measure_text import DISTORTION, RISK, figure
from mixbayes.cli.options import names_in, settings_in
from mixbayes.cli.output import refuse_other_format, refuse_unwritable, write_private
from mixbayes.cli.progress import Talk
from mixbayes.cli.reading import USUAL, is_file, read, reads_tables
from mixbayes.cli.table_output import projection_files, refuse_other_folder, table_file, write_folder
from mixbayes.cli.tenths import Tenths
from mixbayes.local_methods.tables import Nominal, Table
from mixbayes.protocol.errors import BadData, Unsupported
from mixbayes.tables.agreed_domain import agreed_domain
from mixbayes.tables.columns import Columns
from mixbayes.tables.method_settings import configured_method
from mixbayes.tables.method_table import as_command_error, as_table, class_column, numeric_names, sensitive_column
from mixbayes.tables.protecting import left_as_they_were, of_all_classes, texts_of
from mixbayes.tables.room import refuse_too_large
from mixbayes.tables.sources.how import How

if TYPE_CHECKING:
    from mixbayes.local_methods.base import LocalMethod
    from mixbayes.local_methods.dmpd.decomposition import DMPD
    from mixbayes.local_methods.dmpd.projections import Projection
    from mixbayes.protocol.attributes.dictionary import Dictionary

EXAMPLES = """Examples:

mixbayes protect patients.csv released.csv --method class-wise-condensation --set t=30

mixbayes protect patients.csv released.csv --method microaggregation --set k=5 --set confidential=income,age

mixbayes protect patients.csv projections --method dmpd --set k=10 --set quasi_identifiers=age,ward

mixbayes protect patients.csv projections --method dmpd --set l=2 --set quasi_identifiers=age,ward/age,job

mixbayes protect patients.csv released.csv --method generalisation --set k=10 --set taxonomies=trees.json

mixbayes protect patients.csv released.parquet --method condensation --set k=20 --federation federation.toml --json
"""


SEED_IS_KNOWN = (
    "mixbayes: This release was made with --seed. Whoever knows or guesses the seed repeats what chance did, and may "
    "undo it. Seeds are for experiments: leave --seed out of a release that others get."
)
HELPS = {
    True: "It helps against whoever gets the release, and against whoever asks a classifier that counts it.",
    False: "It helps, if at all, against somebody who gets the release, as far as attacks tell (--attacks); not "
    "against somebody who asks a classifier that counts it.",
}
"""By whether a row of the table has a promise: against whom."""
OF_NONE = {"quasi_identifiers": "all columns", "confidential": "all of numbers"}
"""Whatever a parameter is about if nothing is said."""
MEANINGS = {
    "leaf_size": "rows in the largest leaf",
    "min_group": "rows in the smallest group, and so what is promised",
    "scale": "of a standard deviation for additive noise, of the number for multiplicative",
    "unchanged_cells": "numbers that noise leaves as they are",
    "anonymity": "rows with the rarest combination",
    "l": "classes at least of the rows of a combination",
    "silent": "columns of which nothing is told",
    "rejoined_anonymity": "at least so many, if each row of a projection is paired with all of its class in the others",
    "rejoined_anonymity_with_class": "the same, for who knows the class too",
    "diversity": "classes of the rows with the least diverse combination in a projection",
    "rejoined_diversity": "the same, if each row of a projection is paired with all of its class in the others",
}
GROUPS = (
    ("k", "people in the smallest group"),
    ("l", "fewest sensitive values in a group: with 1, who knows somebody's group knows the value"),
    ("entropy_l", "as many equally frequent values would be as uncertain"),
    ("t", "furthest that the sensitive values of a group are from the table's: 0 to 1"),
)
"""What is measured of the groups that a method formed."""


@reads_tables
def protect(
    source: Annotated[str, typer.Argument(metavar="IN", help="The table to protect, in memory as a whole.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="Where the released table goes; a folder for dmpd.")],
    method: Annotated[
        str, typer.Option(metavar="METHOD", help="What to do to it; a name that does not exist lists those that do.")
    ],
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A parameter of the method; repeatable.")
    ] = None,
    class_col: Annotated[
        str | None, typer.Option("--class-column", metavar="COLUMN", help="Default: `class`, if there is one.")
    ] = None,
    sensitive: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="What is to be hidden (l-diversity, t-closeness). Default: the class."),
    ] = None,
    nominal: Annotated[
        str, typer.Option(metavar="A,B", help="Columns of numbers that are names, not measurements.")
    ] = "",
    numeric: Annotated[str, typer.Option(metavar="C,D", help="Columns that must be numbers.")] = "",
    federation: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="An agreement: which columns are numbers, their bounds and values."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="For experiments: the same seed gives the same release.")
    ] = None,
    attacks: Annotated[
        bool, typer.Option("--attacks", help="Attack the release, and releases of halves of the table: takes longer.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    how: How = USUAL,
) -> None:
    """Change a table for release, check what the method promises of it, and say what that promises people."""
    agreed = read_federation(federation).dictionary if federation else None
    chosen = configured_method(method, settings_in(settings or []), seed, agreed_domain(agreed) if agreed else None)
    _refuse_target(target, chosen)
    _refuse_same(source, target)
    with Talk() as talk:
        columns = read(source, how, talk)
    sensitive_column(columns, sensitive, None)
    kinds = _Kinds.of(columns, class_col, names_in(nominal), names_in(numeric), agreed)
    tell_doubts([columns], kinds.nominal, kinds.numeric)
    with columns.named_in_errors():
        refuse_too_large(chosen, columns.rows, len(columns.names))
    done = _released(chosen, columns, kinds)
    document = _document(method, chosen, columns, done, sensitive_column(columns, sensitive, done.label))
    if attacks:
        document["attacks"] = _attacked(chosen, done)
    _write(target, done)
    if seed is not None:
        typer.echo(SEED_IS_KNOWN, err=True)
    tell_identities(columns, done.unchanged)
    if as_json:
        typer.echo(json.dumps(document, indent=2))
    else:
        _show(target, document)


def _refuse_target(target: Path, method: LocalMethod) -> None:
    if method.RELEASES_PROJECTIONS:
        refuse_other_folder(target)
    else:
        refuse_other_format(target, "CSV or, by its name, Parquet")
        refuse_unwritable(target)


def _write(target: Path, done: _Done) -> None:
    if done.projections is None:
        write_private(target, table_file(target, done.released, done.texts))
    else:
        write_folder(target, projection_files(done.projections, str(done.label)))


@dataclass(frozen=True)
class _Done:
    original: Table
    """The rows that took part."""
    released: Table
    texts: Columns
    unchanged: Sequence[str]
    """The columns that were released as they were."""
    label: str | None
    seconds: float
    projections: Sequence[Projection] | None
    """What is written instead of the table, if the method divides it."""


def _refuse_same(source: str, target: Path) -> None:
    if is_file(source) and target.exists() and target.samefile(source):
        raise Unsupported(f"{target} is the table itself. Give the release another name.")


@dataclass(frozen=True)
class _Kinds:
    """What the columns of a table are: as the operator says, and as was agreed."""

    label: str | None
    nominal: Sequence[str]
    numeric: Sequence[str]
    classes: Sequence[str] = ()
    """Those that were agreed."""

    @classmethod
    def of(
        cls,
        columns: Columns,
        label: str | None,
        nominal: Sequence[str],
        numeric: Sequence[str],
        agreed: Dictionary | None,
    ) -> _Kinds:
        if agreed is None:
            return cls(class_column(columns, label), nominal, numeric)
        if label is None and agreed.class_column in columns.names:
            label = agreed.class_column
        here = [attribute for attribute in agreed.attributes if attribute.name in columns.names]
        numbers = [attribute.name for attribute in here if attribute.numeric]
        names = [attribute.name for attribute in here if not attribute.numeric]
        classes = agreed.classes if label == agreed.class_column else ()
        return cls(class_column(columns, label), [*nominal, *names], [*numeric, *numbers], classes)


def _released(method: LocalMethod, columns: Columns, kinds: _Kinds) -> _Done:
    label = kinds.label
    if label is None and method.NEEDS_CLASS:
        raise BadData(f"{columns.source} has no column `class`. Name it with --class-column.")
    numbers = numeric_names([columns], {*kinds.nominal, *([label] if label else [])}, kinds.numeric)
    table = as_table(columns, numbers)
    attributes = [at for at, name in enumerate(table.names) if name != label]
    whole = table.column(label) if label else None
    if whole and kinds.classes and method.row_privacy():
        whole = of_all_classes(whole, kinds.classes)
    begun = perf_counter()
    with Talk() as talk, columns.named_in_errors(), as_command_error():
        part, labels = method.fit_resample(table.select(attributes), whole, progress=Tenths(talk))
    seconds = perf_counter() - begun
    released = _whole(table.names, part, label, labels)
    texts = texts_of(method, columns, released)
    return _Done(
        table.only(method.kept_rows_),
        released,
        texts,
        left_as_they_were(method, columns, texts),
        label,
        seconds,
        _projections(method, released, label, columns),
    )


def _projections(
    method: LocalMethod, released: Table, label: str | None, columns: Columns
) -> Sequence[Projection] | None:
    if label is None or not method.RELEASES_PROJECTIONS:
        return None
    dmpd = cast("DMPD", method)
    if not dmpd.projections_:
        raise BadData(
            f"{columns.source}: k = {dmpd.k}: no column can be released. Each has a value that fewer rows share, or "
            "is of numbers of which no interval tells the classes apart. If some of these numbers are codes, "
            "name their columns in --nominal."
        )
    labels = released.column(label)
    return dmpd.projections(released, labels) if isinstance(labels, Nominal) else None


def _whole(names: Sequence[str], attributes: Table, label: str | None, labels: Nominal | None) -> Table:
    """The class back in its place among the columns."""
    columns = dict(zip(attributes.names, attributes.columns, strict=True))
    if label is not None and labels is not None:
        columns[label] = labels
    return Table(tuple(names), tuple(columns[name] for name in names), attributes.rows)


def _document(name: str, method: LocalMethod, columns: Columns, done: _Done, sensitive: str | None) -> dict[str, Any]:
    from mixbayes.cli.protect_measures import Before, measured  # slow to import
    from mixbayes.local_methods.registry import SET_ELSEWHERE

    found = measured(method, Before(done.original, done.label, sensitive), done.released, done.projections)
    given = {key: value for key, value in method.get_params(deep=False).items() if key not in SET_ELSEWHERE}
    return {
        "method": name,
        "parameters": _plain({**given, "seed": method.random_state, **method.learned()}),
        "rows_in": columns.rows,
        "rows_out": done.released.rows,
        "missing": asdict(method.missing_),
        "unchanged": list(done.unchanged),
        "guarantee": _plain(asdict(method.guarantee_)),
        "helps": HELPS[method.row_privacy() is not None],
        "measures": found.values,
        "seconds": round(done.seconds, 3),
        "sensitive": sensitive,
        "why_not": found.why_not,
    }


def _attacked(method: LocalMethod, done: _Done) -> dict[str, Any]:
    from mixbayes.cli.protect_attacks import attacked  # slow to import

    return attacked(method, done.original, done.released, done.label)


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Numbers as JSON has them: not-a-number is null, and numpy's are Python's."""
    return {key: _plain_value(value) for key, value in values.items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _show(target: Path, document: dict[str, Any]) -> None:
    """The release for people, on stdout."""
    console = Console(highlight=False)
    table = Shown("", "", "", title=f"{document['rows_out']} rows released in {target}", show_header=False)
    for key, value in document["parameters"].items():
        table.add_row(Text(key.replace("_", " ")), Text(_setting(key, value)), MEANINGS.get(key, ""))
    gone = document["missing"]
    table.add_row("missing cells", Text(figure(gone["cells"])), Text(f"in {gone['rows']} rows: {gone['treatment']}"))
    table.add_section()
    for key, name, meaning in (*RISK, *DISTORTION):
        if key in document["measures"]:
            table.add_row(name, Text(figure(document["measures"][key])), meaning)
    groups = document["measures"]["groups"]
    for key, meaning in GROUPS if groups else ():
        table.add_row(f"{key.replace('_', ' ')} of the method's groups", Text(figure(groups[key])), meaning)
    for name, found in document.get("attacks", {}).items():
        if found and name != "why_not":
            low, high = found["interval"]
            by_guessing = f"95 %: {low:.3f} to {high:.3f}; without this release: {figure(found['baseline'])}"
            table.add_row(name.replace("_", " "), Text(figure(found["value"])), by_guessing)
    console.print(table)
    guarantee = document["guarantee"]
    held = "kept" if guarantee["holds"] else "NOT KEPT"
    people = guarantee["people"] or "nothing: the method protects nobody by a promise"
    console.print(Text(f"Promised to the people in the table: {people}."))
    console.print(Text(f"Promised of the output, and checked: {guarantee['claim']} - {held}."))
    if guarantee["not_promised"]:
        console.print(Text(f"Not promised: {guarantee['not_promised']}."))
    console.print(Text(document["helps"]))
    if document["unchanged"]:
        console.print(Text(f"Released as they were: {', '.join(document['unchanged'])}."))


def _setting(key: str, value: Any) -> str:
    """A parameter, or what was learned, for people; projections are lists of lists."""
    if value is None:
        return OF_NONE.get(key, "none")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):  # of taxonomies, which are long
        return f"for {', '.join(map(str, value))}" if value else "none"
    if isinstance(value, (list, tuple)):
        separator = "; " if any(isinstance(part, (list, tuple)) for part in value) else ", "
        return separator.join(_setting("", part) for part in value) or "none"
    return figure(value)
