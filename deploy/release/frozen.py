"""The folder that needs no Python of the site: PyInstaller puts mixbayes, its packages and an interpreter together."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Collection, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

from packages import ROOT
from packaging.utils import canonicalize_name

_HERE = Path(__file__).parent
_WHOLE = (
    ROOT,
    "cryptography",  # compiled code of oracledb imports it
    "duckdb",
    "oracledb",
    "psycopg",
    "pymssql",
    "pymysql",
    "sqlalchemy.dialects",
    "waitress",
)
"""Taken with every module: these are imported in ways that PyInstaller cannot see."""
_ALSO = ("psycopg_binary",)
"""Likewise, of a package that cannot be imported by itself."""


def freeze(wheel: Path, packages: Collection[str], out: Path, work: Path, epoch: int) -> None:
    """Leave in `out` a program `mixbayes` and all that it needs. Other packages of this environment stay out.

    The wheel is unpacked into a folder of its own first: the repository shows rooms through links, and the metadata of
    an editable installation are those of the day on which it was made.
    """
    site = work / "site"
    with zipfile.ZipFile(wheel) as archive:  # pip would note where the wheel lay on this machine
        archive.extractall(site)
    _run(epoch, site, sys.executable, "-m", "PyInstaller", *_options(packages, work), str(_HERE / "frozen_start.py"))
    (work / "frozen" / ROOT).rename(out)


def _options(packages: Collection[str], work: Path) -> Iterator[str]:
    yield from ("--noconfirm", "--onedir", "--log-level", "WARN", "--name", ROOT)
    folders = {"--distpath": "frozen", "--workpath": "work", "--specpath": "spec"}
    for option, folder in folders.items():
        yield from (option, str(work / folder))
    yield from ("--collect-data", ROOT)
    for name in _WHOLE:
        yield from ("--collect-submodules", name)
    for name in _ALSO:
        yield from ("--hidden-import", name)
    for name in sorted(packages):  # some packages read their own version
        yield from ("--copy-metadata", name)
    for name in _strangers(packages):
        yield from ("--exclude-module", name)


def _strangers(packages: Collection[str]) -> list[str]:
    """The modules of this environment that belong to none of these packages: the tools that build and test."""
    owners = packages_distributions().items()
    ours = {canonicalize_name(name) for name in packages}
    return sorted(module for module, names in owners if not ours & set(map(canonicalize_name, names)))


def _run(epoch: int, path: Path, *command: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    told = {"SOURCE_DATE_EPOCH": str(epoch), "PYTHONHASHSEED": "0", "PYTHONPATH": str(path)}
    subprocess.run(command, env=environment | told, check=True, stdout=sys.stderr)
