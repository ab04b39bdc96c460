"""Processor time of short commands, from their start to their end: python benchmarks/starting.py

    python benchmarks/starting.py [--repeats 5]

Both mixers and the node of one hospital run on loopback as processes of `mixbayes`. Printed are user and system time of
the command's process, the median and the slowest of the repeats. Every command ran once before, so that compiled code
is there, in a folder of this benchmark's own.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from mixbayes.agreement.files import written
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.simulation.stage import Stage, stage

TIMEOUT = 20.0
STARTED_WITHIN = 60.0
HOSPITAL = "north"


def main(repeats: int) -> None:
    with stage([HOSPITAL, "south"], _dictionary(), "shares", two_party=False, timeout=TIMEOUT) as set_up:
        environment = _compiling_into(set_up.folder / "compiled")
        with _running(set_up, environment):
            print(f"{'command':24} {'median s':>9} {'slowest s':>10}")
            for name, words in _commands(set_up).items():
                _run(words, environment)
                found = [_seconds(words, environment) for _ in range(repeats)]
                print(f"{name:24} {median(found):9.3f} {max(found):10.3f}", flush=True)


def _commands(set_up: Stage) -> dict[str, Sequence[object]]:
    here = ("--federation", _agreement(set_up), "--name", HOSPITAL, "--keys", set_up.keys(HOSPITAL))
    return {
        "--version": ["--version"],
        "--help": ["--help"],
        "keys --help": ["keys", "--help"],
        "status --help": ["status", "--help"],
        "classify --help": ["classify", "--help"],
        "simulate --help": ["simulate", "--help"],
        "federation show": ["federation", "show", _agreement(set_up)],
        "status": ["status", *here],
        "status --json": ["status", *here, "--json"],
    }


def _seconds(words: Sequence[object], environment: Mapping[str, str]) -> float:
    before = _of_children()
    _run(words, environment)
    return _of_children() - before


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(words: Sequence[object], environment: Mapping[str, str]) -> str:
    command = [sys.executable, "-m", "mixbayes", *map(str, words)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=STARTED_WITHIN, check=True)
    return done.stdout


def _compiling_into(folder: Path) -> dict[str, str]:
    without = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return without | {"PYTHONPYCACHEPREFIX": str(folder)}


@contextmanager
def _running(set_up: Stage, environment: Mapping[str, str]) -> Iterator[None]:
    """Two mixers and one hospital, which waits for the other one."""
    _agreement(set_up).write_text(written(set_up.federation))
    table = set_up.folder / "table.csv"
    table.write_text(_table(set_up.federation.dictionary))
    with ExitStack() as stack:
        for name in ("b", "a"):
            stack.enter_context(_node(set_up, environment, "mixer", name))
        stack.enter_context(_node(set_up, environment, "party", HOSPITAL, "--data", str(table)))
        yield


@contextmanager
def _node(set_up: Stage, environment: Mapping[str, str], kind: str, name: str, *more: str) -> Iterator[None]:
    """A node, from the line that says that it is ready."""
    options = ("--federation", _agreement(set_up), "--name", name, "--keys", set_up.keys(name))
    words = [kind, *options, "--state", set_up.state(name), *more]
    log = set_up.folder / f"{name}.log"
    with log.open("wb") as said:
        process = subprocess.Popen([sys.executable, "-m", "mixbayes", *map(str, words)], env=environment, stderr=said)
    try:
        until = time.monotonic() + STARTED_WITHIN
        while b"ready" not in log.read_bytes():
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{name} did not start: {log.read_text()}")
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(TIMEOUT)


def _agreement(set_up: Stage) -> Path:
    return set_up.folder / "federation.toml"


def _dictionary() -> Dictionary:
    attributes = [Nominal(name=f"a{i}", values=tuple(f"v{j}" for j in range(10))) for i in range(13)]
    return Dictionary(class_column="class", classes=("absent", "present"), attributes=tuple(attributes))


def _table(dictionary: Dictionary) -> str:
    """Two rows of each class."""
    rows = [",".join(["v0"] * len(dictionary.names) + [label]) for label in dictionary.classes for _ in range(2)]
    return "\n".join([",".join([*dictionary.names, dictionary.class_column]), *rows]) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    main(parser.parse_args().repeats)
