"""Since when each member has stood as it stands."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mixbayes.node.log import logger
from mixbayes.node.rounds.state import COLLECTING, SERVING
from mixbayes.node.rounds.status import Status
from mixbayes.pages.watching import ROUND, Seen, Watching
from mixbayes.protocol.errors import MixbayesError, PeerSilent

MIXERS = "mixer a", "mixer b"
SILENT = PeerSilent("mixer b", "asking", "it does not answer")
WAITS = Status(1, COLLECTING, contributed=["north"], missing=["south"])
SERVES = Status(1, SERVING, contributed=["north", "south"])


def test_a_change_begins_anew_and_what_stays_keeps_its_time() -> None:
    seen = Seen().next(10, WAITS, MIXERS).next(20, WAITS, MIXERS).next(30, SERVES, MIXERS).next(40, SERVES, MIXERS)
    times = {who: one.time for who, one in seen.since.items()}
    assert times == {ROUND: 30, "north": 10, "south": 30, "mixer a": 10, "mixer b": 10}
    assert seen.time == 40


def test_a_new_round_begins_everything_anew_but_the_mixers() -> None:
    second = Status(2, COLLECTING, missing=["north", "south"])
    seen = Seen().next(10, SERVES, MIXERS).next(50, second, MIXERS)
    assert {who: one.time for who, one in seen.since.items()} == {
        ROUND: 50,
        "north": 50,
        "south": 50,
        "mixer a": 10,
        "mixer b": 10,
    }


def test_a_mixer_that_is_away_is_silent_since_then() -> None:
    half = Status(1, SERVING, contributed=["north", "south"], unreachable={"mixer b": SILENT})
    seen = Seen().next(10, SERVES, MIXERS).next(20, half, MIXERS).next(30, half, MIXERS)
    assert (seen.since["mixer b"].stands, seen.since["mixer b"].time) == ("silent", 20)
    assert seen.since["mixer a"].time == 10
    back = seen.next(40, SERVES, MIXERS)
    assert (back.since["mixer b"].stands, back.since["mixer b"].time) == ("answers", 40)


def test_while_nobody_answers_the_last_status_stays() -> None:
    seen = Seen().next(10, SERVES, MIXERS).next(20, SILENT, MIXERS)
    assert seen.status is SERVES
    assert seen.error is SILENT
    assert seen.since[ROUND].time == 10
    assert {seen.since[title].time for title in MIXERS} == {20}
    assert seen.next(30, SERVES, MIXERS).error is None


def test_an_error_of_ours_is_shown_and_another_is_logged_by_whoever_calls() -> None:
    def fails(error: Exception) -> Callable[[], Status]:
        def look() -> Status:
            raise error

        return look

    watching = Watching(fails(SILENT), MIXERS, lambda: 5.0, logger("north"))
    watching.look()
    assert isinstance(watching.seen.error, MixbayesError)
    with pytest.raises(ZeroDivisionError):
        Watching(fails(ZeroDivisionError()), MIXERS, lambda: 5.0, logger("north")).look()
