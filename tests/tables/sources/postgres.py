"""A PostgreSQL server of the tests' own, in a temporary folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

USER = "tester"
_SETTINGS = "-c fsync=off -c full_page_writes=off -c shared_buffers=16MB -c max_connections=10 -c timezone=UTC"


def programs() -> Path | None:
    """The folder of PostgreSQL's programs, where it is installed."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


@contextmanager
def running(port: int) -> Iterator[str]:
    """A server at this port of 127.0.0.1, and the URL of an empty database of its own."""
    folder = programs()
    assert folder
    with TemporaryDirectory(prefix="mixbayes-postgres") as name:
        data = Path(name) / "data"
        if os.geteuid() == 0:
            shutil.chown(name, "nobody")
        _run(folder / "initdb", "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        options = f"-c port={port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={name} {_SETTINGS}"
        log = Path(name) / "log"
        _run(folder / "pg_ctl", "-D", data, "-l", log, "-w", "-t", "60", "-o", options, "start")
        try:
            yield f"postgresql://{USER}@127.0.0.1:{port}/postgres"
        finally:
            _run(folder / "pg_ctl", "-D", data, "-m", "immediate", "-w", "-t", "60", "stop")


def _run(*command: object) -> None:
    """Run it; as somebody else if this is root, whom the server refuses."""
    other = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []
    done = subprocess.run([*other, *map(str, command)], cwd="/", stdout=subprocess.DEVNULL, timeout=100, check=False)
    assert done.returncode == 0, command
