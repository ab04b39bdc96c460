"""The ledger of a hospital that contributes a release with a promise of its own: charged once, and added to noise."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from mixbayes.agreement.agreement import Privacy
from mixbayes.node.disk import audit
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.datastore import HOSPITAL, ContributionTables, Datastore
from mixbayes.node.disk.sealing import Seal
from mixbayes.node.own_releases import charge_own, own_in_words
from mixbayes.node.privacy import GivenAway, loss_of, spent, too_much
from mixbayes.privacy.coins import Coins
from mixbayes.privacy.loss import Release, delta_of, epsilon_of
from mixbayes.tables.private_release import PrivateRelease
from mixbayes.transport.errors import RefusedByPolicy
from tests.mixers.three_hospitals import Clock

NOISE = Release(Coins((400,)), 3)
PRIVACY = Privacy(epsilon=2.0, delta=1e-6, total_epsilon=3.0, total_delta=2e-6, coins=(400,))
ONE, TWO = PrivateRelease(b"one", 2.0, 1e-6), PrivateRelease(b"two", 1.0, 1e-6)


def test_own_releases_add_up_to_the_total_and_not_beyond() -> None:
    assert too_much(GivenAway(), ONE, PRIVACY) == ""
    assert too_much(GivenAway(own=(ONE,)), TWO, PRIVACY) == ""
    beyond = PrivateRelease(b"beyond", 1.001, 1e-6)
    assert too_much(GivenAway(own=(ONE,)), beyond, PRIVACY).startswith(
        "1 release has used ε = 2 of the 3 that are agreed for all rounds (δ = 2e-06), and 1 do not pay for another "
        "one with ε = 1.001 and δ = 1e-06 of its own"
    )
    assert too_much(GivenAway(own=(ONE,)), PrivateRelease(b"delta", 0.5, 1.1e-6), PRIVACY)


def test_what_own_releases_leave_pays_for_noise() -> None:
    """Exactly as if the totals were what is left of them."""
    rest = epsilon_of([NOISE], 1e-6)
    assert 0 < rest < 1
    given = GivenAway((NOISE,), (ONE,))
    assert spent(given, PRIVACY) == pytest.approx(2.0 + rest)
    just = PRIVACY.model_copy(update={"total_epsilon": 2.0 + 1.001 * rest})
    short = PRIVACY.model_copy(update={"total_epsilon": 2.0 + 0.99 * rest})
    assert too_much(GivenAway(own=(ONE,)), NOISE, just) == "" == too_much(GivenAway((NOISE,)), ONE, just)
    assert too_much(GivenAway(own=(ONE,)), NOISE, short)
    assert too_much(GivenAway((NOISE,)), ONE, short)
    assert spent(GivenAway((NOISE,), (ONE, TWO)), PRIVACY) == math.inf, "no delta is left for noise"
    found = loss_of(given, 3.0, 2e-6)
    assert (found.epsilon, found.delta) == pytest.approx((2.0 + rest, 1e-6 + delta_of([NOISE], 1.0)))
    assert loss_of(GivenAway(own=(ONE,)), 1.0, 2e-6).delta == 1.0


def test_a_release_is_charged_once_under_whatever_agreement(tmp_path: Path) -> None:
    with Database.open(tmp_path, HOSPITAL, Seal(b"north".ljust(32)), "party north") as database:
        store = Datastore(database, ContributionTables, "party north", Clock())
        for release in (ONE, ONE, TWO, ONE):
            with store.write() as tables:
                charge_own(tables, "party north", release, PRIVACY)
        with store.read() as tables:
            assert tables.given_away() == GivenAway(own=(ONE, TWO))
            assert "2 such releases: together they promise a row epsilon 3 and delta 2e-06" in own_in_words(
                tables.given_away()
            )
        three = PrivateRelease(b"three", 0.1, 0.0)
        with (
            pytest.raises(RefusedByPolicy, match="party north does not contribute: 2 releases have used"),
            store.write() as tables,
        ):
            charge_own(tables, "party north", three, PRIVACY)
        with store.write() as tables:
            charge_own(tables, "party north", three, None)
    found = [one.entry for one in audit.entries(tmp_path) if one.entry.verb == "charged its own release"]
    assert [one.details["epsilon"] for one in found] == ["2", "1", "0.1"]
