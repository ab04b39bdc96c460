"""Two hospitals alone: each is a computing party, and one of them asks.

| asked | the asking hospital | the other hospital |
|---|---|---|
| privately | masks sums of the other's table, and adds its own | sends its table encrypted; decrypts masked sums |
| publicly | shows the row | reads the row |

Then both compare on shares, and the other sends its share of the label to the one that asked.

In an evaluation nobody sends a label: both count the answers of every group of rows on shares. The asking hospital's
share of the groups is the groups themselves, and the other's is zero; the other sends its share of the totals.

A personal recipe needs the asking hospital's counts. Its share of them is these counts, and the other's is zero. So
nobody checks what it adds: it may train with other counts than it contributed. With noise that tells it no more than N~
does. Without noise it is one more way to read the other hospital's exact counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Values, Words, mask
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes import label
from mixbayes.protocol.bayes import public_rows as rows
from mixbayes.protocol.bayes.evaluation import (
    Integers,
    Sheet,
    Totals,
    group_bits,
    receive_partner_totals,
    send_partner_totals,
    tally,
    train_folds,
)
from mixbayes.protocol.bayes.label import Labels, joined
from mixbayes.protocol.bayes.model import Model, scores
from mixbayes.protocol.bayes.question import Form, Offered, TableHolder, TableReader, receive_sums, scores_from
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pool import connect_pair


def ask_partner(me: ComputingParty, partner: TableReader, layout: Layout, model: Model, codes: Values) -> Labels:
    """Two hospitals alone, the asking one: it reads its own table, and masks sums of the other's."""
    form = Form.of(layout, model.width, model.answers)
    labels = []
    for piece in form.pieces(codes.shape[1]):
        share = _asked(form, partner, model, codes[:, piece])
        labels.append(label.from_partner(me, label.decided(me, share, model), model.answers))
    return joined(labels)


def answer_partner(me: ComputingParty, partner: TableHolder, layout: Layout, model: Model, count: int) -> None:
    """Two hospitals alone, the other one."""
    form = Form.of(layout, model.width, model.answers)
    asked = [(model, piece.stop - piece.start) for piece in form.pieces(count)]
    for one in partner.offered(form, asked):
        share = _answered(form, partner, one)
        label.to_partner(me, label.decided(me, share, model), model.answers)


def _asked(form: Form, partner: TableReader, model: Model, codes: Values) -> Words:
    """The asking hospital's share of the scores (K, n): what its own table says, less the masks of the other's sums."""
    share = scores(form.layout, model, codes)
    share[1:] = (share[1:] + partner.ask_partner(form, codes)) & mask(form.width)
    return share


def _answered(form: Form, partner: TableHolder, one: Offered) -> Words:
    """The other hospital's share of the scores (K, n): its prior, and the sums of its table under masks."""
    return scores_from(form, receive_sums(partner.asker, one))


def ask_partner_totals(
    me: ComputingParty,
    partner: TableReader,
    sheet: Sheet,
    models: Sequence[Model],
    codes: Values,
    groups: Integers,
) -> Totals:
    """An evaluation, the asking hospital: rows (columns, n) in the order of their folds, each with its group.

    There is a model for each fold.
    """
    bits, total = group_bits(sheet, groups), np.zeros(sheet.size, np.uint64)
    for piece in sheet.pieces():
        model = models[sheet.fold_of(piece)]
        share = _asked(sheet.form, partner, model, codes[:, piece])
        total += tally(me, sheet, model, share, bits[:, piece])
    return receive_partner_totals(me.channel, sheet, total, groups)


def answer_partner_totals(me: ComputingParty, partner: TableHolder, sheet: Sheet, models: Sequence[Model]) -> None:
    """An evaluation, the other hospital. It learns nothing but how many rows there are."""
    total = np.zeros(sheet.size, np.uint64)
    asked = [(models[sheet.fold_of(piece)], piece.stop - piece.start) for piece in sheet.pieces()]
    for one in partner.offered(sheet.form, asked):
        share = _answered(sheet.form, partner, one)
        total += tally(me, sheet, models[0], share, np.zeros((sheet.groups, one.rows), np.uint8))
    send_partner_totals(me.channel, total)


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
        codes = rows.receive(me.channel, layout, piece.stop - piece.start).codes
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
    # Random transfers are made on a channel of their own.
    ahead_b, ahead_a = memory.channels("party A", "party B")
    count = codes.shape[1]

    def hospital(role: int, other: Channel, ahead: Channel, question: Channel) -> Labels | None:
        random = Randomness(seeds[role])
        me = ComputingParty(role, other, connect_pair(role, ahead, random), random)
        model = models[role]
        if not private and role == asker:
            # The asker shows the rows, and each adds up its shares of the scores.
            return show_partner(me, layout, model, codes)
        if not private:
            see_partner(me, layout, model, count)
        elif role == asker:
            # The other one sends its table encrypted. The asker adds up, masks the sums, and adds what its own table
            # says.
            return ask_partner(me, TableReader([question], random), layout, model, codes)
        else:
            # What it decrypts, the sums under masks, is its own share.
            answer_partner(me, TableHolder(question, random), layout, model, count)
        # In all cases both then compare on shares, and the other one sends its share of the label.
        return None

    labels: Labels = memory.together(
        lambda: hospital(A, to_b, ahead_b, question_to_b),
        lambda: hospital(B, to_a, ahead_a, question_to_a),
    )[asker]
    return labels


def run_partner_evaluation(
    sheet: Sheet,
    joint: tuple[Words, Words],
    folds: Words,
    codes: Values,
    groups: Integers,
    seeds: tuple[bytes, bytes],
    *,
    asker: int = A,
) -> Totals:
    """Hospitals A and B, one of them asking, both in memory. `folds` are the counts of the asker's folds (folds, size).

    Each has a share of the joint counts: without noise, its own counts.
    """
    to_b, to_a = memory.channels("party A", "party B")
    question_to_b, question_to_a = memory.channels("party A", "party B")
    # Random transfers are made on a channel of their own.
    ahead_b, ahead_a = memory.channels("party A", "party B")

    def hospital(role: int, other: Channel, ahead: Channel, question: Channel) -> Totals | None:
        random = Randomness(seeds[role])
        me = ComputingParty(role, other, connect_pair(role, ahead, random), random)
        # Both train a model for each fold, in which it does not count. The other's share of the folds is zero.
        own = folds if role == asker else np.zeros_like(folds)
        models = train_folds(me, sheet.layout, sheet.recipe, joint[role], own)
        if role == asker:
            # The asker takes scores as in a question, and both count the answers of every group on shares.
            return ask_partner_totals(me, TableReader([question], random), sheet, models, codes, groups)
        answer_partner_totals(me, TableHolder(question, random), sheet, models)
        # Only then the other one sends its share of the totals.
        return None

    totals: Totals = memory.together(
        lambda: hospital(A, to_b, ahead_b, question_to_b),
        lambda: hospital(B, to_a, ahead_a, question_to_a),
    )[asker]
    return totals
