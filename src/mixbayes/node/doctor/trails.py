"""Audit trails: what this node noted of the others', and how far they noted its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mixbayes.node.disk.heads import Heads, heads_in
from mixbayes.node.doctor.finding import Finding, Trouble, fine, looking_at, warning
from mixbayes.node.log import printable
from mixbayes.node.witnessing import lost_here

WHAT = "audit trails"
_COMPARE = "Ask who runs that node what happened; keep both state folders as they are and compare their trails"


def trail_findings(folder: Path, me: str) -> Iterator[Finding]:
    """By the node's own disk; nothing where its tables are of a version that noted no heads."""
    try:
        with looking_at(WHAT):
            heads = heads_in(folder)
    except Trouble:
        return  # the state folder has a finding of its own
    if heads is None:
        return
    wrong = [one.flaw for one in heads.noted if one.flaw] + [lost_here(me, one) for one in heads.witnesses if one.lost]
    yield from (warning(WHAT, printable(said), _COMPARE) for said in wrong)
    if silent := [one.peer for one in heads.noted if one.round < heads.last_sealed]:
        said = f"no head of {printable(', '.join(silent))} was noted since round {heads.last_sealed} was sealed"
        yield warning(WHAT, said, "Ask whether it runs, and which version: an older one gives no head")
    elif not wrong:
        yield fine(WHAT, _noted(heads))


def _noted(heads: Heads) -> str:
    noted = [f"{one.peer} up to entry {one.head.count}" for one in heads.noted]
    witnessed = [f"{one.peer} up to entry {one.entries}" for one in heads.witnesses if one.entries]
    parts = [f"noted: {', '.join(noted)}"] if noted else []
    parts += [f"this trail is witnessed by {', '.join(witnessed)}"] if witnessed else []
    return printable("; ".join(parts) or "no head has been noted yet")
