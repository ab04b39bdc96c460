"""Rounds on disk: what each state allows, what asking twice changes (nothing), and what an end leaves behind."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mixbayes.node.disk import audit
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.datastore import COMPUTING_PARTY
from mixbayes.node.disk.sealing import Seal
from mixbayes.node.rounds.record import COUNTED, HELD, LEFT_OUT, REFUSED, sealed_set
from mixbayes.node.rounds.rounds import APART, Rounds
from mixbayes.node.rounds.state import CLOSED, COLLECTING, FAILED, SEALED, SERVING, TRAINED
from mixbayes.protocol.bayes.tossing import COINS
from mixbayes.protocol.errors import DifferentSets, MixbayesError
from mixbayes.transport.errors import AlreadyContributed, BadState, RefusedByPolicy, RoundFailed, RoundOver, TooEarly
from tests.mixers.three_hospitals import NOISE, NOON, Clock, agreement, rounds_in

NORTH, SOUTH, WEST = ((name, name.encode().ljust(16)) for name in ("north", "south", "west"))
RUN, OTHER_RUN = b"r" * 16, b"s" * 16
MODEL = b"a share of a model"


@pytest.fixture
def rounds(tmp_path: Path) -> Iterator[Rounds]:
    with rounds_in(tmp_path, Clock()) as found:
        yield found


def hold(rounds: Rounds, *hospitals: tuple[str, bytes], number: int = 1) -> None:
    for name, id in hospitals:
        rounds.hold(number, name, id, b"message of " + id)


def sealed(rounds: Rounds) -> None:
    hold(rounds, NORTH, SOUTH, WEST)
    rounds.seal(1, dict([NORTH, SOUTH]))


def trained(rounds: Rounds) -> None:
    sealed(rounds)
    rounds.keep_model(1, RUN, MODEL, ["south"])


def serving(rounds: Rounds) -> None:
    trained(rounds)
    assert rounds.serve(1, RUN)


def failed(rounds: Rounds) -> None:
    rounds.fail(1, "nobody came.")


def closed(rounds: Rounds) -> None:
    rounds.close(1, "party north")


REACH: dict[str, Callable[[Rounds], None]] = {
    COLLECTING: lambda rounds: None,
    SEALED: sealed,
    TRAINED: trained,
    SERVING: serving,
    FAILED: failed,
    CLOSED: closed,
}
DO: dict[str, Callable[[Rounds], object]] = {
    "hold": lambda rounds: rounds.hold(1, "west", bytes(16), b"another one"),
    "seal": lambda rounds: rounds.seal(1, {}),
    "messages": lambda rounds: rounds.messages(1),
    "note_openings": lambda rounds: rounds.note_openings(1, ["north"]),
    "keep_verdicts": lambda rounds: rounds.keep_verdicts(1, {"north": True}),
    "keep_model": lambda rounds: rounds.keep_model(1, OTHER_RUN, MODEL, []),
    "serve": lambda rounds: rounds.serve(1, RUN),
    "forget_model": lambda rounds: rounds.forget_model(1),
    "close": lambda rounds: rounds.close(1, "party north"),
    "open": lambda rounds: rounds.open(2, "party north"),
}
ALLOWED = {
    "hold": {COLLECTING},
    "seal": {COLLECTING},
    "messages": {SEALED, TRAINED},
    "note_openings": {SEALED, TRAINED},
    "keep_verdicts": {SEALED, TRAINED},
    "keep_model": {SEALED, TRAINED},
    "serve": {SEALED, TRAINED, SERVING},
    "forget_model": {SEALED, TRAINED},
    "close": {COLLECTING, SERVING, FAILED, CLOSED},
    "open": {FAILED, CLOSED},
}


@pytest.mark.parametrize("state", REACH)
@pytest.mark.parametrize("deed", DO)
def test_every_state_allows_just_its_own_deeds(rounds: Rounds, state: str, deed: str) -> None:
    REACH[state](rounds)
    assert rounds.current().state == state
    if deed == "hold" and state in (SEALED, TRAINED, SERVING):
        with pytest.raises(AlreadyContributed):
            DO[deed](rounds)
    elif state in ALLOWED[deed]:
        DO[deed](rounds)
    else:
        with pytest.raises(MixbayesError) as caught:
            DO[deed](rounds)
        assert isinstance(caught.value, RoundOver | RoundFailed | TooEarly | RefusedByPolicy)
        assert rounds.current().state == state


@pytest.mark.parametrize("deed", [name for name in DO if name != "open"])
def test_deeds_of_another_round_are_refused(rounds: Rounds, deed: str) -> None:
    closed(rounds)
    rounds.open(2, "party north")
    with pytest.raises((RoundOver, TooEarly)):
        DO[deed](rounds)
    assert rounds.current().state == COLLECTING


def test_round_to_come_is_too_early(rounds: Rounds) -> None:
    with pytest.raises(TooEarly, match="no round 2 yet"):
        hold(rounds, NORTH, number=2)


def test_same_bytes_are_acknowledged_again_and_forever(rounds: Rounds) -> None:
    serving(rounds)
    before = rounds.contributions(1)
    hold(rounds, NORTH, SOUTH, WEST)
    assert rounds.contributions(1) == before


def test_other_bytes_are_refused_even_under_the_same_id(rounds: Rounds) -> None:
    hold(rounds, NORTH)
    with pytest.raises(AlreadyContributed, match="party north"):
        rounds.hold(1, "north", NORTH[1], b"other bytes")
    rounds.seal(1, dict([NORTH]))
    assert rounds.messages(1) == {"north": b"message of " + NORTH[1]}


def test_what_was_sent_survives_a_restart_and_lies_there_sealed(tmp_path: Path) -> None:
    with rounds_in(tmp_path, Clock()) as rounds:
        trained(rounds)
    raw = b"".join(part.read_bytes() for part in tmp_path.iterdir())
    assert b"message of" not in raw
    assert MODEL not in raw
    with rounds_in(tmp_path, Clock()) as rounds:
        assert rounds.current().state == TRAINED
        assert rounds.model(1) == (RUN, MODEL)
        assert rounds.messages(1).keys() == {"north", "south"}


def test_swapped_contributions_on_disk_do_not_open(rounds: Rounds) -> None:
    hold(rounds, NORTH, SOUTH)
    rounds.seal(1, dict([NORTH, SOUTH]))
    with rounds.datastore.database.write() as connection:
        (message,) = connection.execute("SELECT message FROM contribution WHERE hospital = 'north'").fetchone()
        connection.execute("UPDATE contribution SET message = ? WHERE hospital = 'south'", (message,))
    with pytest.raises(BadState, match="does not open"):
        rounds.messages(1)


def test_who_is_not_in_the_sealed_set_is_left_out(rounds: Rounds) -> None:
    sealed(rounds)
    assert {name: one.verdict for name, one in rounds.contributions(1).items()} == {
        "north": HELD,
        "south": HELD,
        "west": LEFT_OUT,
    }
    assert sealed_set(rounds.contributions(1)) == dict([NORTH, SOUTH])
    assert rounds.messages(1).keys() == {"north", "south"}


def test_same_set_seals_again_and_another_one_does_not(rounds: Rounds) -> None:
    trained(rounds)
    rounds.seal(1, dict([SOUTH, NORTH]))
    with pytest.raises(RoundOver):
        rounds.seal(1, dict([NORTH, WEST]))
    with pytest.raises(RoundOver):
        rounds.seal(1, dict([NORTH]))
    assert rounds.current().state == TRAINED
    assert sealed_set(rounds.contributions(1)) == dict([NORTH, SOUTH])


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"north": bytes(16)}, "party north sent the two of them different contributions"),
        ({"north": NORTH[1], "west": WEST[1]}, "only the other one has that of party west"),
    ],
)
def test_set_that_this_party_does_not_hold_is_named_and_not_sealed(
    rounds: Rounds, chosen: dict[str, bytes], said: str
) -> None:
    hold(rounds, NORTH, SOUTH)
    with pytest.raises(DifferentSets, match=said):
        rounds.seal(1, chosen)
    assert rounds.current().state == COLLECTING
    assert {one.verdict for one in rounds.contributions(1).values()} == {HELD}


def test_model_says_whose_contribution_it_holds(rounds: Rounds) -> None:
    trained(rounds)
    verdicts = {name: one.verdict for name, one in rounds.contributions(1).items()}
    assert verdicts == {"north": COUNTED, "south": REFUSED, "west": LEFT_OUT}
    rounds.keep_model(1, OTHER_RUN, MODEL, [])
    verdicts = {name: one.verdict for name, one in rounds.contributions(1).items()}
    assert verdicts == {"north": COUNTED, "south": COUNTED, "west": LEFT_OUT}
    assert rounds.model(1) == (OTHER_RUN, MODEL)


def test_only_the_model_that_both_have_is_served(rounds: Rounds) -> None:
    sealed(rounds)
    assert not rounds.serve(1, RUN)
    rounds.keep_model(1, RUN, MODEL, [])
    assert not rounds.serve(1, OTHER_RUN)
    assert rounds.current().state == TRAINED
    assert rounds.serve(1, RUN)
    assert rounds.serve(1, RUN)
    assert not rounds.serve(1, OTHER_RUN)
    assert rounds.current().state == SERVING


def test_empty_run_is_never_served(rounds: Rounds) -> None:
    sealed(rounds)
    assert not rounds.serve(1, b"")


def test_forgotten_model_is_gone(rounds: Rounds) -> None:
    trained(rounds)
    rounds.forget_model(1)
    assert (rounds.current().state, rounds.current().run) == (SEALED, None)
    with pytest.raises(TooEarly):
        rounds.model(1)
    rounds.forget_model(1)


@pytest.mark.parametrize("end", [failed, closed])
def test_round_that_is_over_leaves_no_shares_behind(rounds: Rounds, end: Callable[[Rounds], None]) -> None:
    serving(rounds)
    end(rounds)
    with pytest.raises(TooEarly):
        rounds.model(1)
    with rounds.datastore.database.read() as connection:
        assert {bytes(message) for (message,) in connection.execute("SELECT message FROM contribution")} == {b""}
    assert rounds.contributions(1)["north"].id == NORTH[1]
    hold(rounds, NORTH)


def test_a_draw_does_not_go_on_once_the_round_has_ended(tmp_path: Path) -> None:
    """Its notes are deleted, and the other party may have heard the order of the coins."""
    with Database.open(tmp_path, COMPUTING_PARTY, Seal(bytes(32)), "mixer a") as database:
        rounds = Rounds(database, agreement(NOISE), "mixer a", Clock())
        sealed(rounds)
        one, two = (rounds.charge_noise(1, dict([NORTH, SOUTH])) for _ in range(2))
        assert one.turn is two.turn
        one.notes[COINS] = b"shares"
        assert two.notes.get(COINS) == b"shares"
        failed(rounds)
        with pytest.raises(RoundOver):
            two.notes[COINS] = b"others"


def test_every_set_has_coins_of_its_own_and_keeps_them(tmp_path: Path) -> None:
    with Database.open(tmp_path, COMPUTING_PARTY, Seal(bytes(32)), "mixer a") as database:
        rounds = Rounds(database, agreement({**NOISE, "total_epsilon": 90.0}), "mixer a", Clock())
        sealed(rounds)
        both, again, one = (
            rounds.charge_noise(1, dict(chosen)) for chosen in ([NORTH, SOUTH], [NORTH, SOUTH], [NORTH])
        )
        assert both.seed == again.seed != one.seed
        both.notes[COINS] = b"shares"
        assert (again.notes.get(COINS), one.notes.get(COINS)) == (b"shares", None)


def test_first_reason_for_a_failure_stands(rounds: Rounds) -> None:
    rounds.fail(1, "first.")
    rounds.fail(1, "second.")
    rounds.close(1, "party north")
    assert (rounds.current().state, rounds.current().reason) == (FAILED, "first.")
    with pytest.raises(RoundFailed, match=r"first\."):
        hold(rounds, NORTH)


def test_failure_of_another_round_changes_nothing(rounds: Rounds) -> None:
    rounds.fail(2, "of the next one.")
    assert rounds.current().state == COLLECTING
    closed(rounds)
    rounds.fail(1, "too late.")
    assert (rounds.current().state, rounds.current().reason) == (CLOSED, "")


def test_new_round_opens_once(rounds: Rounds) -> None:
    closed(rounds)
    rounds.open(2, "party north")
    hold(rounds, NORTH, number=2)
    rounds.open(2, "party south")
    assert rounds.current().number == 2
    assert rounds.contributions(2).keys() == {"north"}


def test_closed_round_never_opens_again(rounds: Rounds) -> None:
    closed(rounds)
    with pytest.raises(RoundOver, match="the next is 2"):
        rounds.open(1, "party north")


def test_round_far_ahead_is_refused(tmp_path: Path) -> None:
    """A hospital that skips to the last number there can be would end the federation."""
    with rounds_in(tmp_path, Clock(), rounds=5) as rounds:
        closed(rounds)
        for number in (APART + 2, 2**32 - 1):
            with pytest.raises(RoundOver, match="the next is 2"):
                rounds.open(number, "party north")
        rounds.open(APART + 1, "party north")
        assert rounds.current().number == APART + 1


@pytest.mark.parametrize("state", REACH)
def test_whoever_is_behind_closes_with_the_other_party(rounds: Rounds, state: str) -> None:
    """Which is at a later round: nothing comes of this one, whatever its state."""
    REACH[state](rounds)
    rounds.close(20, "party north")
    assert rounds.current().state == (FAILED if state == FAILED else CLOSED)
    rounds.open(21, "party north")
    assert rounds.current().state == COLLECTING


def test_rounds_that_were_agreed_on_run_out(tmp_path: Path) -> None:
    """One that was closed before it was sealed has trained nothing, and does not count."""
    with rounds_in(tmp_path, Clock(), rounds=2) as rounds:
        for number in (1, 2, 3):
            if number == 2:
                rounds.close(2, "party north")
            else:
                ids = {name: bytes([number]) + id[1:] for name, id in (NORTH, SOUTH)}
                for name, id in ids.items():
                    rounds.hold(number, name, id, name.encode())
                rounds.seal(number, ids)
                rounds.fail(number, "for the test")
            if number < 3:
                rounds.open(number + 1, "party north")
        with pytest.raises(RefusedByPolicy, match="allows 2 rounds"):
            rounds.open(4, "party north")


def test_another_agreement_ends_the_round_and_begins_one(tmp_path: Path) -> None:
    with rounds_in(tmp_path, Clock()) as rounds:
        serving(rounds)
    with rounds_in(tmp_path, Clock(), budget=7) as rounds:
        assert (rounds.current().number, rounds.current().state) == (2, COLLECTING)
        with pytest.raises(TooEarly):
            rounds.model(1)
    with rounds_in(tmp_path, Clock(), budget=7) as rounds:
        assert rounds.current().number == 2


def test_every_change_is_in_the_audit_trail(tmp_path: Path) -> None:
    with rounds_in(tmp_path, Clock(NOON)) as rounds:
        serving(rounds)
        closed(rounds)
    verbs = [record.entry.verb for record in audit.entries(tmp_path)]
    assert verbs == [
        "opened",
        *["contributed"] * 3,
        "sealed",
        "left out",
        "trained",
        "refused",
        "serves",
        "closed",
    ]


def test_what_is_deleted_is_gone_from_the_log_too(tmp_path: Path) -> None:
    """SQLite's log would keep what it no longer needs until somebody writes over it."""
    with rounds_in(tmp_path, Clock()) as rounds:
        sealed(rounds)
        with rounds.datastore.database.read() as connection:
            kept = connection.execute("SELECT message FROM contribution WHERE hospital = 'north'").fetchone()[0]
        assert kept in b"".join(file.read_bytes() for file in tmp_path.iterdir())
        rounds.keep_model(1, RUN, MODEL, ["south"])
        assert rounds.serve(1, RUN)
        assert kept not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


def test_no_digest_of_a_contribution_is_there_to_test_guesses_against(tmp_path: Path) -> None:
    """Whoever holds the other mixer's message knows all of this one but the counts."""
    with rounds_in(tmp_path, Clock()) as rounds:
        rounds.hold(1, *NORTH, b"guessable")
    digest = hashlib.sha256(b"guessable").digest()
    for form in (digest, digest.hex().encode()):
        assert form not in b"".join(file.read_bytes() for file in tmp_path.iterdir())
