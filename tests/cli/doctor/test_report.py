"""What `mixbayes doctor` reports as a whole, and what it refuses to look at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mixbayes.agreement.files import read_federation
from mixbayes.protocol.errors import Unsupported
from tests.cli.doctor.examined import Site, lines, problems
from tests.keys.helpers import PAIR, changed
from tests.ports import free_port


def test_all_is_well_at_a_hospital(site: Site) -> None:
    site.pin("north")
    with site.mixers():
        done = site.doctor("north", "--data", site.table(), "--state", site.state("north"))
    assert (done.exit_code, problems(done)) == (0, {}), done.output
    found = lines(done)
    assert list(found) == [
        "agreement",
        "software",
        "open files",
        "private key",
        "certificate",
        "authority",
        "certificate and key belong together",
        "name in the certificate",
        "use of the certificate",
        "signature of the authority",
        "validity",
        "state key",
        "revoked certificates",
        "pinned keys",
        "agreed key",
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
    assert "3 rows keep to the agreement" in found["table"]
    assert "round 1 is collecting; missing: party north, party south, party west" in found["round"]
    assert "100000 of 100000 rows" in found["round"]
    assert "0 problems and 0 warnings among 30 checks" in done.stderr


def test_json_is_one_document(site: Site) -> None:
    done = site.doctor("north", "--json")
    document = json.loads(done.stdout)
    assert (done.exit_code, document["exit_code"], document["problems"], document["name"]) == (3, 3, 2, "north")
    wrong = [check for check in document["checks"] if check["verdict"] == "PROBLEM"]
    assert [check["what"] for check in wrong] == ["port of mixer a", "port of mixer b"]
    assert {check["code"] for check in wrong} == {"E212"}
    assert all(check["remedy"] for check in wrong)


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


def test_two_hospitals_alone(site: Site) -> None:
    content = changed(PAIR, (("parties", 0, "address"), f"127.0.0.1:{free_port()}"))
    pair = site.agree(content, "pair.toml")
    listens, dials = site.doctor("north", agreement=pair), site.doctor("south", agreement=pair)
    assert (listens.exit_code, dials.exit_code) == (0, 3)
    assert "party north dials nobody" in lines(listens)["other nodes"]
    assert "is free" in lines(listens)["own port"]
    assert list(problems(dials)) == ["port of party north"]


def test_help_lists_the_exit_codes(site: Site) -> None:
    words = " ".join(site.doctor("a", "--help").output.split())
    assert "6 agreement or table" in words
