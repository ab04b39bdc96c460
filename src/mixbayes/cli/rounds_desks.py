"""Where a hospital's command about rounds asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mixbayes.agreement.agreement import Federation
from mixbayes.agreement.files import read_federation
from mixbayes.node.identity import Identity
from mixbayes.node.log import logger
from mixbayes.parties.rounds_desk import RoundsDesk, rounds_desk


@contextmanager
def desk_for_rounds(federation: Path, name: str, keys: Path, node: str) -> Iterator[tuple[Federation, RoundsDesk]]:
    """At both mixers, or, where there are none, at the hospital's own node."""
    agreed = read_federation(federation)
    agreed.party(name)
    with rounds_desk(agreed, identity_of(agreed, name, keys), keys, node) as desk:
        yield agreed, desk


def identity_of(agreed: Federation, name: str, keys: Path) -> Identity:
    return Identity(keys, name, logger(agreed.title(name)), agreed.key_of(name))
