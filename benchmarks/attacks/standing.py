"""One connection of an asking hospital with both mixers, in memory, over which an attack asks as often as it likes.

The mixers run the protocol's own code. The asker does one thing more than the protocol allows: it adds something to the
masked sums that it sends to mixer a. A sum is an encryption under a mask, so the mixer cannot see that it was moved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import TypeVar

import numpy as np

from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Bytes, Values, Words, mask
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes import label
from mixbayes.protocol.bayes.classification import answer_private, ask_private
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.question import Form, TableHolder, TableReader
from mixbayes.protocol.channel import Buffer, Channel
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.lattice.encryption import Parameters
from mixbayes.protocol.lattice.polynomials import LIMB, carried, from_bytes, from_words, to_bytes
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pool import connect_pair

MODEL = b"the only model"
SUMS = "masked sums"
NO_QUESTION = 0, b""
Question = tuple[int, bytes]
"""Its rows, and the name of the model if its table may stand; no rows if none comes."""
Announced = tuple[SimpleQueue[Question], SimpleQueue[Question]]
Result = TypeVar("Result")


class Mover(Channel):
    """A channel to a mixer, over which masked sums are moved by offsets."""

    def __init__(self, honest: Channel, form: Form) -> None:
        self.peer = honest.peer
        self.traffic = honest.traffic
        self._honest = honest
        self._form = form
        self._offsets: Iterator[tuple[Parameters, Words]] = iter(())

    def will_move(self, offsets: Words) -> None:
        """The sums of the next question, by offsets (K − 1, n)."""
        self._offsets = self._by_message(offsets)

    def send(self, step: str, payload: Buffer) -> None:
        due = next(self._offsets, None) if step == SUMS else None
        self._honest.send(step, _moved(np.frombuffer(payload, np.uint8), self._form.width, *due) if due else payload)

    def receive(self, step: str, size: int) -> Bytes:
        return self._honest.receive(step, size)

    def _by_message(self, offsets: Words) -> Iterator[tuple[Parameters, Words]]:
        for piece in self._form.pieces(offsets.shape[1]):
            layout = self._form.polynomials(piece.stop - piece.start)
            for part in layout.products(piece.stop - piece.start):
                yield layout.parameters, offsets[:, piece][:, part]


def _moved(sums: Bytes, width: int, of: Parameters, offsets: Words) -> Bytes:
    """Masked sums, their c1 and then their c0, with these offsets added in the bits of c0 that are the sums'."""
    c1, c0 = np.split(sums, [of.polynomial_bytes])
    more = from_words(offsets.reshape(-1) & mask(width), LIMB * of.limbs - width, of.limbs)
    limbs = from_bytes(c0, of.limbs, offsets.size).astype(np.int64)
    return np.concatenate([c1, to_bytes(carried(limbs + more))])


class Asker:
    """Asks, honestly or not, and counts the labels that it gets."""

    def __init__(
        self, mixers: tuple[Channel, Channel], layout: Layout, width: int, random: Randomness, announced: Announced
    ) -> None:
        self._moving = Mover(mixers[0], Form.of(layout, width))
        self._mixers = self._moving, mixers[1]
        self._reader = TableReader(self._mixers, random)
        self._layout = layout
        self._width = width
        self._announced = announced
        self.labels = 0

    def ask(self, codes: Values) -> Labels:
        """The labels of rows, by the protocol."""
        return self._ask(codes, MODEL)

    def ask_with_offsets(self, codes: Values, offsets: Words) -> Labels:
        """The labels of rows whose scores are moved by offsets (K − 1, n), relative to the first class."""
        self._moving.will_move(offsets)
        return self._ask(codes, b"")

    def _ask(self, codes: Values, about: bytes) -> Labels:
        self.labels += codes.shape[1]
        for mixer in self._announced:
            mixer.put((codes.shape[1], about))
        return ask_private(self._mixers, self._layout, self._width, codes, self._reader, about=about)


def run_attack(
    layout: Layout, models: tuple[Model, Model], seeds: tuple[bytes, bytes, bytes], attack: Callable[[Asker], Result]
) -> Result:
    """What the attack returns against mixers with these shares of a model. Seeds: of the hospital, of A and of B."""
    a_to_b, b_to_a = memory.channels("mixer a", "mixer b")
    asker_to_a, a_to_asker = memory.channels("party asker", "mixer a")
    asker_to_b, b_to_asker = memory.channels("party asker", "mixer b")
    a_ahead, b_ahead = memory.channels("mixer a", "mixer b")
    announced: Announced = SimpleQueue(), SimpleQueue()

    def mixer(role: int, other: Channel, ahead: Channel, asker: Channel) -> None:
        random = Randomness(seeds[1 + role])
        me = ComputingParty(role, other, connect_pair(role, ahead, random), random)
        pad, holder = label.common_blinding(me), TableHolder(asker, random)
        for number, (rows, about) in enumerate(iter(announced[role].get, NO_QUESTION)):
            blinding = label.blinding_for(number.to_bytes(8, "big"), pad)
            answer_private(me, holder, layout, models[role], rows, blinding, about=about)

    def hospital() -> Result:
        mixers = asker_to_a, asker_to_b
        try:
            return attack(Asker(mixers, layout, models[0].width, Randomness(seeds[0]), announced))
        finally:
            for waiting in announced:
                waiting.put(NO_QUESTION)

    result, _, _ = memory.together(
        hospital,
        lambda: mixer(A, a_to_b, a_ahead, a_to_asker),
        lambda: mixer(B, b_to_a, b_ahead, b_to_asker),
    )
    return result
