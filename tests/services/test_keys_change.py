"""A federation with pinned keys at work: its keys change, certificates are revoked, and nothing else does."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mixbayes.agreement.agreement import Federation
from mixbayes.agreement.pinning import with_change
from mixbayes.keys.public import public_key_of_node
from mixbayes.keys.revocation import FILE, revoke
from mixbayes.keys.rotation import signed_change
from mixbayes.node import identity
from mixbayes.protocol.errors import PeerGone
from mixbayes.transport.conversation import ASKING, conversation
from mixbayes.transport.errors import Revoked, WrongKey
from mixbayes.transport.peer import Peer
from mixbayes.wire.v1.node_pb2 import ReportRequest
from mixbayes.wire.v1.node_pb2_grpc import MixerStub, PartyStub
from tests.keys.helpers import with_keys
from tests.services.helpers import Site, make_site
from tests.services.test_pinned import key_of, pinned_site
from tests.services.test_trust import Authority, dialled


@pytest.fixture(scope="module")
def agreed_once(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """With a model at both mixers, asked once; no node runs."""
    made = make_site(tmp_path_factory.mktemp("pinned") / "site")
    agreed = pinned_site(made, "a", "b", *made.federation.names)
    with agreed.mixers():
        agreed.serve()
        rows = agreed.tables["south"]
        assert agreed.labels("north", rows) == agreed.expected(rows)
    return agreed


@pytest.fixture
def agreed(agreed_once: Site, tmp_path: Path) -> Site:
    shutil.copytree(agreed_once.folder, tmp_path / "site", symlinks=True)
    return replace(agreed_once, folder=tmp_path / "site", journals={})


def rotated(site: Site, name: str) -> Federation:
    """The agreement in which this member has another key, which is in its folder now. Its state key is the same."""
    made = with_keys(site.folder / "next", name, site.authority)
    new, before = public_key_of_node(made, name).fingerprint, site.federation
    federation = with_change(before, signed_change(before, name, new, site.keys / f"{name}.key"))
    for file in (f"{name}.key", f"{name}.pem"):
        shutil.copy(made / file, site.keys / file)
    return federation


def ask(peer: Peer) -> None:
    peer.call(MixerStub(peer.channel).Report, ReportRequest(), "asking")


def test_a_rotation_keeps_the_round_and_what_was_asked_in_it(agreed: Site) -> None:
    """Nodes with the former file refuse the new key, and nodes with the new file the old one."""
    asked = agreed.tables["south"].rows
    old = agreed.credentials("a")
    after = replace(agreed, federation=rotated(agreed, "a"))
    assert key_of(agreed, "a") == after.federation.key_of("a") != agreed.federation.key_of("a")
    with after.mixers():
        after.wait_for("serving")
        status = after.status("north")
        assert (status.round, sorted(status.contributed)) == (1, sorted(agreed.federation.names))
        assert status.budget_left == status.budget - asked
        rows = after.tables["west"]
        assert after.labels("north", rows) == after.expected(rows)
        with (
            pytest.raises(WrongKey, match="mixer a, at connecting: it shows the key"),
            agreed.dialled("north", "a") as a,
        ):
            ask(a)
        peer = dialled(after, old, "b")
        with pytest.raises(WrongKey, match="mixer b, at greeting: mixer a shows the key"):
            ask(peer)
        peer.close()


def revoked(site: Site, *names: str) -> None:
    """The list reaches everybody."""
    revoke([site.keys / f"{name}.pem" for name in names], [], site.authority, datetime.now(UTC))
    shutil.copy(site.authority / FILE, site.keys / FILE)


@pytest.fixture
def attentive(agreed: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Its mixers run, and look at their files whenever somebody calls."""
    monkeypatch.setattr(identity, "_LOOK_EVERY", 0.0)
    with agreed.mixers():
        yield agreed


def test_a_revoked_hospital_is_refused_and_its_open_calls_end(attentive: Site) -> None:
    peer = dialled(attentive, attentive.credentials("north"), "a")
    ask(peer)
    with conversation(peer, MixerStub(peer.channel).Ask, ("now",), ASKING, "", "key") as (now,):
        revoked(attentive, "north")
        attentive.status("south")
        with pytest.raises(PeerGone, match="mixer a"):
            now.receive("anything", 1)
    with pytest.raises(Revoked, match=r"mixer a, at greeting: party north shows a certificate that revoked\.pem lists"):
        ask(peer)
    peer.close()
    assert attentive.journals["a"].says("refused", "E214")
    attentive.certify("north")
    attentive.status("north")


def test_a_revoked_mixer_is_talked_to_no_longer(attentive: Site) -> None:
    with attentive.dialled("north", "a") as a:
        ask(a)
        with conversation(a, MixerStub(a.channel).Ask, ("now",), ASKING, "", "key") as (now,):
            revoked(attentive, "a")
            with pytest.raises(Revoked, match="mixer a, at connecting: it shows a certificate that"):
                ask(a)
            with pytest.raises(PeerGone, match="mixer a"):
                now.receive("anything", 1)


def test_an_application_is_recognised_like_a_node(attentive: Site) -> None:
    other = Authority.of(attentive).signed("north")
    with attentive.hospital("north") as node:
        address = f"127.0.0.1:{node.port}"
        for own, refused in ((other, True), (attentive.credentials("north"), False)):
            peer = dialled(attentive, own, "north", address)
            with pytest.raises(WrongKey, match="party north, at greeting") if refused else nullcontext():
                peer.call(PartyStub(peer.channel).Report, ReportRequest(), "asking")
            peer.close()
        without_list = attentive.credentials("north")
        revoked(attentive, "north")
        peer = dialled(attentive, without_list, "north", address)
        with pytest.raises(Revoked, match="party north, at greeting"):
            peer.call(PartyStub(peer.channel).Report, ReportRequest(), "asking")
        peer.close()
        with attentive.dialled("north", "north", address) as own_node, pytest.raises(Revoked, match="at connecting"):
            own_node.call(PartyStub(own_node.channel).Report, ReportRequest(), "asking")
