"""Cut points as they are typed: `mixbayes federation new --grid`, and `mixbayes federation cuts`."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

import pytest

from mixbayes.agreement.files import read_federation
from mixbayes.agreement.preliminary import final
from mixbayes.cli.recipes import USUAL_FOLDS
from mixbayes.protocol.errors import DictionaryTooLarge, Unsupported
from tests.cli.test_federation import error_of, federation, new
from tests.cli.typed import Prompt
from tests.services.helpers import Running, Site, command, make_site
from tests.services.test_cuts import BINS, PRELIMINARY, expected, with_tables


@pytest.fixture
def like(tmp_path: Path) -> Path:
    """Thirty patients: a measurement with a small and a large value, a category, a number that is one, a class."""
    file = tmp_path / "table.csv"
    rows = [f"{0.25 + i},{'fm'[i % 2]},{i % 3},{'yes' if i % 5 else 'no'}" for i in range(30)]
    file.write_text("\n".join(["age,sex,grade,ill", *rows]) + "\n")
    return file


def test_new_makes_a_preliminary_agreement(tmp_path: Path, like: Path) -> None:
    made = new(tmp_path / "heart", like, "--grid", 60, "--bins", 4)
    assert made.exit_code == 0, made.output
    agreed = read_federation(tmp_path / "heart" / "federation.toml")
    assert agreed.bins_to_find == 4
    age, *others = (attribute.model_dump() for attribute in agreed.dictionary.attributes)
    assert age == {
        "kind": "binned",
        "name": "age",
        "low": 0.0,
        "high": 30.0,
        "cuts": tuple(i / 2 for i in range(1, 60)),
    }
    assert [other["kind"] for other in others] == ["nominal", "nominal"]
    # The budget is that of the agreement that follows: four bins, two values, three values, and missing cells.
    assert agreed.policy.budget == 2 * (1 + 5 + 3 + 4)
    assert "It is preliminary" in made.stderr
    assert "mixbayes federation cuts" in made.stderr
    assert "quantiles, rounded" not in made.stderr
    assert "begin to work out the counts" not in made.stderr
    shown = federation("show", tmp_path / "heart" / "federation.toml").stdout
    assert "preliminary:    it finds the cut points of 4 bins" in shown
    assert "and 39 more" in shown
    assert "cells of the grid that hold its quantiles" in shown


def test_a_noisy_one_has_a_promise(tmp_path: Path, like: Path) -> None:
    assert new(tmp_path / "heart", like, "--grid", 30, "--bins", 4, noise=("--epsilon", 2)).exit_code == 0
    agreed = read_federation(tmp_path / "heart" / "federation.toml")
    assert agreed.privacy
    assert agreed.privacy.epsilon == 2
    assert agreed.layout.coordinates == 4


@pytest.mark.parametrize("options", [["--grid", 9], ["--grid", 9, "--bins", 1], ["--grid", 9, "--bins", 65]])
def test_a_grid_needs_a_number_of_bins(tmp_path: Path, like: Path, options: list[object]) -> None:
    refusal = error_of(new(tmp_path / "heart", like, *options))
    assert isinstance(refusal, Unsupported)
    assert "--bins N, from 2 to 64" in str(refusal)
    assert not (tmp_path / "heart").exists()


def test_too_many_rows_for_the_ranks_are_refused(tmp_path: Path, like: Path) -> None:
    refusal = error_of(new(tmp_path / "heart", like, "--grid", 9, "--bins", 3, "--max-rows", 2**34))
    assert isinstance(refusal, Unsupported | DictionaryTooLarge)
    assert "Lower max_rows" in str(refusal)


def test_cuts_are_printed_and_written_into_the_next_agreement(typed: Prompt, tmp_path: Path) -> None:
    site, out = with_tables(make_site(tmp_path / "site", **PRELIMINARY)), tmp_path / "next.toml"
    with site.mixers():
        site.serve()
        shown = typed.at(site, "north", "federation", "cuts")
        done = typed.at(site, "south", "federation", "cuts", "-o", out, "--json")
    found = expected(site)
    following = final(site.federation, found, USUAL_FOLDS)
    assert shown.code == 0
    assert [line.split()[:2] for line in shown.out.splitlines()] == [
        ["rank", "attribute"], ["1", "age"], ["2", "pulse"], ["3", "sex"]
    ]  # fmt: skip
    document = done.document
    assert (document["federation"], document["round"], document["bins"]) == (site.federation.digest(), 1, BINS)
    assert [(one["name"], one["rank"]) for one in document["attributes"]] == [("sex", 3), ("age", 1), ("pulse", 2)]
    agreed = [attribute.model_dump().get("cuts") for attribute in following.dictionary.attributes]
    assert [one["cuts"] for one in document["attributes"]] == [cuts and list(cuts) for cuts in agreed]
    assert read_federation(out).digest() == following.digest()
    assert "# rank 1 of 3 by what it tells of the class" in out.read_text()
    assert f"{out}: the agreement to be read" in done.err


def test_another_agreement_finds_none(typed: Prompt, serving: Site, tmp_path: Path) -> None:
    done = typed.at(serving, "north", "federation", "cuts", "-o", tmp_path / "next.toml")
    assert (done.code, done.out) == (2, "")
    assert "is not preliminary" in done.err
    assert not (tmp_path / "next.toml").exists()


def test_a_preliminary_agreement_classifies_nobody(typed: Prompt, tmp_path: Path) -> None:
    site, rows = with_tables(make_site(tmp_path / "site", **PRELIMINARY)), tmp_path / "rows.csv"
    rows.write_text("sex,age,pulse\nf,40,80\n")
    done = typed.at(site, "north", "classify", rows, "-o", tmp_path / "labels.csv")
    assert (done.code, done.out) == (5, "")
    assert "This agreement is preliminary" in done.err


def test_before_all_have_contributed_it_is_too_early(typed: Prompt, tmp_path: Path) -> None:
    site = with_tables(make_site(tmp_path / "site", **PRELIMINARY))
    with site.mixers():
        site.contribute("north")
        done = typed.at(site, "north", "federation", "cuts")
    assert (done.code, done.out) == (4, "")
    assert "party south, party west have not contributed yet" in done.err


@pytest.mark.timeout(120)
def test_in_processes_of_their_own(tmp_path: Path) -> None:
    site, out = with_tables(make_site(tmp_path / "site", **PRELIMINARY)), tmp_path / "next.toml"
    with ExitStack() as stack:
        nodes = [stack.enter_context(Running.mixer(site, name)) for name in ("a", "b")]
        nodes += [stack.enter_context(Running.party(site, name)) for name in site.federation.names]
        for node in nodes:
            node.ready()
        site.wait_for("serving")
        done = command(site, "west", "federation", "cuts", "-o", str(out), "--json")
        assert done.returncode == 0, done.stderr
        assert [one["rank"] for one in json.loads(done.stdout)["attributes"]] == list(expected(site).ranks)
        assert all(node.stop() == 0 for node in nodes)
    assert read_federation(out) == final(site.federation, expected(site), USUAL_FOLDS)
