"""A liar: a role that follows the protocol in everything but the contents of one message.

The message keeps its length and its place. What is cut short or out of order never gets past a channel, whatever it
says: `tests/protocol/test_misbehaviour.py` has that for every message of every role.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from mixbayes.protocol.arrays import Bytes
from mixbayes.protocol.channel import Buffer, Channel

Kind = Literal["alter", "zero", "random", "repeat"]
"""One bit is flipped; all bits are zero; all bits are drawn anew; an earlier message of this length comes again."""
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Said:
    """A message that a role sends."""

    to: str
    step: str
    size: int


@dataclass(frozen=True)
class Lie:
    """Of all that a role says in a job, the message with this number is another one."""

    kind: Kind
    number: int


@dataclass
class Tongue:
    """All that one role says, on all its channels. Without a lie it only takes note."""

    lie: Lie | None = None
    said: list[Said] = field(default_factory=list)
    lied: bool = False
    """Whether a message was changed: a message of zeros is not, by zeroing it."""
    _earlier: list[tuple[str, bytes]] = field(default_factory=list, repr=False)

    def says(self, to: str, step: str, payload: Buffer) -> bytes:
        """What leaves in place of this payload."""
        meant = payload.tobytes() if isinstance(payload, np.ndarray | memoryview) else bytes(payload)
        number = len(self.said)
        self.said.append(Said(to, step, len(meant)))
        told = self._instead(self.lie, step, meant) if self.lie and number == self.lie.number else meant
        self._earlier.append((step, meant))
        self.lied |= told != meant
        return told

    def _instead(self, lie: Lie, step: str, meant: bytes) -> bytes:
        random = np.random.default_rng([lie.number, len(meant)])
        if lie.kind == "alter" and meant:
            changed = bytearray(meant)
            changed[random.integers(len(meant))] ^= 1 << random.integers(8)
            return bytes(changed)
        if lie.kind == "zero":
            return bytes(len(meant))
        if lie.kind == "random":
            return random.bytes(len(meant))
        return self._before(step, meant)

    def _before(self, step: str, meant: bytes) -> bytes:
        """The last payload of this length and step, or else of this length alone; without any, the truth."""
        alike = [told for told in self._earlier if len(told[1]) == len(meant)]
        return ([payload for of, payload in alike if of == step] or [payload for _, payload in alike] or [meant])[-1]


class LyingChannel(Channel):
    """A channel over which the liar talks. What it hears is the truth."""

    def __init__(self, honest: Channel, tongue: Tongue) -> None:
        self.peer = honest.peer
        self.traffic = honest.traffic
        self._honest = honest
        self._tongue = tongue

    def send(self, step: str, payload: Buffer) -> None:
        self._honest.send(step, self._tongue.says(self.peer, step, payload))

    def receive(self, step: str, size: int) -> Bytes:
        return self._honest.receive(step, size)

    def start_swap(self, step: str, payload: Buffer, size: int | None = None) -> Callable[[], Bytes]:
        return self._honest.start_swap(step, self._tongue.says(self.peer, step, payload), size)

    def close(self) -> None:
        self._honest.close()
