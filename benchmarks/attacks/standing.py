"""One connection of an asking hospital with both mixers, in memory, over which an attack asks as often as it likes.

The mixers run the protocol's own code. The asker can do one thing more than the protocol allows: add something to the
sums that it carries from one mixer to the other. Both of them are masked, so no mixer can see it.
"""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from typing import TypeVar

from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Values, Words, mask
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes import label
from mixbayes.protocol.bayes.classification import answer_private, ask_private
from mixbayes.protocol.bayes.label import Labels, joined
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.question import Form, Line, Selection, hand_over
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pool import ReceivedPool, connect_answerer, connect_asker, connect_pair

Lines = tuple[Line[ReceivedPool], Line[ReceivedPool]]
Announced = tuple[SimpleQueue[int], SimpleQueue[int]]
Result = TypeVar("Result")


class Asker:
    """Asks, honestly or not, and counts the labels that it gets."""

    def __init__(self, lines: Lines, layout: Layout, width: int, announced: Announced) -> None:
        self._lines = lines
        self._layout = layout
        self._form = Form.of(layout, width)
        self._announced = announced
        self.labels = 0

    def ask(self, codes: Values) -> Labels:
        """The labels of rows, by the protocol."""
        self._announce(codes.shape[1])
        return ask_private(self._lines, self._layout, self._form.width, codes)

    def ask_with_offsets(self, codes: Values, offsets: Words) -> Labels:
        """The labels of rows whose scores are moved by offsets (K − 1, n), relative to the first class."""
        rows = codes.shape[1]
        self._announce(rows)
        return joined([self._moved(codes[:, piece], offsets[:, piece]) for piece in self._form.pieces(rows)])

    def _moved(self, codes: Values, offsets: Words) -> Labels:
        at_a, at_b = (Selection(self._form, line, codes).announce() for line in self._lines)
        from_a, from_b = at_a.receive_and_add_up(), at_b.receive_and_add_up()
        mixer_a, mixer_b = (line.channel for line in self._lines)
        hand_over(mixer_b, (from_a + offsets) & mask(self._form.width), self._form.width)
        hand_over(mixer_a, from_b, self._form.width)
        return label.receive(mixer_a, mixer_b, codes.shape[1], self._layout.classes)

    def _announce(self, rows: int) -> None:
        self.labels += rows
        for mixer in self._announced:
            mixer.put(rows)


def run_attack(
    layout: Layout, models: tuple[Model, Model], seeds: tuple[bytes, bytes, bytes], attack: Callable[[Asker], Result]
) -> Result:
    """What the attack returns against mixers with these shares of a model. Seeds: of the hospital, of A and of B."""
    a_to_b, b_to_a = memory.channels("mixer a", "mixer b")
    asker_to_a, a_to_asker = memory.channels("party asker", "mixer a")
    asker_to_b, b_to_asker = memory.channels("party asker", "mixer b")
    a_ahead, b_ahead = memory.channels("mixer a", "mixer b")
    asker_ahead_a, a_ahead_asker = memory.channels("party asker", "mixer a")
    asker_ahead_b, b_ahead_asker = memory.channels("party asker", "mixer b")
    announced: Announced = SimpleQueue(), SimpleQueue()

    def mixer(role: int, other: Channel, ahead: Channel, asker: Channel, ahead_asker: Channel) -> None:
        random = Randomness(seeds[1 + role])
        me = ComputingParty(role, other, connect_pair(role, ahead, random), random)
        pad = label.common_blinding(me)
        line = Line(asker, connect_answerer(ahead_asker, random))
        for number, rows in enumerate(iter(announced[role].get, 0)):
            blinding = label.blinding_for(number.to_bytes(8, "big"), pad)
            answer_private(me, line, layout, models[role], rows, blinding)

    def hospital() -> Result:
        random = Randomness(seeds[0])
        to_a = Line(asker_to_a, connect_asker(asker_ahead_a, random))
        to_b = Line(asker_to_b, connect_asker(asker_ahead_b, random))
        try:
            return attack(Asker((to_a, to_b), layout, models[0].width, announced))
        finally:
            for waiting in announced:
                waiting.put(0)

    result, _, _ = memory.together(
        hospital,
        lambda: mixer(A, a_to_b, a_ahead, a_to_asker, a_ahead_asker),
        lambda: mixer(B, b_to_a, b_ahead, b_to_asker, b_ahead_asker),
    )
    return result
