"""The pages about changes of a federation, typed from their first command to their last."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from mixbayes.agreement.files import read_federation
from mixbayes.keys.public import public_key_in
from mixbayes.node.disk import audit
from mixbayes.node.disk.backup import RESTORED
from tests.deploy.story import MIXERS, Story, story_in
from tests.deploy.test_documentation import STORIES
from tests.services.helpers import wait_until

BOTH, ALL = ("north", "south"), ("north", "south", "west")


@pytest.fixture
def story(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Story]:
    if "CI" not in os.environ:
        pytest.skip("only make ci types the stories")
    yield from story_in(tmp_path, monkeypatch, capsys, getattr(request, "param", BOTH))


def test_every_story_is_played() -> None:
    played = re.findall(r'story\.played\("([a-z-]+)"\)', Path(__file__).read_text())
    assert sorted(played) == sorted(STORIES)


def verbs(folder: Path) -> list[str]:
    return [record.entry.verb for record in audit.entries(folder)]


def labels_are_there(folder: Path) -> bool:
    return (folder / "labels.csv").read_text().splitlines() == ["label", "absent", "present"]


def test_backing_up(story: Story) -> None:
    story.played("backing-up")
    assert labels_are_there(story.folder)
    assert RESTORED in verbs(story.folder / "state" / "b")
    assert RESTORED in verbs(story.folder / "state" / "north")


def test_rotating_keys(story: Story) -> None:
    story.played("rotating-keys")
    folder = story.folder
    assert story.says("south", "keys were renewed")
    assert story.says("a", "certificates were revoked")
    agreed = read_federation(folder / "federation.toml")
    assert agreed.key_of("a") == public_key_in(folder / "next" / "a.csr").fingerprint
    assert agreed.key_of("b") == public_key_in(folder / "signed" / "b.pem").fingerprint
    assert [record.entry.verb for record in audit.entries(folder / "state" / "b")].count("serves") == 2, (
        "one agreement changed"
    )


@pytest.mark.parametrize("story", [ALL], indirect=True)
def test_removing_a_site(story: Story) -> None:
    story.played("removing-a-site")
    folder = story.folder
    assert labels_are_there(folder)
    agreed = read_federation(folder / "federation.toml")
    assert agreed.names == BOTH
    assert not (folder / "state" / "west").exists()
    counted = [one.entry for one in audit.entries(folder / "state" / "a") if one.entry.verb == "sealed"]
    assert [one.details["hospitals"] for one in counted] == [3, 2]


@pytest.mark.parametrize("story", [ALL], indirect=True)
def test_a_site_that_was_removed_is_refused_and_says_why(story: Story) -> None:
    story.type("mixbayes federation remove-party federation.toml west -o next.toml --minimum 2")
    for name in MIXERS:
        story.type(f"mixbayes mixer --federation next.toml --name {name} --keys keys --state state/{name}")
    wait_until(lambda: story.says("west", "is not listed in the agreement"), "west is told")


def test_members_change(story: Story) -> None:
    story.played("membership")
    folder = story.folder
    assert labels_are_there(folder)
    assert read_federation(folder / "federation.toml").names == ALL


def test_changing_mixers(story: Story) -> None:
    story.played("changing-mixers")
    folder = story.folder
    assert labels_are_there(folder)
    agreed = read_federation(folder / "federation.toml")
    assert agreed.key_of("b") == public_key_in(folder / "hands" / "keys" / "b.pem").fingerprint
    assert agreed.mixer("b").address.startswith("127.0.0.1:")
    assert audit.verify(folder / "b.backup").sound


def test_upgrading(story: Story) -> None:
    story.played("upgrading")
    assert labels_are_there(story.folder)
    assert RESTORED in verbs(story.folder / "state" / "b")
    contributed = [one.entry for one in audit.entries(story.folder / "state" / "a") if one.entry.verb == "contributed"]
    assert [one.details["round"] for one in contributed] == [1, 1, 2, 2], "nobody contributes anew but after a restore"
