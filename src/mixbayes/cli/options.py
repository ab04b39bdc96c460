"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

from enum import StrEnum

import typer

from mixbayes.protocol.attributes.fields import read_smoothing


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
