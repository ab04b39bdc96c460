"""`mixbayes mixer`: what it refuses before it serves. tests/nodes starts and stops it as a process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.typed import Prompt
from tests.keys.helpers import PAIR
from tests.ports import free_port
from tests.services.helpers import Site


def test_examples_and_options_are_told(typed: Prompt) -> None:
    done = typed("mixer", "--help")
    assert done.code == 0
    for word in (
        "--federation",
        "--name",
        "--keys",
        "--state",
        "--listen",
        "--reflection",
        "mixbayes mixer --federation",
    ):
        assert word in done.out


@pytest.mark.parametrize("left_out", ["--federation", "--name", "--keys", "--state"])
def test_what_it_needs(typed: Prompt, site: Site, left_out: str) -> None:
    words = {"--federation": site.file, "--name": "a", "--keys": site.keys, "--state": site.state("a")}
    del words[left_out]
    done = typed("mixer", *(word for pair in words.items() for word in pair))
    assert done.code == 2
    assert left_out in done.err


def test_a_hospital_is_no_mixer(typed: Prompt, site: Site) -> None:
    done = typed.at(site, "north", "mixer", "--state", site.state("a"))
    assert done.code == 2
    assert "has no mixer 'north'; it has a, b. north is a party" in done.err


def test_a_federation_without_mixers(typed: Prompt, site: Site, tmp_path: Path) -> None:
    from mixbayes.agreement.agreement import federation_from
    from mixbayes.agreement.files import written

    (tmp_path / "pair.toml").write_text(written(federation_from(PAIR)))
    done = typed(
        "mixer", "--federation", tmp_path / "pair.toml", "--name", "a", "--keys", site.keys, "--state", tmp_path
    )
    assert done.code == 2
    assert "[E110]" in done.err


def test_a_state_of_another_node(typed: Prompt, site: Site) -> None:
    with site.mixer("b", listen=f"127.0.0.1:{free_port()}"):
        pass
    done = typed.at(site, "a", "mixer", "--state", site.state("b"))
    assert done.code == 1
    assert "[E121]" in done.err
    assert "mixer b" in done.err


def test_a_mixer_that_listens_elsewhere_says_that_nobody_may_reach_it(site: Site) -> None:
    with site.mixer("b", listen=f"127.0.0.1:{free_port()}"):
        pass
    assert site.journals["b"].says("nobody reaches this node unless the agreed address is forwarded here")


def test_keys_that_others_can_read(typed: Prompt, site: Site, tmp_path: Path) -> None:
    import shutil

    keys = tmp_path / "keys"
    shutil.copytree(site.keys, keys)
    (keys / "a.key").chmod(0o644)
    done = typed("mixer", "--federation", site.file, "--name", "a", "--keys", keys, "--state", tmp_path / "state")
    assert done.code == 3
    assert "chmod 600" in done.err
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("address", ["240.0.0.1:7443", "nobody.invalid:1"])
def test_an_address_that_is_not_here(typed: Prompt, site: Site, tmp_path: Path, address: str) -> None:
    for name in ("a", "b"):
        done = typed.at(site, name, "mixer", "--state", tmp_path / name, "--listen", address)
        assert done.code == 1
        assert f"Nothing can listen on {address}" in done.err
        assert "[E122]" in done.err
