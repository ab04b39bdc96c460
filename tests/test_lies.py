"""Every lie of one role: that the benchmark of liars tells each once, and knows what came of it."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mixbayes.protocol.errors import LocalError, OutOfRange, PeerGone, WrongStep
from mixbayes.transport.errors import RoundFailed

ROOT = Path(__file__).parents[1]
KINDS = "alter", "zero", "random", "repeat"
PAGE = ROOT / "docs" / "lying.md"


@pytest.fixture
def liars(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return import_module("liars")


@pytest.fixture
def lying(liars: Any) -> Any:
    """The modules beside the benchmark, by name."""
    return lambda name: import_module(f"lying.{name}")


def work(liars: Any, name: str, scene: Any = None) -> Any:
    """One job in memory."""
    scene = scene or liars.SCENES[0]
    job = liars.in_memory.JOBS[name]
    return liars.Job(job.liars, partial(liars.in_memory.play, job, scene), job.expected(scene))


def fates(liars: Any, name: str, liar: str, kind: str, step: str = "") -> list[Any]:
    """Of all lies of this kind, or of those in this step."""
    job = work(liars, name)
    chosen = [(number, said) for number, said in liars.chosen(liars.honest(liar, job), None) if step in ("", said.step)]
    found = [liars.fate_of_one(liars.Lie(kind, number), liar, job) for number, _ in chosen]
    return [fate for fate in found if fate]


# The liar


def test_liar_changes_the_one_message_and_keeps_its_length(lying: Any) -> None:
    liar, meant = lying("liar"), [bytes(range(8)), bytes(8), b"\1" * 8]
    for kind in KINDS:
        for number in range(3):
            tongue = liar.Tongue(liar.Lie(kind, number))
            told = [tongue.says("mixer b", f"step {at}", payload) for at, payload in enumerate(meant)]
            others = [at for at in range(3) if at != number]
            assert [told[at] for at in others] == [meant[at] for at in others]
            assert len(told[number]) == 8
            assert tongue.lied == (told[number] != meant[number])


def test_each_kind_does_what_its_name_says(lying: Any) -> None:
    liar, first, second = lying("liar"), bytes(range(1, 9)), bytes(range(11, 19))

    def told(kind: str) -> bytes:
        tongue = liar.Tongue(liar.Lie(kind, 1))
        tongue.says("mixer b", "step", first)
        return bytes(tongue.says("mixer b", "step", second))

    changed = np.frombuffer(told("alter"), np.uint8) ^ np.frombuffer(second, np.uint8)
    assert np.unpackbits(changed).sum() == 1
    assert told("zero") == bytes(8)
    assert told("repeat") == first
    assert told("random") not in (first, second, bytes(8))


def test_message_of_zeros_that_is_zeroed_and_one_without_an_earlier_one_are_no_lies(lying: Any) -> None:
    liar = lying("liar")
    for kind, payload in (("zero", bytes(4)), ("repeat", b"1234"), ("alter", b"")):
        tongue = liar.Tongue(liar.Lie(kind, 0))
        assert tongue.says("mixer b", "step", payload) == payload
        assert not tongue.lied


# What came of it


@pytest.mark.parametrize(
    ("played", "end", "blame"),
    [
        ({"answers": [1, 2]}, "harmless", "nobody"),
        ({"answers": [1, 1]}, "silent", "nobody"),
        ({"errors": {"mixer a": OutOfRange("mixer b", "step", "why")}}, "caught", "the liar"),
        ({"errors": {"mixer a": OutOfRange("mixer a or mixer b", "step", "why")}}, "caught", "the liar or another"),
        ({"errors": {"mixer a": WrongStep("party north", "step", "why")}}, "caught", "another"),
        (
            {"errors": {"party x": WrongStep("party x", "step", "(so says mixer b)")}},
            "caught",
            "the liar or another",
        ),
        ({"errors": {"mixer b": WrongStep("party north", "step", "why")}}, "caught", "nobody"),
        ({"errors": {"mixer a": PeerGone("party north", "step", "why")}}, "caught", "nobody"),
        ({"errors": {"mixer a": LocalError("why")}}, "caught", "nobody"),
        ({"errors": {"mixer a": RoundFailed("party north, at contribution: why")}}, "caught", "another"),
        ({"answers": [1, 2], "refused": ["north"]}, "caught", "another"),
    ],
    ids=str,
)
def test_fate_and_blame(lying: Any, played: dict[str, Any], end: str, blame: str) -> None:
    fate = lying("fate")
    found = fate.fate_of(fate.Played(**played), "mixer b", [1, 2])
    assert (found.end, found.blame, found.wrong) == (end, blame, int(end == "silent"))


@pytest.mark.parametrize("kind", KINDS)
def test_of_each_kind_some_lies_of_a_mixer_are_caught_and_some_are_silent(liars: Any, kind: str) -> None:
    """In a question of two classes. A bit that nothing depends on is harmless.

    What is repeated is an earlier message of the same length. A comparison of these rows has no two such messages.
    """
    ends = Counter(fate.end for mixer in liars.real.MIXERS for fate in fates(liars, "public question", mixer, kind))
    assert ends["caught"]
    assert ends["silent"] or kind == "repeat"
    assert ends["harmless"] or kind != "alter"


def test_false_label_is_caught_and_false_tables_are_not(liars: Any) -> None:
    (label,) = fates(liars, "private question", "mixer b", "random", "label")
    assert label.end == "caught"
    assert label.blame.startswith("the liar")
    silent = fates(liars, "private question", "mixer b", "zero", "encrypted table")
    assert {fate.end for fate in silent} == {"silent"}
    assert max(fate.wrong for fate in silent) > 5


def test_copies_of_rows_catch_false_tables(liars: Any) -> None:
    found = fates(liars, "private question with copies", "mixer b", "zero", "encrypted table")
    assert {(fate.end, fate.blame) for fate in found} == {("caught", "the liar or another")}


@pytest.mark.parametrize("step", ["nonce of the validity check", "validity"])
def test_no_hospital_is_named_for_the_lie_of_a_mixer(liars: Any, step: str) -> None:
    """It fails where a contribution that did not pass is not checked again."""
    for kind in ("alter", "random"):
        found = fates(liars, "training", "mixer b", kind, step)
        assert {(fate.end, fate.blame) for fate in found} == {("caught", "the liar")}


def test_false_digests_of_a_mixer_leave_it_open_who_lied(liars: Any) -> None:
    found = fates(liars, "public question", "mixer a", "random", "digest of public instances")
    assert [(fate.end, fate.blame) for fate in found] == [("caught", "the liar or another")]


def test_lie_in_a_contribution_is_refused_and_named(liars: Any) -> None:
    job = work(liars, "training")
    liar = job.liars[0]
    found = [liars.fate_of_one(liars.Lie("alter", number), liar, job) for number in range(2)]
    assert [(fate.end, fate.blame) for fate in found] == [("caught", "the liar")] * 2


# Real nodes


def test_same_lies_among_real_nodes(liars: Any) -> None:
    scene = liars.SCENES[0]
    expected = scene.labels_by(scene.model)
    with liars.real.nodes(scene) as nodes:
        ask = liars.Job(liars.real.MIXERS, partial(nodes.ask, private=True), expected)
        steps = [said.step for said in liars.honest("mixer b", ask)]
        for step, end in (("label", "caught"), ("question", "caught"), ("encrypted table", "silent")):
            kind = "zero" if end == "silent" else "random"
            assert liars.fate_of_one(liars.Lie(kind, steps.index(step)), "mixer b", ask).end == end
        with_copies = liars.Job(ask.liars, partial(nodes.ask, private=True, repeats=20), expected)
        lie = liars.Lie("zero", steps.index("encrypted table"))
        assert liars.fate_of_one(lie, "mixer b", with_copies).end == "caught"
        train = liars.Job(liars.real.MIXERS, nodes.train, expected)
        rounds = [said.step for said in liars.honest("mixer b", train)]
        lie = liars.Lie("random", rounds.index("nonce of the validity check"))
        # If mixer a lied and broke off first, mixer b might only see that it hung up.
        fate = liars.fate_of_one(lie, "mixer b", train)
        assert (fate.end, fate.blame) == ("caught", "the liar")


# The page


def test_page_has_every_step_in_memory(liars: Any) -> None:
    """Its figures are those of a run; its steps are those of the protocol as it is."""
    parts = re.split(r"^### ", PAGE.read_text(), flags=re.MULTILINE)[1:]
    tables = {part.splitlines()[0]: set(re.findall(r"^\| ([^|*]+) \| (\w+) \|", part, re.MULTILINE)) for part in parts}
    for name in liars.in_memory.JOBS:
        job = work(liars, name)
        expected = {(said.step, liar.split()[0]) for liar in job.liars for said in liars.honest(liar, job) if said.size}
        assert tables[liars.described(name, liars.SCENES[0], "memory")] - {("step", "who")} == expected
