"""`mixbayes doctor` against nodes that run, do not run, and are wrong in one way each."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from mixbayes.cli import doctor
from mixbayes.federation.agreement import federation_from
from mixbayes.federation.authority import make_authority, sign
from mixbayes.federation.files import read_federation, written
from mixbayes.mixers import node as mixer_node
from mixbayes.node.doctor import machine
from mixbayes.node.doctor.health import reachable
from mixbayes.node.doctor.peers import Answer
from mixbayes.node.doctor.state import holder_of
from mixbayes.node.folder import LOCK, locked
from mixbayes.node.log import logger
from mixbayes.parties.doctor import asked_round
from mixbayes.protocol.errors import MixbayesError, Unsupported
from mixbayes.transport.proxies import proxy_for
from mixbayes.wire.v1.node_pb2 import RoundReport
from tests.federation.helpers import HEART, PAIR, changed, with_keys
from tests.ports import free_port
from tests.proxy import proxy

TABLE = "sex,age,chol,class\nf,40,210,absent\nm,61,280,present\nf,33,190,absent\n"
PROXIES = ("grpc_proxy", "https_proxy", "http_proxy", "no_grpc_proxy", "no_proxy")


@dataclass(frozen=True)
class Site:
    """An agreement and the keys of everybody, in one folder."""

    folder: Path

    @property
    def agreement(self) -> Path:
        return self.folder / "federation.toml"

    @property
    def authority(self) -> Path:
        return self.folder / "authority"

    def keys(self, name: str) -> Path:
        return self.folder / f"keys-{name}"

    def state(self, name: str) -> Path:
        return self.folder / f"state-{name}"

    def port(self, mixer: str) -> int:
        return int(read_federation(self.agreement).mixer(mixer).address.rpartition(":")[2])

    def table(self, text: str = TABLE) -> Path:
        file = self.folder / "table.csv"
        file.write_text(text)
        return file

    def agree(self, content: dict[str, Any], file: str = "federation.toml") -> Path:
        path = self.folder / file
        path.write_text(written(federation_from(content)))
        return path

    @contextmanager
    def mixer(self, name: str, ahead: float = 0.0) -> Iterator[None]:
        """It runs in this process, its clock ahead of this machine's."""
        settings = mixer_node.Settings(read_federation(self.agreement), name, self.keys(name), self.state(name))
        with mixer_node.running(settings, logger(name), lambda: time.time() + ahead):
            yield

    @contextmanager
    def mixers(self, ahead: float = 0.0) -> Iterator[None]:
        with self.mixer("b", ahead), self.mixer("a", ahead):
            yield

    def doctor(self, name: str, *more: object, agreement: Path | None = None) -> Result:
        words = ["--federation", agreement or self.agreement, "--name", name, "--keys", self.keys(name), *more]
        app = typer.Typer()
        app.command()(doctor.doctor)
        return CliRunner().invoke(app, list(map(str, words)))


def heart() -> dict[str, Any]:
    mixers = [{"name": name, "address": f"127.0.0.1:{free_port()}"} for name in "ab"]
    return changed(HEART, (("mixers",), mixers), (("policy", "timeout"), 60.0))


@pytest.fixture(autouse=True)
def calm(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("lookup", "route", "peers", "health"):
        monkeypatch.setattr(f"mixbayes.node.doctor.{module}.PATIENCE", 60.0)
    monkeypatch.setattr("mixbayes.transport.probe.PATIENCE", 60.0)


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*PROXIES, *map(str.upper, PROXIES)):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = Site(tmp_path)
    site.agree(heart())
    for name in ("a", "b", "north", "south"):
        with_keys(site.keys(name), name, site.authority)
    return site


def lines(result: Result) -> dict[str, str]:
    """Verdict and text by what was looked at."""
    found = {}
    for line in result.stdout.splitlines():
        if line.startswith(("OK ", "WARNING ", "PROBLEM ")):
            verdict, rest = line.split(maxsplit=1)
            what, _, said = rest.partition(": ")
            found[what] = f"{verdict} {said}"
    return found


def problems(result: Result) -> dict[str, str]:
    return {what: said for what, said in lines(result).items() if said.startswith("PROBLEM")}


