"""How a round stands at a computing party, as it tells those who may ask."""

from __future__ import annotations

from collections.abc import Iterable

from mixbayes.node.rounds.rounds import Rounds
from mixbayes.node.serving.greeting import SOFTWARE
from mixbayes.wire.v1.node_pb2 import RoundReport


def round_report(
    rounds: Rounds,
    hospital: str,
    contributed: Iterable[str],
    missing: Iterable[str],
    refused: Iterable[str] = (),
    waiting: str = "",
) -> RoundReport:
    """For one hospital; `waiting` is what the round waits for."""
    now = rounds.current()
    budget, left = rounds.report_of(now.number, hospital)
    return RoundReport(
        round=now.number,
        state=now.state,
        reason=now.reason or waiting,
        contributed=contributed,
        missing=missing,
        refused=refused,
        budget=budget,
        budget_left=left,
        clock=rounds.clock(),
        software=SOFTWARE,
    )
