"""What is asked about together with what, and what each application gets: its own labels, or its own error."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.parties import gathering
from mixbayes.parties.gathering import Gathering, How, Part, answer, room_beside
from mixbayes.parties.turn import Turn
from mixbayes.protocol.arrays import Values
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.bayes.recipe import JOINT, read_recipe
from mixbayes.protocol.errors import PeerGone
from mixbayes.transport.errors import OverBudget
from tests.services.helpers import wait_until

HIDDEN = How(private=True, recipe=JOINT)
HOWS = [HIDDEN, How(private=False, recipe=JOINT), How(private=True, recipe=read_recipe("personal"))]
LONG = 60.0
sizes = st.lists(st.integers(1, 9), min_size=1, max_size=12)


def part(rows: int, how: How = HIDDEN, mark: int = 0) -> Part:
    """Rows that say whose they are, and which they are."""
    return Part(how, np.stack([np.full(rows, mark), np.arange(rows)]).astype(np.int32))


def labels_of(codes: Values) -> Labels:
    """A label that says which row it is of."""
    return np.asarray(100 * codes[0] + codes[1], np.int64)


class Mixers:
    """They answer as long as the budget lasts."""

    def __init__(self, budget: int = 10**9) -> None:
        self.left = budget
        self.asked: list[int] = []
        self.answered = 0

    def ask(self, how: How, codes: Values) -> Labels:
        self.asked.append(rows := codes.shape[1])
        if rows > self.left:
            raise OverBudget("too much")
        self.left -= rows
        self.answered += 1
        return labels_of(codes)


@given(sizes, st.data())
def test_rows_go_together_that_are_asked_about_alike_and_have_room(rows: list[int], data: st.DataObject) -> None:
    waiting = [part(number, data.draw(st.sampled_from(HOWS))) for number in rows]
    first, most = part(data.draw(st.integers(1, 9))), data.draw(st.integers(9, 30))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gathering, "MOST_ROWS", most)
        fits = room_beside(first)
        taken = [one for one in waiting if fits(one)]
    assert {one.how for one in taken} <= {HIDDEN}
    assert first.rows + sum(one.rows for one in taken) <= most
    left = most - first.rows
    for one in waiting:  # nobody is passed over who would have had room
        if one in taken:
            left -= one.rows
        elif one.how == HIDDEN:
            assert one.rows > left


@given(sizes)
def test_every_application_gets_its_own_labels_from_one_question(rows: list[int]) -> None:
    parts, mixers = [part(number, mark=mark) for mark, number in enumerate(rows)], Mixers()
    answer(parts, mixers.ask)
    assert mixers.asked == [sum(rows)]
    for one in parts:
        assert one.labels.result(0).tolist() == labels_of(one.codes).tolist()


@given(sizes, st.integers(0, 60))
def test_only_those_are_refused_whose_own_rows_do_not_fit_any_more(rows: list[int], budget: int) -> None:
    parts, mixers = [part(number, mark=mark) for mark, number in enumerate(rows)], Mixers(budget)
    answer(parts, mixers.ask)
    left = budget
    for one in parts:
        if one.labels.exception(0) is None:
            left -= one.rows
            assert one.labels.result(0).tolist() == labels_of(one.codes).tolist()
        else:
            assert isinstance(one.labels.exception(0), OverBudget)
            assert one.rows > left, "it would have fitted when its turn came"
    assert left == mixers.left >= 0


@given(st.integers(1, 200), st.integers(0, 200))
def test_an_exhausted_budget_costs_few_refusals(applications: int, budget: int) -> None:
    """Each breaks off the conversation with the mixers."""
    mixers = Mixers(budget)
    answer([part(1) for _ in range(applications)], mixers.ask)
    refused = len(mixers.asked) - mixers.answered
    assert refused <= applications.bit_length() + 1
    assert mixers.left == max(0, budget - applications)


def test_every_application_gets_the_error_of_a_question() -> None:
    def fail(how: How, codes: Values) -> Labels:
        release.wait(LONG)
        raise PeerGone("mixer a", "label", "the connection broke")

    release, turn, noted = threading.Event(), Turn[Part](LONG), list[tuple[int, int]]()
    together = Gathering(turn, lambda how, rows, applications: noted.append((rows, applications)), fail)
    with ThreadPoolExecutor(5) as pool:
        asked = [pool.submit(together.labels, HIDDEN, part(2).codes)]
        wait_until(lambda: bool(noted), "the first one asks")
        asked += [pool.submit(together.labels, HIDDEN, part(2).codes) for _ in range(4)]
        wait_until(lambda: len(turn._waiting) == 4, "the others wait")
        release.set()
        for one in asked:
            with pytest.raises(PeerGone, match="the connection broke"):
                one.result(LONG)
    assert noted == [(2, 1), (8, 4)]
    with turn.if_nobody_asks() as free:
        assert free


def test_what_cannot_be_noted_is_not_asked() -> None:
    def no_room(how: How, rows: int, applications: int) -> None:
        raise OSError("no room")

    mixers = Mixers()
    with pytest.raises(OSError, match="no room"):
        Gathering(Turn[Part](LONG), no_room, mixers.ask).labels(HIDDEN, part(1).codes)
    assert not mixers.asked
