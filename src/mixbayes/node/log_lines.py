"""How a line of the log is written: filtered, stamped, cleaned, and as JSON or for people."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, TextIO

import structlog
from structlog.typing import Processor

from mixbayes.node.log import LEVELS, Fields, refuse_data
from mixbayes.site_time import rfc_3339, shown


def writer(out: TextIO, *, readable: bool, least: int) -> Any:
    """A logger of structlog that writes what is at least at this level."""
    processors: list[Processor] = [
        _from_level(least),
        structlog.processors.add_log_level,
        _stamped(shown if readable else rfc_3339),
        refuse_data,
        structlog.dev.ConsoleRenderer(colors=out.isatty()) if readable else structlog.processors.JSONRenderer(),
    ]
    return structlog.wrap_logger(
        _Lines(out),
        processors=processors,
        wrapper_class=structlog.BoundLogger,
        context_class=dict,
        cache_logger_on_first_use=False,
    )


class _Lines(structlog.WriteLogger):
    """Lines on a stream; a node whose log nobody takes any more goes on working."""

    def msg(self, message: str) -> None:
        with suppress(OSError, ValueError):
            super().msg(message)

    debug = info = warning = error = msg


def _stamped(how: Callable[[datetime], str]) -> Processor:
    def stamp(_: Any, method: str, fields: Fields) -> Fields:
        fields["timestamp"] = how(datetime.now(UTC))
        return fields

    return stamp


def _from_level(least: int) -> Processor:
    def keep(_: Any, method: str, fields: Fields) -> Fields:
        if LEVELS[method] < least:
            raise structlog.DropEvent
        return fields

    return keep
