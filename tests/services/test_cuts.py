"""A preliminary agreement between nodes on loopback: cut points of the pooled table for all, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mixbayes.agreement.agreement import Federation
from mixbayes.agreement.preliminary import final
from mixbayes.node.cuts import words_of
from mixbayes.node.disk import audit
from mixbayes.node.rounds.state import SERVING
from mixbayes.parties.asking import numbering
from mixbayes.parties.desk import at_mixers, at_own_node
from mixbayes.parties.with_mixers.asking import Asking
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.bayes.cuts import Cuts, cuts_in_clear
from mixbayes.protocol.errors import DifferentSets, OutOfRange
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted
from mixbayes.tables.encoding import encode_query
from mixbayes.transport.errors import RefusedByPolicy, RoundOver
from tests.services.couple import NORTH, SOUTH, make_couple
from tests.services.helpers import Site, make_site, wait_until

BINS = 4
DICTIONARY: dict[str, Any] = {
    "class_column": "class",
    "classes": ["ill", "well"],
    "attributes": [
        {"name": "sex", "kind": "nominal", "values": ["f", "m"]},
        {"name": "age", "kind": "binned", "low": 0.0, "high": 90.0, "cuts": list(map(float, range(1, 90)))},
        {"name": "pulse", "kind": "binned", "low": 40.0, "high": 200.0, "cuts": list(map(float, range(45, 200, 5)))},
    ],
}
PRELIMINARY: dict[str, Any] = {"dictionary": DICTIONARY, "cuts": {"bins": BINS}}
NOISE: dict[str, Any] = {"epsilon": 4.0, "delta": 1e-6, "total_epsilon": 4.0, "total_delta": 1e-6, "coins": [32]}


def table(seed: int, rows: int = 150) -> Columns:
    """Patients of whom the ill are older; whoever is young has no pulse."""
    random = np.random.default_rng(seed)
    ill = random.random(rows) < 0.4
    ages = np.clip(random.normal(40 + 25 * ill, 12), 0, 90).astype(int)
    pulse = np.where(ages < 25, "", random.normal(80, 20, rows).round(1).astype(str))
    label = np.where(ill, "ill", "well")
    return Columns.of(
        ("sex", "age", "pulse", "class"), (random.choice(["f", "m"], rows), ages.astype(str), pulse, label), rows
    )


ROWS = table(99, 3)


def with_tables(site: Site) -> Site:
    site.tables |= {name: table(seed) for seed, name in enumerate(site.federation.names)}
    return site


def expected(site: Site) -> Cuts:
    layout = site.federation.layout
    vectors = [counted(layout, one).vector for one in site.tables.values()]
    return cuts_in_clear(layout, np.stack(vectors).sum(axis=0, dtype=np.uint64), BINS)


def taken(site: Site, name: str) -> tuple[int, Cuts]:
    with at_mixers(site.federation, site.identity(name), site.keys) as desk:
        return desk.cuts()


def entries(site: Site, node: str, verb: str) -> int:
    return sum(record.entry.verb == verb for record in audit.entries(site.state(node)))


def test_all_hospitals_get_the_cut_points_of_the_pooled_table_and_no_label(tmp_path: Path) -> None:
    site = with_tables(make_site(tmp_path, **PRELIMINARY))
    federation, codes = site.federation, encode_query(site.federation.dictionary, ROWS).codes
    with site.mixers():
        site.serve()
        assert [taken(site, name) for name in federation.names] == [(1, expected(site))] * 3
        with pytest.raises(RefusedByPolicy, match="preliminary"):
            site.labels("north", ROWS)
        # A hospital that asks nevertheless gets no label either.
        with site.both("south") as mixers:
            asking = Asking(mixers, federation.layout, numbering(site.identity("south").seal))
            with pytest.raises(RoundOver, match="answers no questions"):
                list(asking.labels(1, codes, private=True))
            asking.close()
        # So through the hospital's own node, which asks the mixers.
        with site.hospital("west"), at_own_node(federation, site.identity("west"), site.keys) as own:
            assert own.cuts() == (1, expected(site))
            with pytest.raises(RefusedByPolicy, match="preliminary"):
                own.labels(codes, ROWS, private=True, progress=lambda done: None)
    assert expected(site).ranks == (3, 1, 2)
    assert entries(site, "a", "took the cut points") == entries(site, "b", "took the cut points") == 4
    following = final(federation, expected(site))
    assert following.cuts is None
    assert following.parties == federation.parties


def test_noisy_cut_points_are_charged_as_any_round(tmp_path: Path) -> None:
    site = with_tables(make_site(tmp_path, privacy=NOISE, **PRELIMINARY))
    with site.mixers():
        site.serve()
        (_, found), (_, other) = (taken(site, name) for name in ("north", "west"))
        assert 0 < site.status("north").epsilon_spent <= 4.0
    assert found == other
    assert found != expected(site)
    assert np.abs(np.array(found.positions[1]) - expected(site).positions[1]).max() < 25
    assert entries(site, "a", "charged noise") == entries(site, "b", "charged noise") == 1


@pytest.mark.parametrize("privacy", [None, NOISE], ids=["exact", "noisy"])
def test_two_hospitals_alone(tmp_path: Path, privacy: dict[str, Any] | None) -> None:
    changes: dict[str, Any] = PRELIMINARY | {"policy": {"minimum": 2}, "privacy": privacy}
    couple = make_couple(tmp_path, **changes)
    site = with_tables(couple.site)
    with couple.nodes():
        couple.serve()
        found = []
        for name in (NORTH, SOUTH):
            with couple.desk(name) as desk:
                found.append(desk.cuts())
                with pytest.raises(RefusedByPolicy, match="preliminary"):
                    couple.labels(name, rows=ROWS)
        assert found[0] == found[1]
        assert (found[0][1] == expected(site)) == (privacy is None)
        assert (couple.status(NORTH).epsilon_spent > 0) == (privacy is not None)
    # What was found lies on disk.
    with couple.nodes(), couple.desk(SOUTH) as desk:
        assert desk.cuts() == found[0]


def test_the_next_agreement_serves_at_the_same_nodes(tmp_path: Path) -> None:
    site = with_tables(make_site(tmp_path, **PRELIMINARY))
    with site.mixers():
        site.serve()
        _, found = taken(site, "west")
    site.federation = final(site.federation, found)
    with site.mixers():
        site.contribute(*site.federation.names)
        with site.both("north") as mixers:
            wait_until(lambda: mixers.status().state == SERVING, "the next round serves")
            assert mixers.status().round == 2
        assert site.labels("south", ROWS) == site.expected(ROWS)


def test_mixers_that_start_again_have_the_same(tmp_path: Path) -> None:
    site = with_tables(make_site(tmp_path, **PRELIMINARY))
    with site.mixers():
        site.serve()
    with site.mixers():
        assert taken(site, "south") == (1, expected(site))


def test_other_agreements_find_no_cut_points(serving: Site) -> None:
    with (
        at_mixers(serving.federation, serving.identity("north"), serving.keys) as desk,
        pytest.raises(RefusedByPolicy, match="not preliminary"),
    ):
        desk.cuts()


def lies(federation: Federation, honest: Words) -> list[tuple[Words, str]]:
    beyond, twice = honest.copy(), honest.copy()
    beyond[0], twice[-1] = 90, twice[-2]
    return [(beyond, "'age' lies beyond its grid"), (twice, "no ranking")]


def test_a_mixer_that_makes_something_up_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = with_tables(make_site(tmp_path, **PRELIMINARY))
    honest = words_of(expected(site))
    with site.both("north") as mixers:
        for words, said in lies(site.federation, honest):
            monkeypatch.setattr(mixers, "_kept", lambda number, size, words=words: [words, words])
            with pytest.raises(OutOfRange, match=said):
                mixers.cuts(1, site.federation)
        monkeypatch.setattr(mixers, "_kept", lambda number, size: [honest, honest + np.uint64(1)])
        with pytest.raises(DifferentSets, match="different cut points"):
            mixers.cuts(1, site.federation)
