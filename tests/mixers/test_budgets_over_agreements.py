"""The table of docs/operations/budgets-over-agreements.md: every change is made, and the nodes do what it says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from mixbayes.agreement.agreement import Federation, federation_from
from mixbayes.agreement.pinning import pinned, with_change
from mixbayes.agreement.pins import KeyChange
from mixbayes.agreement.promise import cost
from mixbayes.agreement.succession import with_other_key, with_other_mixer, with_party, without_party
from mixbayes.node.disk import audit
from mixbayes.node.doctor.state import promise_findings
from mixbayes.node.earlier_agreements import tell_what_begins_anew
from mixbayes.node.rounds.state import SERVING
from mixbayes.protocol.bayes.recipe import read_recipe
from mixbayes.transport.errors import RefusedByPolicy
from tests.agreement.test_pins import Key, change
from tests.mixers.three_hospitals import BUDGET, HOSPITALS, MIXERS, NOISE, agreement, new_folder, one_hot
from tests.mixers.world import World, deal_base_transfers

PAGE = Path(__file__).parents[2] / "docs" / "operations" / "budgets-over-agreements.md"
ANEW, GOES_ON = "anew", "goes on"
KEYS = {name: Key.new() for name in ("a", "b", "north")}
ANOTHER = Key.new()
NODES = ("a", "b", "north")
"""The nodes at which every change is looked at."""
RECIPE = read_recipe("personal:weight=10:prior=own")


def first() -> Federation:
    """Noise, and every key agreed that may change."""
    return pinned(agreement(NOISE), {name: key.fingerprint for name, key in KEYS.items()})


def with_policy(federation: Federation) -> Federation:
    content = federation.model_dump(mode="json")
    return federation_from(content | {"policy": content["policy"] | {"budget": BUDGET + 1}})


def with_privacy(federation: Federation, **changes: object) -> Federation:
    content = federation.model_dump(mode="json")
    return federation_from(content | {"privacy": content["privacy"] | changes})


def with_dictionary(federation: Federation) -> Federation:
    content = federation.model_dump(mode="json")
    colour = content["dictionary"]["attributes"][1]
    colour["values"] = [*colour["values"], "green"]
    return federation_from(content)


def rotated(federation: Federation) -> Federation:
    return with_change(federation, KeyChange(**change(KEYS["a"], ANOTHER, 1, federation.digest())))


CHANGES: Mapping[str, Callable[[Federation], Federation]] = {
    "a hospital joins": lambda agreed: with_party(agreed, "west"),
    "a hospital leaves": lambda agreed: without_party(agreed, "west"),
    "a mixer gets another address": lambda agreed: with_other_mixer(agreed, "b", "127.0.0.1:4999", None),
    "a mixer gets another key by `replace-mixer`": lambda agreed: with_other_mixer(
        agreed, "b", None, ANOTHER.fingerprint
    ),
    "a hospital gets another key by `replace-party`": lambda agreed: with_other_key(
        agreed, "north", ANOTHER.fingerprint
    ),
    "another dictionary": with_dictionary,
    "another ε": partial(with_privacy, epsilon=1.9),
    "no noise any more": lambda agreed: federation_from(agreed.model_dump(mode="json") | {"privacy": None}),
    "another policy": with_policy,
    "another name": lambda agreed: federation_from(agreed.model_dump(mode="json") | {"name": "renamed"}),
    "an agreement that was in force before": lambda agreed: agreed,
    "a key changed by `rotate-key`": rotated,
    "a node is restarted, upgraded, or gets a renewed certificate": lambda agreed: agreed,
}


def without_west(federation: Federation) -> Federation:
    return without_party(federation, "west")


def rows_of(page: Path) -> dict[str, dict[str, str]]:
    """The table: by change, by column."""
    lines = [line for line in page.read_text().splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    header, *rows = cells
    return {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows}


SAID = rows_of(PAGE)


def test_the_page_speaks_of_the_changes_that_are_made_here() -> None:
    assert list(SAID) == list(CHANGES)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    deal_base_transfers(monkeypatch)
    with new_folder() as folder:
        made = World(Path(folder), first())
        try:
            yield made
        finally:
            made.close()


def restarted(world: World, federation: Federation) -> None:
    """Everybody stops, and starts with this agreement; a hospital that it does not list stays away."""
    world.close()
    world.federation, world.layout = federation, federation.layout
    world.vectors = {name: one_hot(world.layout, name) for name in HOSPITALS}
    for name in (*MIXERS, *federation.names):
        assert world.start(name)


def serve(world: World) -> int:
    """The round that serves."""
    for _ in range(6):
        for name in world.federation.names:
            world.visit(name)
        while world.lead():
            pass
    now = world.a.rounds.current()
    assert (now.state, world.b.rounds.current().state) == (SERVING, SERVING)
    return now.number


@dataclass(frozen=True)
class Before:
    digest: str
    number: int
    run: bytes | None
    heads: Mapping[str, audit.Verdict]


def worked(world: World) -> Before:
    """A round has served and answered, and a hospital remembers its best recipe."""
    number = serve(world)
    assert world.asked("north", number, np.zeros((2, 5), np.int32), private=True, id=b"i" * 16).size == 5
    world.hospital("north").outbox.remember_best(RECIPE)
    heads = {name: audit.verify(world.folder / name) for name in NODES}
    return Before(world.federation.digest(), number, world.a.rounds.current().run, heads)


def found(world: World, before: Before) -> dict[str, str]:
    """What became of everything, in the words of the page."""
    number, said = serve(world), {True: GOES_ON, False: ANEW}
    digest = {True: "the same", False: "new"}[world.federation.digest() == before.digest]
    return {
        "digest": digest,
        "round and model": said[(number, world.a.rounds.current().run) == (before.number, before.run)],
        "budget of rows": said[budget_is_used(world, number)],
        "number of rounds": said[rounds_sealed(world) > 1 or number == before.number],
        "ledger of noise": said[all(releases(world, name, before.number) >= 1 for name in NODES)],
        "audit trail": said[all(goes_on(world, name, before.heads[name]) for name in NODES)],
        "best recipe": said[world.hospital("north").outbox.best() == RECIPE],
    }


def budget_is_used(world: World, number: int) -> bool:
    left = {mixer.rounds.budget_of(number, "north") for mixer in (world.a, world.b)}
    assert len(left) == 1
    budget, rest = left.pop()
    return rest < budget


def rounds_sealed(world: World) -> int:
    """Under this agreement, as both mixers and a hospital count them."""
    digest, counted = world.federation.digest(), set()
    for rounds in (world.a.rounds, world.b.rounds):
        with rounds.datastore.read() as tables:
            counted.add(tables.sealed_rounds(digest))
    with world.hospital("north").outbox._datastore.read() as of_north:
        counted.add(of_north.sealed_rounds(digest))
    assert len(counted) == 1
    return counted.pop()


def releases(world: World, name: str, number: int) -> int:
    """The noise in a node's ledger that was drawn before the change, in this round."""
    node = world.nodes[name]
    with node.database.read() as connection:
        return int(connection.execute("SELECT COUNT(*) FROM noise WHERE round = ?", (number,)).fetchone()[0])


