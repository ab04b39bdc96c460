"""A Prometheus of the tests' own, in a temporary folder, and its promtool."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml

PATIENCE = 60.0


def program(name: str) -> str:
    """Its path. In continuous integration there must be one; elsewhere the test is skipped."""
    if "CI" not in os.environ:
        pytest.skip("only make ci runs Prometheus")
    return shutil.which(name) or pytest.fail(f"{name} is not installed (make monitor)")


def promtool(*words: object) -> str:
    """What it prints, if it finds nothing wrong."""
    done = subprocess.run(
        [program("promtool"), *map(str, words)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@dataclass(frozen=True)
class Prometheus:
    """One at work."""

    port: int

    def get(self, path: str, **asked: str) -> Any:
        """What its HTTP API answers. It may say that an expression is wrong."""
        try:
            answer = json.loads(self._read(f"api/v1/{path}?{urllib.parse.urlencode(asked)}"))
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{asked}: {error.read().decode()}") from None
        assert answer["status"] == "success", answer
        return answer["data"]

    def query(self, expression: str) -> list[Any]:
        """The series that an expression has now."""
        found: list[Any] = self.get("query", query=expression)["result"]
        return found

    def ready(self) -> bool:
        with suppress(OSError):  # an HTTP error too: it reads what it has on disk
            return bool(self._read("-/ready"))
        return False

    def _read(self, path: str) -> bytes:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"http://127.0.0.1:{self.port}/{path}", timeout=PATIENCE) as reply:
            body: bytes = reply.read()
        return body

    def up(self) -> set[str]:
        """The targets that were scraped."""
        targets = self.get("targets", state="active")["activeTargets"]
        return {target["labels"]["instance"] for target in targets if target["health"] == "up"}


@contextmanager
def prometheus(port: int, configuration: Mapping[str, Any]) -> Iterator[Prometheus]:
    """At this port of 127.0.0.1."""
    command = program("prometheus")
    with TemporaryDirectory(prefix="mixbayes-prometheus") as name:
        folder = Path(name)
        (folder / "prometheus.yml").write_text(yaml.safe_dump(dict(configuration)))
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(
                [
                    command,
                    f"--config.file={folder / 'prometheus.yml'}",
                    f"--storage.tsdb.path={folder / 'data'}",
                    f"--web.listen-address=127.0.0.1:{port}",
                ],
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            found = Prometheus(port)
            until = time.monotonic() + PATIENCE
            while not found.ready():
                assert process.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < until, (folder / "log").read_text()
                time.sleep(0.1)
            yield found
        finally:
            process.kill()
            process.wait(PATIENCE)
