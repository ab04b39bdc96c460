"""A process that is a node leaves no core dump, and no other of the same account may read or trace it."""

from __future__ import annotations

import resource
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from ctypes import CDLL
from multiprocessing import get_context
from pathlib import Path

import pytest

from mixbayes.node import own_memory
from mixbayes.parties.alone import obfuscators
from mixbayes.transport.errors import CannotServe
from tests.protocol.paillier.test_key import small_key

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux knows whether a process is dumpable")
_PR_GET_DUMPABLE = 3
ENDING = """
import sys
from mixbayes import cli
from tests.node.test_own_memory import told
cli.bounded.end_process = lambda code: (print(*told(), file=sys.stderr), sys.exit(code))
sys.argv[1:] = {typed}
cli.main()
"""


def told() -> tuple[int, int, int]:
    """Whether this process is dumpable, and its limits of core dumps."""
    return CDLL(None).prctl(_PR_GET_DUMPABLE, 0, 0, 0, 0), *resource.getrlimit(resource.RLIMIT_CORE)


@pytest.mark.parametrize("node", ["mixer", "party"])
def test_a_node_keeps_its_memory_to_itself_before_it_reads_anything(node: str) -> None:
    script = ENDING.format(typed=[node, "--no-such-option"])
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=60
    )
    assert ran.stderr.splitlines()[-1] == "0 0 0"


def test_a_system_that_forbids_it_gets_no_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_memory, "_PR_SET_DUMPABLE", -1)
    monkeypatch.setattr(resource, "setrlimit", lambda which, limits: None)
    with pytest.raises(CannotServe, match="does not let this node keep its memory to itself"):
        own_memory.keep_memory_to_itself()


def test_processes_that_make_paillier_randomness_do_so_too() -> None:
    before = told()
    with ProcessPoolExecutor(1, get_context("spawn"), obfuscators._begin, (small_key(256),)) as pool:
        assert pool.submit(told).result(60) == (0, 0, 0)
    assert told() == before
