"""The conversations of two hospitals: one for each training, and one in which each of them asks the other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from mixbayes.node import questions
from mixbayes.node.cuts import words_of
from mixbayes.node.ledger import Ledger, refusal
from mixbayes.node.questions import RUN_BYTES, Kind, Question, Verdict
from mixbayes.parties.alone.engine import AnsweringLine, AskingLine, Engine, train_engine
from mixbayes.parties.alone.store import PartnerStore
from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.bayes import label
from mixbayes.protocol.bayes.agreed_set import start_agreeing
from mixbayes.protocol.bayes.cuts import cuts_on_shares
from mixbayes.protocol.bayes.evaluation import Integers, Sheet, Totals
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.bayes.noise import blurred
from mixbayes.protocol.bayes.question import TableHolder, TableReader
from mixbayes.protocol.bayes.two_hospitals import answer_partner_totals, ask_partner_totals
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.errors import DifferentSets, MixbayesError, OutOfRange, PeerGone
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pool import connect_pair
from mixbayes.transport.conversation import AHEAD, MODEL_KEPT, NOW
from mixbayes.transport.errors import QuestionSpent

TRAINING_CHANNELS = NOW, AHEAD
ASKING_CHANNELS = NOW, AHEAD, "question", "question ahead"


def train_round(store: PartnerStore, number: int, channels: Sequence[Channel]) -> None:
    """One training, from both hospitals' counts to both halves of the model on disk."""
    store.refuse_training(number)
    now, ahead = channels
    random = Randomness.from_system()
    me = _computing_party(store, now, ahead, random)
    agree = start_agreeing(now, number, ((name, one.id) for name, one in store.rounds.contributions(number).items()))
    run = label.start_blinding(me)
    agree()
    store.begin_training(number)
    vector = store.vector(number)
    if store.layout.terms.coins:
        # Drawn again for the same two contributions, the noise is the same.
        vector = blurred(me, store.layout, vector, store.charge_noise(number))
    counts = vector if store.federation.asked_anew else None
    engine: Engine | None = None
    if bins := store.federation.bins_to_find:
        counts = words_of(cuts_on_shares(me, store.layout, vector, bins))
    else:
        engine = train_engine(store.federation.protocol, me, store.layout, vector)
        if counts is not None and store.federation.gives_model:
            counts = _opened(now, counts)
    try:
        if store.leads:
            now.receive(MODEL_KEPT, 0)  # the leader confirms next, and a half not yet on disk would seem lost
        store.keep(number, run()[:RUN_BYTES], engine, counts)
        if not store.leads:
            now.send(MODEL_KEPT, b"")
    except BaseException:
        if engine:
            engine.close()
        raise


def _computing_party(store: PartnerStore, now: Channel, ahead: Channel, random: Randomness) -> ComputingParty:
    pool = connect_pair(store.role, ahead, random, kind=store.federation.transfers)
    return ComputingParty(store.role, now, pool, random)


def _opened(other: Channel, share: Words) -> Words:
    """Noisy counts that both hospitals may keep."""
    step = "noisy counts"
    theirs = other.swap(step, share.astype("<u8").tobytes())
    return share + np.frombuffer(theirs.tobytes(), "<u8")


