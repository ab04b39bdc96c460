"""Noise between nodes on loopback: labels and models of N~, ledgers that refuse, and what is not given away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mixbayes.model.classifier import ReleasedNaiveBayes
from mixbayes.model.document import ReleasedModel, read_model
from mixbayes.node.rounds.state import CLOSED, COLLECTING, FAILED, SERVING
from mixbayes.parties.desk import at_mixers
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.bayes.noise import clamped_in_clear
from mixbayes.protocol.computing_party import B
from mixbayes.protocol.errors import BadData
from mixbayes.tables.counting import counted
from mixbayes.transport.errors import RefusedByPolicy
from tests.protocol.cheats import all_of_them, cancelling, lying
from tests.services.couple import NORTH, OTHER, ROWS, SOUTH, make_couple
from tests.services.helpers import Site, make_site, wait_until

NOISE: dict[str, Any] = {"epsilon": 4.0, "delta": 1e-6, "total_epsilon": 4.0, "total_delta": 1e-6, "coins": [24]}
MODEL = NOISE | {"release": "model"}
FRAME = pd.DataFrame({name: ROWS.texts(name) for name in ROWS.names})


def exact(site: Site) -> Words:
    vectors = [counted(site.federation.layout, table).vector for table in site.tables.values()]
    return np.asarray(np.stack(vectors).sum(axis=0, dtype=np.uint64))


def assert_noisy(site: Site, counts: Words) -> None:
    """Not the counts themselves, and no further from them than the coins allow; no missing cells.

    One number's noise is nought about once in six times, and that of all numbers practically never.
    """
    layout, found = site.federation.layout, exact(site)
    noise = [layout.class_counts(counts) - layout.class_counts(found)]
    for (_, block), (_, exactly) in zip(layout.blocks(counts), layout.blocks(found), strict=True):
        noise.append((block[:-1] - exactly[:-1]).ravel())
        assert not block[-1].any()
    signed = np.concatenate(noise).view(np.int64)
    assert np.abs(signed).max() <= layout.noise
    assert signed.any()


def test_a_model_to_keep_gives_the_labels_that_asking_gives(tmp_path: Path) -> None:
    site = make_site(tmp_path, privacy=MODEL)
    with site.mixers():
        site.serve()
        found = []
        for name in ("north", "west"):
            with at_mixers(site.federation, site.identity(name), site.keys) as desk:
                found.append(desk.counts())
        (number, counts), (_, others) = found
        assert number == 1
        assert counts.tolist() == others.tolist()
        assert_noisy(site, counts)
        labels = site.labels("south", ROWS)
        status = site.status("north")
    model = ReleasedModel.of(site.federation, number, counts)
    classifier = ReleasedNaiveBayes(model.text())
    assert classifier.predict(FRAME).tolist() == labels
    assert read_model(model.text()).counts.tolist() == counts.tolist()
    shares = classifier.predict_proba(FRAME)
    assert np.allclose(shares.sum(axis=1), 1)
    assert (clamped_in_clear(site.federation.layout, counts).view(np.int64) >= 0).all()
    assert 0 < status.epsilon_spent <= 4.0


def test_a_hospital_whose_ledger_is_full_does_not_contribute(tmp_path: Path) -> None:
    site = make_site(tmp_path, privacy=NOISE)
    with site.mixers():
        site.serve()
        with site.both("north") as both, pytest.raises(RefusedByPolicy, match="labels alone"):
            both.counts(1, site.federation.layout.size)
        with site.both("north") as both:
            both.close_round(1)
            both.open_round(2)
        with site.hospital("north"):
            wait_until(lambda: site.journals["north"].says("does not contribute"), "north says why")
        assert site.status("north").contributed == []
        assert site.status("north").state == COLLECTING


@pytest.mark.parametrize("release", ["labels", "model"])
def test_two_hospitals_alone(tmp_path: Path, release: str) -> None:
    couple = make_couple(tmp_path, privacy=NOISE | {"release": release}, policy={"minimum": 2, "rounds": 3})
    with couple.nodes():
        couple.serve()
        labels = [couple.labels(name) for name in (NORTH, SOUTH)]
        assert labels[0] == labels[1]
        assert 0 < couple.status(NORTH).epsilon_spent <= 4.0
        if release == "model":
            taken = []
            for name in (NORTH, SOUTH):
                with couple.desk(name) as desk:
                    taken.append(desk.counts()[1])
            assert taken[0].tolist() == taken[1].tolist()
            assert_noisy(couple.site, taken[0])
            document = ReleasedModel.of(couple.site.federation, 1, taken[0]).text()
            assert ReleasedNaiveBayes(document).predict(FRAME).tolist() == labels[0]
        else:
            with couple.desk(NORTH) as desk, pytest.raises(RefusedByPolicy, match="labels alone"):
                desk.counts()
        with couple.desk(SOUTH) as desk:
            desk.close_round(1)
            couple.wait_for(CLOSED)
            desk.open_round(2)
        wait_until(lambda: "agreed for all rounds" in couple.status(NORTH).reason, "the ledger refuses a second round")
        assert couple.status(NORTH).state != SERVING


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "mixbayes model 1"}', "no json"])
def test_a_damaged_file_is_refused(text: str) -> None:
    with pytest.raises(BadData, match=r"no model|damaged"):
        read_model(text)


def test_a_mixer_that_cancels_coins_is_named_and_nothing_is_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = make_site(tmp_path, privacy=NOISE)
    with lying(B, cancelling(all_of_them), monkeypatch), site.mixers():
        site.contribute(*site.federation.names)
        wait_until(lambda: site.journals["a"].says("mixer b, at opened coins", '"E217"'), "mixer a names mixer b")
        site.wait_for(FAILED)


@pytest.mark.parametrize("cheat", [NORTH, SOUTH])
def test_of_two_hospitals_the_one_that_cancels_coins_is_named(
    tmp_path: Path, cheat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    couple = make_couple(tmp_path, privacy=NOISE, policy={"minimum": 2})
    said = f"party {cheat}, at opened coins", '"E217"'
    with lying((NORTH, SOUTH).index(cheat), cancelling(all_of_them), monkeypatch), couple.nodes():
        wait_until(lambda: couple.site.journals[OTHER[cheat]].says(*said), "the other one names it")
        couple.wait_for(FAILED)