def test_all_is_well_at_a_hospital(site: Site) -> None:
    with site.mixers():
        done = site.doctor("north", "--data", site.table(), "--state", site.state("north"))
    assert (done.exit_code, problems(done)) == (0, {}), done.output
    found = lines(done)
    assert list(found) == [
        "agreement",
        "software",
        "private key",
        "certificate",
        "authority",
        "certificate and key belong together",
        "name in the certificate",
        "use of the certificate",
        "signature of the authority",
        "validity",
        "state key",
        "proxy variables",
        "host name of mixer a",
        "port of mixer a",
        "TLS with mixer a",
        "agreement and version of mixer a",
        "host name of mixer b",
        "port of mixer b",
        "TLS with mixer b",
        "agreement and version of mixer b",
        "clock",
        "state folder",
        "disk",
        "table",
        "round",
    ]
    assert read_federation(site.agreement).digest() in found["agreement"]
    assert "the same agreement" in found["agreement and version of mixer b"]
    assert "3 rows keep to the dictionary" in found["table"]
    assert "round 1 is collecting; missing: party north, party south, party west" in found["round"]
    assert "100000 of 100000 rows" in found["round"]
    assert "0 problems and 0 warnings among 26 checks" in done.stderr


def test_json_is_one_document(site: Site) -> None:
    done = site.doctor("north", "--json")
    document = json.loads(done.stdout)
    assert (done.exit_code, document["exit_code"], document["problems"], document["name"]) == (3, 3, 2, "north")
    wrong = [check for check in document["checks"] if check["verdict"] == "PROBLEM"]
    assert [check["what"] for check in wrong] == ["port of mixer a", "port of mixer b"]
    assert {check["code"] for check in wrong} == {"E212"}
    assert all(check["remedy"] for check in wrong)


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


def test_mixer_a_looks_at_b_and_b_at_nobody(site: Site) -> None:
    with site.mixers():
        of_a, of_b = site.doctor("a", "--state", site.state("a")), site.doctor("b", "--state", site.state("b"))
    assert (of_a.exit_code, of_b.exit_code) == (0, 0), of_a.output + of_b.output
    assert "the same agreement" in lines(of_a)["agreement and version of mixer b"]
    assert "mixer b dials nobody" in lines(of_b)["other nodes"]
    assert "mixer a is running and answers" in lines(of_a)["own port"]
    assert "in use by mixer a of heart" in lines(of_a)["state folder"]
    assert "round 1 is collecting; missing: party north" in lines(of_b)["round"]
    assert site.doctor("b", "--state", site.state("b")).exit_code == 0, "and once it has stopped"


def test_another_agreement_is_told_with_what_differs(site: Site) -> None:
    content = {**heart(), "mixers": [{"name": m, "address": f"127.0.0.1:{site.port(m)}"} for m in "ab"]}
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

    monkeypatch.setattr("mixbayes.node.doctor.lookup.socket.getaddrinfo", unknown)
    content = heart()
    content["mixers"][0]["address"] = "no-such-host.invalid:8443"
    done = site.doctor("north", agreement=site.agree(content, "unknown.toml"))
    assert "no-such-host.invalid is unknown here" in problems(done)["host name of mixer a"]


