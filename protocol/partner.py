"""Two hospitals alone: each is a computing party, and one of them asks.

| asked | the asking hospital | the other hospital |
|---|---|---|
| privately | chooses obliviously; adds what it reads of its own table | offers its table plus ρ; keeps what ρ leaves |
| publicly | shows the row | reads the row |

Then both compare on shares, and the other sends its share of the label to the one that asked.
"""

from __future__ import annotations

import numpy as np

from mixbayes.protocol import label, rows
from mixbayes.protocol.argmax import winners
from mixbayes.protocol.arrays import Values, mask
from mixbayes.protocol.label import Labels, joined
from mixbayes.protocol.layout import Layout
from mixbayes.protocol.model import Model, scores
from mixbayes.protocol.party import Party
from mixbayes.protocol.pool import ReceivedPool, SentPool
from mixbayes.protocol.question import Form, Line, Question, answer


def ask_partner(me: Party, partner: Line[ReceivedPool], layout: Layout, model: Model, codes: Values) -> Labels:
    """Two hospitals alone, the asking one: it reads its own share directly and asks the other obliviously."""
    form = Form.of(layout, model.width)
    labels = []
    for piece in form.pieces(codes.shape[1]):
        announced = Question(form, partner, codes[:, piece]).announce()
        share = scores(model, codes[:, piece])
        share[1:] = (share[1:] + announced.receive_and_add_up()) & mask(form.width)
        labels.append(label.from_partner(me, winners(me, share, form.width), form.classes))
    return joined(labels)


def answer_partner(me: Party, partner: Line[SentPool], layout: Layout, model: Model, count: int) -> None:
    """Two hospitals alone, the other one."""
    form = Form.of(layout, model.width)
    for piece in form.pieces(count):
        share = np.zeros((form.classes, piece.stop - piece.start), np.uint64)
        hidden = answer(form, partner, model, me.random, share.shape[1])
        share[1:] = (model.prior[:, None] - hidden) & mask(form.width)
        label.to_partner(me, winners(me, share, form.width), form.classes)


def show_partner(me: Party, layout: Layout, model: Model, codes: Values) -> Labels:
    """Two hospitals alone, the asking one, for rows that it shows the other."""
    labels = []
    for piece in rows.pieces(codes.shape[1]):
        rows.send(me.channel, layout, codes[:, piece])
        hot = winners(me, scores(model, codes[:, piece]), model.width)
        labels.append(label.from_partner(me, hot, model.classes))
    return joined(labels)


def see_partner(me: Party, layout: Layout, model: Model, count: int) -> None:
    """Two hospitals alone, the other one, for rows that it is shown."""
    for piece in rows.pieces(count):
        codes = rows.receive(me.channel, layout, piece.stop - piece.start)
        label.to_partner(me, winners(me, scores(model, codes), model.width), model.classes)
