"""Who may see the page: links that work once, and the sessions that they open."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

LINK_HOLDS, OFFER_HOLDS = 24 * 3600.0, 3600.0
"""Seconds that a link holds which nobody uses: one that somebody made, and the one that the node offers by itself."""
SESSION_HOLDS, SESSION_ENDS = 8 * 3600.0, 24 * 3600.0
"""Seconds that a session holds: since its last request, and in all."""
MOST_LINKS, MOST_SESSIONS = 100, 100
_SHOWN = 6
"""Letters of a session's number on the page: enough to tell sessions apart, too few to be one."""


class Role(StrEnum):
    """What somebody may see. A data manager sees all that this hospital knows; a doctor classifies patients."""

    MANAGER = "manager"
    DOCTOR = "doctor"


@dataclass(frozen=True)
class Session:
    """Somebody who came in."""

    role: Role
    form_key: str
    """In every form of this session's pages, and unknown to other pages in the same browser."""
    path: str
    """The folder of this session's pages and of its cookie. Browsers send a cookie to every port of a host, but only
    below its path, which servers at other ports cannot guess."""
    begun: float
    seen: float
    number: str


@dataclass(frozen=True)
class _Link:
    role: Role
    ends: float
    by: str = ""
    """The number of the session that made it; nothing if the node offers it."""


class Door:
    """Links and sessions, in memory: a node that starts anew lets nobody in who does not have a new link.

    Only hashes of links and of cookies are kept, so that looking one up takes no time that depends on a secret.
    """

    def __init__(self, clock: Callable[[], float], secret: Callable[[], str]) -> None:
        """`secret` draws a text that nobody can guess."""
        self._clock, self._secret = clock, secret
        self._lock = threading.Lock()
        self._links: dict[bytes, _Link] = {}
        self._sessions: dict[bytes, Session] = {}

    def offer(self, role: Role) -> str:
        """The token that the node offers by itself. There is one at a time: the one before opens nothing any more."""
        token = self._secret()
        with self._lock:
            self._links = {key: one for key, one in self._links.items() if one.by}
            self._links[_hashed(token)] = _Link(role, self._clock() + OFFER_HOLDS)
        return token

    def link(self, role: Role, by: Session) -> str:
        """A token that lets one person in, once; or nothing, if there are too many that nobody has used."""
        token = self._secret()
        with self._lock:
            self._forget_old()
            if len(self._links) > MOST_LINKS:
                return ""
            self._links[_hashed(token)] = _Link(role, self._clock() + LINK_HOLDS, by.number)
        return token

    def unused(self) -> int:
        """How many links that somebody made nobody has used."""
        with self._lock:
            self._forget_old()
            return sum(bool(one.by) for one in self._links.values())

    def withdraw(self) -> None:
        """Let nobody in by these."""
        with self._lock:
            self._links = {key: one for key, one in self._links.items() if not one.by}

    def opens(self, token: str) -> Role | None:
        """Whom this token would let in; looking does not use it up."""
        with self._lock:
            self._forget_old()
            link = self._links.get(_hashed(token))
        return link.role if link else None

    def enter(self, token: str) -> tuple[str, Session] | None:
        """Use the token up; the cookie of a new session and the session."""
        cookie, now = self._secret(), self._clock()
        with self._lock:
            self._forget_old()
            link = self._links.pop(_hashed(token), None)
            if link is None:
                return None
            while len(self._sessions) >= MOST_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
            hashed = _hashed(cookie)
            found = Session(link.role, self._secret(), self._secret(), now, now, hashed.hex()[:_SHOWN])
            self._sessions[hashed] = found
        return cookie, found

    def knows(self, cookie: str) -> bool:
        """Whether a session has this cookie; looking does not make it hold longer."""
        with self._lock:
            return _hashed(cookie) in self._sessions

    def session(self, cookie: str) -> Session | None:
        """Whose cookie this is. It holds longer for being used."""
        with self._lock:
            self._forget_old()
            found = self._sessions.get(_hashed(cookie))
            if found:
                self._sessions[_hashed(cookie)] = replace(found, seen=self._clock())
        return found

    def sessions(self) -> list[Session]:
        """All that are open, the oldest first."""
        with self._lock:
            self._forget_old()
            return sorted(self._sessions.values(), key=lambda one: one.begun)

    def close(self, number: str) -> None:
        """End the session of this number, if it is open, and withdraw the links that it made."""
        with self._lock:
            self._links = {key: one for key, one in self._links.items() if one.by != number}
            self._sessions = {key: one for key, one in self._sessions.items() if one.number != number}

    def _forget_old(self) -> None:
        now = self._clock()
        self._links = {key: one for key, one in self._links.items() if now < one.ends}
        self._sessions = {key: one for key, one in self._sessions.items() if _holds(one, now)}


def _holds(session: Session, now: float) -> bool:
    return now - session.seen < SESSION_HOLDS and now - session.begun < SESSION_ENDS


def _hashed(secret: str) -> bytes:
    return hashlib.sha256(secret.encode(errors="replace")).digest()
