"""Whose connections are ended, and whose never."""

from __future__ import annotations

import io
import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from mixbayes.node.log import logger
from mixbayes.node.serving import guests as guests_module
from mixbayes.node.serving.doorkeeper import Doorkeeper, HouseRules
from mixbayes.node.serving.guests import Guests
from mixbayes.transport.accepted import End, can_be_listed

pytestmark = pytest.mark.skipif(not can_be_listed(), reason="this system does not list a process's open files")
HERE, ELSEWHERE = "127.0.0.2", "127.0.0.3"
PATIENT = 1000.0


class Street:
    """A port, those who connect to it, and the doorkeeper, who looks when it is told to."""

    def __init__(self, held: ExitStack, rules: HouseRules) -> None:
        self._held = held
        self._server = held.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.said = io.StringIO()
        self.guests = Guests()
        self.keeper = Doorkeeper(self.port, self.guests, rules, logger("mixer a", self.said))

    @property
    def port(self) -> int:
        return int(self._server.getsockname()[1])

    def connect(self, source: str, number: int = 1) -> list[socket.socket]:
        made = [socket.create_connection(("127.0.0.1", self.port), 60, (source, 0)) for _ in range(number)]
        for one in made:
            self._held.enter_context(one)
            self._held.enter_context(self._server.accept()[0])
            self.guests.knock()
        return made

    def admit(self, one: socket.socket, name: str) -> bool:
        return self.guests.admit(end(one), name, 0.0)

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.said.getvalue().splitlines()]


def end(one: socket.socket) -> End:
    return End(*one.getsockname())


def ended(ones: list[socket.socket]) -> list[bool]:
    return [_is_ended(one) for one in ones]


def _is_ended(one: socket.socket) -> bool:
    one.setblocking(False)
    try:
        return one.recv(1) == b""
    except BlockingIOError:
        return False


@pytest.fixture
def held() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_the_oldest_strangers_of_an_address_go_and_nobody_elses(held: ExitStack) -> None:
    street = Street(held, HouseRules(of_site=2, of_all=100, seconds=PATIENT))
    others = street.connect(ELSEWHERE, 2)
    first = street.connect(HERE, 2)
    street.keeper.look(0.0)
    later = street.connect(HERE, 2)
    street.keeper.look(1.0)
    assert ended([*others, *first, *later]) == [False, False, True, True, False, False]


def test_strangers_of_many_addresses_are_too_many_together(held: ExitStack) -> None:
    street = Street(held, HouseRules(of_site=10, of_all=2, seconds=PATIENT))
    first, then = street.connect(HERE), street.connect(ELSEWHERE)
    street.keeper.look(0.0)
    last = street.connect("127.0.0.4")
    street.keeper.look(1.0)
    assert ended([*first, *then, *last]).count(True) == 1
    assert not ended(last)[0]


def test_whoever_stays_and_calls_nobody_goes(held: ExitStack) -> None:
    street = Street(held, HouseRules(of_site=10, of_all=100, seconds=5.0))
    stranger = street.connect(HERE)
    street.keeper.look(0.0)
    street.keeper.look(5.0)
    assert ended(stranger) == [False]
    street.keeper.look(5.1)
    assert ended(stranger) == [True]


def test_admitted_connections_stay_whatever_strangers_do(held: ExitStack) -> None:
    street = Street(held, HouseRules(of_site=0, of_all=0, seconds=0.0))
    (guest,) = street.connect(HERE)
    street.admit(guest, "north")
    strangers = street.connect(HERE, 3)
    for now in (0.0, 1.0):
        street.keeper.look(now)
    assert ended([guest, *strangers]) == [False, True, True, True]


def test_who_is_turned_out_goes_even_if_admitted(held: ExitStack) -> None:
    street = Street(held, HouseRules(of_site=10, of_all=100, seconds=PATIENT))
    guest, other = street.connect(HERE, 2)
    street.admit(guest, "north")
    street.admit(other, "north")
    street.guests.turn_out(end(guest))
    street.keeper.look(0.0)
    assert ended([guest, other]) == [True, False]


def test_a_line_a_minute_names_the_addresses_and_counts(held: ExitStack) -> None:
    street = Street(held, HouseRules(of_site=1, of_all=100, seconds=PATIENT))
    street.connect(HERE, 4)
    street.keeper.look(0.0)
    street.connect(HERE, 4)
    for now in (1.0, 59.0):
        street.keeper.look(now)
    assert [(line["level"], line["address"], line["ended"]) for line in street.lines] == [("warning", f"{HERE} (3)", 3)]
    street.connect(HERE, 4)
    street.keeper.look(61.0)
    assert len(street.lines) == 2
    assert street.lines[1]["ended"] > 3


def test_a_caller_has_only_so_many_connections(held: ExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guests_module, "MOST_CONNECTIONS", 2)
    street = Street(held, HouseRules(of_site=10, of_all=100, seconds=PATIENT))
    one, two, three = street.connect(HERE, 3)
    assert [street.admit(each, "north") for each in (one, one, two, three)] == [True, True, True, False]
    assert street.admit(three, "south")
    street.guests.forget({end(two)})
    (four,) = street.connect(HERE)
    assert street.admit(four, "north")


def test_those_who_left_are_forgotten(held: ExitStack) -> None:
    street = Street(held, HouseRules(of_site=10, of_all=100, seconds=PATIENT))
    street.guests.admit(End(HERE, 1), "north", 0.0)
    street.keeper.look(0.0)
    assert street.guests.admitted() == set()


def test_an_address_from_which_somebody_else_calls_is_not_barred() -> None:
    """Several hospitals may stand behind one."""
    guests, flood = Guests(), End(HERE, 1)
    guests.bar(flood, "north", 10.0)
    assert guests.barred(0.0) == {HERE}
    assert guests.barred(10.0) == frozenset()
    guests.admit(End(HERE, 2), "south", 0.0)
    guests.forget({End(HERE, 2)})
    guests.bar(flood, "north", 5000.0)
    assert guests.barred(3599.0) == frozenset()
    assert guests.barred(3601.0) == {HERE}


def test_many_at_once_are_not_left_alone_until_the_next_look() -> None:
    guests = Guests()
    for _ in range(guests_module._MANY - 1):
        guests.knock()
    assert not guests.wake.is_set()
    guests.knock()
    assert guests.wake.is_set()
    guests.unwanted()
    assert not guests.wake.is_set()


def test_it_looks_by_itself_and_stops(held: ExitStack) -> None:
    street = Street(held, HouseRules(of_site=0, of_all=0, seconds=PATIENT))
    (stranger,) = street.connect(HERE)
    street.keeper.start()
    try:
        assert stranger.recv(1) == b""
    finally:
        street.keeper.stop()
    assert not street.keeper._thread.is_alive()
