"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import typer

from mixbayes.protocol.attributes.fields import read_smoothing
from mixbayes.protocol.errors import Unsupported


class Protocol(StrEnum):
    SHARES = "shares"
    PAILLIER = "paillier"


def smoothing_text(text: str) -> str:
    """The text itself, if it is a smoothing."""
    try:
        read_smoothing(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return text


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
