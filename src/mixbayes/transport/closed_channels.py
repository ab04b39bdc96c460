"""gRPC's threads that watch channels: one of them may fail when its channel is closed, and nothing is wrong then.

A thread of gRPC polls the state of a channel that somebody has subscribed to. If the channel is closed between two
polls, the next one raises in that thread (grpc/grpc#18995), and no call of gRPC's avoids it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

Hook = Callable[[threading.ExceptHookArgs], object]


def forgiving(hook: Hook) -> Hook:
    """A `threading.excepthook` that passes on every other failure of a thread."""

    def forgive(failure: threading.ExceptHookArgs) -> None:
        if not of_closed_channel(failure.exc_value):
            hook(failure)

    return forgive


def of_closed_channel(error: BaseException | None) -> bool:
    """Whether a poll of a closed channel has raised this."""
    return isinstance(error, ValueError) and str(error) == "Cannot monitor channel state: Channel closed!"
