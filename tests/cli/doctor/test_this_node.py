"""What `mixbayes doctor` finds at the node itself: its keys, its state folder, its port and its machine."""

from __future__ import annotations

import fcntl
import os
import socket
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mixbayes.keys.authority import sign
from mixbayes.node.disk.folder import LOCK, locked
from mixbayes.node.doctor import machine
from mixbayes.node.doctor.state import holder_of
from mixbayes.parties import examination
from tests.cli.doctor.examined import Site, lines, problems
from tests.ports import free_port


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

    monkeypatch.setattr(examination, "datetime", Later)
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
    monkeypatch.setattr("mixbayes.node.doctor.listening.PATIENCE", 0.5)
    monkeypatch.setattr("mixbayes.transport.probe.PATIENCE", 0.5)
    with closing(socket.create_server(("127.0.0.1", site.port("b")))) as server:
        threading.Thread(target=lambda: server.accept()[0].close(), daemon=True).start()
        done = site.doctor("b")
        wake = socket.create_connection(("127.0.0.1", site.port("b")))
        wake.close()
    assert (done.exit_code, list(problems(done))) == (1, ["own port"])
    assert "address already in use" in done.stdout
    assert "the other nodes dial the address in the agreement" in done.stdout


def test_a_free_port_and_one_that_is_given(site: Site) -> None:
    assert f"127.0.0.1:{site.port('b')} is free: mixer b does not run now" in lines(site.doctor("b"))["own port"]
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


@pytest.mark.parametrize(("limit", "verdict"), [(1024, "WARNING"), (4096, "OK")])
def test_few_open_files_are_told(site: Site, monkeypatch: pytest.MonkeyPatch, limit: int, verdict: str) -> None:
    monkeypatch.setattr(machine, "within_reach", lambda: limit)
    said = lines(site.doctor("b"))["open files"]
    assert said.startswith(f"{verdict} a node started here may have {limit:,} open files, of which {limit * 3 // 4:,} ")
    assert ("LimitNOFILE=" in said) == (verdict == "WARNING")


def test_a_library_that_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "LIBRARIES", ("grpcio", "mixbayes-nothing"))
    found = machine.software()
    assert (found.verdict, found.exit_code, "mixbayes-nothing missing" in found.said) == ("PROBLEM", 2, True)
