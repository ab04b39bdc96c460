"""Classification: from shares of θ and instances to labels, for the hospital that asked and nobody else.

Rows are worked off in pieces of a public size. An asker is one piece ahead of the labels it waits for, so that the
mixers compare while it prepares the next piece.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol import label, memory, rows
from mixbayes.protocol.argmax import winners
from mixbayes.protocol.arrays import Values, Words, mask
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.layout import Layout
from mixbayes.protocol.model import Model, scores
from mixbayes.protocol.party import A, B, Party
from mixbayes.protocol.pool import ReceivedPool, SentPool, connect_answerer, connect_asker, connect_pair
from mixbayes.protocol.question import Form, Question, answer, hand_over, take_over
from mixbayes.protocol.randomness import Randomness

Labels = NDArray[np.int64]


def answer_public(
    me: Party, asker: Channel, layout: Layout, model: Model, count: int, blinding: Randomness
) -> None:
    """A mixer's part for rows that the hospital shows."""
    for piece in Form.of(layout, model.width).pieces(count):
        codes = rows.receive(asker, layout, piece.stop - piece.start)
        label.release(asker, winners(me, scores(model, codes), model.width), model.classes, blinding)


def ask_public(mixers: tuple[Channel, Channel], layout: Layout, width: int, codes: Values) -> Labels:
    """The hospital's part: show the rows to both mixers."""

    def show(piece: Values) -> None:
        for mixer in mixers:
            rows.send(mixer, layout, piece)

    return _one_ahead(show, mixers, Form.of(layout, width), codes)


def answer_private(
    me: Party, asker: SentPool, layout: Layout, model: Model, count: int, blinding: Randomness
) -> None:
    """A mixer's part for rows that it does not see."""
    form = Form.of(layout, model.width)
    for piece in form.pieces(count):
        hidden = answer(form, asker, model, me.random, piece.stop - piece.start)
        share = take_over(asker.channel, form, model, hidden)
        label.release(asker.channel, winners(me, share, model.width), model.classes, blinding)


def ask_private(mixers: tuple[ReceivedPool, ReceivedPool], layout: Layout, width: int, codes: Values) -> Labels:
    """The hospital's part: choose obliviously from both mixers' tables, and give each the other's sums."""
    form = Form.of(layout, width)

    def ask(piece: Values) -> None:
        to_a, to_b = questions = [Question(form, mixer, piece) for mixer in mixers]
        for question in questions:
            question.announce()
        from_a, from_b = to_a.add_up(), to_b.add_up()
        hand_over(mixers[1].channel, from_a, width)
        hand_over(mixers[0].channel, from_b, width)

    return _one_ahead(ask, (mixers[0].channel, mixers[1].channel), form, codes)


def ask_partner(me: Party, partner: ReceivedPool, layout: Layout, model: Model, codes: Values) -> Labels:
    """Two hospitals alone, the asking one: it reads its own share directly and asks the other obliviously."""
    form = Form.of(layout, model.width)
    return _joined([_ask_partner(me, partner, form, model, codes[:, p]) for p in form.pieces(codes.shape[1])])


def _ask_partner(me: Party, partner: ReceivedPool, form: Form, model: Model, codes: Values) -> Labels:
    question = Question(form, partner, codes)
    question.announce()
    share = scores(model, codes)
    share[1:] = (share[1:] + question.add_up()) & mask(form.width)
    return label.from_partner(me, winners(me, share, form.width), form.classes)


def answer_partner(me: Party, partner: SentPool, layout: Layout, model: Model, count: int) -> None:
    """Two hospitals alone, the other one."""
    form = Form.of(layout, model.width)
    for piece in form.pieces(count):
        share = np.zeros((form.classes, piece.stop - piece.start), np.uint64)
        hidden = answer(form, partner, model, me.random, share.shape[1])
        share[1:] = (model.prior[:, None] - hidden) & mask(form.width)
        label.to_partner(me, winners(me, share, form.width), form.classes)


def _one_ahead(
    ask: Callable[[Values], None], mixers: tuple[Channel, Channel], form: Form, codes: Values
) -> Labels:
    """Ask piece by piece, and collect a piece's labels once the next one is asked."""
    waiting: deque[int] = deque()
    labels = []
    for piece in form.pieces(codes.shape[1]):
        ask(codes[:, piece])
        waiting.append(piece.stop - piece.start)
        if len(waiting) > 1:
            labels.append(label.receive(*mixers, waiting.popleft(), form.classes))
    labels += [label.receive(*mixers, count, form.classes) for count in waiting]
    return _joined(labels)


def _joined(labels: list[Labels]) -> Labels:
    return np.concatenate(labels) if labels else np.empty(0, np.int64)


def run_classification(
    layout: Layout,
    models: tuple[Model, Model],
    codes: Values,
    seeds: tuple[bytes, bytes, bytes],
    *,
    private: bool = True,
) -> Labels:
    """The asking hospital and the two mixers A and B, all in memory. Seeds: of the hospital, of A and of B."""
    a_to_b, b_to_a = memory.channels("mixer a", "mixer b")
    asker_to_a, a_to_asker = memory.channels("party asker", "mixer a")
    asker_to_b, b_to_asker = memory.channels("party asker", "mixer b")
    count = codes.shape[1]

    def mixer(role: int, to_other: Channel, to_asker: Channel) -> None:
        random = Randomness(seeds[1 + role])
        # The mixers make random transfers between themselves, and agree on a pad for the labels.
        me = Party(role, to_other, connect_pair(role, to_other, random), random)
        blinding = label.common_blinding(me)
        if private:
            # Each makes random transfers with the hospital, and offers its tables without learning what is taken.
            answer_private(me, connect_answerer(to_asker, random), layout, models[role], count, blinding)
        else:
            # Each reads the rows and adds up its shares of the scores.
            answer_public(me, to_asker, layout, models[role], count, blinding)
        # In both cases they then compare on shares, and each sends its blinded share of the label.

    def hospital() -> Labels:
        width = models[0].width
        if not private:
            return ask_public((asker_to_a, asker_to_b), layout, width, codes)
        random = Randomness(seeds[0])
        pools = connect_asker(asker_to_a, random), connect_asker(asker_to_b, random)
        return ask_private(pools, layout, width, codes)

    labels, _, _ = memory.together(
        hospital, lambda: mixer(A, a_to_b, a_to_asker), lambda: mixer(B, b_to_a, b_to_asker)
    )
    return labels
