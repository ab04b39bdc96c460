"""What a node says when the agreement is not the first one that it works by: some of it begins anew."""

from __future__ import annotations

from pathlib import Path

from mixbayes.agreement.agreement import Federation
from mixbayes.node.disk.earlier import earlier_in
from mixbayes.node.log import Log

ANEW = "budgets of rows and the number of rounds count from zero under this agreement"
NOT_COVERED = "what they gave away is in no ledger, and the promise of this agreement does not cover it"


def tell_what_begins_anew(log: Log, federation: Federation, state: Path, replaced: int | None = None) -> None:
    """`replaced` is the round that the former agreement has lost."""
    earlier = earlier_in(state, federation.digest())
    if replaced:
        log.warning("this is another agreement: the round of the former one is over", round=replaced)
    if earlier.sealed:
        log.warning("rounds of other agreements came before", rounds=earlier.sealed, why=ANEW)
    if exact := exact_rounds(federation, state):
        log.warning("earlier rounds had no noise", rounds=exact, why=NOT_COVERED)


def exact_rounds(federation: Federation, state: Path) -> int:
    """The rounds of earlier agreements that a promise of this one does not cover; 0 if it promises nothing."""
    return earlier_in(state, federation.digest()).exact if federation.privacy else 0
