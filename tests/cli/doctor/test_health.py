"""`mixbayes doctor --health`: whether the node serves, by the exit code."""

from __future__ import annotations

import pytest

from mixbayes.node.doctor.listening import reachable
from mixbayes.protocol.errors import MixbayesError
from tests.cli.doctor.examined import Site
from tests.ports import free_port


def test_health_is_silent_when_the_node_serves(site: Site) -> None:
    with site.mixers():
        for name in "ab":
            done = site.doctor(name, "--health")
            assert (done.exit_code, done.output) == (0, "")
        assert site.doctor("a", "--health", "--listen", f"0.0.0.0:{site.port('a')}").exit_code == 0
        posing = site.doctor("b", "--health", "--listen", f"127.0.0.1:{site.port('a')}")
        assert "is not for 'b'" in str(posing.exception)
    gone = site.doctor("a", "--health")
    assert isinstance(gone.exception, MixbayesError)
    assert (gone.exception.exit_code, gone.stdout) == (3, "")
    assert "mixer a, at asking for its health: nothing listens" in str(gone.exception)


def test_health_of_a_hospital_is_asked_where_it_keeps_its_address(site: Site) -> None:
    done = site.doctor("north", "--health")
    assert isinstance(done.exception, MixbayesError)
    assert (done.exception.code, done.exception.exit_code) == ("E213", 4)


def test_health_goes_through_no_proxy(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{free_port()}")
    with site.mixer("b"):
        assert site.doctor("b", "--health").exit_code == 0


@pytest.mark.parametrize(
    ("given", "dialled"),
    [("0.0.0.0:80", "127.0.0.1:80"), ("[::]:80", "[::1]:80"), ("10.0.0.1:80", "10.0.0.1:80")],
)
def test_every_card_is_reached_on_loopback(given: str, dialled: str) -> None:
    assert reachable(given) == dialled
