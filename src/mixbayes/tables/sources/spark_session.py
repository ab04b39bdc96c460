"""The Spark session that the environment names, and what it says when something is wrong."""

from __future__ import annotations

import logging
import os
import re
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from tempfile import gettempdir
from typing import Any
from urllib.parse import urlsplit

from mixbayes.protocol.errors import BadData, Unsupported
from mixbayes.tables.sources.source import SourceAway

WAIT = 10.0
"""Seconds for a server to accept a connection."""
_NAMING = (
    "SPARK_REMOTE",
    "SPARK_CONNECT_MODE_ENABLED",
    "SPARK_HOME",
    "SPARK_CONF_DIR",
    "PYSPARK_SUBMIT_ARGS",
    "MASTER",
)
"""Variables of the environment by which a user chooses a session."""
_ALONE = {
    "spark.master": "local[*]",
    "spark.app.name": "mixbayes",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.warehouse.dir": gettempdir(),  # else a folder is made where the command runs
}
"""Settings of a session on this machine, which nobody else reaches."""
_PORT = 15002
_LOGS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_NO_JAVA = "Spark does not start: it needs Java 17 or newer. Install it, or name a server in SPARK_REMOTE."
_SAID = {
    "JAVA_GATEWAY_EXITED": _NO_JAVA,
    "TABLE_OR_VIEW_NOT_FOUND": "this Spark session has no such table or view. Write it as SHOW TABLES does, with its "
    "catalog and schema.",
    "SESSION_CLOSED": "the Spark session is over. Start again.",
}


def session() -> Any:
    """The active session, or the one that the environment names, or one on this machine."""
    with sentences(), _warnings_about_pandas_silenced():
        sql = import_module("pyspark.sql")  # not every installation has it, and it has no types
        _refuse_unreachable(os.environ.get("SPARK_REMOTE", ""))
        builder: Any = sql.SparkSession.builder
        if sql.SparkSession.getActiveSession() is None and not any(map(os.environ.get, _NAMING)):
            for name, value in _ALONE.items():
                builder = builder.config(name, value)
        return builder.getOrCreate()


@contextmanager
def sentences() -> Iterator[None]:
    """What Spark says is said in one sentence, without Java's part of it."""
    raised = [import_module("pyspark.errors").PySparkException]
    raised += [import_module("py4j.protocol").Py4JError] if find_spec("py4j") else []  # a mere client goes without
    try:
        with _logs_silenced():
            yield
    except tuple(raised) as error:
        raise BadData(_sentence(error)) from None
    except FileNotFoundError as error:
        if "spark" not in str(error.filename or error):
            raise
        raise BadData("SPARK_HOME names a folder that has no Spark. Correct it, or unset it.") from None


def _sentence(error: Exception) -> str:
    condition = getattr(error, "getCondition", getattr(error, "getErrorClass", lambda: None))() or ""
    if condition in _SAID:
        return _SAID[condition]
    lines = [line for line in re.split(r"\n+", str(error).strip()) if line]
    first = re.sub(r"^\[[\w.]+\]\s*|\s*SQLSTATE:.*$", "", lines[0] if lines else type(error).__name__)
    return f"Spark says: {first.rstrip(' .')}."


def _refuse_unreachable(address: str) -> None:
    """Without this Spark would try again for minutes."""
    if not address.startswith("sc://"):
        return
    try:
        url = urlsplit(address)
        server = url.hostname or "", url.port or _PORT
    except ValueError:
        raise Unsupported("SPARK_REMOTE is no address. Write sc://host:port.") from None
    try:
        socket.create_connection(server, WAIT).close()
    except OSError as error:
        raise SourceAway(
            f"no Spark server answers at {server[0]}:{server[1]}, which SPARK_REMOTE names: "
            f"{error.strerror or 'no answer'}. Start it, or correct the address."
        ) from None


@contextmanager
def _logs_silenced() -> Iterator[None]:
    """Spark Connect logs each error with all that Java says of it."""
    loggers = [logging.getLogger(name) for name in _LOGS]
    before = [logger.disabled for logger in loggers]
    try:
        for logger in loggers:
            logger.disabled = True
        yield
    finally:
        for logger, was in zip(loggers, before, strict=True):
            logger.disabled = was


@contextmanager
def _warnings_about_pandas_silenced() -> Iterator[None]:
    """No frame of pandas is made of Spark's answers."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield
