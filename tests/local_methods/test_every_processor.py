"""The same seed gives the same release on every processor, bit for bit.

`releases.json` has what every method releases of tables on which the last digits decide. Here it is released again as
an old processor would compute: with the plainest kernel of BLAS, no instructions in numpy but those of every processor
and, where the C library can be told, other logarithms in it. `make kernels` runs this file as each of KERNELS. After a
change that is meant to change releases, write the file with
`python -m tests.local_methods.releases tests/local_methods/releases.json`.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.local_methods.releases import all_digests, processor

ROOT = Path(__file__).parents[2]
KNOWN = Path(__file__).with_name("releases.json")
NEWEST = ("AVX512", "X86_V4")
"""What the names of instructions begin with that a Haswell has not."""


@dataclass(frozen=True)
class Kernel:
    """How to compute as another processor does, and what the libraries then say they do."""

    name: str
    said: frozenset[str]
    needs: str | None
    without: tuple[str, ...]
    libc: str = ""

    @property
    def possible(self) -> bool:
        there = self.needs is None or self.needs in processor()["numpy"]
        return there and platform.machine() in ("x86_64", "AMD64")

    def settings(self) -> dict[str, str]:
        """Variables of the environment."""
        disabled = [name for name in processor()["numpy"] if name.startswith(self.without)]
        return {
            "OPENBLAS_CORETYPE": self.name,
            "NPY_DISABLE_CPU_FEATURES": ",".join(disabled),
            "GLIBC_TUNABLES": self.libc,
        }


NOT_HERE = 3
"""The exit code for a kernel that this processor cannot run."""
TOLD = "MIXBAYES_KERNEL"
"""The variable in which `make kernels` says as which of them the tests run."""

# OpenBLAS calls its plainest kernel by either name.
OLDEST = Kernel("Prescott", frozenset({"Prescott", "Katmai"}), None, ("",), "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4")
KERNELS = [
    OLDEST,
    Kernel("Haswell", frozenset({"Haswell"}), "X86_V3", NEWEST),
    Kernel("SkylakeX", frozenset({"SkylakeX"}), "X86_V4", ("none",)),
]
told = next((kernel for kernel in KERNELS if kernel.name == os.environ.get(TOLD)), None)


def released(settings: dict[str, str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.local_methods.releases"]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def known() -> dict[str, str]:
    return json.loads(KNOWN.read_text(encoding="utf-8"))


@pytest.mark.timeout(300)
@pytest.mark.skipif(told is not None, reason="the whole run is as another processor")
@pytest.mark.skipif(not OLDEST.possible or "openblas" not in processor()["library"], reason="there is no such kernel")
def test_the_releases_of_the_oldest_processor_are_the_known_ones() -> None:
    found = released(OLDEST.settings())
    assert_computed_as(OLDEST, found["processor"])
    assert changed(found["releases"]) == []


def assert_computed_as(kernel: Kernel, found: dict[str, list[str]]) -> None:
    assert kernel.said.issuperset(found["blas"])
    assert [name for name in found["numpy"] if name.startswith(kernel.without)] == []


@pytest.mark.skipif(told is None, reason="only `make kernels` tells")
def test_the_run_is_as_the_processor_that_was_told() -> None:
    assert told is not None
    assert_computed_as(told, processor())


def test_the_releases_of_this_processor_are_the_known_ones() -> None:
    assert changed(all_digests()) == []


def changed(releases: dict[str, str]) -> list[str]:
    """Whose digest is another one; none is left out or new."""
    before = known()
    assert releases.keys() == before.keys()
    return [name for name, found in releases.items() if found != before[name]]


def test_different_tables_have_different_digests() -> None:
    """So a digest that sees nothing would be noticed: only a method that ignores its setting may repeat one."""
    assert len(set(known().values())) > 0.8 * len(known())


if __name__ == "__main__":  # the settings of a kernel, for `make kernels`
    wanted = next(kernel for kernel in KERNELS if kernel.name == sys.argv[1])
    if not wanted.possible:
        sys.exit(NOT_HERE)
    settings = wanted.settings() | {TOLD: wanted.name}
    print(" ".join(f"{key}={value}" for key, value in settings.items() if value))
