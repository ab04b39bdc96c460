"""The standing supply between mixers on loopback: it is there soon, conversations use it, and it begins anew."""

from __future__ import annotations

import numpy as np
import pytest

from mixbayes.mixers.node import Mixer
from mixbayes.protocol.errors import LocalError
from mixbayes.protocol.transfer import supplied
from mixbayes.protocol.transfer.lots import LOT
from mixbayes.tables.columns import Columns
from tests.services.helpers import Site, wait_until

ROWS = Columns.of(("sex", "tumour"), (np.array(["f", "m"]), np.array(["none", "large"])), 2)


def supplied_at(*mixers: Mixer) -> None:
    wait_until(lambda: all(mixer.store.supply.ready >= LOT for mixer in mixers), "transfers are made ahead")


@pytest.fixture
def only_lots(monkeypatch: pytest.MonkeyPatch) -> None:
    """No conversation makes transfers of its own."""

    def refuse(*about: object) -> None:
        raise LocalError("a conversation begins with base transfers")

    monkeypatch.setattr(supplied, "connect_pair", refuse)


@pytest.mark.usefixtures("only_lots")
@pytest.mark.parametrize("private", [True, False])
def test_questions_and_trainings_begin_without_base_transfers(site: Site, private: bool) -> None:
    with site.mixer("b") as b, site.mixer("a") as a:
        supplied_at(a, b)
        site.serve()
        assert site.labels("north", ROWS, private=private) == site.expected(ROWS)
        assert a.meter.total("supplying").bytes


@pytest.mark.usefixtures("only_lots")
@pytest.mark.parametrize("again", ["a", "b"])
def test_a_mixer_that_starts_again_is_supplied_anew(served: Site, again: str) -> None:
    stays = "b" if again == "a" else "a"
    with served.mixer(stays) as one:
        for _ in range(2):
            with served.mixer(again) as other:
                supplied_at(one, other)
                assert served.labels("north", ROWS) == served.expected(ROWS)
            wait_until(lambda: not one.store.supply.ready, "its lots are gone")


def test_a_mixer_answers_while_there_is_no_supply(served: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    with served.mixer("b") as b, served.mixer("a") as a:
        for mixer in (a, b):
            monkeypatch.setattr(mixer.store.supply, "promise", lambda lots: None)
        assert served.labels("north", ROWS) == served.expected(ROWS)


def test_an_orderly_stop_leaves_no_warning(served: Site) -> None:
    with served.mixer("b") as b:
        with served.mixer("a") as a:
            supplied_at(a, b)
        wait_until(lambda: not b.store.supply.ready, "its lots are gone")
    assert not any(journal.says("broke off") for journal in served.journals.values())


def test_none_is_made_where_none_is_agreed(site: Site) -> None:
    quiet = site.other(policy={"ahead": 0})
    with quiet.mixer("b") as b, quiet.mixer("a") as a:
        quiet.serve()
        assert quiet.labels("north", ROWS) == quiet.expected(ROWS)
        assert a.store.supply.ready == b.store.supply.ready == a.meter.total("supplying").bytes == 0
