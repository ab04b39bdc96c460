"""What can happen to a node, to a call and to a conversation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from mixbayes.node.disk.database import Moment
from mixbayes.transport.errors import BadState


class Killed(BaseException):
    """The process has ended here; nothing of the program may catch it."""


class Fuse:
    """Counts the sides of a node's commits and ends it at the one it was set to. Its disk can be full, too."""

    def __init__(self) -> None:
        self.passed = 0
        self.left: int | None = None
        self.full = range(0)
        """The commits that find no room on the disk, counted from now on."""
        self._tried = 0

    def fill(self, commits: range) -> None:
        self.full, self._tried = commits, 0

    def __call__(self, moment: Moment) -> None:
        self.passed += 1
        if moment == "before":
            self._tried += 1
            if self._tried - 1 in self.full:
                raise BadState("state.sqlite: the disk is full. Make room; nothing half-written was kept.")
        if self.left is None:
            return
        self.left -= 1
        if self.left < 0:
            self.left = None
            raise Killed


class Fate(Enum):
    """What becomes of a call."""

    ANSWERED = "answered"
    LOST = "lost on the way"
    REPLY_LOST = "its reply lost"
    TWICE = "delivered twice"
    LATE = "delivered later"


@dataclass(frozen=True)
class Cut:
    """A conversation's link from one role to another breaks when so many messages have gone that way."""

    source: str
    target: str
    after: int
