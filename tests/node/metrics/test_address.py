"""Where metrics may be served, and what is said if they cannot be."""

from __future__ import annotations

import socket

import pytest

from mixbayes import extras
from mixbayes.extras import NotInstalled
from mixbayes.node.metrics.address import checked
from mixbayes.protocol.errors import Unsupported
from mixbayes.transport.errors import CannotServe
from tests.ports import free_port


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_loopback_is_taken(host: str) -> None:
    port = free_port()
    assert str(checked(f"{host}:{port}", open_to_all=False)) == f"{host}:{port}"


@pytest.mark.parametrize("host", ["0.0.0.0", "[::]", "mixer.example.org"])
def test_an_address_for_other_machines_must_be_asked_for(host: str) -> None:
    with pytest.raises(Unsupported, match=r"other machines can reach.*--metrics-open"):
        checked(f"{host}:9464", open_to_all=False)


def test_what_is_asked_for_is_allowed() -> None:
    port = free_port()
    assert str(checked(f"0.0.0.0:{port}", open_to_all=True)) == f"0.0.0.0:{port}"


@pytest.mark.parametrize("text", ["9464", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:99999"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(Unsupported, match="--metrics: "):
        checked(text, open_to_all=False)


@pytest.mark.parametrize("address", ["taken", "192.0.2.1:9464"], ids=["taken", "of_another_machine"])
def test_where_nothing_can_listen_it_says_so(address: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        where = f"127.0.0.1:{other.getsockname()[1]}" if address == "taken" else address
        with pytest.raises(CannotServe, match=rf"cannot be served on {where}.*--metrics") as refused:
            checked(where, open_to_all=True)
    assert refused.value.code == "E122"


def test_without_the_package_it_says_so_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda module: None)
    with pytest.raises(NotInstalled, match=r"needs prometheus_client.*'mixbayes\[metrics\]'"):
        checked("not even an address", open_to_all=False)
