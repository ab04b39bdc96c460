"""How two computing parties make their transfers. Both must do it in the same way, and the agreement says how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import DifferentTransfers
from mixbayes.protocol.transfer.extension import FOURS, PAIRS, Grouping
from mixbayes.protocol.transfer.lpn import USUAL, LpnSizes

KindName = Literal["extended", "silent"]
STEP = "kind of transfers"
NAME_BYTES = 96


@dataclass(frozen=True, slots=True)
class TransferKind:
    """A way to make transfers, with all sizes that both ends must share."""

    grouping: Grouping
    """Of the extension, which makes all transfers, or those that silent ones grow from."""
    sizes: LpnSizes | None = None
    """Those of silent transfers, or nothing where the extension makes all."""
    extended: int = 0
    """So many transfers the extension makes before silent ones begin: an iteration would cost more than they do."""

    def __str__(self) -> str:
        groups = f"groups of {self.grouping.size}"
        return f"silent, {groups}, {self.sizes}, from {self.extended}" if self.sizes else f"extended, {groups}"


EXTENDED = TransferKind(PAIRS)
"""The least time on one machine."""
SILENT = TransferKind(FOURS, USUAL, 1 << 16)
"""The fewest bytes between machines."""
KINDS: dict[KindName, TransferKind] = {"extended": EXTENDED, "silent": SILENT}


def agree(channel: Channel, kind: TransferKind) -> None:
    """Tell the other end how transfers are made, and refuse an end that makes them otherwise."""
    ours = str(kind).encode().ljust(NAME_BYTES)
    theirs = channel.swap(STEP, ours).tobytes()
    if theirs != ours:
        raise DifferentTransfers(
            channel.peer, STEP, f"it makes transfers in another way ({_readable(theirs)}), and this node: {kind}"
        )


def _readable(name: bytes) -> str:
    text = name.decode("ascii", "replace").rstrip()
    return text if text.isprintable() and text.isascii() else "with a name that cannot be read"
