"""Progress of work in very many steps: passed on ten times, not a thousand times."""

from __future__ import annotations

from mixbayes.cli.progress import Talk

PARTS = 10


class Tenths:
    """Called like `Talk`, which hears of the first step and of every tenth of the way."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._said: dict[str, int] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        part = PARTS * done // max(total, 1)
        if self._said.get(what) != part:
            self._said[what] = part
            self._talk(what, done, total)
