"""The led party: what it agrees to, whoever asks twice, too early, or about a set that is not its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.node.rounds.follower import Agreed, Follower, may_seal
from mixbayes.node.rounds.record import sealed_set
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.node.rounds.state import COLLECTING, FAILED, SEALED, SERVING
from mixbayes.transport.errors import RoundFailed, RoundOver, TooEarly
from tests.mixers.three_hospitals import HOSPITALS, HOUR, Clock, new_folder, rounds_in

IDS = {name: name.encode().ljust(16) for name in HOSPITALS}
RUN, OTHER_RUN = b"r" * 16, b"s" * 16


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rounds(tmp_path: Path, clock: Clock) -> Iterator[Rounds]:
    with rounds_in(tmp_path, clock, "mixer b") as found:
        yield found


def hold(rounds: Rounds, *names: str) -> None:
    for name in names:
        rounds.hold(1, name, IDS[name], b"from " + IDS[name])


def of(*names: str) -> dict[str, bytes]:
    return {name: IDS[name] for name in names}


def test_complete_set_is_sealed_at_once(rounds: Rounds) -> None:
    hold(rounds, *HOSPITALS)
    assert Follower(rounds).seal(1, IDS) == Agreed(IDS, sealed=True)
    assert rounds.current().state == SEALED


def test_part_of_the_hospitals_waits_for_the_deadline_by_this_partys_clock(rounds: Rounds, clock: Clock) -> None:
    hold(rounds, "north", "south")
    assert Follower(rounds).seal(1, of("north", "south")) == Agreed(of("north", "south"), sealed=False)
    clock.now += 24 * HOUR - 1
    assert not Follower(rounds).seal(1, of("north", "south")).sealed
    clock.now += 1
    assert Follower(rounds).seal(1, of("north", "south")).sealed


def test_fewer_than_the_minimum_are_never_sealed(rounds: Rounds, clock: Clock) -> None:
    hold(rounds, "north")
    clock.now += 1000 * HOUR
    assert not Follower(rounds).seal(1, of("north")).sealed
    assert not Follower(rounds).seal(1, {}).sealed
    assert rounds.current().state == COLLECTING


def test_what_it_does_not_hold_is_not_sealed_and_it_says_what_it_holds(rounds: Rounds, clock: Clock) -> None:
    hold(rounds, "north", "south")
    clock.now += 25 * HOUR
    assert Follower(rounds).seal(1, IDS) == Agreed(of("north", "south"), sealed=False)
    assert rounds.current().state == COLLECTING


def test_more_than_the_leader_has_is_left_out(rounds: Rounds, clock: Clock) -> None:
    hold(rounds, *HOSPITALS)
    clock.now += 25 * HOUR
    assert Follower(rounds).seal(1, of("north", "west")).sealed
    assert sealed_set(rounds.contributions(1)) == of("north", "west")


def test_sealed_set_is_told_again_whatever_is_proposed(rounds: Rounds, clock: Clock) -> None:
    hold(rounds, "north", "south")
    clock.now += 25 * HOUR
    follower = Follower(rounds)
    follower.seal(1, of("north", "south"))
    for proposal in (IDS, {}, {"north": b"other".ljust(16)}):
        assert follower.seal(1, proposal) == Agreed(of("north", "south"), sealed=True)
    assert rounds.current().state == SEALED


def test_different_contributions_end_the_round_and_name_the_hospital(rounds: Rounds) -> None:
    hold(rounds, *HOSPITALS)
    follower = Follower(rounds)
    with pytest.raises(RoundFailed, match="different contributions of party south, so nothing was computed"):
        follower.seal(1, IDS | {"south": b"another".ljust(16)})
    assert rounds.current().state == FAILED
    assert "party south" in rounds.current().reason
    with pytest.raises(RoundFailed):
        follower.seal(1, IDS)


def test_it_confirms_the_run_that_it_has_and_no_other(rounds: Rounds) -> None:
    hold(rounds, *HOSPITALS)
    follower = Follower(rounds)
    with pytest.raises(TooEarly):
        follower.confirm(1, RUN)
    follower.seal(1, IDS)
    assert not follower.confirm(1, RUN)
    rounds.keep_model(1, RUN, b"model", [])
    assert not follower.confirm(1, OTHER_RUN)
    assert follower.confirm(1, RUN)
    assert follower.confirm(1, RUN)
    assert not follower.confirm(1, OTHER_RUN)
    assert rounds.current().state == SERVING


def test_orders_that_come_twice_or_late_change_nothing(rounds: Rounds) -> None:
    follower = Follower(rounds)
    follower.close(1, "party north")
    follower.close(1, "party north")
    follower.open(2, "party north")
    follower.open(2, "party north")
    follower.fail(1, "it came late.")
    with pytest.raises(RoundOver):
        follower.close(1, "party north")
    with pytest.raises(RoundOver):
        follower.seal(1, IDS)
    assert (rounds.current().number, rounds.current().state) == (2, COLLECTING)


@given(st.sets(st.sampled_from(HOSPITALS)), st.floats(-100, 100), st.integers(2, 3))
def test_round_seals_when_complete_or_due_with_the_minimum(names: set[str], hours: float, minimum: int) -> None:
    with new_folder() as folder, rounds_in(Path(folder), Clock(), minimum=minimum) as rounds:
        clock = rounds.clock
        assert isinstance(clock, Clock)
        clock.now += hours * HOUR
        allowed = len(names) == 3 or (len(names) >= minimum and hours >= 24)
        assert may_seal(rounds, of(*names)) == allowed
