"""`mixbayes classify`: the same labels as from the pooled table, in a file that is whole or not there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mixbayes.cli import ask
from tests.cli.typed import Prompt
from tests.services.helpers import Site, make_site, write_csv


@pytest.fixture
def new(serving: Site, tmp_path: Path) -> Path:
    path = tmp_path / "new.csv"
    write_csv(path, serving.tables["west"])
    return path


@pytest.mark.usefixtures("_every_step_is_told")
@pytest.mark.parametrize("how", [(), ("--private-instances",), ("--public-instances",)])
def test_labels_in_the_order_of_the_rows(typed: Prompt, serving: Site, new: Path, how: tuple[str, ...]) -> None:
    out = new.with_name("out.csv")
    done = typed.at(serving, "south", "classify", new, "-o", out, *how)
    assert (done.code, done.out) == (0, "")
    assert "rows classified" in done.err
    assert out.stat().st_mode & 0o777 == 0o600
    assert out.read_text().splitlines() == ["label", *serving.expected(serving.tables["west"])]


def test_values_that_nobody_knows_and_that_are_missing(typed: Prompt, serving: Site, tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("tumour,sex\n,f\nnever-seen,\nlarge,m\n")
    done = typed.at(serving, "south", "classify", tmp_path / "new.csv", "-o", tmp_path / "out.csv")
    assert done.code == 0
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 4


def test_no_rows(typed: Prompt, serving: Site, tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("tumour,sex\n")
    done = typed.at(serving, "south", "classify", tmp_path / "new.csv", "-o", tmp_path / "out.csv")
    assert done.code == 0, done.err
    assert (tmp_path / "out.csv").read_text() == "label\n"


def test_a_table_without_a_column(typed: Prompt, serving: Site, tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("sex\nf\n")
    done = typed.at(serving, "south", "classify", tmp_path / "new.csv", "-o", tmp_path / "out.csv")
    assert done.code == 6
    assert "column 'tumour' is missing" in done.err
    assert not (tmp_path / "out.csv").exists()


def test_a_file_that_cannot_be_written_is_said_first(typed: Prompt, serving: Site, new: Path) -> None:
    left = serving.status("west").budget_left
    done = typed.at(serving, "west", "classify", new, "-o", new.parent / "none" / "out.csv")
    assert done.code == 6
    assert "there is no folder" in done.err
    assert serving.status("west").budget_left == left


def test_what_was_answered_before_it_was_stopped_is_not_charged_again(
    typed: Prompt, serving: Site, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, note = new.with_name("out.csv"), new.with_name(".out.csv.unfinished")

    def stopped(labels: object, known_by: object) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ask, "labels_text", stopped)
        assert typed.at(serving, "north", "classify", new, "-o", out, "--repeats", "3").code == 130
    left = serving.status("north").budget_left
    assert note.is_file()
    done = typed.at(serving, "north", "classify", new, "-o", out, "--repeats", "3")
    assert done.code == 0, done.err
    assert out.read_text().splitlines() == ["label", *serving.expected(serving.tables["west"])]
    assert serving.status("north").budget_left == left
    assert not note.exists()
    assert "are left" not in done.err, "what of it was charged now is not known"
    done = typed.at(serving, "north", "classify", new, "-o", out, "--repeats", "3")
    left -= serving.tables["west"].rows + 3
    assert serving.status("north").budget_left == left
    assert f"At most {left} of the 10000 rows of this round's budget are left." in done.err


def test_help_says_what_is_charged_again(typed: Prompt) -> None:
    assert "A finished command that is repeated is charged again" in " ".join(typed("classify", "-h").out.split())


def test_the_table_is_not_overwritten_by_its_labels(typed: Prompt, serving: Site, new: Path) -> None:
    before = new.read_bytes()
    done = typed.at(serving, "north", "classify", new, "-o", new)
    assert done.code == 2
    assert "names the table itself" in done.err
    assert new.read_bytes() == before


def test_too_early(typed: Prompt, new: Path, tmp_path: Path) -> None:
    site = make_site(tmp_path / "site")
    with site.mixers():
        done = typed.at(site, "north", "classify", new, "-o", tmp_path / "out.csv")
    assert done.code == 4
    assert "Round 1 is still collecting: party north, party south, party west have not contributed yet" in done.err
    assert "[E213]" in done.err


def test_over_budget(typed: Prompt, tmp_path: Path) -> None:
    site = make_site(tmp_path / "site", policy={"budget": 25})
    write_csv(tmp_path / "some.csv", site.tables["west"].take(np.arange(20)))
    with site.mixers():
        site.serve()
        assert typed.at(site, "north", "classify", tmp_path / "some.csv", "-o", tmp_path / "1.csv").code == 0
        done = typed.at(site, "north", "classify", tmp_path / "some.csv", "-o", tmp_path / "2.csv")
        assert typed.at(site, "south", "classify", tmp_path / "some.csv", "-o", tmp_path / "3.csv").code == 0
    assert done.code == 5
    assert "20 rows are asked about, and of the 25" in done.err
    assert "5 are left. Nothing was charged." in done.err
    assert not (tmp_path / ".2.csv.unfinished").exists()
    assert "[E231]" in done.err
    assert not (tmp_path / "2.csv").exists()


def test_one_mixer_does_not_answer(typed: Prompt, new: Path, tmp_path: Path) -> None:
    site = make_site(tmp_path / "site")
    with site.mixer("a"):
        done = typed.at(site, "north", "classify", new, "-o", tmp_path / "out.csv")
    assert done.code == 3
    assert "mixbayes: mixer b, at asking for the status: nothing listens at" in done.err
