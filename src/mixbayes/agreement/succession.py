"""From one agreement to the next, in which somebody joins, leaves or moves. Everything else stays as agreed.

Present keys are the first ones of the next agreement: a signed change is of the agreement that it stands in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mixbayes.agreement.agreement import BadFederation, Federation, federation_from
from mixbayes.agreement.pinning import begun_anew

Entry = dict[str, Any]
"""A member as the file has it."""


def with_party(federation: Federation, name: str, key: str | None = None, minimum: int | None = None) -> Federation:
    """The next agreement, with one more hospital."""
    if federation.role_of(name):
        raise BadFederation(f"The federation {federation.name!r} has a {federation.title(name)} already.")
    return _next(federation, "parties", lambda parties: [*parties, _said(name=name, key=key)], minimum)


def without_party(federation: Federation, name: str, minimum: int | None = None) -> Federation:
    """The next agreement, without this hospital."""
    left = federation.party(name).name
    return _next(federation, "parties", lambda parties: [one for one in parties if one["name"] != left], minimum)


def with_other_key(federation: Federation, name: str, key: str) -> Federation:
    """The next agreement, in which this hospital is known by another key, without its former key saying so."""
    return _changed(federation, "parties", federation.party(name).name, _said(key=key))


def with_other_mixer(federation: Federation, name: str, address: str | None, key: str | None) -> Federation:
    """The next agreement, in which this mixer is dialled elsewhere, or known by another key."""
    return _changed(federation, "mixers", federation.mixer(name).name, _said(address=address, key=key))


def _said(**fields: str | None) -> Entry:
    return {field: value for field, value in fields.items() if value is not None}


def _changed(federation: Federation, members: str, name: str, changes: Entry) -> Federation:
    def apply(entries: Sequence[Entry]) -> list[Entry]:
        return [entry | changes if entry["name"] == name else entry for entry in entries]

    return _next(federation, members, apply)


def _next(
    federation: Federation, members: str, change: Callable[[Sequence[Entry]], list[Entry]], minimum: int | None = None
) -> Federation:
    content = begun_anew(federation).model_dump(mode="json", exclude={"changes"})
    content[members] = change(content[members])
    if minimum is not None:
        content["policy"]["minimum"] = minimum
    return federation_from(content)
