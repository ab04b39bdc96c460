"""Links that work once, and the sessions that they open."""

from __future__ import annotations

from itertools import count

import pytest

from mixbayes.pages.door import (
    LINK_HOLDS,
    MOST_LINKS,
    MOST_SESSIONS,
    OFFER_HOLDS,
    SESSION_ENDS,
    SESSION_HOLDS,
    Door,
    Role,
    Session,
)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def door(clock: Clock) -> Door:
    numbers = count()
    return Door(clock, lambda: f"secret {next(numbers)}")


def came_in(door: Door, role: Role = Role.MANAGER) -> tuple[str, Session]:
    found = door.enter(door.offer(role))
    assert found
    return found


@pytest.fixture
def manager(door: Door) -> Session:
    return came_in(door)[1]


@pytest.mark.parametrize("role", Role)
def test_a_link_lets_one_person_in_once(door: Door, manager: Session, role: Role) -> None:
    token = door.link(role, manager)
    assert door.opens(token) is role
    assert door.opens(token) is role
    found = door.enter(token)
    assert found
    assert found[1].role is role
    assert door.opens(token) is None
    assert door.enter(token) is None


@pytest.mark.parametrize("token", ["", "secret", "secret 99", "\udce9"])
def test_what_is_no_link_opens_nothing(door: Door, manager: Session, token: str) -> None:
    door.link(Role.DOCTOR, manager)
    assert door.opens(token) is None
    assert door.enter(token) is None
    assert door.session(token) is None


@pytest.mark.parametrize("holds", [LINK_HOLDS, OFFER_HOLDS])
def test_a_link_that_nobody_uses_ends(door: Door, clock: Clock, manager: Session, holds: float) -> None:
    token = door.link(Role.MANAGER, manager) if holds == LINK_HOLDS else door.offer(Role.MANAGER)
    clock.now += holds - 1
    assert door.opens(token)
    clock.now += 1
    assert door.opens(token) is None
    assert door.enter(token) is None


def test_a_session_ends_when_it_is_not_used(door: Door, clock: Clock) -> None:
    cookie, session = came_in(door)
    for _ in range(3):
        clock.now += SESSION_HOLDS - 1
        assert door.session(cookie)
    clock.now += SESSION_HOLDS
    assert door.session(cookie) is None
    assert session not in door.sessions()


def test_a_session_ends_however_much_it_is_used(door: Door, clock: Clock) -> None:
    cookie, _ = came_in(door)
    for _ in range(int(SESSION_ENDS / SESSION_HOLDS * 2) - 1):
        clock.now += SESSION_HOLDS / 2
        assert door.session(cookie)
    clock.now += SESSION_HOLDS / 2
    assert door.session(cookie) is None


def test_looking_at_a_cookie_does_not_make_it_hold_longer(door: Door, clock: Clock) -> None:
    cookie, _ = came_in(door)
    assert door.knows(cookie)
    assert not door.knows("another")
    clock.now += SESSION_HOLDS
    door.knows(cookie)
    assert door.session(cookie) is None


def test_the_node_offers_one_link_at_a_time(door: Door) -> None:
    first, second = door.offer(Role.MANAGER), door.offer(Role.MANAGER)
    assert door.opens(first) is None
    assert door.opens(second) is Role.MANAGER
    assert door.unused() == 0


def test_links_end_with_the_visit_that_made_them_or_when_they_are_withdrawn(door: Door, manager: Session) -> None:
    _, other = came_in(door)
    offered, of_other = door.offer(Role.MANAGER), door.link(Role.MANAGER, other)
    assert door.unused() == 1
    door.close(other.number)
    assert door.opens(of_other) is None
    made = door.link(Role.DOCTOR, manager)
    door.withdraw()
    assert door.opens(made) is None
    assert door.opens(offered) is Role.MANAGER


def test_a_session_that_is_closed_is_nobodys(door: Door) -> None:
    cookie, session = came_in(door)
    other, _ = came_in(door, Role.DOCTOR)
    door.close(session.number)
    assert door.session(cookie) is None
    assert door.session(other)


def test_a_cookie_a_form_key_and_a_link_are_different_secrets(door: Door) -> None:
    token = door.offer(Role.MANAGER)
    found = door.enter(token)
    assert found
    cookie, session = found
    assert len({token, cookie, session.form_key, session.path}) == 4
    assert door.session(session.form_key) is None
    assert door.session(session.path) is None
    assert session.number not in cookie


def test_links_and_sessions_do_not_grow_without_end(door: Door, manager: Session) -> None:
    offered = door.offer(Role.MANAGER)
    tokens = [door.link(Role.DOCTOR, manager) for _ in range(MOST_LINKS + 1)]
    assert tokens[-1] == ""
    assert door.opens(tokens[0])
    assert door.opens(offered)
    cookies = [came_in(door)[0] for _ in range(MOST_SESSIONS + 1)]
    assert door.session(cookies[0]) is None
    assert door.session(cookies[-1])
    assert len(door.sessions()) == MOST_SESSIONS
