"""The bundle for machines without a network: what it asks of pip, in order, and what it leaves."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.deploy.helpers import ROOT

SCRIPT = ROOT / "deploy" / "bundle.sh"
PIP = """#!/bin/sh
echo "$@" >> "$CALLS"
[ -n "$FAILS" ] && case " $* " in *" $FAILS "*) exit 1;; esac
while [ $# -gt 0 ]; do
  case $1 in --dest|--wheel-dir) mkdir -p "$2"; echo wheel > "$2/mixbayes-0-py3-none-any.whl";; esac
  shift
done
"""


def bundle(folder: Path, out: Path, *extras: str, fails: str = "") -> subprocess.CompletedProcess[str]:
    pip = folder / "python"
    pip.write_text(PIP)
    pip.chmod(0o755)
    told = {"PATH": os.environ["PATH"], "PYTHON": str(pip), "CALLS": str(folder / "calls"), "FAILS": fails}
    told["TMPDIR"] = str(folder / "tmp")
    (folder / "tmp").mkdir(exist_ok=True)
    return subprocess.run([SCRIPT, out, *extras], cwd=ROOT, env=told, capture_output=True, text=True, timeout=60)


def test_what_is_fetched_is_checked_and_the_rest_comes_from_it(tmp_path: Path) -> None:
    done = bundle(tmp_path, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    fetched, built, chosen = (tmp_path / "calls").read_text().splitlines()
    assert "--require-hashes --only-binary :all:" in fetched
    assert "requirements.lock" in fetched
    assert "--no-index" in built
    assert "--no-index" in chosen
    assert chosen.endswith("mixbayes")
    checked = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=tmp_path / "out", capture_output=True, timeout=60)
    assert checked.returncode == 0
    assert list((tmp_path / "tmp").iterdir()) == []


def test_takes_along_the_extras_that_are_named(tmp_path: Path) -> None:
    done = bundle(tmp_path, tmp_path / "out", "hospital,sql")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "calls").read_text().splitlines()[-1].endswith("mixbayes[hospital,sql]")


@pytest.mark.parametrize("step", ["--require-hashes", "--no-deps", "mixbayes"])
def test_a_step_that_fails_ends_it(tmp_path: Path, step: str) -> None:
    done = bundle(tmp_path, tmp_path / "out", fails=step)
    assert done.returncode == 1
    assert step in (tmp_path / "calls").read_text().splitlines()[-1]
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    done = bundle(tmp_path, tmp_path / "out")
    assert (done.returncode, "is there already" in done.stderr) == (1, True)
    assert not (tmp_path / "calls").exists()


def test_without_a_folder_it_says_so(tmp_path: Path) -> None:
    done = subprocess.run([SCRIPT], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode != 0, "name the folder" in done.stderr) == (True, True)