def test_no_name_server_answers(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mixbayes.node.doctor.lookup.PATIENCE", 1.0)
    gate = threading.Event()
    monkeypatch.setattr("mixbayes.node.doctor.lookup.socket.getaddrinfo", lambda *_, **__: gate.wait(30) and [])
    try:
        done = site.doctor("north")
    finally:
        gate.set()
    assert "no answer in 1 s" in problems(done)["host name of mixer a"]


def test_a_table_that_breaks_the_dictionary_is_told_by_column(site: Site) -> None:
    table = site.table("sex,age,chol,class\nx,40,210,absent\nm,old,280,present\n")
    with site.mixers():
        done = site.doctor("north", "--data", table)
    assert (done.exit_code, list(problems(done))) == (6, ["table"])
    for part in ("column 'sex': 'x' not in the list", "column 'age': 'old' not a number", "[E101]"):
        assert part in done.stdout
    assert site.doctor("north", "--data", table).exit_code == 6, "what waiting does not mend outweighs who is missing"
    assert site.doctor("north", "--data", site.folder / "none.csv").exit_code == 6


def test_clipped_values_are_counted_by_column(site: Site) -> None:
    table = site.table(
        "more,sex,age,chol,class\n1,f,140,10,absent\n2,m,200,280,present\n3,m,30,280,present\n4,f,40,210,absent\n"
    )
    with site.mixers():
        done = site.doctor("north", "--data", table)
    assert done.exit_code == 0
    assert lines(done)["values beyond the bounds"].startswith("WARNING 3 values lie beyond")
    assert "age 2, chol 1" in done.stdout
    assert "bounds too narrow? [" in done.stdout or "bounds too narrow?\n" in done.stdout
    assert "0 problems and 1 warning among" in done.stderr
    assert "not looked at: 1" in lines(done)["table"]


@pytest.mark.parametrize(
    ("rows", "probably"), [(["f,40,1"] * 3 + ["f,40,210", "f,40,"], True), (["f,40,1", "f,40,210"], False)]
)
def test_a_column_that_is_mostly_beyond_the_bounds_has_another_unit(
    site: Site, rows: list[str], probably: bool
) -> None:
    table = site.table("\n".join(["sex,age,chol,class", *(f"{row},absent" for row in rows)]) + "\n")
    with site.mixers():
        done = site.doctor("north", "--data", table)
    assert done.exit_code == 0
    said = "More than half of the values of chol do: it is probably in another unit. Convert it before the node starts."
    assert lines(done)["values beyond the bounds"].startswith("WARNING")
    assert (said in done.stdout) is probably


def test_a_missing_column_is_told_with_what_to_do(site: Site) -> None:
    done = site.doctor("north", "--data", site.table("sex,age,class\nf,40,absent\n"))
    assert "column 'chol' is missing. Add it. [E101]" in done.stdout


def test_an_unknown_proxy_is_told_with_what_to_do(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mixbayes.node.doctor.route.addresses_of", lambda host: [])
    monkeypatch.setenv("https_proxy", "http://proxy.invalid:3128")
    found = problems(site.doctor("north"))["name of the proxy to mixer a"]
    assert "proxy.invalid is unknown here. Correct https_proxy, or name 127.0.0.1 in no_proxy." in found
    assert "agree on another address" not in found


def test_more_rows_than_agreed_are_told(site: Site) -> None:
    few = site.agree(changed(heart(), (("dictionary", "max_rows"), 2)), "few.toml")
    done = site.doctor("north", "--data", site.table(), agreement=few)
    assert (done.exit_code, "it has 3 rows, all hospitals together may have 2" in done.stdout) == (6, True)


@pytest.mark.parametrize(("days", "verdict"), [(29, "WARNING"), (32, "OK")])
def test_a_certificate_that_ends_soon_is_a_warning(site: Site, days: int, verdict: str) -> None:
    sign(site.keys("north") / "north.csr", site.authority, site.keys("north") / "north.pem", days)
    with site.mixers():
        done = site.doctor("north")
    assert done.exit_code == 0
    assert lines(done)["validity"].startswith(f"{verdict} the certificate holds until")
    assert f"for {days - 1} more days" in lines(done)["validity"]
    assert ("mixbayes keys request north" in lines(done)["validity"]) == (verdict == "WARNING")


def test_an_expired_certificate_keeps_from_dialling(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime.now(UTC) + timedelta(days=900)

    monkeypatch.setattr(doctor, "datetime", Later)
    with site.mixers():
        done = site.doctor("north")
    assert (done.exit_code, list(problems(done))) == (3, ["validity"])
    assert "it has expired" in done.stdout
    assert "not dialled" in lines(done)["other nodes"]
    assert "[E120]" in done.stdout


def test_keys_are_told_one_by_one_with_their_commands(site: Site) -> None:
    (site.keys("north") / "north.key").chmod(0o644)
    (site.keys("north") / "authority.pem").unlink()
    done = site.doctor("north")
    assert (done.exit_code, list(problems(done))) == (3, ["private key", "authority"])
    assert "chmod 600" in problems(done)["private key"]


def test_nothing_is_changed(site: Site) -> None:
    (site.keys("north") / "north.state").unlink()

    def everything() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in site.folder.rglob("*") if path.is_file()}

    table, before = site.table(), everything()
    done = site.doctor("north", "--data", table, "--state", site.state("north"))
    assert everything() | {table: b""} == before | {table: b""}
    assert not site.state("north").exists()
    assert "will be made" in lines(done)["state folder"]
    assert "will be made when the node starts" in lines(done)["state key"]


def test_the_node_goes_on_beside_the_doctor(site: Site) -> None:
    with site.mixer("b"):
        site.doctor("b", "--state", site.state("b"))
        assert holder_of(site.state("b")) == f"mixer b of heart, process {os.getpid()}"
    assert holder_of(site.state("b")) is None
    with locked(site.state("b"), "another"):
        assert holder_of(site.state("b")) == f"another, process {os.getpid()}"


def test_the_look_at_the_lock_leaves_it(site: Site) -> None:
    with site.mixer("b"):
        pass
    assert holder_of(site.state("b")) is None
    with open(site.state("b") / LOCK) as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_port_of_another_program_is_a_problem(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mixbayes.node.doctor.health.PATIENCE", 0.5)
    monkeypatch.setattr("mixbayes.transport.probe.PATIENCE", 0.5)
    with closing(socket.create_server(("127.0.0.1", site.port("b")))) as server:
        threading.Thread(target=lambda: server.accept()[0].close(), daemon=True).start()
        done = site.doctor("b")
        wake = socket.create_connection(("127.0.0.1", site.port("b")))
        wake.close()
    assert (done.exit_code, list(problems(done))) == (1, ["own port"])
    assert "address already in use" in done.stdout
    assert "--listen" in done.stdout


def test_a_free_port_and_one_that_is_given(site: Site) -> None:
    assert f"127.0.0.1:{site.port('b')} is free" in lines(site.doctor("b"))["own port"]
    given = f"127.0.0.1:{free_port()}"
    assert f"{given} is free" in lines(site.doctor("b", "--listen", given))["own port"]
    assert f"{given} is free" in lines(site.doctor("north", "--listen", given))["own port"]
    assert "own port" not in lines(site.doctor("north"))
    elsewhere = site.doctor("b", "--listen", "192.0.2.1:8443")
    assert "nothing can listen on 192.0.2.1:8443" in problems(elsewhere)["own port"]


def test_state_of_another_node_key_or_program_is_told(site: Site) -> None:
    with site.mixers():
        pass
    of_a = ("--state", site.state("a"))
    assert "holds the state of mixer a of heart" in problems(site.doctor("b", *of_a))["state folder"]
    assert "(a computing party), not of party north" in problems(site.doctor("north", *of_a))["state folder"]
    assert "its key fits" in lines(site.doctor("a", *of_a))["state"]
    (site.keys("a") / "a.state").write_bytes(bytes(32))
    wrong = site.doctor("a", *of_a)
    assert "another state key" in problems(wrong)["state folder"]
    (site.keys("a") / "a.state").unlink()
    assert "there is none in the key folder" in problems(site.doctor("a", *of_a))["state folder"]
    (site.state("a") / "state.sqlite").write_bytes(b"nothing of ours" * 1000)
    assert "is no database" in problems(site.doctor("a", *of_a))["state folder"]
    file = site.folder / "file"
    file.touch()
    assert "is no folder" in problems(site.doctor("b", "--state", file))["state folder"]


def test_a_folder_open_to_others_is_a_warning(site: Site) -> None:
    site.state("b").mkdir()
    site.state("b").chmod(0o755)
    assert lines(site.doctor("b", "--state", site.state("b")))["state folder"].startswith("WARNING")


@pytest.mark.parametrize(("free", "verdict"), [(2**31, "OK"), (2**29, "WARNING"), (2**20, "PROBLEM")])
def test_little_room_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, verdict: str) -> None:
    class Usage:
        def __init__(self) -> None:
            self.free = free

    monkeypatch.setattr(machine.shutil, "disk_usage", lambda _: Usage())
    assert machine.room(tmp_path / "state" / "a").verdict == verdict


def test_a_library_that_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "LIBRARIES", ("grpcio", "mixbayes-nothing"))
    found = machine.software()
    assert (found.verdict, found.exit_code, "mixbayes-nothing missing" in found.said) == ("PROBLEM", 2, True)


def test_an_agreement_that_cannot_be_read_hides_no_keys(site: Site) -> None:
    site.agreement.write_text("name = 3")
    done = site.doctor("north", "--state", site.state("north"))
    assert (done.exit_code, list(problems(done))) == (6, ["agreement"])
    assert lines(done)["validity"].startswith("OK")


@pytest.mark.parametrize(
    ("name", "more", "said"),
    [
        ("east", [], "it has north, south, west"),
        ("a", ["--data", "table.csv"], "A mixer has no table"),
        ("a", ["--listen", "8443"], "'8443' is not HOST:PORT"),
        ("east", ["--health"], "has no party 'east'"),
    ],
)
def test_wrong_usage_ends_with_2(site: Site, name: str, more: list[str], said: str) -> None:
    done = site.doctor(name, *more)
    assert isinstance(done.exception, Unsupported)
    assert said in str(done.exception)


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


def test_two_hospitals_alone(site: Site) -> None:
    content = changed(PAIR, (("parties", 0, "address"), f"127.0.0.1:{free_port()}"))
    pair = site.agree(content, "pair.toml")
    listens, dials = site.doctor("north", agreement=pair), site.doctor("south", agreement=pair)
    assert (listens.exit_code, dials.exit_code) == (0, 3)
    assert "party north dials nobody" in lines(listens)["other nodes"]
    assert "is free" in lines(listens)["own port"]
    assert list(problems(dials)) == ["port of party north"]


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


def test_help_lists_the_exit_codes(site: Site) -> None:
    words = " ".join(site.doctor("a", "--help").output.split())
    assert "6 agreement or table" in words
