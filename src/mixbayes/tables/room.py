"""Whether the work of a method on a table fits into the memory of this machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from mixbayes.protocol.errors import BadData

if TYPE_CHECKING:
    from mixbayes.local_methods.base import LocalMethod

OTHERWISE = 400_000_000
"""Bytes that a process takes before it has a table."""
LIMIT_OF_CONTAINER = Path("/sys/fs/cgroup/memory.max")


def memory_there() -> int:
    """Bytes of memory that this machine has, or as many as the container may take."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(machine, int(LIMIT_OF_CONTAINER.read_text(encoding="ascii")))
    except (OSError, ValueError):  # no container, or one that may take all
        return machine


def most_rows(columns: int, bytes_a_cell: int, memory: int) -> int:
    """How many rows of so many columns fit."""
    return max(0, memory - OTHERWISE) // (max(columns, 1) * bytes_a_cell)


def refuse_too_large(method: LocalMethod, rows: int, columns: int, memory: int | None = None) -> None:
    """Say before long work that the machine would run out of memory in it."""
    refuse_rows(rows, columns, method.BYTES_A_CELL, memory)


def refuse_rows(rows: int, columns: int, bytes_a_cell: int, memory: int | None = None) -> None:
    """Refuse rows of which each cell takes at least so many bytes, if they do not fit into memory."""
    there = memory_there() if memory is None else memory
    most = most_rows(columns, bytes_a_cell, there)
    if rows > most:
        raise BadData(
            f"{rows:,} rows and {columns} columns are too much for the {there / 1e9:.1f} GB of memory of this machine, "
            f"which could hold {most:,} such rows. Take fewer rows or columns, or a machine with more memory."
        )
