"""The state folder: it is usable, belongs to this node and federation, and fits the key. Nothing in it is changed."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from mixbayes.agreement.agreement import Federation
from mixbayes.node.disk.datastore import last_round_in, owner_of
from mixbayes.node.disk.folder import LOCK
from mixbayes.node.disk.schema import node_of
from mixbayes.node.disk.sealing import KEY_BYTES, fingerprint
from mixbayes.node.disk.sqlite import FILE
from mixbayes.node.doctor.finding import Finding, Trouble, fine, looking_at, problem, warning
from mixbayes.node.doctor.machine import existing
from mixbayes.node.earlier_agreements import NOT_COVERED, exact_rounds
from mixbayes.node.rounds.state import OVER, State
from mixbayes.transport.errors import BadState

WHAT, ROUND = "state folder", "round"
_OTHERS = 0o077


def holder_of(folder: Path) -> str | None:
    """The node that has the folder now, as it named itself; None if no node has it."""
    try:
        handle = os.open(folder / LOCK, os.O_RDONLY)
    except OSError:
        return None
    try:
        # A free folder is held here for a moment. A node that starts just then finds it in use.
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return os.pread(handle, 500, 0).decode(errors="replace") or "another process"
    finally:
        os.close(handle)
    return None


def state_findings(folder: Path, kind: str, owner: str, key: bytes | None) -> Iterator[Finding]:
    """Whether a node could start with this folder."""
    try:
        yield _usable(folder)
        if os.path.exists(folder / FILE):
            yield _belongs(folder, kind, owner, key)
    except Trouble as trouble:
        yield trouble.finding


def promise_findings(folder: Path, agreed: Federation) -> Iterator[Finding]:
    """Whether the patients gave something away that the agreed total does not count."""
    try:
        with looking_at(WHAT):
            exact = exact_rounds(agreed, folder)
    except Trouble:
        return  # the state folder has a finding of its own
    if exact:
        said = f"earlier agreements without noise had {exact} rounds: {NOT_COVERED}"
        yield warning("privacy", said, "Tell this to whoever answers for the patients")


def standing_finding(folder: Path, hospitals: tuple[str, ...]) -> Finding:
    """How the last round stands on this node's own disk."""
    try:
        with looking_at(ROUND):
            now = last_round_in(folder)
    except Trouble as trouble:
        return trouble.finding
    missing = [f"party {name}" for name in hospitals if name not in now.contributions]
    waits = f"; missing: {', '.join(missing)}" if missing else ""
    return round_finding(now.number, now.state, now.reason, waits)


def round_finding(number: int, state: State, reason: str, waits: str) -> Finding:
    said = f"round {number} is {state}{waits}" + (f" ({reason})" if reason else "")
    remedy = "`mixbayes round new` begins another, to which all hospitals contribute again"
    return warning(ROUND, said, remedy) if state in OVER else fine(ROUND, said)


def _usable(folder: Path) -> Finding:
    holder = holder_of(folder)
    if holder:
        return fine(WHAT, f"{folder} is in use by {holder}")
    there = existing(folder)
    remedy = "Give one on a local disk that this user may write"
    if not there.is_dir():
        raise Trouble(problem(WHAT, f"{there} is no folder", remedy, BadState))
    if not os.access(there, os.W_OK | os.X_OK):
        raise Trouble(problem(WHAT, f"this user may not write {there}", remedy, BadState))
    if not folder.exists():
        return fine(WHAT, f"{folder} will be made")
    if folder.stat().st_mode & _OTHERS:
        said = f"{folder} can be looked into by others than its owner"
        return warning(WHAT, said, f"Run `chmod 700 {folder}`")
    return fine(WHAT, f"{folder} can be written, and no node has it now")


def _belongs(folder: Path, kind: str, owner: str, key: bytes | None) -> Finding:
    with looking_at(WHAT):
        found = owner_of(folder)
        if found is None:
            raise BadState(f"{folder / FILE} was not made by a node. Give another --state folder.")
    if (found.kind, node_of(found.owner)) != (kind, node_of(owner)):
        said = f"{folder} holds the state of {found.owner} (a {found.kind}), not of {owner} (a {kind})"
        raise Trouble(problem(WHAT, said, "Give each node and each federation a folder of its own", BadState))
    if key is None:
        said = f"{folder} was closed with a state key, and there is none in the key folder"
        raise Trouble(problem(WHAT, said, "Put it back from a copy, or begin with an empty folder", BadState))
    if len(key) != KEY_BYTES or fingerprint(key) != found.key:
        said = f"{folder} was closed with another state key than the one in the key folder"
        raise Trouble(problem(WHAT, said, "Put the earlier key back, or begin with an empty folder", BadState))
    return fine("state", f"of {found.owner}; its key fits; {found.records} records in its audit trail")
