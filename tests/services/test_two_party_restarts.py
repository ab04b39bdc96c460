"""Two hospitals alone, as nodes on loopback: either may begin again, and both answer with the same model."""

from __future__ import annotations

import multiprocessing
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from mixbayes.parties.alone.engine import Engine
from mixbayes.parties.alone.store import PartnerStore
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.errors import DifferentSets, PeerGone
from mixbayes.protocol.paillier.key import SecretKey
from tests.services.couple import NORTH, OTHER, SOUTH, Couple, both, cheap_paillier, make_couple
from tests.services.helpers import left_over, wait_until


@pytest.mark.parametrize("protocol", ["shares", "paillier"])
def test_either_node_may_begin_again(
    tmp_path: Path, protocol: str, key: SecretKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is on disk, and both conversations come back by themselves."""
    cheap_paillier(key, monkeypatch)
    couple = make_couple(tmp_path / "site", protocol)
    before, processes = set(threading.enumerate()), set(multiprocessing.active_children())
    with ExitStack() as stays:
        with couple.node(SOUTH):
            stays.enter_context(couple.node(NORTH))
            couple.serve()
            models = [couple.labels(name) for name in (NORTH, SOUTH)]
        with couple.node(SOUTH):
            assert [couple.labels(name) for name in (SOUTH, NORTH)] == models
            stays.close()
            stays.enter_context(couple.node(NORTH))
            assert [couple.labels(name, private=False) for name in (SOUTH, NORTH)] == models
        stays.close()
    assert models == [couple.due()] * 2
    assert len(couple.asked(NORTH)) == len(couple.asked(SOUTH)) == 6
    trained = [sum("trained" in line["event"] for line in couple.site.journals[name].lines) for name in (NORTH, SOUTH)]
    assert trained == [1, 1]
    assert set(multiprocessing.active_children()) <= processes
    wait_until(lambda: not left_over(before), "all threads have ended")


def test_many_restarts_use_up_nothing(couple: Couple) -> None:
    """A conversation whose other end is gone takes no place for ever."""
    with couple.node(NORTH):
        for _ in range(10):
            with couple.node(SOUTH):
                couple.serve()
                assert couple.labels(NORTH, private=False) == couple.due()
    assert not couple.site.journals[NORTH].says("conversations open already")


@both
@pytest.mark.parametrize("protocol", ["shares", "paillier"])
def test_a_model_that_only_one_has_is_trained_again(
    tmp_path: Path, name: str, protocol: str, key: SecretKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This one stops between the end of the training and the writing."""
    cheap_paillier(key, monkeypatch)
    couple = make_couple(tmp_path / "site", protocol)
    lost: list[bytes] = []
    kept: dict[str, bytes] = {}
    really = PartnerStore.keep

    def keep(store: PartnerStore, number: int, run: bytes, engine: Engine, counts: Words | None) -> None:
        if store.name == name and not lost:
            lost.append(run)
            raise PeerGone("this node", "keeping the model", "it was stopped")
        really(store, number, run, engine, counts)
        kept[store.name] = run

    monkeypatch.setattr(PartnerStore, "keep", keep)
    with couple.nodes():
        couple.serve()
        assert [couple.labels(asker) for asker in (NORTH, SOUTH)] == [couple.due()] * 2
    assert kept[NORTH] == kept[SOUTH] != lost[0]


def test_models_of_different_trainings_answer_nothing(couple: Couple, monkeypatch: pytest.MonkeyPatch) -> None:
    really = PartnerStore.engine

    def engine(store: PartnerStore, number: int) -> tuple[bytes, Engine]:
        run, found = really(store, number)
        return (bytes(16) if store.name == NORTH else run), found

    with couple.nodes():
        couple.serve()
        monkeypatch.setattr(PartnerStore, "engine", engine)
        for asker in (NORTH, SOUTH):
            with pytest.raises(DifferentSets, match=f"party {OTHER[asker]}, at question: its model is from another"):
                couple.labels(asker)
