"""Two hospitals alone: each is a computing party, and one of them asks.

| asked | the asking hospital | the other hospital |
|---|---|---|
| privately | chooses obliviously; adds what it reads of its own table | offers its table plus ρ; keeps what ρ leaves |
| publicly | shows the row | reads the row |

Then both compare on shares, and the other sends its share of the label to the one that asked.
"""

from __future__ import annotations

import numpy as np

from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Values, mask
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes import label
from mixbayes.protocol.bayes import public_rows as rows
from mixbayes.protocol.bayes.label import Labels, joined
from mixbayes.protocol.bayes.model import Model, scores
from mixbayes.protocol.bayes.question import Form, Line, Selection, answer
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pool import ReceivedPool, SentPool, connect_answerer, connect_asker, connect_pair


def ask_partner(me: ComputingParty, partner: Line[ReceivedPool], layout: Layout, model: Model, codes: Values) -> Labels:
    """Two hospitals alone, the asking one: it reads its own share directly and asks the other obliviously."""
    form = Form.of(layout, model.width)
    labels = []
    for piece in form.pieces(codes.shape[1]):
        announced = Selection(form, partner, codes[:, piece]).announce()
        share = scores(layout, model, codes[:, piece])
        share[1:] = (share[1:] + announced.receive_and_add_up()) & mask(form.width)
        labels.append(label.from_partner(me, label.decided(me, share, model), model.answers))
    return joined(labels)


def answer_partner(me: ComputingParty, partner: Line[SentPool], layout: Layout, model: Model, count: int) -> None:
    """Two hospitals alone, the other one."""
    form = Form.of(layout, model.width)
    for piece in form.pieces(count):
        share = np.zeros((form.classes, piece.stop - piece.start), np.uint64)
        hidden = answer(form, partner, model, me.random, share.shape[1])
        share[1:] = (model.prior[:, None] - hidden) & mask(form.width)
        label.to_partner(me, label.decided(me, share, model), model.answers)


def show_partner(me: ComputingParty, layout: Layout, model: Model, codes: Values) -> Labels:
    """Two hospitals alone, the asking one, for rows that it shows the other."""
    labels = []
    for piece in rows.pieces(codes.shape[1]):
        rows.send(me.channel, layout, codes[:, piece])
        hot = label.decided(me, scores(layout, model, codes[:, piece]), model)
        labels.append(label.from_partner(me, hot, model.answers))
    return joined(labels)


def see_partner(me: ComputingParty, layout: Layout, model: Model, count: int) -> None:
    """Two hospitals alone, the other one, for rows that it is shown."""
    for piece in rows.pieces(count):
        codes = rows.receive(me.channel, layout, piece.stop - piece.start)
        label.to_partner(me, label.decided(me, scores(layout, model, codes), model), model.answers)


def run_partner_classification(
    layout: Layout,
    models: tuple[Model, Model],
    codes: Values,
    seeds: tuple[bytes, bytes],
    *,
    private: bool = True,
    asker: int = A,
) -> Labels:
    """Hospitals A and B, one of them asking, both in memory."""
    to_b, to_a = memory.channels("party A", "party B")
    question_to_b, question_to_a = memory.channels("party A", "party B")
    # Random transfers are made on channels of their own.
    ahead_b, ahead_a = memory.channels("party A", "party B")
    question_ahead_b, question_ahead_a = memory.channels("party A", "party B")
    count = codes.shape[1]

    def hospital(
        role: int, other: Channel, ahead: Channel, question: Channel, question_ahead: Channel
    ) -> Labels | None:
        random = Randomness(seeds[role])
        me = ComputingParty(role, other, connect_pair(role, ahead, random), random)
        model = models[role]
        if not private and role == asker:
            # The asker shows the rows, and each adds up its shares of the scores.
            return show_partner(me, layout, model, codes)
        if not private:
            see_partner(me, layout, model, count)
        elif role == asker:
            # The other one offers its table, and does not learn what is taken; the asker adds what its own table says.
            return ask_partner(me, Line(question, connect_asker(question_ahead, random)), layout, model, codes)
        else:
            # What it added to its entries is, taken away, its own share.
            answer_partner(me, Line(question, connect_answerer(question_ahead, random)), layout, model, count)
        # In all cases both then compare on shares, and the other one sends its share of the label.
        return None

    labels: Labels = memory.together(
        lambda: hospital(A, to_b, ahead_b, question_to_b, question_ahead_b),
        lambda: hospital(B, to_a, ahead_a, question_to_a, question_ahead_a),
    )[asker]
    return labels
