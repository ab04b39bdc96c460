"""The files of this repository somewhere else, as a release is made of them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.deploy.helpers import ROOT
from tests.test_house import shipped_files

COMMITTED = 1_790_000_000


@contextmanager
def umask(mode: int) -> Iterator[None]:
    before = os.umask(mode)
    try:
        yield
    finally:
        os.umask(before)


def tree(folder: Path, mode: int, modified: int) -> Path:
    """The files of the repository, as somebody with this umask has them, who got them then."""
    with umask(mode):
        for path in shipped_files():
            copy = folder / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if path.is_symlink():
                copy.symlink_to(path.readlink())
            else:
                shutil.copyfile(path, copy)
                copy.chmod((0o777 if os.access(path, os.X_OK) else 0o666) & ~mode)
                os.utime(copy, (modified, modified))
        for room in ("protocol", "parties", "mixers", "local_methods"):
            (folder / "src" / "mixbayes" / room).symlink_to(Path("..", "..", room))
    return folder


def committed(folder: Path) -> Path:
    """A repository with these files, whether they are committed here or not, in a single commit."""
    tree(folder, 0o022, COMMITTED)
    by = {"GIT_AUTHOR_DATE": f"{COMMITTED} +0000", "GIT_COMMITTER_DATE": f"{COMMITTED} +0000"}
    who = ["-c", "user.name=releaser", "-c", "user.email=releaser@example.org"]
    for words in (["init", "-q"], ["add", "--all"], [*who, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", *words], cwd=folder, env=os.environ | by, check=True, timeout=60)
    return folder