def goes_on(world: World, name: str, head: audit.Verdict) -> bool:
    return audit.verify(world.folder / name, head.head, head.count).sound


def made(world: World, what: str) -> Before:
    """The change, after everybody has worked by an agreement."""
    if what == "a hospital joins":
        restarted(world, without_west(world.federation))
    before = worked(world)
    agreed = world.federation
    if what == "an agreement that was in force before":
        restarted(world, CHANGES["another name"](agreed))
        serve(world)
    restarted(world, CHANGES[what](agreed))
    return before


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_carries_on_what_the_page_says(world: World, what: str) -> None:
    before = made(world, what)
    seen = found(world, before)
    if what == "an agreement that was in force before":
        assert seen.pop("digest") == "the same"
        assert {"digest": "as before"} | seen == SAID[what]
    else:
        assert seen == SAID[what]


def test_the_total_of_the_agreement_in_force_is_what_all_rounds_are_held_to(world: World) -> None:
    """A new name does not make anybody forget."""
    worked(world)
    delta = 1e-5
    just_one = cost(world.federation.releases, delta, 1) * 1.001
    tight = with_privacy(world.federation, total_epsilon=just_one, total_delta=delta)
    restarted(world, CHANGES["another name"](tight))
    with pytest.raises(RefusedByPolicy, match="the noise of 1 release has used"):
        world.hospital("north").contributor.step()


def told(world: World) -> list[str]:
    said = world.said.getvalue()
    tell_what_begins_anew(world.log, world.federation, world.folder / "a")
    tell_what_begins_anew(world.log, world.federation, world.folder / "north")
    return re.findall(r'"event": "([^"]+)"', world.said.getvalue()[len(said) :])


def test_rounds_without_noise_are_named_by_an_agreement_that_promises_something(world: World) -> None:
    exact = CHANGES["no noise any more"](world.federation)
    restarted(world, exact)
    serve(world)
    assert told(world) == []
    restarted(world, CHANGES["another name"](exact))
    assert told(world) == ["rounds of other agreements came before"] * 2
    restarted(world, first())
    assert told(world) == ["rounds of other agreements came before", "earlier rounds had no noise"] * 2
    for name in ("a", "north"):
        (finding,) = promise_findings(world.folder / name, world.federation)
        assert "had 1 rounds" in finding.said
        assert not list(promise_findings(world.folder / name, exact)), "it promises nothing"
    serve(world)
    restarted(world, CHANGES["another name"](first()))
    assert told(world) == ["rounds of other agreements came before", "earlier rounds had no noise"] * 2
    lines = world.said.getvalue().splitlines()
    assert '"rounds": 2' in lines[-2], "of two rounds that came before"
    assert '"rounds": 1' in lines[-1], "one had no noise"
