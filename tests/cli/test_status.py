"""`mixbayes status`: one document, and an exit code that says who did not answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.typed import Prompt
from tests.services.helpers import Site, make_site

FIELDS = {"federation", "round", "state", "reason", "contributed", "missing", "refused", "budget", "unreachable"}


def test_one_document(typed: Prompt, serving: Site) -> None:
    done = typed.at(serving, "north", "status", "--json")
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    assert set(told) >= FIELDS
    assert told["federation"] == serving.federation.digest()
    assert told["state"] == "serving"
    assert told["contributed"] == ["north", "south", "west"]
    assert told["missing"] == told["refused"] == []
    assert told["unreachable"] == {}


def test_for_people(typed: Prompt, serving: Site) -> None:
    done = typed.at(serving, "north", "status")
    assert done.code == 0
    assert "state" in done.out
    assert "serving" in done.out
    assert "north, south, west" in done.out
    told = [" ".join(line.split()) for line in done.out.splitlines()]
    assert "round 1; under this agreement 10 may be trained" in told
    left = serving.status("north").budget_left
    assert f"budget {left} of 10000 rows left" in told


def test_who_is_missing(typed: Prompt, tmp_path: Path) -> None:
    site = make_site(tmp_path / "site")
    with site.mixers():
        site.contribute("south")
        told = json.loads(typed.at(site, "north", "status", "--json").out)
    assert (told["state"], told["contributed"], told["missing"]) == ("collecting", ["south"], ["north", "west"])


def test_one_mixer_alone_is_told_and_the_other_is_named(typed: Prompt, tmp_path: Path) -> None:
    site = make_site(tmp_path / "site")
    with site.mixer("b"):
        done = typed.at(site, "north", "status", "--json")
    assert done.code == 3
    told = json.loads(done.out)
    assert told["state"] == "collecting"
    assert list(told["unreachable"]) == ["mixer a"]
    assert "nothing listens at" in told["unreachable"]["mixer a"]
    assert "mixbayes: mixer a, at asking for the status: nothing listens at" in done.err
    assert "[E212]" in done.err


def test_no_mixer(typed: Prompt, site: Site) -> None:
    done = typed.at(site, "north", "status")
    assert (done.code, done.out) == (3, "")
    assert "mixer a" in done.err


def test_who_is_not_in_the_agreement(typed: Prompt, site: Site) -> None:
    for name in ("nobody", "a"):
        done = typed.at(site, name, "status")
        assert done.code == 2
        assert f"has no party {name!r}; it has north, south, west" in done.err


def test_keys_that_are_not_there(typed: Prompt, site: Site, tmp_path: Path) -> None:
    done = typed("status", "--federation", site.file, "--name", "north", "--keys", tmp_path)
    assert done.code == 3
    assert "north.key is missing" in done.err
    assert "[E120]" in done.err


def test_an_agreement_that_is_not_there(typed: Prompt, site: Site, tmp_path: Path) -> None:
    done = typed("status", "--federation", tmp_path / "none.toml", "--name", "north", "--keys", site.keys)
    assert done.code == 6
    assert "none.toml" in done.err


def test_the_environment_says_what_is_not_typed(typed: Prompt, serving: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIXBAYES_FEDERATION", str(serving.file))
    monkeypatch.setenv("MIXBAYES_NAME", "north")
    monkeypatch.setenv("MIXBAYES_KEYS", str(serving.keys))
    assert typed("status").code == 0
