"""The table of transitions, cell by cell: what every state makes of every event, and what it refuses."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from mixbayes.node.rounds.state import (
    CLOSED,
    COLLECTING,
    FAILED,
    OVER,
    SEALED,
    SERVING,
    TABLE,
    TRAINED,
    WITH_SET,
    Cell,
    Event,
    State,
)
from mixbayes.transport.errors import RefusedByPolicy, RoundFailed, RoundOver, TooEarly

ACCEPTED: Mapping[Event, Mapping[State, State]] = {
    Event.CONTRIBUTE: {COLLECTING: COLLECTING},
    Event.PROPOSE: {state: state for state in (COLLECTING, *WITH_SET)},
    Event.SEAL: {COLLECTING: SEALED},
    Event.SEAL_SAME: {COLLECTING: SEALED, SEALED: SEALED, TRAINED: TRAINED, SERVING: SERVING},
    Event.TRAIN: {SEALED: SEALED, TRAINED: TRAINED},
    Event.KEEP_MODEL: {SEALED: TRAINED, TRAINED: TRAINED},
    Event.CONFIRM: {SEALED: SEALED, TRAINED: SERVING, SERVING: SERVING},
    Event.CONFIRM_OTHER: {SEALED: SEALED, TRAINED: TRAINED, SERVING: SERVING},
    Event.FORGET_MODEL: {SEALED: SEALED, TRAINED: SEALED},
    Event.ANSWER: {SERVING: SERVING},
    Event.FAIL: dict.fromkeys(State, FAILED) | {CLOSED: CLOSED},
    Event.CLOSE: {COLLECTING: CLOSED, SERVING: CLOSED, CLOSED: CLOSED, FAILED: FAILED},
    Event.LEAVE_BEHIND: dict.fromkeys(State, CLOSED) | {FAILED: FAILED},
    Event.OPEN_NEXT: {CLOSED: COLLECTING, FAILED: COLLECTING},
}


def refusal(event: Event, state: State) -> Cell:
    """The error for a state that does not accept an event."""
    if event is Event.OPEN_NEXT:
        return RefusedByPolicy
    if state is FAILED:
        return RoundFailed
    return TooEarly if state is COLLECTING else RoundOver


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("event", Event)
def test_every_cell(event: Event, state: State) -> None:
    assert TABLE[event][state] == ACCEPTED[event].get(state, refusal(event, state))


def test_a_round_serves_only_after_it_was_sealed_and_trained() -> None:
    """Every way into a state, from other states."""
    ways = {
        (state, cell)
        for event, row in TABLE.items()
        for state, cell in row.items()
        if isinstance(cell, State) and cell is not state and event is not Event.OPEN_NEXT
    }
    into = {to: {state for state, after in ways if after is to} for to in State}
    assert into[COLLECTING] == set()
    assert into[SEALED] == {COLLECTING, TRAINED}
    assert into[TRAINED] == {SEALED}
    assert into[SERVING] == {TRAINED}
    assert into[CLOSED] == into[FAILED] == {COLLECTING, *WITH_SET}


def test_nothing_but_the_next_round_follows_an_end() -> None:
    for event, row in TABLE.items():
        for state in OVER:
            assert event is Event.OPEN_NEXT or row[state] in (state, RoundOver, RoundFailed)


def test_texts_of_states_are_those_on_disk_and_on_the_wire() -> None:
    assert [state.value for state in State] == ["collecting", "sealed", "trained", "serving", "closed", "failed"]
