"""Two hospitals alone, as nodes on loopback: labels, budgets, and who may ask."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from mixbayes.node.questions import ID_BYTES
from mixbayes.protocol.paillier.key import SecretKey
from mixbayes.tables.columns import Columns
from mixbayes.transport.errors import NotAdmitted, OverBudget
from mixbayes.transport.peer import Peer
from mixbayes.wire.v1.node_pb2 import ReportRequest
from mixbayes.wire.v1.node_pb2_grpc import PairStub, PartyStub
from tests.services.couple import NORTH, OTHER, ROWS, SOUTH, Couple, both, cheap_paillier, make_couple


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
    nothing = Columns.of(ROWS.names, [ROWS.texts(name)[:0] for name in ROWS.names], 0)
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
