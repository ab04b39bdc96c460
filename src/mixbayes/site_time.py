"""Times as people at this site read them: in the zone of the process, which is `TZ` or the system's, with the offset.

What is hashed, compared or kept on disk is in UTC, and never comes from here.
"""

from __future__ import annotations

from datetime import datetime


def shown(moment: datetime) -> str:
    """For people, e.g. `2026-11-20 05:12:44 +01:00`."""
    return _with_space(here(moment).isoformat(sep=" ", timespec="seconds"))


def to_the_minute(moment: datetime) -> str:
    """For people, e.g. `2026-11-20 05:12 +01:00`."""
    return _with_space(here(moment).isoformat(sep=" ", timespec="minutes"))


def day(moment: datetime) -> str:
    """For people, the day on which it is at this site, e.g. `2026-11-20`."""
    return here(moment).date().isoformat()


def rfc_3339(moment: datetime) -> str:
    """For programs, e.g. `2026-11-20T05:12:44.000000+01:00`."""
    return here(moment).isoformat(timespec="microseconds")


def read(text: str) -> datetime:
    """What people at this site write as a date or time; without an offset it is one of this site. Or a ValueError."""
    return datetime.fromisoformat(text).astimezone()


def here(moment: datetime) -> datetime:
    """The same moment with this site's offset, which summer time may change."""
    if moment.tzinfo is None:
        raise ValueError("a moment without an offset could be any of 25 hours")
    return moment.astimezone()


def _with_space(text: str) -> str:
    return f"{text[:-6]} {text[-6:]}"
