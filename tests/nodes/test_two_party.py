"""Two hospitals alone, as nodes on loopback: labels, rounds, restarts, and what they do when the other one is away."""

from __future__ import annotations

import hashlib
import multiprocessing
import secrets
import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest

from mixbayes.node import dialling
from mixbayes.node.greeting import greeting
from mixbayes.node.rounds import CLOSED, COLLECTING, FAILED, SERVING, Rounds
from mixbayes.pair.command import ID_BYTES
from mixbayes.pair.engine import Engine
from mixbayes.parties import partner_node
from mixbayes.parties.partner_store import PartnerStore
from mixbayes.protocol.columns import Columns
from mixbayes.protocol.errors import (
    DifferentSets,
    MixbayesError,
    NotAdmitted,
    OverBudget,
    PeerGone,
    PeerSilent,
    TooEarly,
    Unreachable,
)
from mixbayes.protocol.paillier_key import SecretKey, generate
from mixbayes.transport.peer import Peer
from mixbayes.wire.v1.node_pb2 import ReportRequest, Rows
from mixbayes.wire.v1.node_pb2_grpc import PairStub, PartyStub
from tests.nodes.couple import NORTH, ROWS, SOUTH, Couple, cheap_paillier, make_couple
from tests.nodes.helpers import DICTIONARY, HASTE, PATIENCE, Relay, hurry, left_over, table, wait_until

OTHER = {NORTH: SOUTH, SOUTH: NORTH}
both = pytest.mark.parametrize("name", [NORTH, SOUTH])


@pytest.fixture(scope="module")
def key() -> SecretKey:
    """The shortest one that the protocol takes."""
    return generate(2048)


@pytest.fixture(scope="module", params=["shares", "paillier"])
def serving(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, key: SecretKey
) -> Iterator[Couple]:
    """Two nodes that serve, for tests that leave the round as it is."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        cheap_paillier(key, monkeypatch)
        couple = make_couple(tmp_path_factory.mktemp("serving") / "site", request.param)
        with couple.nodes():
            couple.serve()
            yield couple


@pytest.fixture
def couple(tmp_path: Path) -> Couple:
    """Two hospitals that have not begun."""
    return make_couple(tmp_path / "site")


# Questions ------------------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("private", [True, False], ids=["private", "public"])
def test_labels_are_those_of_the_pooled_classifier(serving: Couple, name: str, private: bool) -> None:
    assert serving.labels(name, private=private) == serving.due()


@both
def test_rows_are_charged_at_both(serving: Couple, name: str) -> None:
    before = [serving.asked(at) for at in (NORTH, SOUTH)]
    left = serving.status(name).budget_left
    serving.labels(name, private=False)
    assert serving.status(name).budget_left == left - ROWS.rows
    charge = f"{serving.site.federation.title(name)}: {ROWS.rows} rows shown"
    assert [serving.asked(at) for at in (NORTH, SOUTH)] == [[*trail, charge] for trail in before]


@both
def test_no_row_is_no_question(serving: Couple, name: str) -> None:
    before = [serving.asked(at) for at in (NORTH, SOUTH)]
    nothing = Columns(ROWS.names, tuple(column[:0] for column in ROWS.cells), 0)
    assert serving.labels_of(name, b"", rows=nothing) == []
    assert [serving.asked(at) for at in (NORTH, SOUTH)] == before


@both
def test_a_repeated_request_has_the_stored_answer(couple: Couple, name: str) -> None:
    """It needs no partner and costs nothing, in this process or the next."""
    id = secrets.token_bytes(ID_BYTES)
    with couple.node(name):
        with couple.node(OTHER[name]):
            couple.serve()
            first = couple.labels_of(name, id)
            left = couple.status(name).budget_left
            assert couple.labels_of(name, id) == first == couple.due()
        assert couple.labels_of(name, id) == first
    with couple.node(name):
        assert couple.labels_of(name, id) == first
        assert couple.status(name).budget_left == left
    assert len(couple.asked(NORTH)) == len(couple.asked(SOUTH)) == 1


@both
def test_the_budget_ends(tmp_path: Path, name: str) -> None:
    couple = make_couple(tmp_path / "site", policy={"budget": 2 * ROWS.rows - 1})
    with couple.nodes():
        couple.serve()
        couple.labels(name)
        with pytest.raises(OverBudget) as caught:
            couple.labels(name)
        assert caught.value.exit_code == 5
        assert couple.labels(OTHER[name]) == couple.due()  # whose budget is its own
    assert len(couple.asked(NORTH)) == len(couple.asked(SOUTH)) == 2


# Restarts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["shares", "paillier"])
def test_either_node_may_begin_again(
    tmp_path: Path, protocol: str, key: SecretKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is on disk, and both conversations come back by themselves."""
    cheap_paillier(key, monkeypatch)
    couple = make_couple(tmp_path / "site", protocol)
    before, processes = set(threading.enumerate()), set(multiprocessing.active_children())
    with ExitStack() as stays:
        with couple.node(SOUTH):
            stays.enter_context(couple.node(NORTH))
            couple.serve()
            models = [couple.labels(name) for name in (NORTH, SOUTH)]
        with couple.node(SOUTH):
            assert [couple.labels(name) for name in (SOUTH, NORTH)] == models
            stays.close()
            stays.enter_context(couple.node(NORTH))
            assert [couple.labels(name, private=False) for name in (SOUTH, NORTH)] == models
        stays.close()
    assert models == [couple.due()] * 2
    assert len(couple.asked(NORTH)) == len(couple.asked(SOUTH)) == 6
    trained = [sum("trained" in line["event"] for line in couple.site.journals[name].lines) for name in (NORTH, SOUTH)]
    assert trained == [1, 1]
    assert set(multiprocessing.active_children()) <= processes
    wait_until(lambda: not left_over(before), "all threads have ended")


