"""What `mixbayes doctor` finds at other nodes and on the way to them."""

from __future__ import annotations

import socket
import threading
from contextlib import closing, suppress
from typing import Any

import pytest

from mixbayes.agreement.agreement import federation_from
from mixbayes.agreement.files import read_federation
from mixbayes.keys.authority import make_authority, sign
from mixbayes.node.doctor.peers import Answer
from mixbayes.parties.doctor import asked_round
from mixbayes.wire.v1.node_pb2 import RoundReport
from tests.cli.doctor.examined import Site, heart, lines, problems
from tests.keys.helpers import HEART, changed


def test_mixers_that_do_not_run_are_named(site: Site) -> None:
    done = site.doctor("north")
    assert done.exit_code == 3
    assert list(problems(done)) == ["port of mixer a", "port of mixer b"]
    assert f"nothing listens at 127.0.0.1:{site.port('a')}" in done.stdout
    assert "TLS with mixer a" not in lines(done)


def test_one_mixer_that_does_not_run_hides_nothing_of_the_other(site: Site) -> None:
    with site.mixer("b"):
        done = site.doctor("north")
    assert list(problems(done)) == ["port of mixer a"]
    assert lines(done)["agreement and version of mixer b"].startswith("OK")


def test_another_agreement_is_told_with_what_differs(site: Site) -> None:
    content = read_federation(site.agreement).model_dump(mode="json")
    other = site.agree(changed(content, (("policy", "budget"), 7)), "other.toml")
    with site.mixers():
        done = site.doctor("north", agreement=other)
        of_a = site.doctor("a", agreement=other)
    assert (done.exit_code, of_a.exit_code) == (3, 3)
    assert "they differ in the policy" in problems(done)["agreement and version of mixer a"]
    assert "[E206]" in problems(done)["agreement and version of mixer b"]
    assert "they differ in the policy" in problems(of_a)["agreement and version of mixer b"]


def test_another_authority_is_told(site: Site) -> None:
    other = site.folder / "other"
    make_authority(other)
    for name in "ab":
        sign(site.keys(name) / f"{name}.csr", other, site.keys(name) / f"{name}.pem")
        (site.keys(name) / "authority.pem").write_bytes((other / "authority.pem").read_bytes())
    with site.mixers():
        done = site.doctor("north")
    assert done.exit_code == 3
    assert "not signed by the authority in this node's authority.pem" in problems(done)["TLS with mixer a"]


def test_an_impostor_is_told(site: Site) -> None:
    content = heart()
    content["mixers"][1]["address"] = f"127.0.0.1:{site.port('a')}"
    swapped = site.agree(content, "swapped.toml")
    with site.mixers():
        done = site.doctor("a", agreement=swapped)
    assert "is not for 'b'" in problems(done)["TLS with mixer b"]


@pytest.mark.parametrize(
    ("ahead", "verdict", "code"),
    [(10, "OK", 0), (-45, "WARNING", 0), (45, "WARNING", 0), (400, "PROBLEM", 3), (-4000, "PROBLEM", 3)],
)
def test_clocks_are_compared(site: Site, ahead: float, verdict: str, code: int) -> None:
    with site.mixers(ahead):
        done = site.doctor("north")
    assert done.exit_code == code
    assert lines(done)["clock"].startswith(verdict)
    assert ("behind" if ahead < 0 else "ahead") in lines(done)["clock"]


def test_a_port_that_says_nothing_ends_in_time(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mixbayes.transport.probe.PATIENCE", 0.3)
    with closing(socket.create_server(("127.0.0.1", site.port("a")))), site.mixer("b"):
        done = site.doctor("north")
    assert "accepts connections and says nothing" in problems(done)["TLS with mixer a"]


def test_a_port_without_tls_is_told(site: Site) -> None:
    def answer(server: socket.socket) -> None:
        with suppress(OSError):
            while True:
                with server.accept()[0] as wire:
                    wire.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with closing(socket.create_server(("127.0.0.1", site.port("a")))) as server:
        threading.Thread(target=answer, args=(server,), daemon=True).start()
        done = site.doctor("north")
        server.shutdown(socket.SHUT_RDWR)
    assert "does not speak TLS" in problems(done)["TLS with mixer a"]


def test_an_unknown_name_is_told(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*asked: object, **how: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr("mixbayes.node.doctor.route.socket.getaddrinfo", unknown)
    content = heart()
    content["mixers"][0]["address"] = "no-such-host.invalid:8443"
    done = site.doctor("north", agreement=site.agree(content, "unknown.toml"))
    assert "no-such-host.invalid is unknown here" in problems(done)["host name of mixer a"]


def test_no_name_server_answers(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mixbayes.node.doctor.route.PATIENCE", 1.0)
    gate = threading.Event()
    monkeypatch.setattr("mixbayes.node.doctor.route.socket.getaddrinfo", lambda *_, **__: gate.wait(30) and [])
    try:
        done = site.doctor("north")
    finally:
        gate.set()
    assert "no answer in 1 s" in problems(done)["host name of mixer a"]


def reported(**fields: Any) -> Answer:
    usual = {"round": 1, "state": "serving", "contributed": ["north"], "budget": 10, "budget_left": 10}
    return Answer("mixer", RoundReport(**(usual | fields)), 0.0)


@pytest.mark.parametrize(
    ("answers", "verdicts", "said"),
    [
        ([reported(), reported()], ["OK"], "round 1 is serving"),
        ([reported(), reported(round=2)], ["PROBLEM"], "different rounds"),
        ([reported(refused=["north"])], ["PROBLEM"], "not to be the counts of any table"),
        ([reported(state="failed", reason="nobody came")], ["WARNING"], "nobody came"),
        ([reported(state="closed")], ["WARNING"], "round 1 is closed"),
        ([reported(budget_left=0)], ["OK", "WARNING"], "0 of 10 rows"),
        ([], [], ""),
    ],
)
def test_the_round_as_told(answers: list[Answer], verdicts: list[str], said: str) -> None:
    found = list(asked_round(federation_from(HEART), "north", answers))
    assert [finding.verdict for finding in found] == verdicts
    assert said in "".join(finding.said for finding in found)
