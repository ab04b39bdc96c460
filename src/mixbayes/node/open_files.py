"""How many files a node may have open, connections included."""

from __future__ import annotations

import resource

MOST = 8_192
"""A node raises its limit to no more: a connection takes some hundred kilobytes while it shakes hands."""
ENOUGH = 4_096
"""With fewer, a stranger who opens connections quickly can take all of them for a moment."""
_FOR_CONNECTIONS = 3, 4
"""The share of all open files. The others are for the state folder, the keys and what this node dials."""


def within_reach() -> int:
    """The limit to which a node raises its own: the hard one, within bounds."""
    return min(MOST, _number(resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def raised() -> int:
    """Raise the soft limit of this process as far as it goes. The limit that holds then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if _number(soft) < (wanted := within_reach()):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return min(MOST, _number(soft))


def for_connections(limit: int) -> int:
    """How many connections a server may accept of that many open files."""
    part, whole = _FOR_CONNECTIONS
    return limit * part // whole


def _number(limit: int) -> int:
    return MOST if limit == resource.RLIM_INFINITY else limit
