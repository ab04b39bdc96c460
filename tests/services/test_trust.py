"""Who is who: certificates that do not hold, and ones that do but not for what is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from mixbayes.keys.authority import make_authority
from mixbayes.node.serving.greeting import greeting
from mixbayes.protocol.errors import MixbayesError
from mixbayes.transport.conversation import ASKING, TRAINING, conversation
from mixbayes.transport.errors import NotAdmitted, Unreachable
from mixbayes.transport.peer import Endpoint, Peer, chunks
from mixbayes.transport.probe import explain
from mixbayes.transport.tls import Credentials
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1.node_pb2 import Failure, Holdings, ReportRequest, RoundNumber, Rows, Trained
from mixbayes.wire.v1.node_pb2_grpc import MixerStub, PairStub, PartyStub
from tests.keys.helpers import Issuer, key_pem, pem
from tests.services.helpers import PATIENCE, Site, wait_until
from tests.transport.tls import DAY, TODAY


@dataclass
class Authority:
    """The federation's, to sign what `mixbayes keys sign` would not."""

    issuer: Issuer

    @classmethod
    def of(cls, site: Site) -> Authority:
        from cryptography import x509
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        key = load_pem_private_key((site.authority / "authority.key").read_bytes(), None)
        certificate = x509.load_pem_x509_certificate((site.authority / "authority.pem").read_bytes())
        return cls(Issuer(key, certificate))  # type: ignore[arg-type]  # it is the EC key that the authority made

    def signed(self, name: str, begins: float = -1, ends: float = 1) -> Credentials:
        """In days from now."""
        from cryptography.hazmat.primitives.asymmetric import ec

        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self.issuer.node(key, name, TODAY + begins * DAY, TODAY + ends * DAY)
        return Credentials(key_pem(key), pem(certificate), pem(self.issuer.certificate))


def dialled(site: Site, own: Credentials, called: str, address: str = "") -> Peer:
    address = address or site.federation.mixer(called).address
    header = greeting(site.federation)
    endpoint = Endpoint(site.federation.title(called), called, address)
    return Peer(endpoint, lambda: own, header, site.federation.policy.timeout, Watch(), explain)


def report(site: Site, own: Credentials, called: str = "a") -> MixbayesError | None:
    """What comes of asking a mixer how the round stands."""
    peer = dialled(site, own, called)
    try:
        peer.call(MixerStub(peer.channel).Report, ReportRequest(), "asking for the status")
    except MixbayesError as error:
        return error
    finally:
        peer.close()
    return None


def test_what_holds_is_answered(shared: Site) -> None:
    assert report(shared, Authority.of(shared).signed("north")) is None


OWN: dict[str, tuple[Callable[[Site, Path], Credentials], str]] = {
    "another authority": (lambda site, folder: _foreign(site, folder), "it trusts another authority"),
    "expired": (lambda site, _: Authority.of(site).signed("north", -3, -2), "not valid now"),
    "not yet valid": (lambda site, _: Authority.of(site).signed("north", 2, 3), "not valid now"),
}


def _foreign(site: Site, folder: Path) -> Credentials:
    """Of another authority, trusting the right one."""
    make_authority(folder / "foreign")
    other = Authority.of(Site(folder, site.federation).at(folder / "foreign"))
    made = other.signed("north")
    return Credentials(made.private_key, made.certificate, (site.authority / "authority.pem").read_bytes())


@pytest.mark.parametrize("what", OWN)
def test_a_hospitals_certificate_that_does_not_hold(shared: Site, tmp_path: Path, what: str) -> None:
    make, words = OWN[what]
    error = report(shared, make(shared, tmp_path))
    assert error is not None
    assert (type(error), error.code, error.exit_code) == (Unreachable, "E212", 3)
    assert str(error).startswith("mixer a, at asking for the status: ")
    assert "hangs up on seeing this node's certificate" in str(error)
    assert words in str(error)


MIXERS: dict[str, tuple[Callable[[Site, Path], Credentials], str]] = {
    "another authority": (lambda site, folder: _foreign(site, folder), "is not signed by the authority"),
    "expired": (lambda site, _: Authority.of(site).signed("a", -3, -2), "has expired"),
    "not yet valid": (lambda site, _: Authority.of(site).signed("a", 2, 3), "is not valid yet: compare both clocks"),
    "another mixer's": (lambda site, _: Authority.of(site).signed("b"), "is not for 'a'"),
    "a hospital's": (lambda site, _: Authority.of(site).signed("north"), "is not for 'a'"),
}


@pytest.mark.parametrize("what", MIXERS)
def test_a_mixers_certificate_that_does_not_hold(shared: Site, tmp_path: Path, what: str) -> None:
    from tests.transport.tls import node_server

    make, words = MIXERS[what]
    with node_server(make(shared, tmp_path)) as address:
        peer = dialled(shared, shared.credentials("north"), "a", address)
        with pytest.raises(Unreachable) as told:
            peer.call(MixerStub(peer.channel).Report, ReportRequest(), "asking for the status")
        peer.close()
    assert str(told.value).startswith(f"mixer a, at asking for the status: the certificate shown at {address} ")
    assert words in str(told.value)
    assert told.value.exit_code == 3


@pytest.mark.parametrize("name", ["somebody", "a.example.org", "North"])
def test_a_stranger_with_a_good_certificate(shared: Site, name: str) -> None:
    error = report(shared, Authority.of(shared).signed(name))
    assert error is not None
    assert (type(error), error.code, error.exit_code) == (NotAdmitted, "E207", 3)
    assert "mixer a, at greeting" in str(error)
    assert f"a certificate for {name!r} was shown" in str(error)
    assert f"If {name!r} is being added, restart the mixers with the new agreement first, then its node." in str(error)
    assert shared.journals["a"].says("refused", name, "E207")


