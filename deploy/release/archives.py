"""The wheel and the source archive of mixbayes, and the bundle of wheels: the same commit gives the same bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path


def build(tree: Path, out: Path, epoch: int) -> Path:
    """Build the source archive and the wheel of this tree; returns the wheel."""
    _run(tree, epoch, sys.executable, "-m", "build", "--no-isolation", "--sdist", "--wheel", "--outdir", str(out))
    [wheel] = out.glob("*.whl")
    return wheel


def bundle(tree: Path, folder: Path, extras: Collection[str], epoch: int) -> None:
    """Fetch and build every wheel of an installation with these extras."""
    _run(tree, epoch, "deploy/bundle.sh", str(folder), ",".join(extras))


def _run(tree: Path, epoch: int, *command: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    told = {"SOURCE_DATE_EPOCH": str(epoch), "PYTHON": sys.executable}
    subprocess.run(command, cwd=tree, env=environment | told, check=True, stdout=subprocess.DEVNULL)
