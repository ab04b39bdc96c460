"""What a command writes is there whole, or what was there before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mixbayes.cli.output import refuse_unwritable, write_private, write_whole
from mixbayes.protocol.errors import BadData
from tests.cli.simulating import PATIENCE


def test_file_is_replaced_and_not_written_over(tmp_path: Path) -> None:
    path, old = tmp_path / "labels.csv", tmp_path / "old.csv"
    path.write_text("before")
    os.link(path, old)
    write_whole(path, "label\n")
    assert (path.read_text(), old.read_text()) == ("label\n", "before")


def test_folder_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").mkdir()
    with pytest.raises(BadData, match=r"labels\.csv cannot be written"):
        write_whole(tmp_path / "labels.csv", "label\n")
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]


@pytest.mark.parametrize(
    "path", [Path("/proc/labels.csv"), Path("l" * 300), Path("l" * 250)], ids=["sealed", "long", "draft"]
)
def test_what_cannot_be_written_is_refused_before_long_work(path: Path) -> None:
    """Whoever asks is told that /proc can be written to, and nobody can."""
    with pytest.raises(BadData, match="cannot be written: "):
        refuse_unwritable(path)


def test_new_file_can_be_read_by_whom_the_user_lets(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    mask = os.umask(0o027)
    try:
        write_whole(path, "label\n")
    finally:
        os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.read_text() == "label\n"


def test_what_is_private_is_so_even_where_a_file_was_that_others_could_read(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("before")
    path.chmod(0o666)
    write_private(path, "label\n")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("label\n", 0o600)


FILL_THE_DISK = """
import resource, sys
from pathlib import Path
from mixbayes.cli.output import refuse_unwritable, write_private, write_whole
from mixbayes.protocol.errors import BadData
from mixbayes.simulation.crew import Crew
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    write_whole(Path(sys.argv[1]), "x" * 200)
except BadData as error:
    sys.exit(str(error))
"""


def test_disk_that_is_full_leaves_everything_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("before")
    done = subprocess.run([sys.executable, "-c", FILL_THE_DISK, path], capture_output=True, text=True, timeout=PATIENCE)
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert path.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "labels.csv"
    os.mkfifo(pipe)
    with pytest.raises(BadData):
        write_whole(pipe, "label\n")
    assert pipe.is_fifo()