@pytest.mark.parametrize("caller", ["a", "b"])
def test_mixers_are_no_hospitals(shared: Site, caller: str) -> None:
    called = "b" if caller == "a" else "a"
    error = report(shared, shared.credentials(caller), called)
    assert isinstance(error, NotAdmitted)
    assert f"mixer {caller} may not call what is there for others (Mixer)" in str(error)


PAIR = {
    "Seal": Holdings(round=1),
    "Confirm": Trained(round=1),
    "OpenRound": RoundNumber(round=2),
    "CloseRound": RoundNumber(round=1),
    "FailRound": Failure(round=1, reason="because"),
}


@pytest.mark.parametrize("method", PAIR)
@pytest.mark.parametrize("caller", ["north", "b"])
def test_nobody_but_mixer_a_leads_mixer_b(shared: Site, caller: str, method: str) -> None:
    peer = dialled(shared, shared.credentials(caller), "b")
    with pytest.raises(NotAdmitted, match=r"may not call what is there for others \(Pair\)"):
        peer.call(getattr(PairStub(peer.channel), method), PAIR[method], "leading")
    peer.close()
    assert shared.status("north").state == "serving"


@pytest.mark.parametrize("purpose", [ASKING, TRAINING])
def test_nobody_but_mixer_a_talks_to_mixer_b_as_mixer_a(shared: Site, purpose: str) -> None:
    peer = dialled(shared, shared.credentials("north"), "b")
    whose = "south" if purpose == ASKING else "1"
    with (
        pytest.raises(NotAdmitted, match="mixer b, at greeting: party north may not call"),
        conversation(peer, PairStub(peer.channel).Talk, ("now", "ahead"), purpose, whose, "key") as (now, _),
    ):
        now.receive("anything", 1)
    peer.close()


def test_a_hospital_cannot_open_the_channels_of_mixer_a_at_mixer_b(shared: Site) -> None:
    """With all three channels in its hands it would be the other mixer, and see what only that one may."""
    peer = dialled(shared, shared.credentials("north"), "b")
    names = ("now", "mixer now", "mixer ahead")
    with (
        pytest.raises(MixbayesError) as told,
        conversation(peer, MixerStub(peer.channel).Ask, names, ASKING, "", "key") as channels,
    ):
        channels[1].receive("anything", 1)
    assert told.value.code == "E202"
    assert "it opens a channel that is not for it to open" in str(told.value)
    peer.close()


def test_one_hospital_cannot_join_the_conversation_of_another(hasty: Site) -> None:
    """Conversations are told apart by who opened them, so the same key is another conversation."""
    north, south = (dialled(hasty, hasty.credentials(name), "b") for name in ("north", "south"))
    south.deadline = PATIENCE
    with (
        conversation(north, MixerStub(north.channel).Ask, ("now",), ASKING, "", "key") as (_,),
        pytest.raises(MixbayesError, match="did not join within"),
        conversation(south, MixerStub(south.channel).Ask, ("now",), ASKING, "", "key") as (own,),
    ):
        own.receive("anything", 1)
    north.close()
    south.close()


def test_one_hospital_cannot_contribute_for_another(site: Site) -> None:
    with site.mixers():
        made = site.message("south")
        for mixer, message in (("a", made.to_a), ("b", made.to_b)):
            peer = dialled(site, site.credentials("north"), mixer)
            with pytest.raises(MixbayesError, match="party north, at contribution: it speaks for another hospital"):
                peer.call(MixerStub(peer.channel).Contribute, chunks(message), "contribution")
            peer.close()
        assert site.status("north").contributed == []


@pytest.mark.parametrize("caller", ["south", "a"])
def test_a_hospitals_node_serves_its_own_certificate_alone(serving: Site, caller: str) -> None:
    with serving.hospital("north") as node:
        peer = dialled(serving, serving.credentials(caller), "north", f"127.0.0.1:{node.port}")
        stub = PartyStub(peer.channel)
        for method, request in ((stub.Report, ReportRequest()), (stub.CloseRound, RoundNumber(round=1))):
            with pytest.raises(NotAdmitted, match=r"party north, at greeting: .* \(Party\)"):
                peer.call(method, request, "asking")
        with pytest.raises(NotAdmitted):
            list(peer.answers(stub.Classify, iter([Rows()]), "asking"))
        peer.close()
        own = dialled(serving, serving.credentials("north"), "north", f"127.0.0.1:{node.port}")
        assert own.call(PartyStub(own.channel).Report, ReportRequest(), "asking").state == "serving"
        own.close()


def test_a_renewed_certificate_needs_no_restart(serving: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither of who answers nor of who dials; a wrong file changes nothing, and the log says so."""
    from mixbayes.node import identity

    monkeypatch.setattr(identity, "_LOOK_EVERY", 0.0)
    with serving.hospital("north"):
        before = serving.certificates_shown("a", "north")
        for name in ("a", "north"):
            serving.certify(name)
        assert serving.certificates_shown("a", "north") != before
        wait_until(lambda: serving.journals["north"].says("keys were renewed"), "north has looked")
        assert serving.journals["a"].says("keys were renewed")
        assert serving.labels("north", serving.tables["west"]) == serving.expected(serving.tables["west"])
        shown = serving.certificates_shown("a", "north")
        (serving.keys / "a.pem").write_text("this is no certificate")
        assert serving.certificates_shown("a", "north") == shown
        assert serving.journals["a"].says("new keys are not used", "E120")
