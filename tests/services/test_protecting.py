"""A hospital that contributes a private release, as the processes that it starts: what it says, and what is charged."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from mixbayes.cli.kept_releases import KeptReleases
from mixbayes.cli.nodes import dealt_by
from mixbayes.keys.folder import load_keys
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.datastore import HOSPITAL, ContributionTables, Datastore
from mixbayes.node.privacy import GivenAway
from mixbayes.parties.alone import node as partner_node
from mixbayes.parties.desk import at_own_node
from mixbayes.tables.private_release import PrivateRelease
from mixbayes.tables.protected_folds import Secrets, protected_in_folds
from mixbayes.tables.protecting import read_protection
from tests.mixers.three_hospitals import Clock
from tests.services.couple import NORTH, SOUTH, make_couple
from tests.services.helpers import Running, Site, make_site, write_csv
from tests.services.test_noise import NOISE

PRIVATE = "private-synthesis:epsilon=2:delta=5e-7"


def given_away(site: Site) -> GivenAway:
    seal = site.identity("north").seal
    with (
        Database.open(site.state("north"), HOSPITAL, seal, "party north") as database,
        Datastore(database, ContributionTables, "party north", Clock()).read() as tables,
    ):
        return tables.given_away()


def test_a_private_release_is_said_and_charged_once(tmp_path: Path) -> None:
    site = make_site(tmp_path, privacy=NOISE, policy={"folds": 2, "max_rows_each": 60})
    write_csv(data := site.folder / "north.csv", site.tables["north"])
    words = ("--state", str(site.state("north")), "--data", str(data), "--protect", PRIVATE)
    with site.mixers(), Running(site, "party", "--name", "north", *words) as north:
        north.ready()
        site.contribute("south", "west")
        site.wait_for("serving")
        with at_own_node(site.federation, site.identity("north"), site.keys) as desk:
            told = desk.status().protection
        assert north.stop() == 0, north.all_said
    assert "numbers of the contribution differ from the unprotected ones" in told
    assert "Promised is epsilon 2 and delta 5e-07 for a row of this table" in told
    assert "the noise of the rounds promises these patients nothing" in told
    given = given_away(site)
    assert [(one.epsilon, one.delta) for one in given.own] == [(2.0, 5e-7)]
    assert not given.noise
    assert drawn_again(site) == given.own[0]


def drawn_again(site: Site) -> PrivateRelease | None:
    """What the node would contribute after a restart."""
    secret = load_keys(site.keys, "north", datetime.now(UTC)).state_key
    hidden, kept = Secrets(dealt_by(site.federation, secret), secret), KeptReleases(site.state("north"), secret)
    table, protection = site.tables["north"], read_protection(PRIVATE)
    return protected_in_folds(site.federation.layout, table, protection, hidden, kept=kept).counted.own_release


def test_of_two_hospitals_alone_one_is_charged_its_release_and_the_other_the_noise(tmp_path: Path) -> None:
    couple = make_couple(tmp_path, privacy=NOISE)
    release = PrivateRelease(b"r" * 32, 2.0, 1e-7)
    settings = couple.settings(NORTH, own_release=release, protection="private-synthesis:epsilon=2")
    with partner_node.running(settings, couple.site.log(NORTH)), couple.node(SOUTH):
        couple.serve()
        assert couple.status(NORTH).epsilon_spent == 2.0
        assert 2.0 < couple.status(SOUTH).epsilon_spent <= 4.0
