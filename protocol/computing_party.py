"""One of the two computing parties, as every step of the circuits and of naive Bayes sees it.

The computing parties A and B hold shares: the two mixers, or two hospitals alone. Both run the same program, each on
its own shares. A step takes the `ComputingParty` that runs it as its first argument, `me`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.shares import A, B

if TYPE_CHECKING:  # the dictionary's classes name this type, and whoever reads an agreement needs no transfers
    from mixbayes.protocol.transfer.pool import BothWays

__all__ = ["A", "B", "ComputingParty"]

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True)
class ComputingParty:
    """A (role 0) or B (role 1): its channel to the other one, their random transfers, and its own randomness."""

    role: int
    channel: Channel
    pool: BothWays
    random: Randomness

    def constant(self, words: Words) -> Words:
        """This party's share of public words: A holds them, B holds zeros."""
        return words if self.role == A else np.zeros_like(words)

    def halves(self, elements: NDArray[Scalar]) -> tuple[NDArray[Scalar], NDArray[Scalar]]:
        """The elements (…, n) for which this party is the sender, and those for which it is the receiver.

        A is the sender for the first half and B for the second, so that both work and both directions of the pool are
        used. If n is odd, a zero is appended.
        """
        if elements.shape[-1] % 2:
            elements = np.append(elements, np.zeros_like(elements[..., :1]), axis=-1)
        middle = elements.shape[-1] // 2
        sends_a, sends_b = elements[..., :middle], elements[..., middle:]
        return (sends_a, sends_b) if self.role == A else (sends_b, sends_a)

    def whole(self, sent: NDArray[Scalar], asked: NDArray[Scalar], count: int) -> NDArray[Scalar]:
        """The results of both halves of `halves`, in the order of the elements."""
        parts = (sent, asked) if self.role == A else (asked, sent)
        return np.concatenate(parts, axis=-1)[..., :count]

    def negate(self, bits: Bits) -> Bits:
        """This party's share of the complement of XOR-shared bits."""
        return bits ^ np.uint8(self.role == A)
