"""JSON with one record on a line, so that a comparison of two versions shows which records changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

LONGEST = 480
"""Characters of a line. What is longer is opened, as far as it has members."""


def one_a_line(document: Any) -> str:
    """The document, opened into its members until each fits on a line; lists of records are always opened."""
    return "\n".join(_lines(document)) + "\n"


def _lines(value: Any) -> Iterator[str]:
    text = _json(value)
    if not value or not isinstance(value, dict | list) or (len(text) <= LONGEST and not _has_records(value)):
        yield text
    elif isinstance(value, dict):
        yield from _enclosed("{", [_named(name, member) for name, member in value.items()], "}")
    else:
        yield from _enclosed("[", [list(_lines(member)) for member in value], "]")


def _has_records(value: Any) -> bool:
    """Whether a list of objects is in it, however deep."""
    if isinstance(value, dict):
        return any(map(_has_records, value.values()))
    return isinstance(value, list) and any(isinstance(member, dict) or _has_records(member) for member in value)


def _named(name: str, value: Any) -> list[str]:
    first, *rest = _lines(value)
    return [f"{_json(name)}: {first}", *rest]


def _enclosed(begin: str, members: list[list[str]], end: str) -> Iterator[str]:
    yield begin
    for number, lines in enumerate(members, start=1):
        comma = "," if number < len(members) else ""
        yield from (" " + line for line in lines[:-1])
        yield f" {lines[-1]}{comma}"
    yield end


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
