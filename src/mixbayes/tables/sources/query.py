"""A query that a user gives instead of a table: one statement that selects."""

from __future__ import annotations

import re
from pathlib import Path

from mixbayes.protocol.errors import BadData

_SKIPPED = re.compile(
    r"""
      --[^\n]*            # comments
    | /\*.*?\*/
    | '(?:[^']|'')*'      # texts and names
    | "(?:[^"]|"")*"
    | `(?:[^`]|``)*`
    | (\$\w*\$).*?\1
    """,
    re.DOTALL | re.VERBOSE,
)


def read_query(path: Path) -> str:
    """The statement in this file, without the semicolon at its end."""
    try:
        statement = path.read_text(encoding="utf-8-sig").strip()
    except OSError as error:
        raise BadData(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise BadData(f"{path} is not text in UTF-8. Save it as that.") from None
    bare = _SKIPPED.sub(" ", statement).strip()
    words = bare.rstrip("; \t\r\n")
    if not words:
        raise BadData(f"{path} has no statement. Write one that selects.")
    if ";" in words:
        raise BadData(f"{path} has several statements. Leave the one that selects.")
    if not re.match(r"(?:select|with)\b", words, re.IGNORECASE):
        raise BadData(f"{path} begins with neither WITH nor SELECT. Only what reads is run.")
    return _without_end(statement)


def _without_end(statement: str) -> str:
    """Cut at the semicolon, which stands outside texts and comments, if there is one."""
    hidden = _SKIPPED.sub(lambda found: "x" * len(found[0]), statement)
    return statement[: hidden.index(";")] if ";" in hidden else statement
