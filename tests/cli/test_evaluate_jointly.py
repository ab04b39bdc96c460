"""`mixbayes evaluate --joint` at real nodes: the figures of all hospitals, once every node has given its rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from mixbayes.cli.evaluate import show_jointly
from mixbayes.cli.nodes import dealt_by
from mixbayes.evaluation.document import Table
from mixbayes.evaluation.jointly import joint_evaluation
from mixbayes.privacy.coins import Coins
from mixbayes.protocol.bayes.joint_test import figures_in_clear
from mixbayes.protocol.bayes.reference import fixed_model
from mixbayes.protocol.bayes.validity import joint
from tests.cli.typed import Prompt
from tests.services.helpers import Site, make_site, wait_until

SHARE = 0.3
NOISE = {
    "epsilon": 50.0,
    "delta": 0.01,
    "total_epsilon": 99.0,
    "total_delta": 0.1,
    "coins": [20],
    "test_epsilon": 40.0,
    "test_coins": [20],
}


@pytest.fixture(scope="module")
def wards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Three hospitals that keep patients aside; the nodes of two of them are running."""
    site = make_site(tmp_path_factory.mktemp("wards") / "site", policy={"test_share": SHARE})
    with ExitStack() as stack:
        stack.enter_context(site.mixers())
        site.serve()
        for name in site.federation.names[:2]:
            stack.enter_context(site.hospital(name))
        yield site


def expected(site: Site) -> list[list[int]]:
    own = [site.settings(name).own_patients for name in site.federation.names]
    layout = site.federation.layout
    pooled = np.stack([joint(layout, one.vector) for one in own]).sum(axis=0, dtype=np.uint64)
    rows = [one.rows_aside(site.federation.rows_asked_aside) for one in own]
    return figures_in_clear(layout, fixed_model(layout, pooled), rows, None).tolist()  # type: ignore[no-any-return]


def test_figures_are_those_of_all_hospitals_once_their_nodes_have_run(
    typed: Prompt, wards: Site, tmp_path: Path
) -> None:
    first, last = wards.federation.names[0], wards.federation.names[-1]
    done = typed.at(wards, first, "evaluate", "--joint")
    assert (done.code, done.out) == (4, "")
    assert f"party {last}" in done.err
    with wards.hospital(last):
        wait_until(lambda: typed.at(wards, first, "evaluate", "--joint").code == 0, "all have given their rows")
    done = typed.at(wards, first, "evaluate", "--joint", "--json", "--report", tmp_path)
    found = json.loads(done.out)
    assert found["recipes"][0]["confusion"] == expected(wards)
    assert (found["hospital"], found["own"], found["noise"]) == ("all hospitals", None, None)
    assert found["rows"] == np.sum(expected(wards)) > 0
    assert sorted(found["hospitals"]) == sorted(wards.federation.names)
    assert "A joint test" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"), [(["--recipe", "joint"], "Leave out --recipe"), (["--remember", "own"], "Leave out --remember")]
)
def test_it_is_of_the_plain_joint_classifier(typed: Prompt, wards: Site, words: list[str], said: str) -> None:
    done = typed.at(wards, wards.federation.names[0], "evaluate", "--joint", *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_an_agreement_that_keeps_nobody_aside_says_what_to_agree_on(typed: Prompt, serving: Site) -> None:
    with serving.hospital("north"):
        done = typed.at(serving, "north", "evaluate", "--joint")
    assert (done.code, done.out) == (5, "")
    assert "test_share" in done.err


def test_with_noise_the_figures_are_the_same_whenever_somebody_asks(typed: Prompt, tmp_path: Path) -> None:
    site = make_site(tmp_path / "site", policy={"test_share": SHARE}, privacy=NOISE)
    with site.mixers(), ExitStack() as stack:
        site.serve()
        for name in site.federation.names:
            stack.enter_context(site.hospital(name))
        wait_until(lambda: typed.at(site, "north", "evaluate", "--joint").code == 0, "all have given their rows")
        found = [
            json.loads(typed.at(site, name, "evaluate", "--joint", "--json").out) for name in site.federation.names
        ]
    assert found[0] == found[1] == found[2]
    assert found[0]["noise"] == {"standard_deviation": Coins((20,)).deviation}
    assert found[0]["recipes"][0]["confusion"] != expected(site)


def test_noise_is_told_to_people(capsys: pytest.CaptureFixture[str]) -> None:
    figures = np.array([[90, -7], [12, 60]])
    show_jointly(joint_evaluation(Table(("ill", "well"), "class", ("sex",), 1), ["north", "south"], figures, 8.0))
    out = capsys.readouterr().out
    assert "about 155 patients of 2 hospitals" in out
    assert "-7" in out
    assert "noise with a standard deviation of 8" in " ".join(out.split())
    assert "Right: 96.8%" in out


def test_rows_are_dealt_by_agreement(wards: Site) -> None:
    other = wards.federation.model_copy(update={"name": "another"})
    assert dealt_by(wards.federation, b"key") == dealt_by(wards.federation.model_copy(), b"key")
    assert dealt_by(wards.federation, b"key") != dealt_by(other, b"key")
    assert dealt_by(wards.federation, b"key") != dealt_by(wards.federation, b"yek")
