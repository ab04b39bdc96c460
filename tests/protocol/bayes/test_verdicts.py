"""Verdicts are opened three times at most and then kept: two mixers in memory, one of whom may lie or forget."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.bayes import validity
from mixbayes.protocol.bayes.validity import DIGEST_BYTES, STEP, honest, judged
from mixbayes.protocol.bayes.verdicts import (
    MOST_OPENINGS,
    KeptVerdict,
    VerdictBook,
    VerdictsInMemory,
    start_comparing,
)
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.errors import MixbayesError, OutOfRange
from mixbayes.protocol.shares import split
from tests.protocol.adversary import TappedPair
from tests.protocol.bayes.contributions import NOMINAL, SMALL, at, changed, table
from tests.protocol.pairs import Pair, seed

NORTH, SOUTH = "north", "south"
RIGHT = {NORTH: SMALL, SOUTH: table(NOMINAL, 90, 5)}
A_LIE = RIGHT | {SOUTH: changed(RIGHT[SOUTH], {0: 1})}
ROLES = pytest.mark.parametrize("role", [A, B], ids=["A", "B"])
Shares = Mapping[str, Callable[[], Words]]


class HungUp(Exception):
    """This mixer is gone."""


def book_of(**kept: KeptVerdict) -> VerdictsInMemory:
    book = VerdictsInMemory()
    book._kept.update(kept)
    return book


def shares_of(vectors: Mapping[str, Words], role: int) -> Shares:
    both = {name: split(vector, seed(number)) for number, (name, vector) in enumerate(vectors.items())}
    return {name: partial(np.copy, share.for_a() if role == A else share.for_b()) for name, share in both.items()}


def step(vectors: Mapping[str, Words], books: tuple[VerdictBook, VerdictBook]) -> Callable[[ComputingParty], Any]:
    def judge(me: ComputingParty) -> dict[str, bool | None]:
        return judged(me, NOMINAL, shares_of(vectors, me.role), books[me.role])

    return judge


def verdicts(
    vectors: Mapping[str, Words], books: tuple[VerdictBook, VerdictBook], pair: Pair | TappedPair | None = None
) -> dict[str, bool | None]:
    of_a, of_b = (pair or Pair()).run(step(vectors, books), (), ())
    assert of_a == of_b
    assert list(of_a) == sorted(vectors)
    found: dict[str, bool | None] = of_a
    return found


# Mixers that follow the protocol, and may crash


def test_what_holds_is_opened_once_what_fails_twice_and_neither_ever_again() -> None:
    books = VerdictsInMemory(), VerdictsInMemory()
    expected = {NORTH: True, SOUTH: False}
    assert verdicts(A_LIE, books) == expected
    for book in books:
        assert book.kept(expected) == {NORTH: KeptVerdict(1, holds=True), SOUTH: KeptVerdict(2, holds=False)}
    pair = TappedPair(5, 6)
    assert verdicts(A_LIE, books, pair) == expected
    assert STEP not in {step for step, _ in pair.talk.first.said + pair.talk.second.said}
    assert [book.kept(expected)[SOUTH].openings for book in books] == [2, 2]


BEFORE = [KeptVerdict(openings, holds) for openings in range(4) for holds in (None, True) if openings or not holds]


def test_wherever_a_mixer_stopped_the_next_training_comes_to_the_right_end() -> None:
    pair = Pair()
    for of_a, of_b in product(BEFORE, BEFORE):
        books = book_of(south=of_a), book_of(south=of_b)
        settled, used_up = bool(of_a.holds and of_b.holds), MOST_OPENINGS in (of_a.openings, of_b.openings)
        found = verdicts(RIGHT, books, pair)
        assert found == {NORTH: True, SOUTH: True if settled or not used_up else None}
        for book, before in zip(books, (of_a, of_b), strict=True):
            once_more = 0 if settled or used_up else 1
            holds = True if found[SOUTH] else before.holds
            assert book.kept([SOUTH])[SOUTH] == KeptVerdict(before.openings + once_more, holds)


@pytest.mark.parametrize("openings", range(4))
def test_a_lie_counts_for_nothing_however_often_mixers_stopped(openings: int) -> None:
    books = book_of(south=KeptVerdict(openings)), book_of()
    found = verdicts(A_LIE, books)[SOUTH]
    assert found is (False if openings < 2 else None)
    assert max(book.kept([SOUTH])[SOUTH].openings for book in books) <= MOST_OPENINGS


class Forgetful(VerdictsInMemory):
    """The mixer stops before one of its writes."""

    def __init__(self, before: str) -> None:
        super().__init__()
        self._before = before

    def note(self, hospitals: Collection[str]) -> None:
        self._stop("note")
        super().note(hospitals)

    def keep(self, verdicts: Mapping[str, bool]) -> None:
        self._stop("keep")
        super().keep(verdicts)

    def _stop(self, write: str) -> None:
        if write == self._before:
            raise HungUp


@ROLES
def test_nothing_is_said_of_a_verdict_before_the_opening_is_written_down(role: int) -> None:
    pair = TappedPair(7, 8)
    books = [VerdictsInMemory(), VerdictsInMemory()]
    books[role] = Forgetful("note")
    with pytest.raises(HungUp):
        verdicts(RIGHT, (books[0], books[1]), pair)
    tap = (pair.talk.first, pair.talk.second)[role]
    assert "bit and word" in {step for step, _ in tap.said}
    assert STEP not in {step for step, _ in tap.said}


@ROLES
def test_a_mixer_that_stops_before_it_keeps_a_verdict_has_counted_the_opening(role: int) -> None:
    books: list[VerdictsInMemory] = [VerdictsInMemory(), VerdictsInMemory()]
    books[role] = Forgetful("keep")
    with pytest.raises(HungUp):
        verdicts(RIGHT, (books[0], books[1]))
    assert books[role].kept(RIGHT) == dict.fromkeys(RIGHT, KeptVerdict(1))
    books[role] = book_of(**books[role].kept(RIGHT))
    assert verdicts(RIGHT, (books[0], books[1])) == dict.fromkeys(RIGHT, True)
    assert books[0].kept(RIGHT)[NORTH].holds is books[1].kept(RIGHT)[NORTH].holds is True


# Liars


def hears(vectors: Mapping[str, Words], heard: list[bool]) -> Callable[[ComputingParty], None]:
    """A mixer that claims to keep nothing, hears the first verdict on the last contribution, and hangs up."""

    def lie(me: ComputingParty) -> None:
        start_comparing(me.channel, VerdictsInMemory(), vectors)()
        heard.append(honest(me, NOMINAL, (share() for share in shares_of(vectors, me.role).values()))[-1])
        raise HungUp

    return lie


def with_liar(role: int, lie: Callable[[ComputingParty], object], truth: Callable[[ComputingParty], object]) -> Any:
    """What the other one comes to, after which it hangs up too."""
    found: list[Any] = []

    def end(me: ComputingParty) -> None:
        if me.role == role:
            lie(me)
        else:
            found.append(truth(me))
        raise HungUp

    with suppress(HungUp, MixbayesError):
        Pair().run(end)
    return found


@ROLES
def test_a_mixer_that_hangs_up_after_each_verdict_hears_no_fourth(role: int) -> None:
    """It looks for a count by bisection. The other one tries again each time, and at last leaves the hospital out."""
    cell, other = at(NOMINAL, 0, 0), at(NOMINAL, 0, 1)
    least, most, bits = 0, 90, 0
    book, heard = VerdictsInMemory(), list[bool]()
    while least < most:
        middle, before = (least + most + 1) // 2, len(heard)
        shifted = RIGHT | {SOUTH: changed(RIGHT[SOUTH], {cell: -middle, other: middle})}
        with_liar(role, hears(shifted, heard), step(shifted, (book, book)))
        if len(heard) == before:
            break
        bits += 1
        least, most = (middle, most) if heard[-1] else (least, middle - 1)
    assert bits == MOST_OPENINGS
    assert most - least >= 90 // 2**MOST_OPENINGS - 1
    assert book.kept([SOUTH])[SOUTH].openings == MOST_OPENINGS
    (found,) = with_liar(role, hears(RIGHT, heard), step(RIGHT, (book, book)))
    assert found[SOUTH] is None
    assert len(heard) == bits


@ROLES
@pytest.mark.parametrize("kept", [True, False])
def test_a_mixer_that_claims_another_verdict_is_named_and_nothing_is_opened(role: int, kept: bool) -> None:
    books = [book_of(south=KeptVerdict(1, kept)), book_of(south=KeptVerdict(1, kept))]
    books[role] = book_of(south=KeptVerdict(1, not kept))
    with pytest.raises(OutOfRange, match=r"it keeps another verdict on the contribution of party south"):
        verdicts(RIGHT, (books[0], books[1]))
    assert [book.kept([NORTH])[NORTH].openings for book in books] == [0, 0]


@ROLES
@pytest.mark.parametrize(("vectors", "claimed"), [(A_LIE, True), (RIGHT, False)], ids=["lie", "right"])
def test_a_claim_that_the_check_contradicts_names_who_made_it(
    role: int, vectors: Mapping[str, Words], claimed: bool
) -> None:
    """A mixer that claims a verdict has neither a lie counted nor a hospital refused."""
    books = [VerdictsInMemory(), VerdictsInMemory()]
    books[role] = book_of(south=KeptVerdict(1, claimed))
    with pytest.raises(OutOfRange, match=r"party south is not the one that was kept"):
        verdicts(vectors, (books[0], books[1]))
    own = books[1 - role].kept(vectors)
    assert own[NORTH] == KeptVerdict(1, holds=True)
    assert own[SOUTH].holds is not claimed


@ROLES
def test_a_verdict_that_is_kept_stays_when_another_one_is_computed(role: int) -> None:
    """One mixer kept a refusal, the other one claims to have nothing, and now the contribution passes."""
    books = [book_of(south=KeptVerdict(2, holds=False)), book_of(south=KeptVerdict(2, holds=False))]
    books[role] = VerdictsInMemory()
    with pytest.raises(OutOfRange, match=r"party south is not the one that was kept"):
        verdicts(RIGHT, (books[0], books[1]))
    assert books[1 - role].kept([SOUTH])[SOUTH] == KeptVerdict(3, holds=False)


@ROLES
def test_a_mixer_that_claims_to_have_no_verdict_gets_three_and_never_changes_the_one_that_is_kept(role: int) -> None:
    books = [VerdictsInMemory(), VerdictsInMemory()]
    for opened in range(1, MOST_OPENINGS + 1):
        books[role] = VerdictsInMemory()
        assert verdicts(RIGHT, (books[0], books[1]))[SOUTH] is True
        assert books[1 - role].kept([SOUTH])[SOUTH] == KeptVerdict(opened, holds=True)
    books[role] = VerdictsInMemory()
    assert verdicts(RIGHT, (books[0], books[1]))[SOUTH] is None
    assert books[1 - role].kept([SOUTH])[SOUTH] == KeptVerdict(MOST_OPENINGS, holds=True)


@pytest.mark.parametrize("code", [12, 13, 255])
def test_a_claim_that_means_nothing_is_refused(code: int) -> None:
    def compare(me: ComputingParty) -> None:
        if me.role == A:
            me.channel.swap("verdicts so far", bytes([0, code]))
        else:
            start_comparing(me.channel, VerdictsInMemory(), RIGHT)()

    with pytest.raises(OutOfRange, match="party A, at verdicts so far: it keeps a verdict that does not exist"):
        Pair().run(compare)


@contextmanager
def wrong(monkeypatch: pytest.MonkeyPatch, role: int, checks: Collection[int]) -> Iterator[None]:
    """In these of its checks a mixer says what makes everything fail."""
    plain, begun = validity._products, iter(range(9))

    def products(me: ComputingParty, digests: Sequence[bytes]) -> Words:
        found = plain(me, digests)
        return found ^ np.uint64(1) if me.role == role and next(begun) in checks else found

    with monkeypatch.context() as patch:
        patch.setattr(validity, "_products", products)
        yield


WHY = "a contribution failed the check and then passed it, or one that is known to hold failed"


@ROLES
def test_a_contribution_that_fails_once_and_then_passes_names_the_mixer(
    role: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    books = VerdictsInMemory(), VerdictsInMemory()
    with wrong(monkeypatch, role, [0]), pytest.raises(OutOfRange, match=WHY):
        verdicts(RIGHT, books)
    assert {one.holds for book in books for one in book.kept(RIGHT).values()} == {None}


@ROLES
def test_counts_that_are_known_to_hold_and_fail_name_the_mixer(role: int, monkeypatch: pytest.MonkeyPatch) -> None:
    books = VerdictsInMemory(), VerdictsInMemory()
    with wrong(monkeypatch, role, [0, 1]), pytest.raises(OutOfRange, match=WHY):
        verdicts(RIGHT, books)
    assert {one.holds for book in books for one in book.kept(RIGHT).values()} == {None}


@ROLES
def test_a_mixer_that_says_what_it_has_just_heard_gets_no_lie_accepted(
    role: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If shares of the product were said as they are, two equal ones would open to zero."""
    plain = validity._equal

    def echo(me: ComputingParty, digests: Sequence[bytes], *more: Any) -> list[bool]:
        if me.role != role:
            return plain(me, digests, *more)
        validity._products(me, digests)
        me.channel.send(STEP, me.channel.receive(STEP, DIGEST_BYTES * len(digests)))
        return [True] * len(digests)

    monkeypatch.setattr(validity, "_equal", echo)
    vectors = list(A_LIE.values())
    shares = [split(vector, seed(number)) for number, vector in enumerate(vectors)]
    of_both = Pair().run(honest, (NOMINAL, [s.for_a() for s in shares]), (NOMINAL, [s.for_b() for s in shares]))
    assert of_both[1 - role] == [False, False]
