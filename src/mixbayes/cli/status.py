"""`mixbayes status`. It imports little, because monitoring calls it often."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from mixbayes.agreement.agreement import Federation
from mixbayes.agreement.noise import exactly
from mixbayes.cli.node_options import Agreed, Keys, Name, Node
from mixbayes.cli.rounds_desks import desk_for_rounds
from mixbayes.node.rounds.status import Status
from mixbayes.node.serving.greeting import SOFTWARE

EXAMPLES = """Examples:

mixbayes status --federation federation.toml --name north --keys keys --json
"""


def status(
    federation: Agreed,
    name: Name,
    keys: Keys,
    node: Node = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Show where the round stands, who is missing, and how much may still be asked."""
    with desk_for_rounds(federation, name, keys, node) as (agreed, behind):
        found = behind.status()
    tell(agreed, found, as_json)
    for error in found.unreachable.values():
        raise error


def _privacy(agreed: Federation, found: Status) -> dict[str, Any] | None:
    """What was agreed of noise, what is spent, and what is left; nothing without noise."""
    if not (privacy := agreed.privacy):
        return None
    left = max(0.0, privacy.total_epsilon - found.epsilon_spent)
    return privacy.model_dump(mode="json") | {"spent": found.epsilon_spent, "left": left}


def _promised(agreed: Federation, found: Status) -> str:
    if not (privacy := agreed.privacy):
        return exactly(agreed)
    return (
        f"epsilon {privacy.epsilon:g} a round, delta {privacy.delta:g}; of {privacy.total_epsilon:g} for all rounds "
        f"{found.epsilon_spent:.3g} are spent"
    )


def _other_versions(found: Status) -> str:
    """Who runs another version than this program; nothing if nobody does."""
    others = [f"{title} runs mixbayes {version}" for title, version in found.software.items() if version != SOFTWARE]
    return f"{', '.join(others)}; this is {SOFTWARE}, and they fit together" if others else ""


def tell(agreed: Federation, found: Status, as_json: bool) -> None:
    """Print the status: as a JSON document, or a line for each thing that there is to say."""
    document: dict[str, Any] = {
        "federation": agreed.digest(),
        "round": found.round,
        "state": found.state,
        "transfers": agreed.policy.transfers,
        "reason": found.reason,
        "contributed": found.contributed,
        "missing": found.missing,
        "refused": found.refused,
        "budget": found.budget_left,
        "privacy": _privacy(agreed, found),
        "protection": found.protection,
        "trails": found.trails,
        "versions": found.software,
        "unreachable": {title: str(error) for title, error in found.unreachable.items()},
    }
    if as_json:
        typer.echo(json.dumps(document, indent=2))
        return
    shown_otherwise = {
        "round": f"{found.round}; under this agreement {agreed.policy.rounds} may be trained",
        "budget": f"{found.budget_left} of {found.budget} rows left",
        "privacy": _promised(agreed, found),
        "trails": "; ".join(found.trails),
        "versions": _other_versions(found),
    }
    lines = {key: _shown(value) for key, value in (document | shown_otherwise).items()}
    widest = max(len(key) for key, value in lines.items() if value)
    for key, value in lines.items():
        if value:
            typer.echo(f"{key:{widest}}  {value}")


def _shown(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list | dict) else str(value)
