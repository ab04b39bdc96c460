"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from mixbayes.protocol.attributes.fields import read_smoothing
from mixbayes.protocol.attributes.several import MOST_VALUES, SEPARATOR
from mixbayes.protocol.errors import Unsupported


class Protocol(StrEnum):
    SHARES = "shares"
    PAILLIER = "paillier"


class Transfers(StrEnum):
    EXTENDED = "extended"
    SILENT = "silent"


def smoothing_text(text: str) -> str:
    """The text itself, if it is a smoothing."""
    try:
        read_smoothing(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return text


Several = Annotated[
    list[str] | None,
    typer.Option(
        "--several",
        metavar="COLUMN[:SEPARATOR]",
        help="A column whose cells hold several values, between semicolons or this separator; repeatable.",
    ),
]
MostValues = Annotated[
    int,
    typer.Option(
        "--most-values",
        metavar="N",
        min=1,
        max=MOST_VALUES,
        help="Values of one cell that count at most: the first in the agreed list.",
    ),
]


def separators_in(given: Sequence[str]) -> dict[str, str]:
    """The columns that --several names, with their separators."""
    found: dict[str, str] = {}
    for text in given:
        name, sign, separator = text.rpartition(":")
        column = name if sign else separator
        if not column or column in found:
            raise Unsupported(f"--several {text}: say COLUMN or COLUMN:SEPARATOR, each column once.")
        found[column] = separator if sign else SEPARATOR
    return found


def names_in(listed: str) -> list[str]:
    """Names between commas."""
    return [name.strip() for name in listed.split(",") if name.strip()]


def settings_in(given: Sequence[str]) -> dict[str, str]:
    """The parameters of a method by name, out of what --set was given."""
    pairs = [text.partition("=") for text in given]
    for text, (key, sign, _) in zip(given, pairs, strict=True):
        if not sign or not key:
            raise Unsupported(f"--set {text}: say it as KEY=VALUE.")
    keys = [key for key, _, _ in pairs]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise Unsupported(f"--set {twice[0]} is given twice. Say it once.")
    return {key: value for key, _, value in pairs}
