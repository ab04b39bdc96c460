"""A mixer at work in one conversation: the asking hospital, the other mixer, and question after question.

For every question the mixers first compare the question that each received and the verdict of each ledger. Both charge
the question before they compute anything together, and each writes its share of the labels down before it sends it.
Rows that the hospital shows follow its announcement at once; they are dropped if the question is not answered anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count

import numpy as np

from mixbayes.mixers.comparing import common_verdict, give_back
from mixbayes.mixers.joint_test import JointTest
from mixbayes.mixers.personal import Personal
from mixbayes.mixers.supply import NO_SUPPLY, Supply
from mixbayes.node import questions
from mixbayes.node.ledger import Ledger, refusal
from mixbayes.node.questions import Kind, Question, Verdict
from mixbayes.node.recipes import of_one_training
from mixbayes.node.tallies import Counting, uncounted
from mixbayes.protocol.arrays import Bytes, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes import label
from mixbayes.protocol.bayes import public_rows as rows
from mixbayes.protocol.bayes.classification import answer_private, answer_public
from mixbayes.protocol.bayes.evaluation import Sheet, blinded, judge, send_totals, train_folds
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.question import TableHolder
from mixbayes.protocol.bayes.recipe import JOINT
from mixbayes.protocol.bayes.training import train_each
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.supplied import connect_supplied


@dataclass(frozen=True)
class _Desk:
    """One conversation at this mixer, and what the mixer has for the hospital that asks."""

    me: ComputingParty
    asker: Channel
    holder: TableHolder
    layout: Layout
    ledger: Ledger[Model]
    personal: Personal
    joint_test: JointTest
    blinding: Callable[[], bytes]
    """The seed of the pads that both mixers put on what they send. The first call waits for the other mixer's half."""


def converse(
    role: int,
    other: Sequence[Channel],
    asker: Channel,
    layout: Layout,
    ledger: Ledger[Model],
    personal: Personal,
    joint_test: JointTest,
    random: Randomness,
    supply: Supply = NO_SUPPLY,
    counted: Counting = uncounted,
) -> None:
    """Answer until the hospital asks no more. `other` are the channels to the other mixer, for now and ahead."""
    pool = connect_supplied(role, other[1], random, supply, kind=supply.kind)
    me = ComputingParty(role, other[0], pool, random)
    desk = _Desk(me, asker, TableHolder(asker, random), layout, ledger, personal, joint_test, label.start_blinding(me))
    while (question := questions.receive(asker)).kind is not Kind.END:
        if question.kind is Kind.TOP_UP:
            me.pool.top_up()
        elif question.kind is Kind.BROKEN:
            give_back(me, asker, ledger, question)
        else:
            with supply.at_work(), counted(question):
                verdict = _answer(desk, question)
            if question.last and verdict is not Verdict.SPENT:
                break
    asker.close()  # the hospital need not wait for the end of the conversation between the mixers


def _answer(desk: _Desk, question: Question) -> Verdict:
    """Answer one question, after its announcement, with this mixer's share of the labels or totals."""
    me, asker, ledger, joint_test = desk.me, desk.asker, desk.ledger, desk.joint_test
    verdict = common_verdict(me, asker, ledger, question)
    if verdict is Verdict.GO and question.kind is Kind.ASIDE and joint_test.given_to_both(me, question):
        verdict = Verdict.STORED
    joint = verdict is Verdict.GO and question.kind is Kind.JOINT_TEST
    noise = joint_test.prepare(me, question) if joint else None
    if refused := refusal(verdict, asker.peer, question):
        raise refused
    if verdict is Verdict.GO:
        ledger.charge(question)
        # The other mixer's word is received before its first message of the computation, so nothing is computed, and
        # nothing opened, that only one has charged. Nobody waits for this word alone.
        me.channel.start_swap(questions.CHARGED, question.id)
    questions.send_verdict(asker, verdict)
    if question.kind is Kind.PUBLIC and verdict is not Verdict.GO:
        rows.drop(asker, desk.layout, question.rows)
    if verdict is Verdict.STORED:
        shares = ledger.kept(question)
        if question.kind is not Kind.ASIDE:
            ledger.release(question, len(shares) - 1)
        for share in shares:
            _send(question, asker, share)
    elif verdict is Verdict.GO and question.kind is Kind.ASIDE:
        joint_test.give(me, asker, question, ledger.trained(question.round)[1])
    elif joint:
        _open(desk, question, joint_test.figures(me, question, noise))
    elif verdict is Verdict.GO and question.kind is Kind.EVALUATION:
        _evaluate(desk, question)
    elif verdict is Verdict.GO:
        _classify(desk, question)
    return verdict


def _classify(desk: _Desk, question: Question) -> None:
    model, asker = _model(desk, question), desk.asker
    numbers = count()

    def release(share: Bytes) -> None:
        _release(desk, question, next(numbers), share)
        label.send(asker, share)

    pad = label.blinding_for(question.id, desk.blinding())
    if question.private:
        answer_private(desk.me, desk.holder, desk.layout, model, question.rows, pad, release, question.model)
    else:
        answer_public(desk.me, asker, desk.layout, model, question.rows, pad, release)


def _model(desk: _Desk, question: Question) -> Model:
    """This mixer's share of the model that answers. That of a recipe is trained when it is first asked for."""
    if question.recipe == JOINT:
        return desk.ledger.trained(question.round)[1]
    layout, personal = desk.layout, desk.personal

    def train() -> Model:
        joint, own = personal.joint(question.round), np.zeros(layout.size, np.uint64)
        if question.recipe.personal:
            own = personal.folds(question.round).sum(axis=0, dtype=np.uint64)
        return train_each(desk.me, layout, question.recipe, joint[None], own[None])[0]

    return of_one_training(desk.me, personal.kept(question), train, partial(personal.keep, question))


def _evaluate(desk: _Desk, question: Question) -> None:
    """Train the classifiers without each fold, and send this mixer's share of the totals."""
    joint, folds = desk.personal.joint(question.round), desk.personal.folds(question.round)
    models = train_folds(desk.me, desk.layout, question.recipe, joint, folds)
    sheet = Sheet(desk.layout, question.recipe, question.rows)
    _open(desk, question, judge(desk.me, desk.asker, sheet, models))


def _open(desk: _Desk, question: Question, found: Words) -> None:
    """Send this mixer's share of totals under its pad."""
    share = blinded(desk.me, found, label.blinding_for(question.id, desk.blinding()))
    _release(desk, question, 0, share)
    send_totals(desk.asker, share)


def _release(desk: _Desk, question: Question, piece: int, share: Bytes) -> None:
    """A piece leaves once both mixers have their shares of it on disk. Else one would charge it, and not the other."""
    desk.ledger.keep(question, piece, share)
    desk.me.channel.swap(questions.KEPT, question.id)
    desk.ledger.release(question, piece)


def _send(question: Question, asker: Channel, share: bytes) -> None:
    (send_totals if question.kind in (Kind.EVALUATION, Kind.JOINT_TEST) else label.send)(asker, share)
