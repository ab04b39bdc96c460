"""What the page asks of a mixer: how the round stands, for each hospital."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from mixbayes.node.rounds.status import Status
from mixbayes.pages.node import PageNode


@dataclass(frozen=True)
class AtMixer(PageNode):
    """A mixer."""

    status_of: Callable[[str], Status] = field(kw_only=True)
    """The status of the current round for one hospital."""
