"""Links that work once, and the sessions that they open."""

from __future__ import annotations

from itertools import count

import pytest

from mixbayes.pages.door import LINK_HOLDS, MOST_LINKS, MOST_SESSIONS, SESSION_HOLDS, Door, Role, Session


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
    found = door.enter(door.link(role))
    assert found
    return found


@pytest.mark.parametrize("role", Role)
def test_a_link_lets_one_person_in_once(door: Door, role: Role) -> None:
    token = door.link(role)
    assert door.opens(token) is role
    assert door.opens(token) is role
    found = door.enter(token)
    assert found
    assert found[1].role is role
    assert door.opens(token) is None
    assert door.enter(token) is None


@pytest.mark.parametrize("token", ["", "secret", "secret 1", "\udce9"])
def test_what_is_no_link_opens_nothing(door: Door, token: str) -> None:
    door.link(Role.DOCTOR)
    assert door.opens(token) is None
    assert door.enter(token) is None
    assert door.session(token) is None


def test_a_link_that_nobody_uses_ends(door: Door, clock: Clock) -> None:
    token = door.link(Role.MANAGER)
    clock.now += LINK_HOLDS - 1
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


def test_a_session_that_is_closed_is_nobodys(door: Door) -> None:
    cookie, session = came_in(door)
    other, _ = came_in(door, Role.DOCTOR)
    door.close(session.number)
    assert door.session(cookie) is None
    assert door.session(other)


def test_a_cookie_a_form_key_and_a_link_are_different_secrets(door: Door) -> None:
    token = door.link(Role.MANAGER)
    found = door.enter(token)
    assert found
    cookie, session = found
    assert len({token, cookie, session.form_key}) == 3
    assert door.session(session.form_key) is None
    assert session.number not in cookie


def test_links_and_sessions_do_not_grow_without_end(door: Door) -> None:
    tokens = [door.link(Role.DOCTOR) for _ in range(MOST_LINKS + 1)]
    assert door.opens(tokens[0]) is None
    assert door.opens(tokens[1])
    cookies = [came_in(door)[0] for _ in range(MOST_SESSIONS + 1)]
    assert door.session(cookies[0]) is None
    assert door.session(cookies[-1])
    assert len(door.sessions()) == MOST_SESSIONS
