"""The oldest C library with which a folder or a bundle runs. Where it is older, nothing of it starts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_NEEDED = re.compile(rb"GLIBC_2\.(\d+)")
_TAG = re.compile(r"manylinux_2_(\d+)_")
_NONE = 0


def of_programs(folder: Path) -> str:
    """By the symbols that the programs and libraries in the folder need, such as 2.34."""
    return _text(_NONE if path.is_symlink() else _symbols(path) for path in folder.rglob("*") if path.is_file())


def of_wheels(folder: Path) -> str:
    """By the tags of the wheels. A wheel with several tags runs where any of them does."""
    found = ([int(minor) for minor in _TAG.findall(wheel.name)] for wheel in folder.glob("*.whl"))
    return _text(min(minors, default=_NONE) for minors in found)


def _symbols(path: Path) -> int:
    content = path.read_bytes()
    return max(map(int, _NEEDED.findall(content)), default=_NONE) if content.startswith(b"\x7fELF") else _NONE


def _text(minors: Iterable[int]) -> str:
    return f"2.{max(minors, default=_NONE)}"