def test_many_restarts_use_up_nothing(couple: Couple) -> None:
    """A conversation whose other end is gone takes no place for ever."""
    with couple.node(NORTH):
        for _ in range(10):
            with couple.node(SOUTH):
                couple.serve()
                assert couple.labels(NORTH, private=False) == couple.due()
    assert not couple.site.journals[NORTH].says("conversations open already")


@both
def test_a_model_that_only_one_has_is_trained_again(couple: Couple, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """This one stops between the end of the training and the writing."""
    lost: list[bytes] = []
    kept: dict[str, bytes] = {}
    really = PartnerStore.keep

    def keep(store: PartnerStore, number: int, run: bytes, engine: Engine) -> None:
        if store.name == name and not lost:
            lost.append(run)
            raise PeerGone("this node", "keeping the model", "it was stopped")
        really(store, number, run, engine)
        kept[store.name] = run

    monkeypatch.setattr(PartnerStore, "keep", keep)
    with couple.nodes():
        couple.serve()
        assert [couple.labels(asker) for asker in (NORTH, SOUTH)] == [couple.due()] * 2
    assert kept[NORTH] == kept[SOUTH] != lost[0]


def test_models_of_different_trainings_answer_nothing(couple: Couple, monkeypatch: pytest.MonkeyPatch) -> None:
    really = PartnerStore.engine

    def engine(store: PartnerStore, number: int) -> tuple[bytes, Engine]:
        run, found = really(store, number)
        return (bytes(16) if store.name == NORTH else run), found

    with couple.nodes():
        couple.serve()
        monkeypatch.setattr(PartnerStore, "engine", engine)
        for asker in (NORTH, SOUTH):
            with pytest.raises(DifferentSets, match=f"party {OTHER[asker]}, at question: its model is from another"):
                couple.labels(asker)


# Rounds ---------------------------------------------------------------------------------------------------------------


@both
def test_either_closes_a_round_and_opens_the_next(couple: Couple, name: str) -> None:
    """In which a table counts that has changed meanwhile, and until then does not."""
    with couple.nodes():
        couple.serve()
        first = couple.labels(name)
        assert first == couple.due()
    couple.site.tables[NORTH] = table(7, rows=90, ill="none")
    assert couple.due() != first
    with couple.nodes():
        assert couple.labels(OTHER[name]) == first
        with couple.desk(name) as desk:
            desk.close_round(1)
            couple.wait_for(CLOSED)
            with pytest.raises(TooEarly, match="been closed"):
                couple.labels(OTHER[name])
            desk.open_round(2)
        couple.serve(2)
        assert [couple.labels(asker) for asker in (NORTH, SOUTH)] == [couple.due()] * 2
        assert couple.status(name).budget_left == couple.status(name).budget - ROWS.rows


def test_a_dialler_that_was_away_for_whole_rounds_catches_up(couple: Couple) -> None:
    with couple.nodes():
        couple.serve()
    with couple.node(NORTH):
        with couple.desk(NORTH) as desk:
            desk.close_round(1)
            desk.open_round(2)  # nobody has told south of either
            desk.close_round(2)
            desk.open_round(3)
        with couple.node(SOUTH):
            couple.serve(3)
            assert couple.labels(SOUTH) == couple.due()


@both
def test_a_hospital_that_begins_with_an_empty_folder_is_met_again(couple: Couple, name: str) -> None:
    with couple.nodes():
        for number in (1, 2):
            couple.serve(number)
            with couple.desk(SOUTH) as desk:
                desk.close_round(number)
                desk.open_round(number + 1)
        couple.serve(3)
    shutil.rmtree(couple.site.state(name))
    other = OTHER[name]
    with couple.nodes(), couple.desk(other) as desk:
        wait_until(lambda: couple.status(other).state in (SERVING, FAILED), "the one that remembers is at work")
        desk.close_round(desk.last_round())
        desk.open_round(desk.next_round())
        couple.serve(4)
        assert couple.labels(NORTH) == couple.labels(SOUTH) == couple.due()


@both
def test_both_say_where_the_other_one_is_after_a_state_folder_was_lost(couple: Couple, name: str) -> None:
    with couple.nodes():
        couple.serve()
        with couple.desk(SOUTH) as desk:
            desk.close_round(1)
            desk.open_round(2)
        couple.serve(2)
    shutil.rmtree(couple.site.state(name))
    with couple.nodes():
        for at in (NORTH, SOUTH):
            found = f"party {OTHER[at]} is at round {1 if name == NORTH != at else 2}"
            wait_until(lambda at=at, found=found: found in couple.status(at).reason, found)  # type: ignore[misc]
        with pytest.raises(TooEarly, match=r"`mixbayes round close` and then `mixbayes round new` at .* bring them"):
            couple.labels(name)
        with couple.desk(SOUTH) as desk:
            desk.close_round(desk.last_round())
            desk.open_round(desk.next_round())
        couple.serve(3)
        assert [couple.status(at).reason for at in (NORTH, SOUTH)] == ["", ""]


@both
def test_a_table_that_changes_before_the_set_is_complete_counts_in_the_next_round(couple: Couple, name: str) -> None:
    """What was contributed is sent again, not made again."""
    with couple.node(name):
        couple.wait_for(COLLECTING, 1, name)
    due = couple.due()
    couple.site.tables[name] = table(7, rows=90, ill="none")
    assert couple.due() != due
    with couple.nodes():
        couple.serve()
        assert couple.labels(name) == due


def test_too_many_rows_end_the_round_at_both(tmp_path: Path) -> None:
    couple = make_couple(tmp_path / "site", dictionary={"max_rows": 60})
    with couple.nodes():
        couple.wait_for("failed")
        for name in (NORTH, SOUTH):
            assert "more than the 60 rows" in couple.status(name).reason
        with pytest.raises(TooEarly, match=r"Round 1 has failed: .*more than the 60 rows"):
            couple.labels(SOUTH)


# The other one is away, or another ------------------------------------------------------------------------------------


@both
def test_nobody_there_yet(couple: Couple, name: str) -> None:
    with couple.node(name):
        status = couple.status(name)
        assert (status.state, status.contributed, status.missing) == (COLLECTING, [name], [OTHER[name]])
        with pytest.raises(TooEarly, match=f"party {OTHER[name]} has not contributed yet") as caught:
            couple.labels(name)
    assert caught.value.exit_code == 4


def test_an_application_that_asks_nothing_is_broken_off(tmp_path: Path) -> None:
    couple, over = make_couple(tmp_path / "site", policy={"timeout": HASTE}), threading.Event()

    def nothing() -> Iterator[Rows]:
        over.wait()
        yield from ()

    with couple.node(NORTH), couple.desk(NORTH) as desk:
        call = desk._stub.Classify(nothing(), metadata=greeting(couple.site.federation), timeout=PATIENCE)
        with pytest.raises(grpc.RpcError) as ended:
            next(call)
        over.set()
    assert ended.value.code() is grpc.StatusCode.CANCELLED


def test_the_dialler_says_why_the_other_one_is_missing(couple: Couple) -> None:
    with couple.node(SOUTH):
        wait_until(lambda: "party north" in couple.status(SOUTH).reason, "south says what it waits for")
        assert "nothing listens" in couple.status(SOUTH).reason


@pytest.mark.parametrize(("name", "kind"), [(NORTH, PeerGone), (SOUTH, Unreachable)], ids=[NORTH, SOUTH])
def test_the_other_one_is_gone(tmp_path: Path, name: str, kind: type[MixbayesError]) -> None:
    couple = make_couple(tmp_path / "site")
    with couple.node(name):
        with couple.node(OTHER[name]):
            couple.serve()
            couple.labels(name)
        left = couple.status(name).budget_left
        with pytest.raises(kind, match=rf"^party {OTHER[name]}, at ") as caught:
            couple.labels(name)
        assert caught.value.exit_code == 3
        assert couple.status(name).budget_left == left  # nothing was asked
        with couple.node(OTHER[name]):
            assert couple.labels(name) == couple.due()


@contextmanager
def relayed(monkeypatch: pytest.MonkeyPatch, couple: Couple) -> Iterator[Relay]:
    """Between the two nodes, but not between them and their applications."""
    address = couple.site.federation.party(NORTH).address
    assert address
    with Relay(int(address.split(":")[1])) as relay:
        really = partner_node.dial
        monkeypatch.setattr(partner_node, "dial", lambda *arguments: really(*arguments, address=relay.address))
        try:
            yield relay
        finally:
            relay.thaw()


@both
def test_the_other_one_falls_silent(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    couple = make_couple(tmp_path / "site")
    with relayed(monkeypatch, couple) as relay, couple.nodes():
        couple.serve()
        couple.labels(name)
        relay.freeze_after(0)
        with monkeypatch.context() as patch:
            hurry(patch, f"party {OTHER[name]}")
            with pytest.raises(PeerSilent, match=rf"^party {OTHER[name]}, at ") as caught:
                couple.labels(name)
        assert caught.value.exit_code == 4
        relay.thaw()
        wait_until(lambda: _answers(couple, name), f"party {name} can ask again")


def _answers(couple: Couple, name: str) -> bool:
    try:
        return couple.labels(name) == couple.due()
    except MixbayesError:
        return False


@both
def test_a_connection_that_breaks_comes_back(couple: Couple, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that has not begun does not even notice."""
    with relayed(monkeypatch, couple) as relay, couple.nodes():
        couple.serve()
        for _ in range(3):
            relay.cut()
            assert couple.labels(name, private=False) == couple.due()
    assert len(couple.asked(name)) == 3


def test_conversations_that_broke_take_no_place_for_ever(couple: Couple, monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(threading.enumerate())
    with relayed(monkeypatch, couple) as relay, couple.nodes():
        couple.serve()
        for _ in range(10):
            relay.cut()
            couple.labels(SOUTH, private=False)
        assert couple.labels(NORTH, private=False) == couple.due()
        wait_until(lambda: sum("conversation" in name for name in left_over(before)) <= 2, "each asks in one")
    assert not couple.site.journals[NORTH].says("conversations open already")


@pytest.mark.parametrize(
    ("changes", "part"),
    [({"policy": {"budget": 77}}, "policy"), ({"dictionary": {"max_rows": 1000}}, "dictionary")],
    ids=["policy", "dictionary"],
)
def test_a_partner_with_another_agreement(couple: Couple, changes: dict[str, Any], part: str) -> None:
    other = Couple(couple.site.other(**changes))
    with couple.node(NORTH), other.node(SOUTH):
        wait_until(lambda: part in other.status(SOUTH).reason, "south says what differs")
        reason = other.status(SOUTH).reason
        assert "party north, at greeting: " in reason
        assert f"they differ in the {part}" in reason
        assert other.status(SOUTH).state == couple.status(NORTH).state == COLLECTING
        assert couple.site.journals[NORTH].says("refused", "party south", part)
        assert couple.status(NORTH).missing == [SOUTH]


def test_a_partner_of_another_version(couple: Couple, monkeypatch: pytest.MonkeyPatch) -> None:
    really = dialling.greeting

    def greeting(federation: Any) -> Any:
        return tuple((key, "99" if key == "mixbayes-protocol" else value) for key, value in really(federation))

    with couple.node(NORTH):
        with monkeypatch.context() as patched:
            patched.setattr(dialling, "greeting", greeting)
            south = couple.node(SOUTH)
            south.__enter__()
        try:
            wait_until(lambda: "protocol 99" in couple.status(SOUTH).reason, "south says what differs")
            assert "Install the same version at both" in couple.status(SOUTH).reason
        finally:
            south.__exit__(None, None, None)


def _report(peer: Peer, stub: type[PairStub] | type[PartyStub]) -> object:
    return peer.call(stub(peer.channel).Report, ReportRequest(), "asking for the status")


@pytest.mark.parametrize(
    ("caller", "service"), [(SOUTH, "applications"), (NORTH, "partner"), ("a", "applications"), ("a", "partner")]
)
def test_certificates_that_do_not_speak_for_what_is_asked(serving: Couple, caller: str, service: str) -> None:
    """The listening node serves its own hospital on loopback, and the other one at the agreed address."""
    site, address = serving.site, ""
    if service == "applications":
        (kept,) = site.keys.glob("north-*.address")
        address = kept.read_text().strip()
    with site.dialled(caller, NORTH, address) as peer, pytest.raises(NotAdmitted) as caught:
        _report(peer, PartyStub if service == "applications" else PairStub)
    assert caught.value.exit_code == 3


# What lies on disk ----------------------------------------------------------------------------------------------------


PLANTED = {"well": "well-as-planted", "large": "large-as-planted"}
"""Words that are too long to turn up by chance in what is sealed."""


def _planted(table: Columns) -> Columns:
    cells = tuple(np.array([PLANTED.get(cell, cell) for cell in column]) for column in table.cells)
    return Columns(table.names, cells, table.rows)


def test_nothing_of_a_patient_lies_in_the_clear(tmp_path: Path) -> None:
    told = deepcopy(DICTIONARY)
    told["classes"][1] = PLANTED["well"]
    told["attributes"][1]["values"][2] = PLANTED["large"]
    couple = make_couple(tmp_path / "site", dictionary=told)
    couple.site.tables |= {name: _planted(table) for name, table in couple.site.tables.items()}
    rows = _planted(ROWS)
    found: list[bytes] = []
    with couple.nodes():
        couple.serve()
        for name in (NORTH, SOUTH):
            assert PLANTED["well"] in couple.labels(name, rows=rows)
            couple.labels(name, private=False, rows=rows)
        for name in (NORTH, SOUTH):
            found += [path.read_bytes() for path in couple.site.state(name).iterdir()]
    found += [path.read_bytes() for name in (NORTH, SOUTH) for path in couple.site.state(name).iterdir()]
    found += [couple.site.journals[name].getvalue().encode() for name in (NORTH, SOUTH)]
    assert any(b"contributed" in content for content in found)
    for name in (NORTH, SOUTH):
        counts = couple.settings(name).vector.astype("<u8").tobytes()
        digest = hashlib.sha256(counts)
        planted = [counts[start : start + 24] for start in range(0, len(counts) - 24, 8)]
        planted = [cells for cells in planted if cells.count(0) < 22]
        assert planted
        words = [word.encode() for word in PLANTED.values()]
        for secret in (*planted, digest.digest(), digest.hexdigest().encode(), *words):
            assert not [content for content in found if secret in content], secret


@both
def test_a_hospital_holds_its_own_counts_and_the_others_id(couple: Couple, name: str) -> None:
    stores: dict[str, PartnerStore] = {}
    seen: dict[tuple[str, str], bytes] = {}
    really_made, really_hold = PartnerStore.__init__, Rounds.hold

    def made(store: PartnerStore, *arguments: Any) -> None:
        really_made(store, *arguments)
        stores[store.name] = store

    def hold(rounds: Rounds, number: int, hospital: str, id: bytes, message: bytes) -> None:
        seen[rounds.me, hospital] = message
        really_hold(rounds, number, hospital, id, message)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(PartnerStore, "__init__", made)
        patched.setattr(Rounds, "hold", hold)
        with couple.nodes():
            couple.serve()
            ids = {at: stores[at].rounds.contributions(1) for at in (NORTH, SOUTH)}
    me, other = f"party {name}", OTHER[name]
    assert {hospital for at, hospital in seen if at == me} == {NORTH, SOUTH}
    assert seen[me, other] == ids[name][other].id == ids[other][other].id
    assert len(seen[me, other]) == ID_BYTES
    assert seen[me, name].startswith(couple.settings(name).vector.astype("<u8").tobytes())
