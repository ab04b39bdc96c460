"""What a hospital can do to the other one, beyond what the protocol lets it: nothing that it could learn from."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from mixbayes.node import questions
from mixbayes.node.disk import audit
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.datastore import COMPUTING_PARTY as SCHEMA
from mixbayes.node.log import logger
from mixbayes.node.questions import ID_BYTES, Kind, Question
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.node.rounds.state import FAILED, SEALED, SERVING
from mixbayes.parties.alone import store as partner_store
from mixbayes.parties.alone.dialling import Dialler, ListeningHospital
from mixbayes.parties.alone.hospital import StandingTalk
from mixbayes.parties.alone.store import PartnerStore
from mixbayes.parties.alone.talk import Asker, train_round
from mixbayes.protocol.bayes.agreed_set import set_digest
from mixbayes.protocol.bayes.recipe import JOINT
from mixbayes.protocol.errors import OutOfRange, PeerError, PeerGone, WrongStep
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pool import connect_pair
from mixbayes.transport.conversation import ASKING, TRAINING
from mixbayes.transport.errors import AlreadyContributed, OverBudget, RefusedByPolicy, RoundFailed, RoundOver, TooEarly
from mixbayes.wire.v1.node_pb2 import RoundNumber
from tests.services.couple import NORTH, ROWS, SOUTH, Couple, make_couple
from tests.services.helpers import at_work, wait_until
from tests.services.liar import HungUp, Liar, lying

BUDGET = 30


@pytest.fixture
def couple(tmp_path: Path) -> Couple:
    return make_couple(tmp_path / "site", policy={"budget": BUDGET})


@pytest.fixture
def liar(couple: Couple) -> Iterator[Liar]:
    with lying(couple) as one:
        yield one


def begin_training(liar: Liar, whose: str = "1", due: int = 0) -> None:
    """Up to the point from which on north uses its counts, as its trail says so many times."""
    with suppress(HungUp), liar.talk(TRAINING, whose) as (now, ahead):
        connect_pair(liar.store.role, ahead, Randomness.from_system())
        held = {name: one.id for name, one in liar.store.rounds.contributions(1).items()}
        mine = bytes.fromhex(set_digest(1, held))
        assert now.swap("set of contributions", mine).tobytes() == mine
        wait_until(lambda: trainings(liar.couple) == due, "north has begun")
        raise HungUp


def trainings(couple: Couple) -> int:
    return sum(record.entry.verb == "trains" for record in audit.entries(couple.site.state(NORTH)))


def test_no_training_before_the_set_is_fixed(liar: Liar) -> None:
    liar.seal()
    with pytest.raises(TooEarly, match="collecting at party north"):
        begin_training(liar)
    assert trainings(liar.couple) == 0


def test_no_training_of_a_model_that_serves(liar: Liar) -> None:
    """Else it could be made again and again with other counts, and each time something would show."""
    liar.served()
    assert trainings(liar.couple) == 1
    with pytest.raises(RoundOver, match="Round 1 is serving at party north"):
        begin_training(liar)
    assert trainings(liar.couple) == 1
    assert liar.north.report().state == SERVING


def test_no_training_of_a_round_that_is_over(liar: Liar) -> None:
    liar.served()
    liar.north.close(1, "party south")
    with pytest.raises(RoundOver):
        begin_training(liar)
    liar.north.open(2, "party south")
    with pytest.raises(RoundOver):
        begin_training(liar)
    assert trainings(liar.couple) == 1


def test_trainings_that_break_off_are_counted(liar: Liar, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever hangs up once it has seen the one bit that a training opens could else search for a number of rows."""
    monkeypatch.setattr(partner_store, "MOST_TRAININGS", 3)
    liar.sealed()
    for done in range(1, 4):
        begin_training(liar, due=done)
    assert liar.north.report().state == SEALED
    with liar.talk(TRAINING, "1") as channels, pytest.raises(RoundFailed, match="was begun 3 times"):
        train_round(liar.store, 1, channels)
    wait_until(lambda: liar.north.report().state == FAILED, "north gives the round up")
    assert trainings(liar.couple) == 3


