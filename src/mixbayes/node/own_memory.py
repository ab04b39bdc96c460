"""A node's memory is its own: shares, keys and tables are in it.

No core dump is written, and no other process of the same account reads it, through /proc or as a debugger. Whoever
administers the machine still can.
"""

from __future__ import annotations

import ctypes
import os
import resource
import sys

from mixbayes.transport.errors import CannotServe

_PR_SET_DUMPABLE = 4


def keep_memory_to_itself() -> None:
    """Keep the memory of this process to itself from now on. What it starts inherits the limit of core dumps alone."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # The limit alone does not hold where the system gives core dumps to a program.
    if sys.platform == "linux" and ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0):
        why = os.strerror(ctypes.get_errno())
        raise CannotServe(
            f"The system does not let this node keep its memory to itself (prctl: {why}). Allow that call where its "
            "system calls are filtered, and start the node again."
        )
