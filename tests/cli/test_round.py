"""`mixbayes round`: a round ends for everybody, and another begins, in which all contribute again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mixbayes.parties.with_mixers.rounds_at_both import RoundsAtBoth
from tests.cli.typed import Prompt
from tests.services.helpers import Site, make_site, write_csv


def test_from_one_to_the_next(typed: Prompt, tmp_path: Path) -> None:
    site = make_site(tmp_path / "site", policy={"rounds": 2})
    write_csv(tmp_path / "new.csv", site.tables["west"])
    ask = ("classify", tmp_path / "new.csv", "-o", tmp_path / "out.csv")
    with site.mixers():
        site.serve()
        refused = typed.at(site, "north", "round", "new")
        assert refused.code == 5
        assert "`mixbayes round close` ends it" in refused.err
        done = typed.at(site, "north", "round", "close")
        assert done.code == 0
        assert "closed" in done.out
        assert typed.at(site, "south", "round", "close").code == 0, "twice is once"
        late = typed.at(site, "south", *ask)
        assert late.code == 4
        assert "been closed" in late.err
        done = typed.at(site, "west", "round", "new")
        assert done.code == 0
        assert "collecting" in done.out
        site.serve()
        assert typed.at(site, "south", *ask).code == 0
        assert (tmp_path / "out.csv").read_text().splitlines()[1:] == site.expected(site.tables["west"])
        assert typed.at(site, "north", "round", "close").code == 0
        last = typed.at(site, "north", "round", "new")
        assert last.code == 5
        assert "allows 2 rounds" in last.err


def test_without_mixer_b_nothing_changes(typed: Prompt, tmp_path: Path) -> None:
    site = make_site(tmp_path / "site")
    with site.mixer("a"):
        done = typed.at(site, "north", "round", "close")
        assert done.code == 3
        assert "mixer b" in done.err
        with site.both("north") as both:
            assert both.report("a").state == "collecting"


def test_whoever_stays_open_is_named(typed: Prompt, serving: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RoundsAtBoth, "close_round", lambda mixers, number: None)
    done = typed.at(serving, "north", "round", "close")
    assert done.code == 5
    assert "not closed everywhere: mixer a has round 1, serving; mixer b has round 1, serving." in done.err


def test_no_word_is_help(typed: Prompt) -> None:
    done = typed("round")
    assert done.code == 2
    assert "close" in done.out + done.err


@pytest.mark.parametrize("loser", ["a", "b"])
def test_a_mixer_that_begins_with_an_empty_folder_is_met_again(typed: Prompt, tmp_path: Path, loser: str) -> None:
    site = make_site(tmp_path / "site", policy={"rounds": 6})
    with site.mixers():
        for _ in range(3):
            site.serve()
            assert typed.at(site, "north", "round", "close").code == 0
            assert typed.at(site, "north", "round", "new").code == 0
        site.serve()
    shutil.rmtree(site.state(loser))
    with site.mixers():
        apart = typed.at(site, "north", "status")
        at = {"a": 4, "b": 4} | {loser: 1}
        assert f"different rounds: mixer a is at round {at['a']}, mixer b at round {at['b']}" in apart.err
        assert "round close" in apart.err
        done = typed.at(site, "north", "round", "close")
        assert done.code == 0
        assert "Closed at both mixers, which are at different rounds: `mixbayes round new`" in done.err
        done = typed.at(site, "north", "round", "new")
        assert done.code == 0, done.err
        site.serve()
        assert site.status("north").round == 5


def test_a_round_that_collects_is_not_left_behind_by_the_next(typed: Prompt, tmp_path: Path) -> None:
    site = make_site(tmp_path / "site")
    with site.mixers():
        assert typed.at(site, "north", "round", "new").code == 5
        assert site.status("north").round == 1
