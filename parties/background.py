"""What a hospital's node does between questions, step by step in a thread."""

from __future__ import annotations

import threading
from collections.abc import Callable

from mixbayes.node.log import Log, logged
from mixbayes.protocol.errors import MixbayesError

TICK = 2.0


def keep_going(step: Callable[[], object], stopped: threading.Event, log: Log, tick: float = TICK) -> None:
    """Step by step until the node stops. An error is logged once, as long as it lasts, and the step is tried again."""
    last_error = ""
    while not stopped.is_set():
        try:
            step()
            last_error = ""
        except Exception as error:  # noqa: BLE001 - the node goes on answering; its log has the place
            text = f"{type(error)} {error}"
            repeated, last_error = last_error == text, text
            if not repeated and not stopped.is_set():  # an error that the node's own end causes is nobody's fault
                logged(log, error, "tried in vain" if isinstance(error, MixbayesError) else "a mistake of this program")
        stopped.wait(tick)
