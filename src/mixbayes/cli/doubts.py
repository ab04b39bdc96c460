"""Doubts about tables, printed on stderr: a line each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import typer

from mixbayes.node.log import printable
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.tables import doubts
from mixbayes.tables.columns import Columns


def tell_doubts(tables: Sequence[Columns], nominal: Collection[str] = (), numeric: Collection[str] = ()) -> None:
    """Print what looks like an oversight in these tables."""
    _tell(doubts.doubts(tables, nominal, numeric))


def tell_unknown(dictionary: Dictionary, rows: Columns) -> None:
    """Print what the classifier does not know of these rows."""
    _tell(doubts.unknown(dictionary, rows))


def tell_identities(columns: Columns, released: Sequence[str]) -> None:
    """Print which released columns tell every row from every other."""
    _tell(doubts.identities(columns, released))


def _tell(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        typer.echo(f"mixbayes: {printable(sentence)}", err=True)