def test_a_model_may_be_made_again_until_both_have_it_and_only_the_last_one_serves(liar: Liar) -> None:
    liar.sealed()
    runs = []
    for _ in range(2):
        with liar.talk(TRAINING, "1") as channels:
            train_round(liar.store, 1, channels)
        runs.append(liar.store.rounds.current().run or b"")
        wait_until(lambda: liar.couple.site.journals[NORTH].getvalue().count('"trained"') == len(runs), "north too")
    assert not liar.north.confirm(1, runs[0])
    assert not liar.north.confirm(1, b"")
    assert liar.north.confirm(1, runs[1])


@pytest.mark.parametrize("whose", ["", "one", "-1", "1.0", "0", "99999999999999999999999"])
def test_rounds_that_are_no_rounds(liar: Liar, whose: str) -> None:
    liar.sealed()
    with pytest.raises((PeerError, TooEarly, RoundOver)):
        begin_training(liar, whose)
    assert trainings(liar.couple) == 0
    assert not liar.couple.site.journals[NORTH].says("a mistake of this program")


def test_one_contribution_to_a_round(liar: Liar) -> None:
    liar.seal()
    with pytest.raises(AlreadyContributed) as caught:
        liar.seal({SOUTH: secrets.token_bytes(ID_BYTES)})
    assert caught.value.exit_code == 5
    assert not liar.seal()


@pytest.mark.parametrize("id", [b"", bytes(15), bytes(1 << 16)], ids=len)
def test_an_id_is_an_id(liar: Liar, id: bytes) -> None:
    with pytest.raises(OutOfRange, match=r"^party south, at sealing the round: "):
        liar.seal({SOUTH: id})
    assert liar.north.report().missing == [SOUTH]


def test_a_set_with_strangers_or_without_north_is_not_sealed(liar: Liar) -> None:
    assert not liar.seal({SOUTH: liar.id, "east": bytes(ID_BYTES)})
    assert not liar.seal({SOUTH: liar.id})
    assert not liar.seal({})


def test_another_contribution_of_north_ends_the_round(liar: Liar) -> None:
    with pytest.raises(RoundFailed, match="different contributions of party north"):
        liar.seal({SOUTH: liar.id, NORTH: bytes(ID_BYTES)})


@pytest.mark.parametrize("number", [0, 2, 2**31])
def test_sets_of_other_rounds(liar: Liar, number: int) -> None:
    with pytest.raises((TooEarly, RoundOver)):
        liar.seal(number=number)
    assert liar.north.report().missing == [SOUTH]


def question(rows: int = ROWS.rows, number: int = 1, id: bytes = b"") -> Question:
    return Question(Kind.PUBLIC, number, rows, id or secrets.token_bytes(ID_BYTES))


def uncharged(what: Question) -> None:
    """The asking hospital's own ledger is its own affair."""


def answered(liar: Liar, asker: Asker, what: Question) -> None:
    engine = asker.announce(what, uncharged)
    assert engine
    labels = asker.ask(engine, what, liar.couple.codes(ROWS))
    classes = liar.couple.site.federation.dictionary.classes
    assert [classes[label] for label in labels] == liar.couple.due()


def test_a_question_is_answered_once(liar: Liar) -> None:
    liar.served()
    asked = question()
    with liar.asking() as (asker, _):
        answered(liar, asker, asked)
    with liar.asking() as (asker, _):
        assert asker.announce(asked, uncharged) is None
        answered(liar, asker, question())
    assert liar.left == BUDGET - 2 * ROWS.rows


