"""What `mixbayes doctor` finds of a proxy between this node and others."""

from __future__ import annotations

import pytest

from mixbayes.transport.proxies import proxy_for
from tests.cli.doctor.examined import Site, lines, problems
from tests.proxy import proxy


def test_an_unknown_proxy_is_told_with_what_to_do(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mixbayes.node.doctor.route.addresses_of", lambda host: [])
    monkeypatch.setenv("https_proxy", "http://proxy.invalid:3128")
    found = problems(site.doctor("north"))["name of the proxy to mixer a"]
    assert "proxy.invalid is unknown here. Correct https_proxy, or name 127.0.0.1 in no_proxy." in found
    assert "agree on another address" not in found


@pytest.mark.parametrize(
    ("environment", "host", "expected"),
    [
        ({}, "a.example.org", None),
        ({"https_proxy": "http://proxy:3128"}, "a.example.org", "proxy:3128 (https_proxy)"),
        ({"http_proxy": "proxy:8080", "grpc_proxy": "http://other:1"}, "a.example.org", "other:1 (grpc_proxy)"),
        ({"https_proxy": "", "http_proxy": "http://proxy:1"}, "a.example.org", None),
        ({"https_proxy": "http://proxy:1", "no_proxy": "example.org"}, "a.example.org", None),
        ({"https_proxy": "http://proxy:1", "no_proxy": "other.org, .EXAMPLE.org"}, "a.example.org", None),
        ({"https_proxy": "http://proxy:1", "no_proxy": ","}, "a.example.org", "proxy:1 (https_proxy)"),
        ({"https_proxy": "http://proxy:1", "no_proxy": "10.0.0.0/8"}, "10.2.3.4", None),
        ({"https_proxy": "http://proxy:1", "no_proxy": "x", "no_grpc_proxy": "4"}, "10.2.3.4", None),
        ({"https_proxy": "http://proxy:1", "no_proxy": "x", "no_grpc_proxy": "y"}, "host.x", "proxy:1 (https_proxy)"),
        ({"https_proxy": "http://me:secret@proxy"}, "a.example.org", "proxy:80 (https_proxy)"),
        ({"HTTPS_PROXY": "http://proxy:1"}, "a.example.org", None),
    ],
)
def test_the_proxy_is_the_one_that_grpc_takes(environment: dict[str, str], host: str, expected: str | None) -> None:
    found = proxy_for(host, environment)
    assert (found and str(found)) == expected


def test_a_proxy_that_lets_through(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    with site.mixers(), proxy(b"200 OK") as port:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        done = site.doctor("north")
    assert done.exit_code == 0, done.output
    assert "lets this machine through" in lines(done)["proxy to mixer a"]
    assert "the same agreement" in lines(done)["agreement and version of mixer b"]


def test_a_proxy_that_refuses(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    with site.mixers(), proxy(b"403 Forbidden") as port:
        monkeypatch.setenv("https_proxy", f"http://someone:secret@127.0.0.1:{port}")
        done = site.doctor("north")
        assert (done.exit_code, list(problems(done))) == (3, ["proxy to mixer a", "proxy to mixer b"])
        assert "403 Forbidden" in done.stdout
        assert "secret" not in done.output
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert site.doctor("north").exit_code == 0


def test_a_proxy_in_capitals_is_a_warning(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://someone:secret@proxy")
    done = site.doctor("north")
    assert "in capitals" in lines(done)["proxy variables"]
    assert "secret" not in done.output
