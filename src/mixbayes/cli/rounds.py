"""`mixbayes round`: begin and end rounds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from mixbayes.cli.node_options import Agreed, Keys, Name, Node
from mixbayes.cli.rounds_desks import desk_for_rounds
from mixbayes.cli.status import tell
from mixbayes.protocol.errors import DifferentSets
from mixbayes.transport.errors import RefusedByPolicy

NEW_EXAMPLES = """Examples:

mixbayes round new --federation federation.toml --name north --keys keys
"""
CLOSE_EXAMPLES = """Examples:

mixbayes round close --federation federation.toml --name north --keys keys
"""


def new(federation: Agreed, name: Name, keys: Keys, node: Node = "") -> None:
    """Begin a new round of the same parties.

    The last one has to be closed or failed.
    """
    with desk_for_rounds(federation, name, keys, node) as (agreed, behind):
        behind.open_round(behind.next_round())
        tell(agreed, behind.status(), as_json=False)


def close(federation: Agreed, name: Name, keys: Keys, node: Node = "") -> None:
    """End the current round for everybody.

    It answers no more questions.
    """
    with desk_for_rounds(federation, name, keys, node) as (agreed, behind):
        behind.close_round(behind.last_round())
        if left := behind.still_open():
            raise RefusedByPolicy(f"It is not closed everywhere: {'; '.join(left)}. Close it again.")
        with _said_only():
            tell(agreed, behind.status(), as_json=False)


@contextmanager
def _said_only() -> Iterator[None]:
    """That the mixers are at different rounds is no failure where a new one follows."""
    try:
        yield
    except DifferentSets:
        said = "Closed at both mixers, which are at different rounds: `mixbayes round new` brings them together."
        typer.echo(said, err=True)
