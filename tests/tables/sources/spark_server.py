"""A Spark of the tests' own: a server of Spark Connect that has two worker processes on this machine."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

PATIENCE = 90
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.sql.session.timeZone": "America/St_Johns",  # answers must not depend on it
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
}
JAVA = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""For the environment: what runs for seconds is compiled quickly rather than well."""
_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


def require() -> None:
    """Spark must be there in continuous integration; elsewhere the test is skipped."""
    if "CI" not in os.environ:
        pytest.skip("only make ci counts on Spark")
    missing = [] if find_spec("pyspark") else ["pyspark"]
    missing += [] if shutil.which("java") else ["Java"]
    if missing:
        pytest.fail(f"no Spark: {' and '.join(missing)} not installed (make engines)")


def _options(folder: Path) -> list[str]:
    """How Spark is told to run here; what it writes is in this folder."""
    places = {"spark.local.dir": str(folder), "spark.sql.warehouse.dir": str(folder)}
    said = [f"--conf={name}={value}" for name, value in {**SETTINGS, **places}.items()]
    return ["--master", "local-cluster[2,1,1024]", *said]


@contextmanager
def running(port: int, folder: Path) -> Iterator[str]:
    """A server of Spark Connect at this port of 127.0.0.1, as SPARK_REMOTE names it."""
    found = find_spec("pyspark")
    assert found
    assert found.origin
    home = Path(found.origin).parent
    at = [f"--conf=spark.connect.grpc.binding.{name}" for name in (f"port={port}", "address=127.0.0.1")]
    submit = home / "bin" / "spark-submit"
    command = [str(submit), *_options(folder), *at, "--class", _SERVER, "spark-internal"]
    with open(folder / "log", "wb") as log:
        server = subprocess.Popen(
            command, env={**os.environ, **JAVA, "SPARK_HOME": str(home)}, cwd=folder, stdout=log, stderr=log
        )
    try:
        _wait(server, port)
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(PATIENCE)


def _wait(server: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        assert server.poll() is None, "Spark ended"
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert time.monotonic() < end, "Spark does not listen"
            time.sleep(0.1)
