"""Where a hospital's command asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mixbayes.agreement.agreement import Federation
from mixbayes.agreement.files import read_federation
from mixbayes.cli.rounds_desks import identity_of
from mixbayes.parties.desk import AtOwnNode, Desk, at_mixers, at_own_node


@contextmanager
def desk(federation: Path, name: str, keys: Path, node: str, repeats: int = 0) -> Iterator[tuple[Federation, Desk]]:
    """Where this hospital asks: at both mixers, or, where there are none, at its own node."""
    agreed = read_federation(federation)
    agreed.party(name)
    identity = identity_of(agreed, name, keys)
    if agreed.two_party:
        with at_own_node(agreed, identity, keys, node) as own:
            yield agreed, own
        return
    with at_mixers(agreed, identity, keys, node, repeats) as mixers:
        yield agreed, mixers


@contextmanager
def own_desk(federation: Path, name: str, keys: Path, node: str) -> Iterator[tuple[Federation, AtOwnNode]]:
    """At the hospital's own node, which has its counts and its patients."""
    agreed = read_federation(federation)
    agreed.party(name)
    with at_own_node(agreed, identity_of(agreed, name, keys), keys, node) as found:
        yield agreed, found
