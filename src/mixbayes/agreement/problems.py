"""What is wrong in an agreement, and where: several things at once, each with its place as a person finds it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import ValidationError

Problem = tuple[tuple[str | int, ...], str]
"""Where in the agreement, and what is wrong there."""

_IN_PLAIN_WORDS = {
    "missing": "it is missing",
    "extra_forbidden": "there is no such field; correct its spelling, or upgrade: a newer version may have it",
}


class Problems(ValueError):
    """Several things wrong at once, each with its place below the field being checked."""

    def __init__(self, found: Sequence[Problem]) -> None:
        super().__init__("; ".join(text for _, text in found))
        self.found = found


def refuse(problems: Iterable[Problem]) -> None:
    """Raise all of them, if there are any."""
    if found := list(problems):
        raise Problems(found)


def lines(data: object, error: ValidationError) -> Iterator[str]:
    """A line for everything that is wrong in these data."""
    return (f"{_path(data, place)}: {text}" for place, text in _problems(error))


def _problems(error: ValidationError) -> Iterator[Problem]:
    for found in error.errors():
        cause = found.get("ctx", {}).get("error")
        if isinstance(cause, Problems):
            yield from (((*found["loc"], *place), text) for place, text in cause.found)
        else:
            yield found["loc"], _IN_PLAIN_WORDS.get(found["type"]) or found["msg"].removeprefix("Value error, ")


def _path(data: object, place: Sequence[str | int]) -> str:
    """The place as a person finds it: list entries by their name, where they have one, else by number from 1."""
    path = ""
    for step in place:
        if isinstance(step, int):
            data = data[step] if isinstance(data, Sequence) and step < len(data) else None
            name = data.get("name") if isinstance(data, Mapping) else None
            path += f"[{name!r}]" if isinstance(name, str) else f"[{step + 1}]"
        elif not _is_tag(data, step):
            data = data.get(step) if isinstance(data, Mapping) else None
            path += f".{step}" if path else step
    return path or "agreement"


def _is_tag(data: object, step: str) -> bool:
    # pydantic puts the kind of an attribute into the place of what is wrong in it
    return isinstance(data, Mapping) and step not in data and data.get("kind") == step
