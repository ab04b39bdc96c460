"""The help of every command: what is to be typed, in words, and no type of Python."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand

_BETWEEN = re.compile(r"([\d.]+)<=x<=([\d.]+)(?=[;\]])")
_AT_LEAST = re.compile(r"x>=([\d.]+)(?=[;\]])")
_AT_MOST = re.compile(r"x<=([\d.]+)(?=[;\]])")


class Command(TyperCommand):
    """A command whose help says `IN` and not `IN <path>`, and `at least 2` and not `x>=2`."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        shown = [record for one in self.get_params(ctx) if (record := one.get_help_record(ctx))]
        arguments = [(name.partition(" <")[0], _in_words(text)) for name, text in shown if not name.startswith("-")]
        options = [(name, _in_words(text)) for name, text in shown if name.startswith("-")]
        for title, records in (("Arguments", arguments), ("Options", options)):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def _in_words(text: str) -> str:
    """What an option takes, as people say it."""
    return _AT_MOST.sub(r"at most \1", _AT_LEAST.sub(r"at least \1", _BETWEEN.sub(r"\1 to \2", text)))
