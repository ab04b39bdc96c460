"""What a node says while it works: one line per event on stderr, made of words and numbers alone.

`configure` is for the command that starts a node. Everything else asks for a `logger` and hands it down. structlog,
which writes the lines, is imported with the first one: most commands write none, and it is slow to import.
"""

from __future__ import annotations

import logging
import math
import os
import sys
import threading
import traceback
from collections.abc import MutableMapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from mixbayes.agreement.agreement import BadFederation
from mixbayes.protocol.errors import BadData, BadDictionary, LocalError, MixbayesError, Unsupported

Value = str | int | float | bool | None
Fields = MutableMapping[str, Any]

LONGEST_TEXT = 500
WIDEST_NUMBER = 64  # bits; what is wider is a key or a ciphertext
LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
_FRAMES = 6
_TRACES = ("exc_info", "exception", "stack")  # the renderers would print whole tracebacks for these
_WITHOUT_CELLS = (BadDictionary, BadFederation)


@dataclass(frozen=True)
class Log:
    """Says an event and its fields at a level; `bind` adds fields to every line, e.g. the round."""

    _out: TextIO
    _readable: bool
    _least: int
    _bound: dict[str, Value] = field(default_factory=dict)

    def debug(self, event: str, **fields: Value) -> None:
        self._writer.debug(event, **fields)

    def info(self, event: str, **fields: Value) -> None:
        self._writer.info(event, **fields)

    def warning(self, event: str, **fields: Value) -> None:
        self._writer.warning(event, **fields)

    def error(self, event: str, **fields: Value) -> None:
        self._writer.error(event, **fields)

    def bind(self, **fields: Value) -> Self:
        return replace(self, _bound=self._bound | fields)

    @cached_property
    def _writer(self) -> Any:
        from mixbayes.node.log_lines import writer  # see above

        return writer(self._out, readable=self._readable, least=self._least).bind(**self._bound)


def logger(node: str, stream: TextIO | None = None) -> Log:
    """The log of a node, e.g. `mixer a`: JSON, or readable on a terminal; MIXBAYES_LOG=json|text decides otherwise."""
    out = stream or sys.stderr
    return Log(out, _readable(out), _level(), {"node": node})


def configure(node: str, stream: TextIO | None = None) -> Log:
    """Also let what libraries and dying threads say go through the log, as logger name or type and place alone."""
    log = logger(node, stream)
    logging.basicConfig(handlers=[_Foreign(log)], level=logging.WARNING, force=True)
    threading.excepthook = lambda died: _say_death(log, died.thread.name if died.thread else "", died.exc_value)
    sys.excepthook = lambda kind, error, trace: _say_death(log, "main", error)
    return log


def logged(log: Log, error: BaseException, event: str = "ended by an error", **fields: Value) -> None:
    """Say an error: its code and message, or its type and place where it is not one of ours."""
    log.error(event, **fields, **error_fields(error))


def refuse_data(_: Any, method: str, fields: Fields) -> Fields:
    """Let short words and plain numbers pass; numpy's numbers and texts come from tables, and are data."""
    traces = ", ".join(name for name in fields if name in _TRACES)
    kept = {printable(name): _passed(value) for name, value in fields.items() if name not in _TRACES}
    return kept | ({"refused": traces} if traces else {})


def error_fields(error: BaseException) -> dict[str, Value]:
    """The fields of a log line that describe an error.

    They leave out the messages of libraries and those about the hospital's table, which may quote its cells.
    """
    if not isinstance(error, MixbayesError):
        return {"error": type(error).__name__, "at": places(error.__traceback__)}
    if isinstance(error, BadData) and not isinstance(error, _WITHOUT_CELLS):
        return {"error": "not shown here, because it may quote the table", "code": error.code}
    at: dict[str, Value] = {"at": places(error.__traceback__)} if isinstance(error, LocalError) else {}
    return {"error": _shortened(str(error)), "code": error.code} | at


def places(trace: TracebackType | None) -> str:
    """Where an error came from, innermost first: files and lines, without their text."""
    frames = traceback.StackSummary.extract(traceback.walk_tb(trace), lookup_lines=False)[-_FRAMES:]
    return _shortened(" < ".join(f"{_in_package(frame.filename)}:{frame.lineno}" for frame in reversed(frames)))


class _Foreign(logging.Handler):
    """What libraries say through `logging`: who, how loud, and where, never their words."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        say = self._log.error if record.levelno >= logging.ERROR else self._log.warning
        error = record.exc_info[1] if record.exc_info else None
        source = f"{_in_package(record.pathname)}:{record.lineno}"
        say("a library spoke", library=record.name, source=source, **(error_fields(error) if error else {}))


def _say_death(log: Log, thread: str, error: BaseException | None) -> None:
    if error is not None and not isinstance(error, SystemExit):
        logged(log, error, thread=thread)


def _passed(value: Any) -> Value:
    if isinstance(value, StrEnum):
        value = value.value
    if type(value) is str:
        return printable(value) if len(value) <= LONGEST_TEXT else f"<refused: {len(value)} characters>"
    if type(value) is float and not math.isfinite(value):
        return str(value)  # JSON has no such numbers
    if type(value) is int and value.bit_length() > WIDEST_NUMBER:
        return f"<refused: {value.bit_length()} bits>"
    if value is None or type(value) in (int, float, bool):
        return value
    return f"<refused: {type(value).__name__}>"


def printable(text: str) -> str:
    """Without control characters, which could write a second line or move a terminal's cursor."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def _in_package(file: str) -> str:
    """The path from the package on, e.g. `mixbayes/node/log.py`: it tells nothing of the machine."""
    parts = Path(file).parts
    return "/".join(parts[-1 - parts[::-1].index("mixbayes") :]) if "mixbayes" in parts else "/".join(parts[-2:])


def _readable(out: TextIO) -> bool:
    wanted = os.environ.get("MIXBAYES_LOG", "text" if out.isatty() else "json")
    if wanted not in ("json", "text"):
        raise Unsupported(f"MIXBAYES_LOG is {wanted!r}. Set it to json or text, or leave it out.")
    return wanted == "text"


def _level() -> int:
    wanted = os.environ.get("MIXBAYES_LOG_LEVEL", "info").lower()
    if wanted not in LEVELS:
        raise Unsupported(f"MIXBAYES_LOG_LEVEL is {wanted!r}. Set it to {', '.join(LEVELS)}, or leave it out.")
    return LEVELS[wanted]
