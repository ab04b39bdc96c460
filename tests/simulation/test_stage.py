"""What a simulated federation stands on: names, ports, keys, and a folder that goes."""

from __future__ import annotations

import socket
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

from mixbayes.node.identity import Identity
from mixbayes.node.log import logger
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.errors import Unsupported
from mixbayes.simulation.stage import free_ports, node_names, stage

DICTIONARY = Dictionary(
    class_column="class", classes=("no", "yes"), attributes=(Nominal(name="colour", values=("blue", "red")),)
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary things go."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("hospitals", "nodes"),
    [
        (["north", "south"], ["north", "south"]),
        (["North", "Sankt Ägidius, 2"], ["north", "sankt-gidius-2"]),
        (["a", "b", "authority"], ["hospital-1-of-3", "hospital-2-of-3", "hospital-3-of-3"]),
        (["x y", "x-y", "2"], ["x-y", "hospital-2-of-3", "hospital-3-of-3"]),
        (["hospital-2-of-2", "."], ["hospital-2-of-2", "hospital-3-of-2"]),
        (["é", "n" * 90], ["hospital-1-of-2", "n" * 40]),
    ],
)
def test_every_hospital_is_a_node_of_its_own_name(hospitals: list[str], nodes: list[str]) -> None:
    names = node_names(hospitals)
    assert list(names) == hospitals
    assert len(set(names.values())) == len(hospitals)
    assert list(names.values()) == nodes


@pytest.mark.parametrize("two_party", [False, True])
def test_a_stage_has_everything_and_leaves_nothing(folder: Path, two_party: bool) -> None:
    with stage(["North", "South"], DICTIONARY, "shares", two_party, 5.0) as made:
        assert list(folder.iterdir()) == [made.folder]
        assert made.folder.stat().st_mode & 0o777 == 0o700
        assert made.federation.two_party == two_party
        assert made.federation.policy.minimum == 2
        for node in ("north", "south", *(mixer.name for mixer in made.federation.mixers)):
            identity = Identity(made.keys(node), node, logger("test"))
            assert identity.credentials().authority == (made.keys(node) / "authority.pem").read_bytes()
        made.state("north").mkdir(parents=True)
    assert list(folder.iterdir()) == []


def test_nothing_is_left_of_a_stage_that_falls(folder: Path) -> None:
    with pytest.raises(KeyboardInterrupt), stage(["north", "south"], DICTIONARY, "shares", True, 5.0):
        raise KeyboardInterrupt
    assert list(folder.iterdir()) == []


def test_no_folder_to_be_had(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "nowhere"))
    with (
        pytest.raises(Unsupported, match=r"nowhere.* cannot be made: No such file or directory. Set TMPDIR"),
        stage(["north", "south"], DICTIONARY, "shares", True, 5.0),
    ):
        pass


def test_ports_are_free_and_different() -> None:
    assert len(set(free_ports(50))) == 50
    assert any(all(map(is_free, free_ports(10))) for _ in range(9)), "somebody may take one meanwhile, not every time"


def is_free(port: int) -> bool:
    with socket.socket() as one, suppress(OSError):
        one.bind(("127.0.0.1", port))
        return True
    return False
