"""Many applications ask a hospital's own node at once, over gRPC, while nodes run and while one is stopped."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial

import numpy as np
import pytest

from mixbayes.node.disk import audit
from mixbayes.node.disk.sqlite import looking
from mixbayes.node.serving.admission import Room
from mixbayes.node.serving.conduct import OF_MIXERS
from mixbayes.parties import applications
from mixbayes.parties.with_mixers import asking
from mixbayes.protocol.errors import MixbayesError
from mixbayes.tables.columns import Columns
from mixbayes.transport.errors import OverBudget
from mixbayes.transport.peer import Peer
from mixbayes.wire.v1.node_pb2 import Column, Rows
from mixbayes.wire.v1.node_pb2_grpc import PartyStub
from tests.services.helpers import Site, make_site, table, wait_until

APPLICATIONS = 24
EACH = 5


def message(rows: Columns, at: Sequence[int], id: bytes = b"") -> Rows:
    names = ("sex", "tumour")
    columns = [Column(name=name, cells=rows.texts(name)[list(at)].tolist()) for name in names]
    return Rows(columns=columns, id=id, public=bool(at[0] % 2))


def classified(peer: Peer, asked: Rows) -> list[str]:
    replies = peer.answers(PartyStub(peer.channel).Classify, iter([asked]), "classification")
    return [label for reply in replies for label in reply.labels]


def asked_in_vain(peer: Peer, asked: Rows) -> list[str]:
    """The labels, or nothing if something failed."""
    try:
        return classified(peer, asked)
    except MixbayesError:
        return []


def answers(peer: Peer, asked: Rows) -> bool:
    return bool(asked_in_vain(peer, asked))


def test_each_application_gets_the_labels_of_its_own_rows_in_few_questions(serving: Site) -> None:
    rows = table(7, APPLICATIONS * EACH)
    expected = np.array(serving.expected(rows))
    parts = [list(range(start, start + EACH)) for start in range(0, rows.rows, EACH)]
    with serving.hospital("north") as node, ThreadPoolExecutor(APPLICATIONS) as pool, ExitStack() as stack:
        dialled = partial(serving.dialled, "north", "north", f"127.0.0.1:{node.port}")
        peers = [stack.enter_context(dialled()) for _ in parts]
        found = list(pool.map(classified, peers, [message(rows, part) for part in parts]))
        budget = serving.status("north")
    assert found == [expected[part].tolist() for part in parts]
    assert budget.budget - budget.budget_left == rows.rows
    asked = [one.entry for one in audit.entries(serving.state("a")) if one.entry.verb == "asked"]
    assert len(asked) < APPLICATIONS
    own = [one.entry.details for one in audit.entries(serving.state("north")) if one.entry.verb == "asked"]
    assert sum(int(one.get("applications", 1)) for one in own) == APPLICATIONS


def test_those_over_the_budget_are_refused_and_the_others_answered(tmp_path_factory: pytest.TempPathFactory) -> None:
    site = make_site(tmp_path_factory.mktemp("few") / "site", policy={"budget": 10})
    rows = table(7, 16)
    with site.mixers():
        site.serve()
        with site.hospital("north") as node, ThreadPoolExecutor(8) as pool, ExitStack() as stack:
            peer = stack.enter_context(site.dialled("north", "north", f"127.0.0.1:{node.port}"))
            asked = [pool.submit(classified, peer, message(rows, [at, at + 1])) for at in range(0, 16, 2)]
            outcomes = [one.exception() for one in asked]
            assert site.status("north").budget_left == 0
    assert [type(one) for one in outcomes if one] == [OverBudget] * 3


def charged_and_written(site: Site, mixer: str) -> tuple[int, dict[bytes, int]]:
    """The rows that north was charged, and by question those of which this mixer wrote a share down."""
    with looking(site.state(mixer)) as tables:
        ((spent,),) = tables.execute("SELECT rows FROM spent WHERE hospital = 'north'").fetchall()
        return spent, dict(tables.execute("SELECT id, written FROM question").fetchall())


def test_rows_are_charged_once_while_a_mixer_stops_and_starts(served: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mixer b stops in the middle of the questions. In the end what both wrote down is charged, and nothing else."""
    monkeypatch.setattr(asking, "_PAUSE", 0.2)
    rows, got = table(7, APPLICATIONS), 0
    expected = served.expected(rows)
    with served.mixer("a"), ExitStack() as stack, ThreadPoolExecutor(APPLICATIONS) as pool:
        mixer_b = ExitStack()
        mixer_b.enter_context(served.mixer("b"))
        node = stack.enter_context(served.hospital("north"))
        peer = stack.enter_context(served.dialled("north", "north", f"127.0.0.1:{node.port}"))
        for stops in (True, True, False):
            asked = [pool.submit(asked_in_vain, peer, message(rows, [at])) for at in range(rows.rows)]
            if stops:
                asked[0].result()
                mixer_b.close()
                mixer_b.enter_context(served.mixer("b"))
            found = [one.result() for one in asked]
            assert all(labels in ([], [label]) for labels, label in zip(found, expected, strict=True))
            got += sum(map(len, found))
        assert classified(peer, message(rows, [0])) == expected[:1]
        mixer_b.close()
    (at_a, of_a), (at_b, of_b) = (charged_and_written(served, mixer) for mixer in ("a", "b"))
    both = sum(min(written, of_b.get(id, 0)) for id, written in of_a.items())
    assert got + 1 <= both == at_a == at_b


def test_a_node_has_room_for_so_many_applications_and_says_so(serving: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(applications, "OF_APPLICATIONS", Room(8, 2, OF_MIXERS))
    rows = table(7, 2)
    with serving.hospital("north") as node, ExitStack() as stack:
        dialled = partial(serving.dialled, "north", "north", f"127.0.0.1:{node.port}")
        first, second, third = (stack.enter_context(dialled()) for _ in range(3))
        for peer in (first, second):  # the node's first call was its own, whose connection may not be forgotten yet
            wait_until(partial(answers, peer, message(rows, [0])), "there is room")
        assert not asked_in_vain(third, message(rows, [0]))
        assert serving.journals["north"].says("party north has 2 connections here already")
