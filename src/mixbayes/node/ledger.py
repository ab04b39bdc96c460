"""What a node decides and remembers about questions; the computing parties ask it before and while they answer."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

from mixbayes.node.questions import Question, Verdict
from mixbayes.protocol.arrays import Bytes
from mixbayes.protocol.errors import MixbayesError
from mixbayes.transport.errors import OverBudget, RoundOver

Kept = TypeVar("Kept", covariant=True)


class Ledger(Protocol, Generic[Kept]):
    """One asking hospital's page of it."""

    def verdict(self, question: Question) -> Verdict:
        """What this node says to it, without having written anything."""
        ...

    def charge(self, question: Question) -> None:
        """Write down that it was asked, and take its rows from the budget."""
        ...

    def keep(self, question: Question, piece: int, share: Bytes) -> None:
        """Write down this node's share of the labels, before it leaves."""
        ...

    def kept(self, question: Question) -> list[bytes]:
        """What was kept, piece by piece."""
        ...

    def trained(self, number: int) -> tuple[bytes, Kept]:
        """Which training this round's model comes from, and the model."""
        ...


def over_budget(asker: str, question: Question) -> OverBudget:
    return OverBudget(
        f"{asker} has used up the rows it may ask about in round {question.round}, or asks about more than are left. "
        "`mixbayes status` says how many; a new round has a new budget."
    )


def refusal(verdict: Verdict, asker: str, question: Question) -> MixbayesError | None:
    """The error that a verdict is, if it is one."""
    if verdict is Verdict.OVER_BUDGET:
        return over_budget(asker, question)
    if verdict is Verdict.NOT_SERVING:
        return RoundOver(f"Round {question.round} answers no questions. `mixbayes status` says why.")
    return None
