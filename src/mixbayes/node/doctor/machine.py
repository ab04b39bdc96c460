"""The machine: what is installed, how much room and how many open files there are, and which variables name a proxy."""

from __future__ import annotations

import os
import platform
import shutil
import ssl
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from mixbayes.node.disk.sqlite import VERSION, too_old
from mixbayes.node.doctor.finding import Finding, fine, problem, warning
from mixbayes.node.open_files import ENOUGH, for_connections, within_reach
from mixbayes.node.serving.greeting import SOFTWARE
from mixbayes.node.serving.protocols import OURS
from mixbayes.protocol.errors import Unsupported
from mixbayes.transport.errors import BadState
from mixbayes.transport.proxies import EXCEPTIONS, PROXIES

LIBRARIES = ("grpcio", "protobuf", "cryptography", "pynacl", "numpy", "gmpy2", "pyarrow")
OLDEST_PYTHON = (3, 11)
LITTLE, TOO_LITTLE = 2**30, 2**26
"""Bytes of free disk: below the first a warning, below the second a problem."""


def software() -> Finding:
    """The versions of this program, of Python and of the libraries."""
    own = f"mixbayes {SOFTWARE} ({OURS}), Python {platform.python_version()}"
    beneath = f"SQLite {VERSION}, {ssl.OPENSSL_VERSION}"
    said = ", ".join([own, beneath, *(f"{name} {_version(name)}" for name in LIBRARIES)])
    absent = [name for name in LIBRARIES if _version(name) == "missing"]
    if absent or sys.version_info < OLDEST_PYTHON or too_old():
        remedy = "Install from requirements.lock, with Python 3.11 or newer that carries SQLite 3.37 or newer"
        return problem("software", said, remedy, Unsupported)
    return fine("software", said)


def room(folder: Path) -> Finding:
    """Free disk where the state lies or will lie."""
    there = existing(folder)
    free = shutil.disk_usage(there).free
    said = f"{free / 2**30:.1f} GiB free in {there}"
    remedy = "Make room: a node that cannot write stops answering"
    if free < TOO_LITTLE:
        return problem("disk", said, remedy, BadState)
    return warning("disk", said, remedy) if free < LITTLE else fine("disk", said)


def open_files() -> Finding:
    """The limit that a node would have if it were started here."""
    limit = within_reach()
    said = f"a node started here may have {limit:,} open files, of which {for_connections(limit):,} connections"
    if limit < ENOUGH:
        remedy = f"Allow {ENOUGH:,} or more (LimitNOFILE= in a unit of systemd, --ulimit nofile= of a container)"
        return warning("open files", f"{said}: a stranger's connections may fill them for a moment", remedy)
    return fine("open files", said)


def existing(folder: Path) -> Path:
    """The folder, or the first above it that this user can see."""
    folder = folder.absolute()
    return next(path for path in (folder, *folder.parents) if os.path.exists(path))  # unlike Path's, it raises nothing


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "missing"


def proxy_variables(environment: Mapping[str, str] = os.environ) -> Finding:
    """The variables that are set, without their values, which may hold a password."""
    found = [name for name in (*PROXIES, *EXCEPTIONS) if name in environment]
    unread = [name.upper() for name in PROXIES if name.upper() in environment and name not in environment]
    if unread:
        said = f"{', '.join(unread)} is set in capitals, which nodes do not read"
        return warning("proxy variables", said, "Set https_proxy and no_proxy in small letters if a proxy is needed")
    return fine("proxy variables", f"{', '.join(found)} set" if found else "none is set; nodes dial directly")
