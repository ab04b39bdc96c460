"""The log of a node: one line per event, and no line with data in it."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.agreement.agreement import BadFederation
from mixbayes.node.log import Log, logged, logger
from mixbayes.protocol.errors import BadData, LocalError, MixbayesError, PeerSilent, Unsupported
from mixbayes.tables.encoding import TableMismatch

PATIENCE = 60
SECRET = "4711cell"
NOISY = f"""
import logging
import threading
from mixbayes.node.log import configure

logging.basicConfig()
log = configure("mixer a")
log.info("first")
try:
    int("{SECRET}")
except ValueError:
    logging.getLogger("grpc._server").exception("Exception calling application: {SECRET}")
logging.getLogger("quiet").info("{SECRET}")
thread = threading.Thread(target=lambda: int("{SECRET}"), name="worker")
thread.start()
thread.join()
int("{SECRET}")
"""


class State(StrEnum):
    SEALED = "sealed"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MIXBAYES_LOG", "MIXBAYES_LOG_LEVEL"):
        monkeypatch.delenv(name, raising=False)


def said(say: Callable[[Log], None]) -> dict[str, Any]:
    """The one line that comes of it."""
    stream = io.StringIO()
    say(logger("mixer a", stream))
    (line,) = stream.getvalue().splitlines()
    fields: dict[str, Any] = json.loads(line)
    return fields


def test_a_line_says_when_who_how_loud_and_what() -> None:
    fields = said(lambda log: log.bind(round=3).info("round sealed", hospitals=4, late=False, seconds=0.5, by=None))
    then = datetime.fromisoformat(fields.pop("timestamp"))
    assert timedelta(0) <= datetime.now(UTC) - then < timedelta(minutes=1)
    assert fields == {
        "node": "mixer a",
        "round": 3,
        "level": "info",
        "event": "round sealed",
        "hospitals": 4,
        "late": False,
        "seconds": 0.5,
        "by": None,
    }


def test_times_are_rfc_3339_with_the_offset_of_the_site() -> None:
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?[+-]\d\d:\d\d", said(lambda log: log.info("now"))["timestamp"]
    )


@pytest.mark.parametrize(
    ("value", "marker"),
    [
        (np.arange(3), "<refused: ndarray>"),
        (np.float64(0.5), "<refused: float64>"),
        (np.str_("cell"), "<refused: str_>"),
        (b"share", "<refused: bytes>"),
        ([1, 2], "<refused: list>"),
        ({"cell": 1}, "<refused: dict>"),
        (ValueError("cell"), "<refused: ValueError>"),
        ("x" * 501, "<refused: 501 characters>"),
        (2**64, "<refused: 65 bits>"),
    ],
)
@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_data_is_refused_with_a_marker(value: Any, marker: str, stream: type[io.StringIO]) -> None:
    out = stream()
    logger("mixer a", out).info("oops", value=value)
    logger("mixer a", out).bind(value=value).info("oops")
    assert out.getvalue().count(marker) == 2


@pytest.mark.parametrize("value", ["x" * 500, 2**64 - 1, -(2**63), 0.1, True, None, "ünïcödé"])
def test_short_words_and_plain_numbers_pass_unchanged(value: Any) -> None:
    assert said(lambda log: log.info("fine", value=value))["value"] == value


def test_names_of_states_pass_as_words() -> None:
    assert said(lambda log: log.info("now", state=State.SEALED))["state"] == "sealed"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_lacks_become_words(value: float) -> None:
    assert said(lambda log: log.info("odd", value=value))["value"] == str(value)


@given(st.text(max_size=60), st.text(max_size=60))
def test_nobody_can_write_a_second_line_or_move_the_cursor(event: str, value: str) -> None:
    for out in (io.StringIO(), Terminal()):
        logger("mixer a", out).info(event, value=value)
        assert out.getvalue().endswith("\n")
        line = re.sub("\x1b" + r"\[\d*m", "", out.getvalue()[:-1])  # the colours of the readable form
        assert line.isprintable()


@pytest.mark.parametrize("name", ["exc_info", "exception", "stack"])
@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_tracebacks_are_refused(name: str, stream: type[io.StringIO]) -> None:
    out = stream()
    try:
        int(SECRET)
    except ValueError:
        logger("mixer a", out).error("failed", **{name: True})
    assert SECRET not in out.getvalue()
    assert name in out.getvalue()
    assert out.getvalue().count("\n") == 1


def caught(error: MixbayesError) -> MixbayesError:
    """The error with a traceback, as handlers get it."""
    try:
        raise error
    except MixbayesError as thrown:
        return thrown


def test_an_error_of_ours_is_said_with_its_code() -> None:
    error = caught(PeerSilent("party va", "greeting", "silence"))
    fields = said(lambda log: logged(log, error, "conversation ended", round=3))
    assert (fields["event"], fields["round"], fields["level"]) == ("conversation ended", 3, "error")
    assert (fields["code"], fields["error"]) == ("E210", str(error))
    assert "at" not in fields


@pytest.mark.parametrize("kind", [TableMismatch, BadData])
def test_an_error_in_the_table_is_not_quoted(kind: type[MixbayesError]) -> None:
    fields = said(lambda log: logged(log, caught(kind(f"column age holds {SECRET}"))))
    assert SECRET not in json.dumps(fields)
    assert fields["code"] == kind.code


def test_an_error_in_the_agreement_is_quoted() -> None:
    assert said(lambda log: logged(log, caught(BadFederation("no parties"))))["error"] == "no parties"


def test_a_mistake_of_ours_is_said_with_its_place() -> None:
    fields = said(lambda log: logged(log, caught(LocalError("twice"))))
    assert (fields["error"], fields["code"]) == ("twice", "E300")
    assert re.fullmatch(r"node/test_log\.py:\d+", fields["at"])


def test_an_error_of_a_library_is_said_by_type_and_place_alone() -> None:
    with pytest.raises(ValueError, match=SECRET) as failure:
        np.zeros(3).reshape(2, 2, order=SECRET)  # type: ignore[call-overload]
    fields = said(lambda log: logged(log, failure.value))
    assert fields["error"] == "ValueError"
    assert re.fullmatch(r"node/test_log\.py:\d+", fields["at"])
    assert SECRET not in json.dumps(fields)


def test_a_place_names_files_of_the_package_and_not_of_the_machine() -> None:
    with pytest.raises(AttributeError) as failure:
        logger("mixer a", 3)  # type: ignore[arg-type]
    at = said(lambda log: logged(log, failure.value))["at"]
    assert re.fullmatch(r"mixbayes/node/log\.py:\d+ < mixbayes/node/log\.py:\d+ < node/test_log\.py:\d+", at)


def test_a_long_message_is_cut() -> None:
    fields = said(lambda log: logged(log, caught(MixbayesError("x" * 5000))))
    assert len(fields["error"]) == 500


def test_the_form_follows_the_stream_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    def form(out: io.StringIO) -> str:
        logger("mixer a", out).info("hello")
        return "json" if out.getvalue().startswith("{") else "text"

    assert [form(io.StringIO()), form(Terminal())] == ["json", "text"]
    monkeypatch.setenv("MIXBAYES_LOG", "json")
    assert form(Terminal()) == "json"
    monkeypatch.setenv("MIXBAYES_LOG", "text")
    assert form(io.StringIO()) == "text"


@pytest.mark.parametrize(("level", "lines"), [("debug", 4), ("info", 3), ("WARNING", 2), ("error", 1), (None, 3)])
def test_the_level_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch, level: str | None, lines: int) -> None:
    if level:
        monkeypatch.setenv("MIXBAYES_LOG_LEVEL", level)
    out = io.StringIO()
    log = logger("mixer a", out)
    for say in (log.debug, log.info, log.warning, log.error):
        say("hello")
    assert out.getvalue().count("\n") == lines


@pytest.mark.parametrize(("name", "value"), [("MIXBAYES_LOG", "xml"), ("MIXBAYES_LOG_LEVEL", "loud")])
def test_an_unknown_setting_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(Unsupported, match=f"{name} is '{value}'. Set it to"):
        logger("mixer a")


def test_a_log_that_nobody_takes_stops_no_node() -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    logger("mixer a", Full()).info("hello")
    closed = io.StringIO()
    log = logger("mixer a", closed)
    closed.close()
    log.info("hello")


def test_a_logger_leaves_the_rest_of_the_process_alone() -> None:
    import logging
    import threading

    import structlog

    before = (logging.root.handlers[:], threading.excepthook, sys.excepthook, structlog.get_config())
    said(lambda log: log.info("hello"))
    assert (logging.root.handlers, threading.excepthook, sys.excepthook, structlog.get_config()) == before


def test_what_libraries_and_dying_threads_say_goes_without_its_words(tmp_path: Path) -> None:
    program = tmp_path / "noisy.py"
    program.write_text(NOISY)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert SECRET not in done.stderr
    first, library, worker, main = map(json.loads, done.stderr.splitlines())
    assert first["event"] == "first"
    assert (library["library"], library["error"]) == ("grpc._server", "ValueError")
    assert (worker["thread"], worker["error"], worker["level"]) == ("worker", "ValueError", "error")
    assert (main["thread"], main["error"]) == ("main", "ValueError")
    assert main["at"].endswith(f"noisy.py:{len(NOISY.splitlines())}")
    assert {line["node"] for line in (first, library, worker, main)} == {"mixer a"}
