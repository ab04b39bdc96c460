"""What a hospital's node does between questions, step by step in a thread."""

from __future__ import annotations

import threading
from collections.abc import Callable

from mixbayes.node.log import Log, logged
from mixbayes.node.pauses import Pauses
from mixbayes.protocol.errors import MixbayesError

TICK = 2.0
_MOST = 64
"""Errors that are remembered because they were said."""


def keep_going(step: Callable[[], object], stopped: threading.Event, log: Log, tick: float = TICK) -> None:
    """Step by step until the node stops. An error is logged once until a step succeeds, and the step is tried again.

    A node that is refused waits longer and longer.
    """
    pauses, said = Pauses(tick), set[str]()
    while not stopped.is_set():
        pause = _tried(step, stopped, log, pauses, said)
        stopped.wait(pause)


def _tried(step: Callable[[], object], stopped: threading.Event, log: Log, pauses: Pauses, said: set[str]) -> float:
    """Try the step. Returns the seconds to wait."""
    try:
        step()
    except Exception as error:  # noqa: BLE001 - the node goes on answering; its log has the place
        pause, text = pauses.after(error), f"{type(error)} {error}"
        if text not in said and not stopped.is_set():  # an error that the node's own end causes is nobody's fault
            event = "tried in vain" if isinstance(error, MixbayesError) else "a mistake of this program"
            waits = {"remedy": "it tries again later and later"} if pauses.refused else {}
            logged(log, error, event, **waits)
            said |= {text} if len(said) < _MOST else set()
        return pause
    if said and not stopped.is_set():
        log.info("works again")
    said.clear()
    return pauses.after(None)
