"""`mixbayes federation add-party`, `remove-party` and `replace-mixer` as they are typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mixbayes.agreement.agreement import Federation, federation_from
from mixbayes.agreement.files import read_federation, written
from mixbayes.cli.app import app
from mixbayes.keys.authority import make_request
from mixbayes.protocol.errors import BadData, MixbayesError, Unsupported
from tests.keys.helpers import HEART, PAIR, PRIVACY

ADDRESS = "mixer-b.example.net:8443"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return stored(tmp_path / "federation.toml", federation_from(HEART))


def stored(file: Path, federation: Federation) -> Path:
    file.write_text(written(federation))
    return file


def federation(*words: object) -> Result:
    return CliRunner().invoke(app, ["federation", *map(str, words)])


def error_of(result: Result) -> MixbayesError:
    assert isinstance(result.exception, MixbayesError), result.output
    return result.exception


@pytest.mark.parametrize(
    ("words", "names", "addresses"),
    [
        (("add-party", "east"), ("north", "south", "west", "east"), {"127.0.0.1:4001", "[::1]:4002"}),
        (("remove-party", "west"), ("north", "south"), {"127.0.0.1:4001", "[::1]:4002"}),
        (("replace-mixer", "b", "--address", ADDRESS), ("north", "south", "west"), {"127.0.0.1:4001", ADDRESS}),
    ],
    ids=["joins", "leaves", "moves"],
)
def test_the_next_agreement_differs_in_its_members_alone(
    file: Path, words: tuple[str, ...], names: tuple[str, ...], addresses: set[str]
) -> None:
    before, out = file.read_bytes(), file.with_name("next.toml")
    command, *rest = words
    done = federation(command, file, *rest, "-o", out)
    assert (done.exit_code, done.stdout) == (0, "")
    agreed, following = read_federation(file), read_federation(out)
    assert file.read_bytes() == before
    assert following.names == names
    assert {mixer.address for mixer in following.mixers} == addresses
    differing = {part for part, digest in agreed.sections().items() if following.sections()[part] != digest}
    assert differing == {"members"}
    for told in (f"former digest:  {agreed.digest()}", f"new digest:     {following.digest()}"):
        assert told in done.stderr


def test_who_comes_back_to_the_same_members_has_the_same_agreement(file: Path) -> None:
    out, back = file.with_name("next.toml"), file.with_name("back.toml")
    federation("add-party", file, "east", "-o", out, "--minimum", 4)
    assert read_federation(out).policy.minimum == 4
    federation("remove-party", out, "east", "-o", back, "--minimum", 2)
    assert read_federation(back).digest() == read_federation(file).digest()


def test_a_file_is_not_replaced_unless_that_is_said(file: Path) -> None:
    before = file.read_bytes()
    error = error_of(federation("add-party", file, "east", "-o", file))
    assert isinstance(error, BadData)
    assert "say --overwrite" in str(error)
    assert file.read_bytes() == before
    assert federation("add-party", file, "east", "-o", file, "--overwrite").exit_code == 0
    assert "east" in read_federation(file).names


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add-party", "west"), "has a party west already"),
        (("add-party", "b"), "has a mixer b already"),
        (("add-party", "no name"), "name"),
        (("add-party", "east", "--minimum", "5"), "5 hospitals are needed, 4 are listed"),
        (("remove-party", "east"), "has no party 'east'; it has north, south, west"),
        (("replace-mixer", "b"), "says that already"),
        (("replace-mixer", "b", "--key", "b.csr"), "no such file"),
        (("replace-party", "west", "--key", "12"), "fingerprint"),
        (("replace-mixer", "c", "--address", ADDRESS), "has no mixer 'c'"),
        (("replace-mixer", "b", "--address", "127.0.0.1:4001"), "two nodes have it"),
        (("replace-mixer", "b", "--address", "nowhere"), "address"),
        (("replace-mixer", "b", "--address", "[::1]:4002"), "says that already"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_written(file: Path, words: tuple[str, ...], said: str) -> None:
    command, *rest = words
    error = error_of(federation(command, file, *rest, "-o", file.with_name("next.toml")))
    assert isinstance(error, Unsupported)
    assert said in str(error)
    assert not file.with_name("next.toml").exists()


def test_a_hospital_that_is_needed_does_not_leave_unless_the_minimum_changes(tmp_path: Path) -> None:
    file = stored(tmp_path / "federation.toml", federation_from(HEART | {"policy": {"minimum": 3}}))
    left = ("remove-party", file, "west", "-o", tmp_path / "next.toml")
    assert "3 hospitals are needed, 2 are listed" in str(error_of(federation(*left)))
    assert federation(*left, "--minimum", 2).exit_code == 0


def test_two_hospitals_without_mixers_stay_two(tmp_path: Path) -> None:
    file = stored(tmp_path / "federation.toml", federation_from(PAIR))
    for words in (("add-party", file, "west"), ("remove-party", file, "south")):
        assert isinstance(error_of(federation(*words, "-o", tmp_path / "next.toml")), Unsupported)


def test_noise_that_was_drawn_is_said_to_stay_charged(tmp_path: Path, file: Path) -> None:
    noisy = stored(tmp_path / "noisy.toml", federation_from(HEART | {"privacy": PRIVACY}))
    words = ("west", "-o", tmp_path / "next.toml", "--overwrite")
    assert "stays charged" in federation("remove-party", noisy, *words).stderr
    assert "stays charged" not in federation("remove-party", file, *words).stderr


def test_keys_of_those_who_join_or_are_replaced_are_agreed(file: Path) -> None:
    out = file.with_name("next.toml")
    federation("add-party", file, "east", "--key", "01" * 32, "-o", out)
    federation("replace-mixer", out, "b", "--key", "02" * 32, "-o", out, "--overwrite")
    federation("replace-party", out, "west", "--key", "03" * 32, "-o", out, "--overwrite")
    agreed = read_federation(out)
    assert {name: key and key[:2] for name, key in agreed.first_keys.items()} == {
        "north": None,
        "south": None,
        "west": "03",
        "east": "01",
        "a": None,
        "b": "02",
    }


def test_the_next_agreement_begins_with_the_present_keys(tmp_path: Path, file: Path) -> None:
    """A signed change of a key says nothing in another agreement."""
    for folder in ("keys", "later"):
        make_request("north", tmp_path / folder)
    federation("pin", file, "--key", f"north={tmp_path / 'keys' / 'north.csr'}")
    federation("rotate-key", file, "--name", "north", "--keys", tmp_path / "keys", "--to", tmp_path / "later/north.csr")
    assert read_federation(file).changes
    federation("remove-party", file, "west", "-o", tmp_path / "next.toml")
    following = read_federation(tmp_path / "next.toml")
    assert (following.changes, following.first_keys["north"]) == ((), read_federation(file).key_of("north"))
