"""The options of every command that reads a table, and what it says meanwhile."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from functools import wraps
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Final, get_type_hints

import typer

from mixbayes.node.log import printable
from mixbayes.protocol.errors import Unsupported
from mixbayes.tables.columns import Columns
from mixbayes.tables.sources.how import How, spellings_in
from mixbayes.tables.sources.opening import open_table, read_source
from mixbayes.tables.sources.source import Progress, Source, no_progress

TABLE = "A file (CSV, Parquet, XLSX), a quoted pattern, a folder of Parquet, or an address of a database or Spark."
SEPARATORS: Final[Mapping[str, str]] = {"tab": "\t", "\\t": "\t", "semicolon": ";", "comma": ","}
USUAL = How()

_OPTIONS: Final[Mapping[str, tuple[Any, str, str]]] = {
    "missing": (
        list[str] | None,
        "A,B",
        "More spellings of a missing cell: NA,-999, or age=999 for one column; or with semicolons; repeatable.",
    ),
    "delimiter": (str | None, "CHARACTER", "The separator of a CSV file. Default: the one in its header."),
    "decimal": (str, "CHARACTER", "The decimal sign of numbers in CSV, and of texts in XLSX: . or ,"),
    "encoding": (str | None, "NAME", "The encoding of a CSV file. Default: UTF-8 or UTF-16, else Windows-1252."),
    "sheet": (str | None, "NAME", "The sheet to read, if an XLSX file has several."),
    "table": (str | None, "NAME", "The table to read from a database: NAME or SCHEMA.NAME."),
    "query": (Path | None, "FILE.sql", "A query to read from a database or Spark, instead of a table."),
}
"""The type of each, what is shown for its value, and its help."""
_USUALLY: Final[Mapping[str, Any]] = {"decimal": "."}


def reads_tables(command: Callable[..., None]) -> Callable[..., None]:
    """The command with these options instead of its parameter `how`, which gets what they say."""

    @wraps(command)
    def with_options(**given: Any) -> None:
        said = {name: given.pop(f"how_{name}") for name in _OPTIONS}
        command(**given, how=_how(said))

    hints = {name: hint for name, hint in get_type_hints(command, include_extras=True).items() if name != "how"}
    own = [one for name, one in inspect.signature(command).parameters.items() if name != "how"]
    more = [
        inspect.Parameter(
            f"how_{name}", inspect.Parameter.KEYWORD_ONLY, default=_USUALLY.get(name), annotation=_annotation(name)
        )
        for name in _OPTIONS
    ]
    with_options.__annotations__ = {**hints, **{one.name: one.annotation for one in more}}
    with_options.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [one.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[one.name]) for one in own] + more
    )
    return with_options


def _annotation(name: str) -> Any:
    kind, shown, text = _OPTIONS[name]
    variable = f"MIXBAYES_READ_{name.upper()}"
    if name == "missing":  # typer would take the variable apart at blanks
        return Annotated[kind, typer.Option(f"--{name}", metavar=shown, help=f"{text} [env var: {variable}]")]
    return Annotated[kind, typer.Option(f"--{name}", envvar=variable, metavar=shown, help=text)]


def opened(address: str, how: How = USUAL) -> Source:
    """The table at this address. What the user should know of how it is read is printed."""
    source = open_table(address, how)
    _tell(source)
    return source


def read(address: str, how: How = USUAL, progress: Progress = no_progress) -> Columns:
    """The whole table at this address, in memory."""
    source = opened(address, how)
    columns = read_source(source, progress)
    tell_unmet(source)
    return columns


def tell_unmet(source: Source) -> None:
    """Print which spellings of a missing cell the table does not have, as far as it was read."""
    for sentence in source.unmet():
        typer.echo(f"mixbayes: {printable(source.title)}: {printable(sentence)}.", err=True)


def is_file(address: str) -> bool:
    """Whether the table is a file, which must not be overwritten."""
    return Path(address).exists()


def _tell(source: Source) -> None:
    for remark in source.remarks:
        typer.echo(f"mixbayes: {printable(remark)}.", err=True)


def _how(said: dict[str, Any]) -> How:
    delimiter = said["delimiter"] and SEPARATORS.get(said["delimiter"], said["delimiter"])
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise Unsupported(f"--delimiter {said['delimiter']}: say one character, or tab.")
    if said["decimal"] not in (".", ","):
        raise Unsupported(f"--decimal {said['decimal']}: say . or ,")
    if said["table"] and said["query"]:
        raise Unsupported("--table and --query: say one of them.")
    _refuse_unknown_encoding(said["encoding"])
    listed = said["missing"] or [os.environ.get("MIXBAYES_READ_MISSING", "")]
    missing = tuple(chain.from_iterable(spellings_in(one, said["decimal"]) for one in listed))
    return How(**said | {"missing": missing, "delimiter": delimiter})


def _refuse_unknown_encoding(name: str | None) -> None:
    try:
        "".encode(name or "utf-8")
    except LookupError:
        raise Unsupported(f"--encoding {name}: there is no such encoding. Say utf-8, utf-16, cp1252, ...") from None
