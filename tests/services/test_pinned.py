"""Keys in the agreement: whoever holds the authority's key is taken for nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from mixbayes.agreement.agreement import Federation, federation_from
from mixbayes.agreement.pinning import pinned
from mixbayes.keys.pem import certificates_in, fingerprint, public_key_of
from mixbayes.protocol.errors import MixbayesError
from mixbayes.transport.errors import WrongKey
from mixbayes.wire.v1.node_pb2 import Holdings, ReportRequest
from mixbayes.wire.v1.node_pb2_grpc import MixerStub, PairStub
from tests.services.helpers import Site, wait_until
from tests.services.impostor import Impostor, impostor
from tests.services.test_trust import Authority, dialled


def key_of(site: Site, name: str) -> str:
    return fingerprint(public_key_of(certificates_in((site.keys / f"{name}.pem").read_bytes())[0]))


def pinned_site(site: Site, *names: str) -> Site:
    """The same nodes, and an agreement with the keys of these."""
    return replace(site, federation=pinned(site.federation, {name: key_of(site, name) for name in names}))


def at(federation: Federation, addresses: dict[str, str]) -> Federation:
    """Who has the network has the mixers' addresses."""
    content = federation.model_dump(mode="json")
    for mixer in content["mixers"]:
        mixer["address"] = addresses[mixer["name"]]
    return federation_from(content)


@contextmanager
def impostors(site: Site) -> Iterator[tuple[Site, dict[str, Impostor]]]:
    """Both mixers, by certificates of the authority for their names and other keys; and the site that dials them."""
    with ExitStack() as stack:
        both = {name: stack.enter_context(impostor(Authority.of(site).signed(name))) for name in ("a", "b")}
        addresses = {name: address for name, (_, address) in both.items()}
        yield replace(site, federation=at(site.federation, addresses)), {name: one for name, (one, _) in both.items()}


def test_without_pins_the_authority_can_pose_as_both_mixers_and_collect_both_shares(site: Site) -> None:
    """Else the next test would show nothing."""
    with impostors(site) as (dialling, both):
        for mixer in both:
            dialling.hand_in("north", mixer)
    assert min(one.received for one in both.values()) > 0


def test_a_hospital_sends_nothing_to_other_keys_than_the_agreed_ones(site: Site) -> None:
    with impostors(pinned_site(site, "a", "b")) as (dialling, both):
        for mixer in both:
            with pytest.raises(WrongKey) as told:
                dialling.hand_in("north", mixer)
            assert str(told.value).startswith(f"mixer {mixer}, at connecting: it shows the key ")
            assert key_of(site, mixer)[:23] in str(told.value)
            assert f"or somebody poses as mixer {mixer}" in str(told.value)
        with dialling.hospital("north"):
            wait_until(lambda: dialling.journals["north"].says("waiting", "it shows the key"), "it has tried")
    assert [(one.calls, one.received) for one in both.values()] == [([], 0), ([], 0)]


def test_a_pinned_federation_works(site: Site) -> None:
    agreed = pinned_site(site, "a", "b", *site.federation.names)
    with agreed.mixers():
        agreed.serve()
        rows = agreed.tables["south"]
        assert agreed.labels("north", rows) == agreed.expected(rows)


@pytest.mark.parametrize(("caller", "called"), [("a", "b"), ("north", "a")])
def test_a_caller_with_another_key_is_refused(site: Site, caller: str, called: str) -> None:
    agreed = pinned_site(site, "a", "b", "north")
    with agreed.mixer(called):
        peer = dialled(agreed, Authority.of(agreed).signed(caller), called)
        stub = PairStub(peer.channel).Seal if caller == "a" else MixerStub(peer.channel).Report
        with pytest.raises(WrongKey, match=f"mixer {called}, at greeting: .* {caller} shows the key"):
            peer.call(stub, Holdings(round=1) if caller == "a" else ReportRequest(), "asking")
        peer.close()
        assert agreed.journals[called].says("refused", "E209")


def test_a_node_does_not_start_with_another_key_than_its_agreed_one(site: Site, tmp_path: Path) -> None:
    agreed = pinned_site(site, "a", "b")
    for file in ("a.key", "a.pem"):
        (site.keys / file).unlink()
    site.certify("a")
    with (
        pytest.raises(MixbayesError, match=r"a\.pem is for the key .*, and the agreement says") as told,
        agreed.mixer("a"),
    ):
        pass
    assert told.value.code == "E120"
