"""The status of a round: made from the record, as a message and back, and combined from what two mixers report."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.node.rounds.record import Held, Inclusion, Round
from mixbayes.node.rounds.state import CLOSED, COLLECTING, FAILED, SEALED, SERVING, TRAINED, State
from mixbayes.node.rounds.status import Status, combined, decode, encode, status_of
from mixbayes.node.serving.greeting import SOFTWARE
from mixbayes.protocol.errors import DifferentSets, OutOfRange, PeerSilent
from mixbayes.transport.errors import OverBudget
from mixbayes.wire.v1.node_pb2 import RoundReport

texts = st.text(st.characters(categories=["Ll", "Lu", "Nd"]), max_size=8)
lists = st.lists(texts, max_size=3)
sizes = st.integers(0, 2**40)
statuses = st.builds(
    Status,
    st.integers(0, 2**32 - 1),
    st.sampled_from(State),
    texts,
    lists,
    lists,
    lists,
    sizes,
    sizes,
    texts,
    st.floats(0, 100),
    st.integers(0, 2**32 - 1),
    lists,
    st.just({"mixer a": SOFTWARE}),
)


@given(statuses)
def test_status_comes_back_from_its_message(status: Status) -> None:
    assert decode(RoundReport.FromString(encode(status, 3.5).SerializeToString()), "mixer a") == status


def test_message_has_every_field_and_the_clock_of_whoever_tells_it() -> None:
    status = Status(7, SERVING, "why", ["north"], ["south"], ["west"], 12, 5, "condensation:k=20", 0.5, 3, ["cut"])
    message = encode(status, 1.5)
    said_by_others = {"witness"}
    assert {field.name for field, _ in message.ListFields()} | said_by_others == set(
        RoundReport.DESCRIPTOR.fields_by_name
    )
    assert (message.state, message.clock) == ("serving", 1.5)
    assert encode(status).clock == 0


def test_state_that_does_not_exist_is_blamed_on_the_peer() -> None:
    with pytest.raises(OutOfRange, match="mixer b, at asking for the status: it names a state that does not exist"):
        decode(RoundReport(round=1, state="resting"), "mixer b")


def test_what_a_peer_writes_cannot_steer_a_terminal() -> None:
    report = RoundReport(
        round=1, state="failed", reason="\x1b[2J", contributed=["a\nb"], missing=["\r"], refused=["\t"]
    )
    status = decode(report, "mixer a")
    assert all(text.isprintable() for text in (status.reason, *status.contributed, *status.missing, *status.refused))


def test_every_hospital_is_in_one_list() -> None:
    verdicts = zip(("north", "south", "west", "east"), Inclusion, strict=True)
    now = Round(3, SERVING, contributions={name: Held(bytes(16), verdict) for name, verdict in verdicts})
    status = status_of(now, ("north", "south", "west", "east", "new"), 12, 5, "waiting: for nobody.")
    assert (status.contributed, status.missing, status.refused) == (["north", "south"], ["east", "new"], ["west"])
    assert (status.round, status.state, status.budget, status.budget_left) == (3, SERVING, 12, 5)
    assert status.reason == "waiting: for nobody."


def test_reason_of_a_failure_comes_before_what_is_waited_for() -> None:
    assert status_of(Round(1, FAILED, "nobody came."), (), 0, 0, "waiting").reason == "nobody came."


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (SERVING, TRAINED, TRAINED),
        (SEALED, COLLECTING, COLLECTING),
        (SERVING, CLOSED, CLOSED),
        (FAILED, CLOSED, FAILED),
        (SERVING, SERVING, SERVING),
    ],
)
def test_state_of_both_is_that_of_the_mixer_that_is_behind(one: State, other: State, both: State) -> None:
    for pair in ((one, other), (other, one)):
        assert combined([Status(1, state) for state in pair], {}).state is both


def test_contribution_counts_once_both_have_it_and_budgets_are_the_smaller_ones() -> None:
    a = Status(1, COLLECTING, "", ["north", "south"], ["west"], [], 12, 9)
    b = Status(1, COLLECTING, "waiting", ["south", "west"], ["north"], [], 12, 7)
    silent = {"mixer c": PeerSilent("mixer c", "a step", "nothing came")}
    found = combined([a, b], silent)
    assert (found.contributed, sorted(found.missing), found.reason) == (["south"], ["north", "west"], "waiting")
    assert (found.budget, found.budget_left, found.unreachable) == (12, 7, silent)
    refused = combined([Status(1, TRAINED, refused=["west"]), Status(1, SEALED, contributed=["west", "north"])], {})
    assert (refused.refused, refused.missing) == (["west"], ["north"])


def test_mixers_at_different_rounds_have_no_common_status() -> None:
    with pytest.raises(DifferentSets, match="mixer a is at round 1, mixer b at round 2"):
        combined([Status(1, SERVING), Status(2, COLLECTING)], {})


def test_more_rows_than_are_left_are_refused_before_any_is_charged() -> None:
    status = Status(1, SERVING, budget=12, budget_left=5)
    assert status.refuse_over_budget(5) is status
    with pytest.raises(OverBudget, match="Nothing was charged"):
        status.refuse_over_budget(6)
