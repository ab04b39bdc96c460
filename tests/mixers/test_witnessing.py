"""Nodes note each other's heads: what a trail that was cut, put back or kept whole looks like to the others."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from mixbayes.node.disk import audit
from mixbayes.node.disk.heads import GIVES, NOTED, heads_in, without_end
from mixbayes.node.rounds.state import SERVING
from mixbayes.node.witnessing import DAY
from tests.mixers.three_hospitals import HOSPITALS, MIXERS, new_folder
from tests.mixers.world import World, deal_base_transfers
from tests.trails import behind_the_head, cut, found_cut

PARTIES = tuple(f"party {name}" for name in HOSPITALS)
"""Titles."""


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    deal_base_transfers(monkeypatch)
    with new_folder() as folder:
        world = World(Path(folder))
        try:
            yield world
        finally:
            world.close()


def serve(world: World, number: int) -> None:
    """A round is trained, and everybody has heard of it."""
    if number > 1:
        assert world.close_round("north", number - 1)
        assert world.open_round("north", number)
    for _ in range(6):
        world.everybody()
    assert world.a.rounds.current().state == SERVING
    world.clock["a"] += 61.0  # mixer a looks again whether mixer b serves
    world.everybody()


def noted(world: World, name: str) -> dict[str, int]:
    """By peer how many entries this node noted."""
    heads = heads_in(world.folder / name)
    assert heads
    return {one.peer: one.head.count for one in heads.noted}


def found(world: World, name: str) -> list[str]:
    return found_cut(world.folder / name)


def cut_while_down(world: World, name: str, entries: int) -> None:
    world.kill(name)
    cut(world.folder / name, entries)
    assert world.start(name)


def test_everybody_is_noted_at_a_sealed_round(world: World) -> None:
    serve(world, 1)
    assert set(noted(world, "a")) == {"mixer b", *PARTIES}
    assert set(noted(world, "b")) == {"mixer a", *PARTIES}
    for name in HOSPITALS:
        assert set(noted(world, name)) == {"mixer a", "mixer b"}
    assert all(found(world, name) == [] for name in (*MIXERS, *HOSPITALS))


def test_what_is_noted_is_the_hash_in_the_others_trail_and_checked_by_verify(world: World) -> None:
    serve(world, 1)
    notes = [one.entry for one in audit.entries(world.folder / "north") if one.entry.verb == NOTED]
    assert [note.subject for note in notes] == ["mixer a", "mixer b"]
    for note, name in zip(notes, MIXERS, strict=True):
        head, entries = note.details["head"], note.details["entries"]
        assert isinstance(head, str)
        assert isinstance(entries, int)
        assert audit.verify(world.folder / name, head, entries).sound


def test_a_node_knows_who_witnesses_it(world: World) -> None:
    serve(world, 1)
    heads = heads_in(world.folder / "a")
    assert heads
    assert {one.peer for one in heads.witnesses} == {"mixer b", *PARTIES}
    assert not any(one.lost for one in heads.witnesses)


def test_the_same_round_is_noted_once(world: World) -> None:
    serve(world, 1)
    before = {name: audit.verify(world.folder / name).count for name in (*MIXERS, *HOSPITALS)}
    for _ in range(5):
        world.everybody()
    assert before == {name: audit.verify(world.folder / name).count for name in (*MIXERS, *HOSPITALS)}


def test_a_later_head_extends_the_earlier_one(world: World) -> None:
    serve(world, 1)
    first = noted(world, "north")
    serve(world, 2)
    second = noted(world, "north")
    assert all(second[peer] > first[peer] for peer in first)
    assert found(world, "north") == []


def test_another_head_is_given_and_noted_after_a_day_without_a_sealed_round(world: World) -> None:
    serve(world, 1)
    first = noted(world, "north")
    for name in world.clock:
        world.clock[name] += DAY
    for _ in range(3):
        world.everybody()
    assert all(count > first[peer] for peer, count in noted(world, "north").items())
    assert noted(world, "a")["mixer b"] > 0


@pytest.mark.parametrize("name", ["a", "b", "north"])
def test_a_trail_that_was_cut_and_continued_is_found_at_the_first_contact(world: World, name: str) -> None:
    serve(world, 1)
    cut_while_down(world, name, behind_the_head(world.folder / name))
    title = world.federation.title(name)
    for _ in range(3):
        world.everybody()
    world.clock["a"] += 61.0
    world.everybody()
    finders = {"a": ("b", *HOSPITALS), "b": ("a", *HOSPITALS), "north": MIXERS}[name]
    for finder in finders:
        assert found(world, finder) == [title]
        assert "no longer has the head" in world.nodes[finder].witnessing.findings()[0]
    if name in MIXERS:  # a hospital speaks first, and its next head is made in the place of the one that was cut off
        assert any("says that it noted" in said for said in world.nodes[name].witnessing.findings())
    assert f"the audit trail of {title}" in world.said.getvalue()


def test_a_trail_that_is_shorter_than_what_others_noted_is_broken_by_the_nodes_own_books(world: World) -> None:
    serve(world, 1)
    folder = world.folder / "a"
    heads = heads_in(folder)
    assert heads
    assert without_end(audit.verify(folder), heads.witnesses).sound
    world.kill("a")
    cut(folder, behind_the_head(folder))
    broken = without_end(audit.verify(folder), heads.witnesses).broken
    assert broken
    assert broken.number == audit.verify(folder).count + 1
    assert "it is missing: mixer b noted" in broken.reason


def test_entries_after_the_head_go_unnoticed(world: World) -> None:
    """What was written after the last head is witnessed by nobody."""
    serve(world, 1)
    cut_while_down(world, "a", behind_the_head(world.folder / "a") - 1)
    for _ in range(3):
        world.everybody()
    assert [found(world, name) for name in ("b", *HOSPITALS)] == [[]] * 4


def test_a_folder_put_back_from_an_old_copy_is_found_and_work_goes_on(world: World) -> None:
    serve(world, 1)
    world.kill("b")
    shutil.copytree(world.folder / "b", world.folder / "copy of b")
    assert world.start("b")
    serve(world, 2)
    world.kill("b")
    shutil.rmtree(world.folder / "b")
    shutil.move(world.folder / "copy of b", world.folder / "b")
    assert world.start("b")
    for _ in range(3):
        world.everybody()
    for finder in HOSPITALS:
        assert found(world, finder) == ["mixer b"]
    assert world.open_round("north", 3) or world.close_round("north", 2)


def test_a_finding_is_shown_until_the_next_sealed_round_and_stays_in_the_trail(world: World) -> None:
    serve(world, 1)
    cut_while_down(world, "north", behind_the_head(world.folder / "north"))
    for _ in range(3):
        world.everybody()
    assert world.a.witnessing.findings()
    assert world.hospital("south").mixers.report("a").trails == world.a.witnessing.findings()
    serve(world, 2)
    assert world.a.witnessing.findings() == []
    assert found(world, "a") == ["party north"]


@pytest.mark.parametrize("old", ["a", "b", "north"])
def test_a_node_of_a_version_without_witnessing_works_and_is_not_noted(
    monkeypatch: pytest.MonkeyPatch, old: str
) -> None:
    deal_base_transfers(monkeypatch)
    with new_folder() as folder:
        world = World(Path(folder), old=[old])
        try:
            serve(world, 1)
            assert noted(world, old) == {}
            for name in {"a", "b", "south"} - {old}:
                assert world.federation.title(old) not in noted(world, name)
                assert len(noted(world, name)) >= 1
                assert found(world, name) == []
        finally:
            world.close()


def test_a_head_of_an_entry_without_a_salt_is_not_given(world: World) -> None:
    """Else a peer could ask for the hash of every entry, and test guesses of what the entries say."""
    serve(world, 1)
    for number in range(1, audit.verify(world.folder / "b").count + 1):
        world.b.witnessing._noted_here["mixer a"] = number  # type: ignore[attr-defined]
        said = world.b.witnessing._statement("mixer a").earlier  # type: ignore[attr-defined]
        verb = next(one.entry.verb for one in audit.entries(world.folder / "b") if one.number == number)
        assert bool(said.hash) == (verb == GIVES)
