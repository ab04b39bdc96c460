"""Doubts about tables, printed on stderr: a line each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import typer

from mixbayes.node.log import printable
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.tables import doubts
from mixbayes.tables.columns import Columns
from mixbayes.tables.inference import DEFAULT_CLASS_COLUMN, NO_LISTS, class_of
from mixbayes.tables.profile import Profile, profiled


def tell_doubts(
    tables: Sequence[Columns | Profile],
    nominal: Collection[str] = (),
    numeric: Collection[str] = (),
    several: Mapping[str, str] = NO_LISTS,
) -> None:
    """Print what looks like an oversight in these tables."""
    _tell(doubts.doubts(tables, nominal, numeric, several))


def tell_predicted(table: Columns | Profile, class_column: str | None) -> None:
    """Print what is predicted if nobody has named it."""
    name = class_of(table.names, class_column)
    if class_column is None and name != DEFAULT_CLASS_COLUMN:
        one = table.chosen([name]) if isinstance(table, Columns) else table
        column = (profiled(one) if isinstance(one, Columns) else one).columns[name]
        doubt = doubts.predicted(column)
        _tell([f"column {name!r} is what is predicted, because it is the last one{doubt and '. It '}{doubt}"])


def tell_unknown(dictionary: Dictionary, rows: Columns, id_column: str | None = None) -> None:
    """Print what the classifier does not know of these rows."""
    _tell(doubts.unknown(dictionary, rows, id_column))


def tell_identities(columns: Columns, released: Sequence[str]) -> None:
    """Print which released columns tell every row from every other."""
    _tell(doubts.identities(columns, released))


def _tell(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        typer.echo(f"mixbayes: {printable(sentence)}", err=True)