class Asker:
    """This hospital's conversation with the other one, in which it asks. Used by one thread at a time."""

    def __init__(self, store: PartnerStore, channels: Sequence[Channel]) -> None:
        now, ahead, question, question_ahead = channels
        random = Randomness.from_system()
        self._store = store
        self._me = _computing_party(store, now, ahead, random)
        self._line = AskingLine.connect(store.federation.protocol, question, question_ahead, random)
        self._over = threading.Event()
        self._failure: MixbayesError | None = None

    @property
    def over(self) -> bool:
        return self._over.is_set()

    def announce(self, question: Question, charge: Callable[[Question], None]) -> Engine | None:
        """Have both hospitals charge the question. Returns this side's engine, or None if it was charged before.

        As `ask`, if it raises: the other hospital would begin to answer what this one does not ask.
        """
        with self._final_on_failure():
            run, engine = self._store.engine(question.round)
            questions.send(self._line.channel, question)
            if not _goes_on(self._line.channel, run):
                return None
            charge(question)
            self._line.channel.send(questions.CHARGED, b"")
            return engine

    def give_back(self, broken: Question) -> int:
        """Have the other hospital give back a question that broke off. Returns how many rows it keeps as answered."""
        with self._final_on_failure():
            questions.send(self._line.channel, broken)
            return questions.receive_given(self._line.channel)

    def ask(self, engine: Engine, question: Question, codes: Values) -> Labels:
        """The labels of a question that was announced; the conversation is over if this raises."""
        with self._final_on_failure():
            own = self._store.of_recipe(self._me, engine, question, self._store.name)
            return own.ask(self._me, self._line if question.private else None, codes)

    def evaluate(self, question: Question, sheet: Sheet, codes: Values, groups: Integers) -> Totals:
        """The totals of an evaluation that was announced; the conversation is over if this raises."""
        with self._final_on_failure():
            models = self._store.without_each_fold(self._me, question, self._store.name)
            partner = TableReader([self._line.channel], self._me.random)
            return ask_partner_totals(self._me, partner, sheet, models, codes, groups)

    def warm(self) -> None:
        """Make random transfers ahead, while nobody asks."""
        with self._final_on_failure():
            questions.send(self._line.channel, Question(Kind.TOP_UP))
            self._me.pool.top_up()
            if self._line.pool:
                self._line.pool.top_up()

    def end(self, failure: MixbayesError | None = None) -> None:
        self._failure = failure
        self._over.set()

    def wait(self) -> None:
        """Wait until the conversation is over. Raises the error that ended it, if one did."""
        self._over.wait()
        if self._failure:
            raise self._failure
        questions.send(self._line.channel, Question(Kind.END))

    @contextmanager
    def _final_on_failure(self) -> Iterator[None]:
        try:
            yield
        except MixbayesError as error:
            self.end(error)
            raise
        except BaseException:
            self.end(PeerGone("this node", "asking", "it broke off"))
            raise


def _goes_on(other: Channel, run: bytes) -> bool:
    verdict = questions.receive_verdict(other)
    if verdict is Verdict.SPENT:
        return False
    theirs = other.receive("training", RUN_BYTES).tobytes()
    if verdict is not Verdict.GO:
        raise OutOfRange(other.peer, questions.VERDICT, "it gives a verdict that no hospital can give")
    if theirs != run:
        raise DifferentSets(other.peer, "question", "its model is from another training than this hospital's")
    return True


def spent() -> QuestionSpent:
    return QuestionSpent(
        "This question broke off before. Ask it again under a new id. If its computation had begun it stays charged."
    )


def answer_questions(store: PartnerStore, channels: Sequence[Channel]) -> None:
    """Answer the other hospital until it asks no more."""
    now, ahead, question_channel, question_ahead = channels
    random = Randomness.from_system()
    me = _computing_party(store, now, ahead, random)
    line = AnsweringLine.connect(store.federation.protocol, question_channel, question_ahead, random)
    ledger: Ledger[Engine] = store.page(store.other)
    while (question := questions.receive(line.channel)).kind is not Kind.END:
        if question.kind is Kind.TOP_UP:
            me.pool.top_up()
            if line.pool:
                line.pool.top_up()
            continue
        if question.kind is Kind.BROKEN:
            _give_back(line.channel, ledger, question)
            continue
        with store.tallies.answering(question):
            _answer(store, me, line, ledger, question)


def _answer(
    store: PartnerStore, me: ComputingParty, line: AnsweringLine, ledger: Ledger[Engine], question: Question
) -> None:
    """Answer one question, after its announcement."""
    verdict = ledger.verdict(question)
    if refused := refusal(verdict, store.partner, question):
        raise refused
    if verdict is not Verdict.GO:
        questions.send_verdict(line.channel, Verdict.SPENT)
        return
    run, engine = ledger.trained(question.round)
    most = store.most_rows(question.recipe)
    if question.kind is not Kind.EVALUATION and question.rows > most:
        raise OutOfRange(store.partner, questions.NEXT, f"a question has at most {most} rows")
    ledger.charge(question)
    questions.send_verdict(line.channel, verdict)
    line.channel.send("training", run)
    line.channel.receive(questions.CHARGED, 0)
    ledger.begin(question)
    if question.kind is Kind.EVALUATION:
        models = store.without_each_fold(me, question, store.other)
        sheet = Sheet(store.layout, question.recipe, question.rows)
        answer_partner_totals(me, TableHolder(line.channel, me.random), sheet, models)
    else:
        its_own = store.of_recipe(me, engine, question, store.other)
        its_own.answer(me, line if question.private else None, question.rows)


def _give_back(asker: Channel, ledger: Ledger[Engine], broken: Question) -> None:
    """Charge nothing for a question whose computation has not begun, and the whole of any other one.

    The asking hospital computes too. Nobody has bounded what it knows in the middle of a question if it departs from
    the protocol, so to break off again and again must not be free.
    """
    known = ledger.freeze(broken)
    ledger.give_back(broken, known)
    questions.send_given(asker, known)