def test_the_budget_is_norths_to_keep(liar: Liar) -> None:
    """In one conversation or in many."""
    liar.served()
    for _ in range(BUDGET // ROWS.rows):
        with liar.asking() as (asker, _):
            answered(liar, asker, question())
    with liar.asking() as (asker, _), pytest.raises(OverBudget):
        asker.announce(question(), uncharged)
    assert liar.left == BUDGET % ROWS.rows


@pytest.mark.parametrize("number", [0, 2, 2**31])
def test_questions_of_other_rounds(liar: Liar, number: int) -> None:
    liar.served()
    with liar.asking() as (_, line):
        questions.send(line, question(number=number))
        with pytest.raises(RoundOver, match=f"Round {number} answers no questions"):
            questions.receive_verdict(line)
    assert liar.left == BUDGET


def test_no_question_before_a_model_serves(liar: Liar) -> None:
    liar.sealed()
    with liar.asking() as (_, line):
        questions.send(line, question())
        with pytest.raises(RoundOver):
            questions.receive_verdict(line)


def test_a_question_of_too_many_rows(tmp_path: Path) -> None:
    couple = make_couple(tmp_path / "site")
    with lying(couple) as liar:
        liar.served()
        left = liar.left
        for rows in (0, liar.store.most_rows(JOINT) + 1, 2**32 - 1):
            with liar.asking() as (_, line):
                questions.send(line, question(rows))
                with pytest.raises(PeerError, match="rows"):
                    questions.receive_verdict(line)
        assert liar.left == left


@pytest.mark.parametrize(("purpose", "whose"), [("gossip", SOUTH), (ASKING, "east"), (ASKING, ""), ("", "")])
def test_conversations_about_something_else(liar: Liar, purpose: str, whose: str) -> None:
    with pytest.raises(WrongStep, match="no purpose that is known here"), liar.talk(purpose, whose) as channels:
        channels[0].receive("anything", 1)


def test_there_is_a_most_of_conversations(liar: Liar) -> None:
    liar.sealed()
    open_ones = [liar.talk(TRAINING, "1") for _ in range(8)]
    try:
        for one in open_ones:
            one.__enter__()
        wait_until(lambda: len(at_work()) == 8, "all have arrived")
        with pytest.raises(RefusedByPolicy, match="8 conversations open already"), liar.talk(TRAINING, "1") as channels:
            channels[0].receive("anything", 1)
    finally:
        for one in open_ones:
            one.__exit__(PeerGone, PeerGone("this node", "a test", "it ends"), None)


def test_rounds_do_not_run_away(liar: Liar) -> None:
    """Numbers only grow: the last one would leave no other."""
    liar.north.close(1, "party south")
    for number in (2**32 - 1, 1002):
        with pytest.raises(OutOfRange, match=f"it speaks of round {number}, and 1 is the last one"):
            liar.north.open(number, "party south")
    liar.north.open(2, "party south")
    assert liar.north.report().round == 2


def test_what_south_does_is_written_down_as_souths(liar: Liar) -> None:
    for name in ("party north", "x" * 10_000, "a\x1b[2Jb"):
        liar.peer.call(liar.north.stub.CloseRound, RoundNumber(round=1, actor=name), "closing the round")
    closed = [record.entry for record in audit.entries(liar.couple.site.state(NORTH)) if record.entry.verb == "closed"]
    assert [entry.actor for entry in closed] == ["party south"]


def test_a_reason_moves_no_cursor(liar: Liar) -> None:
    liar.north.fail(1, "because \x1b[2J\nmixbayes: all is well " + "x" * 10_000)
    reason = liar.north.report().reason
    assert reason.isprintable()
    assert reason.startswith("party south says: because ")
    assert len(reason) <= 400


class LyingNorth(ListeningHospital):
    """Agrees to everything and never has a model."""

    def __init__(self, store: PartnerStore) -> None:
        self._store = store
        self.trained = 0

    def confirm(self, number: int, run: bytes) -> bool:
        return False

    def fail(self, number: int, reason: str) -> None:
        pass

    def train(self, number: int) -> None:
        self.trained += 1
        self._store.begin_training(number)
        self._store.rounds.keep_model(number, secrets.token_bytes(16), b"model", [])


def test_the_dialler_trains_no_more_often_either(couple: Couple) -> None:
    site, settings = couple.site, couple.settings(SOUTH)
    with Database.open(site.state(SOUTH), SCHEMA, site.identity(SOUTH).seal, "party south of tumours") as database:
        store = PartnerStore(Rounds(database, site.federation, "party south", time.time), SOUTH, settings.vector)
        store.contribute()
        store.meet(1, {NORTH: bytes(ID_BYTES)})
        store.rounds.seal(1, {name: one.id for name, one in store.rounds.contributions(1).items()})
        north = LyingNorth(store)
        dialler = Dialler(store, north, StandingTalk(), logger("party south"))
        for _ in range(3 * partner_store.MOST_TRAININGS):
            dialler.leader.step()
        assert store.rounds.current().state == FAILED
        assert 1 < north.trained <= partner_store.MOST_TRAININGS
