"""From one agreement to the next, in which somebody joins, leaves or moves. Everything else stays as agreed."""

from __future__ import annotations

from typing import Any

from mixbayes.agreement.agreement import BadFederation, Federation, federation_from


def with_party(federation: Federation, name: str, minimum: int | None = None) -> Federation:
    """The next agreement, with one more hospital."""
    if federation.role_of(name):
        raise BadFederation(f"The federation {federation.name!r} has a {federation.title(name)} already.")
    return _next(federation, {"parties": [*_entries(federation, "parties"), {"name": name}]}, minimum)


def without_party(federation: Federation, name: str, minimum: int | None = None) -> Federation:
    """The next agreement, without this hospital."""
    left = federation.party(name)
    parties = [entry for entry in _entries(federation, "parties") if entry["name"] != left.name]
    return _next(federation, {"parties": parties}, minimum)


def with_mixer_at(federation: Federation, name: str, address: str) -> Federation:
    """The next agreement, in which this mixer is dialled at another address."""
    moved = federation.mixer(name).name
    mixers = [
        entry | ({"address": address} if entry["name"] == moved else {}) for entry in _entries(federation, "mixers")
    ]
    return _next(federation, {"mixers": mixers}, None)


def _entries(federation: Federation, members: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = federation.model_dump(mode="json")[members]
    return entries


def _next(federation: Federation, changed: dict[str, object], minimum: int | None) -> Federation:
    content = federation.model_dump(mode="json") | changed
    if minimum is not None:
        content["policy"]["minimum"] = minimum
    return federation_from(content)
