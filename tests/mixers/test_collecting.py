"""What a mixer does with contributions: adds up what is right, blames who sent what is wrong."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.mixers.training import checked, honest_ones, joint_share, longest
from mixbayes.parties.with_mixers.contributing import messages
from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.bayes.agreed_set import agree_on_set
from mixbayes.protocol.bayes.verdicts import VerdictsInMemory
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.errors import OutOfRange, PeerError, WrongLength
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pool import PairPool
from mixbayes.transport.contribution import Contribution
from tests.protocol.pairs import both

ROUND = 3
AGREEMENT = "ab" * 32
DEADLINE = 60.0
"""Never reached unless a step is broken."""


def layout_with(values: tuple[str, ...]) -> Layout:
    attributes = (Nominal(name="colour", values=values),)
    return Layout(Dictionary(class_column="class", classes=("no", "yes"), attributes=attributes))


LAYOUT = layout_with(("blue", "green", "red"))

vectors = st.lists(st.integers(0, 2**64 - 1), min_size=LAYOUT.size, max_size=LAYOUT.size)
hospitals = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), vectors, max_size=6)


def sendings(hospital: str, vector: Words, agreement: str = AGREEMENT, number: int = ROUND) -> tuple[bytes, bytes]:
    made = messages(hospital, agreement, number, vector, Randomness.from_system())
    return made.to_a, made.to_b


def received(role: int, message: bytes, hospital: str = "va") -> Contribution:
    """What a mixer makes of a message that this hospital has sent."""
    return checked(role, LAYOUT, AGREEMENT, hospital, f"party {hospital}", message)


def collected(vectors: Mapping[str, list[int]]) -> tuple[list[Contribution], list[Contribution]]:
    """What both mixers hold when these hospitals contribute these vectors."""
    sent = {name: sendings(name, np.array(vector, np.uint64)) for name, vector in vectors.items()}
    of_a, of_b = ([received(role, pair[role], name) for name, pair in sent.items()] for role in (A, B))
    return of_a, of_b


@given(hospitals)
def test_sum_of_the_joint_shares_is_the_sum_of_the_vectors(vectors: dict[str, list[int]]) -> None:
    of_a, of_b = (joint_share(LAYOUT, contributions) for contributions in collected(vectors))
    cells = zip(*vectors.values(), strict=True) if vectors else [()] * LAYOUT.size
    assert (of_a + of_b).tolist() == [sum(cell) % 2**64 for cell in cells]


ZEROS = np.zeros(LAYOUT.size, np.uint64)
MORE_VALUES = layout_with(("blue", "green", "red", "white"))


@pytest.mark.parametrize("role", [A, B], ids=["mixer a", "mixer b"])
@pytest.mark.parametrize(
    ("sent", "kind", "why"),
    [
        (lambda: sendings("va", ZEROS, "cd" * 32), PeerError, "made under another agreement"),
        (lambda: sendings("vb", ZEROS), OutOfRange, "it speaks for another hospital"),
        (
            lambda: sendings("va", np.zeros(MORE_VALUES.size, np.uint64))[::-1],
            WrongLength,
            "bytes instead of|other mixer",
        ),
        (lambda: sendings("va", ZEROS)[::-1], WrongLength, "the share that is meant for the other mixer"),
    ],
    ids=["agreement", "hospital", "layout", "for the other mixer"],
)
def test_contribution_to_something_else_is_refused(
    role: int, sent: Callable[[], tuple[bytes, bytes]], kind: type[PeerError], why: str
) -> None:
    with pytest.raises(PeerError, match=why) as caught:
        received(role, sent()[role])
    assert type(caught.value) is kind
    assert str(caught.value).startswith("party va, at contribution: ")
    assert caught.value.exit_code == 3


def test_other_agreement_is_refused_with_what_to_do() -> None:
    with pytest.raises(PeerError, match="Compare the federation files"):
        received(A, sendings("va", ZEROS, "cd" * 32)[A])


def test_share_of_another_layout_is_refused() -> None:
    longer = np.zeros(MORE_VALUES.size, np.uint64)
    with pytest.raises(WrongLength, match="party va, at contribution"):
        received(B, sendings("va", longer)[B])


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12), st.integers(0, 2**32 - 1))
def test_no_contribution_is_longer_than_the_longest(name: str, number: int) -> None:
    for role, raw in zip((A, B), sendings(name, ZEROS, number=number), strict=True):
        assert len(raw) <= longest(role, LAYOUT, ["va", name])


def mixers() -> tuple[ComputingParty, ComputingParty]:
    """Both mixers with a channel and nothing else: comparing sets needs no transfers."""
    ends: tuple[Channel, Channel] = memory.channels("mixer a", "mixer b", DEADLINE)
    none = cast("PairPool", None)
    a, b = (ComputingParty(role, end, none, Randomness(bytes(32))) for role, end in zip((A, B), ends, strict=True))
    return a, b


def compare(of_a: list[Contribution], of_b: list[Contribution]) -> list[BaseException | None]:
    """What `agree_on_set` raises at each mixer."""
    a, b = mixers()

    def attempt(me: ComputingParty, contributions: list[Contribution]) -> BaseException | None:
        try:
            agree_on_set(me.channel, 1, ((one.hospital, one.id) for one in contributions))
        except PeerError as error:
            return error
        return None

    outcome: list[Any] = memory.together(lambda: attempt(a, of_a), lambda: attempt(b, of_b))
    return outcome


THREE = {name: [1] * LAYOUT.size for name in ("north", "south", "va")}


@given(hospitals, st.randoms())
def test_mixers_with_the_same_set_go_on(vectors: dict[str, list[int]], random: Any) -> None:
    of_a, of_b = collected(vectors)
    random.shuffle(of_b)
    assert compare(of_a, of_b) == [None, None]


def another_sending(contributions: list[Contribution]) -> list[Contribution]:
    _, of_b = collected(THREE)
    return [of_b[0], *contributions[1:]]


def with_swapped_ids(contributions: list[Contribution]) -> list[Contribution]:
    first, second, *rest = contributions
    swapped = dataclasses.replace(first, id=second.id), dataclasses.replace(second, id=first.id)
    return [*swapped, *rest]


@pytest.mark.parametrize(
    "changed",
    [
        lambda contributions: contributions[1:],
        lambda contributions: [],
        lambda contributions: [*contributions, contributions[0]],
        lambda contributions: [*contributions[:-1], dataclasses.replace(contributions[-1], hospital="vb")],
        another_sending,
        with_swapped_ids,
    ],
    ids=["one less", "none", "one twice", "another hospital", "another sending", "ids swapped"],
)
def test_mixers_with_different_sets_both_refuse(changed: Callable[[list[Contribution]], list[Contribution]]) -> None:
    of_a, of_b = collected(THREE)
    for error, other in zip(compare(of_a, changed(of_b)), ("mixer b", "mixer a"), strict=True):
        assert isinstance(error, PeerError)
        assert str(error).startswith(
            f"{other}, at set of contributions: the two computing parties hold different contributions"
        )
        assert "Nothing was computed" in str(error)


TABLE = [3, 2, 1, 1, 1, 0, 1, 0, 0, 1]
"""Counts of three and two patients: by colour three rows and one of missing cells, each by class."""


@pytest.mark.parametrize(
    ("lie", "liars"),
    [
        ({}, []),
        ({"south": [3, 2, 2, 1, 1, 0, 1, 0, 0, 1]}, ["south"]),
        ({"north": [-value for value in TABLE], "va": [2**40 * value for value in TABLE]}, ["north", "va"]),
        ({name: [2**63] * LAYOUT.size for name in ("north", "south", "va")}, ["north", "south", "va"]),
    ],
    ids=["none", "a patient too many", "negative and too many", "all"],
)
def test_liars_are_named_and_their_numbers_left_out(lie: dict[str, list[int]], liars: list[str]) -> None:
    told = {name: [value % 2**64 for value in lie.get(name, TABLE)] for name in ("north", "south", "va")}
    kept, sums = [], []
    inputs = ((LAYOUT, contributions, VerdictsInMemory()) for contributions in collected(told))
    for accepted, refused in both(honest_ones, *inputs):
        kept.append([contribution.hospital for contribution in accepted])
        sums.append(joint_share(LAYOUT, accepted))
        assert [error.peer for error in refused] == [f"party {name}" for name in liars]
        assert {error.exit_code for error in refused} <= {3}
    assert kept == [[name for name in told if name not in liars]] * 2
    assert (sums[A] + sums[B]).tolist() == [(3 - len(liars)) * value for value in TABLE]
