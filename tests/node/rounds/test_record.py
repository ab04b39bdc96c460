"""The record of a round under any events, in any order: what is agreed stays agreed. No database is needed for that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.node.rounds.record import COUNTED, HELD, LEFT_OUT, REFUSED, Held, Round, sealed_set
from mixbayes.node.rounds.state import CLOSED, COLLECTING, FAILED, SEALED, SERVING, TRAINED, WITH_SET, State
from mixbayes.protocol.bayes.agreed_set import set_digest
from mixbayes.protocol.errors import MixbayesError
from mixbayes.transport.errors import RefusedByPolicy, RoundFailed, RoundOver, TooEarly

HOSPITALS = "north", "south", "west"
IDS = {name: name.encode().ljust(16) for name in HOSPITALS}
RUNS = b"r" * 16, b"s" * 16
COLLECTED = Round(1, contributions={name: Held(id) for name, id in IDS.items()}, at="mixer a")
Deed = Callable[[Round], Round]


def chosen(names: set[str]) -> dict[str, bytes]:
    return {name: IDS[name] for name in names}


names = st.sampled_from(HOSPITALS)
some = st.sets(names)
runs = st.sampled_from(RUNS)
here = st.sampled_from([0, 0, 0, 0, 1, -1])
"""How far the number of an event is from that of the round: mostly it is the same."""
deeds: st.SearchStrategy[Deed] = st.one_of(
    st.builds(lambda d, name: lambda now: now.contribute(now.number + d, name, IDS[name]), here, names),
    st.builds(lambda d: lambda now: now.propose(now.number + d), here),
    st.builds(lambda d, who: lambda now: now.seal(now.number + d, chosen(who & now.contributions.keys())), here, some),
    st.builds(lambda d: lambda now: now.train(now.number + d), here),
    st.builds(
        lambda d, run, who: lambda now: now.keep_model(now.number + d, run, who & now.sealed_set.keys()),
        here,
        runs,
        some,
    ),
    st.builds(lambda d, run: lambda now: now.confirm(now.number + d, run), here, runs),
    st.builds(lambda d: lambda now: now.forget_model(now.number + d), here),
    st.builds(lambda d: lambda now: now.answer(now.number + d), here),
    st.builds(lambda d: lambda now: now.fail(now.number + d, "why."), here),
    st.builds(lambda d: lambda now: now.close(now.number + d), here),
    st.builds(lambda d: lambda now: now.open_next(now.number + 1 + d, now.number + 2, 0.0), here),
)


@settings(max_examples=400)  # most stories end a round early
@given(st.sampled_from(State), st.lists(deeds, min_size=8, max_size=30))
def test_whatever_happens_what_is_agreed_stays_agreed(start: State, story: list[Deed]) -> None:
    now = in_state(start)
    served = {now.number: now.run} if start is SERVING else {}
    for deed in story:
        before = now
        try:
            now = deed(before)
        except (TooEarly, RoundOver, RoundFailed, RefusedByPolicy):
            continue
        check(before, now)
        if now.state is SERVING:
            assert served.setdefault(now.number, now.run) == now.run, "two models have served in one round"


def check(before: Round, now: Round) -> None:
    """What must hold between a record and the next."""
    if before.number != now.number:
        assert before.over, "a round began before the last one was over"
        assert (now.state, now.contributions, now.run) == (COLLECTING, {}, None)
        return
    assert before.contributions.keys() <= now.contributions.keys()
    assert all(now.contributions[name].id == held.id for name, held in before.contributions.items())
    if before.state is not COLLECTING:
        assert now.contributions.keys() == before.contributions.keys(), "a contribution came after the sealing"
        assert now.sealed_set == before.sealed_set, "a sealed set changed"
    if before.state is SERVING:
        assert now.run == before.run, "a model that answers was replaced"
    if before.over:
        assert now == before, "an end was taken back"
    if now.state in (TRAINED, SERVING):
        assert now.run is not None
    if now.state is SEALED:
        assert now.run is None, "a model that was forgotten is still there"


def in_state(state: State) -> Round:
    trained = COLLECTED.seal(1, chosen({"north", "south"})).keep_model(1, RUNS[0], ["south"])
    return {
        COLLECTING: COLLECTED,
        SEALED: COLLECTED.seal(1, chosen({"north", "south"})),
        TRAINED: trained,
        SERVING: trained.confirm(1, RUNS[0]),
        CLOSED: COLLECTED.close(1),
        FAILED: COLLECTED.fail(1, "nobody came."),
    }[state]


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("number", [0, 2])
def test_events_of_other_rounds_are_refused(state: State, number: int) -> None:
    now = in_state(state)
    deeds: list[Deed] = [
        lambda now: now.contribute(number, "north", bytes(16)),
        lambda now: now.propose(number),
        lambda now: now.seal(number, {}),
        lambda now: now.train(number),
        lambda now: now.keep_model(number, RUNS[0], []),
        lambda now: now.confirm(number, RUNS[0]),
        lambda now: now.forget_model(number),
        lambda now: now.answer(number),
    ]
    for deed in deeds:
        with pytest.raises(TooEarly if number else RoundOver):
            deed(now)
    assert now.fail(number, "of another round.") == now


def test_a_record_never_changes() -> None:
    with pytest.raises(FrozenInstanceError):
        COLLECTED.state = SEALED  # type: ignore[misc]
    COLLECTED.seal(1, chosen({"north"}))
    assert COLLECTED.state is COLLECTING
    assert {held.verdict for held in COLLECTED.contributions.values()} == {HELD}


def test_verdicts_follow_the_events() -> None:
    def verdicts(now: Round) -> list[str]:
        return [now.contributions[name].verdict for name in HOSPITALS]

    sealed = in_state(SEALED)
    assert verdicts(sealed) == [HELD, HELD, LEFT_OUT]
    assert sealed.sealed_set == sealed_set(sealed.contributions) == chosen({"north", "south"})
    assert verdicts(in_state(TRAINED)) == [COUNTED, REFUSED, LEFT_OUT]
    assert verdicts(in_state(TRAINED).keep_model(1, RUNS[1], [])) == [COUNTED, COUNTED, LEFT_OUT]


def test_the_model_of_both_parties_is_served_and_no_other() -> None:
    trained = in_state(TRAINED)
    assert trained.confirm(1, RUNS[1]) == trained
    assert trained.confirm(1, b"") == trained
    serving = trained.confirm(1, RUNS[0])
    assert serving.state is SERVING
    assert serving.confirm(1, RUNS[1]) == serving
    assert in_state(SEALED).confirm(1, b"") == in_state(SEALED)


@pytest.mark.parametrize("state", State)
def test_whoever_is_behind_closes_with_the_other_party(state: State) -> None:
    after = in_state(state).close(20)
    assert after.state is (FAILED if state is FAILED else CLOSED)
    assert after.number == 1


@pytest.mark.parametrize("state", WITH_SET)
def test_texts_of_refusals_name_round_state_and_party(state: State) -> None:
    with pytest.raises(RoundOver, match=f"Round 1 is {state} at mixer a. What comes now belongs to another round."):
        in_state(state).contribute(1, "north", bytes(16))
    with pytest.raises(RefusedByPolicy, match=f"mixer a has round 1, which is {state}"):
        in_state(state).open_next(2, 9, 0.0)


def test_a_failed_round_says_why_whatever_is_asked() -> None:
    failed = in_state(FAILED)
    with pytest.raises(RoundFailed, match=r"nobody came\. `mixbayes round new`"):
        failed.answer(1)
    assert failed.fail(1, "another reason.") == failed
    assert len(COLLECTED.fail(1, "x" * 1000).reason) == 400


def test_the_next_round_has_a_number_after_this_one_and_not_too_far() -> None:
    closed = in_state(CLOSED)
    assert closed.open_next(4, 4, 7.0) == Round(4, opened=7.0, at="mixer a")
    for number in (0, 1, 5):
        with pytest.raises(RoundOver, match="the next is 2"):
            closed.open_next(number, 4, 0.0)


def test_a_party_that_began_anew_is_left_behind_by_rounds_that_it_does_not_know() -> None:
    assert COLLECTED.is_left_behind_by(3)
    assert not COLLECTED.is_left_behind_by(2)
    assert not in_state(SEALED).is_left_behind_by(3)


@given(st.sets(names), st.sets(names))
def test_another_set_than_the_sealed_one_is_refused(first: set[str], later: set[str]) -> None:
    sealed = COLLECTED.seal(1, chosen(first))
    if first == later:
        assert sealed.seal(1, chosen(later)) == sealed
    else:
        with pytest.raises(MixbayesError):
            sealed.seal(1, chosen(later))


def test_digest_of_a_set_tells_round_hospitals_and_ids_apart() -> None:
    north, south = (("north", IDS["north"]), ("south", IDS["south"]))
    sets = [
        (1, dict([north, south])),
        (2, dict([north, south])),
        (1, dict([north])),
        (1, {"north": IDS["south"], "south": IDS["north"]}),
        (1, {"nort": IDS["north"], "south": IDS["south"]}),
        (1, {}),
    ]
    assert len({set_digest(number, members) for number, members in sets}) == len(sets)
    assert set_digest(1, dict([north, south])) == set_digest(1, dict([south, north]))


def test_records_with_the_same_fields_are_the_same() -> None:
    assert replace(COLLECTED) == COLLECTED
    assert COLLECTED.contribute(1, "east", bytes(16)) != COLLECTED
