"""HTML and SVG from Python: whatever is not markup already is escaped."""

from __future__ import annotations

import re
from html import escape

_NEVER_IN_A_PAGE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufffe\uffff]")
"""Control characters; among them those that turn the direction of what follows, which would forge a name."""
_EMPTY = {"meta", "link", "input", "rect", "line", "path", "circle"}


class Markup(str):
    """Text that is markup already. Everything in this package that returns one has escaped what it was given."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str | float | None) -> Markup:
    """An element. `class_` is class, `stroke_width` is stroke-width; an attribute that is None is left out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(_plain(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _EMPTY and not children:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*parts: str) -> Markup:
    """One after the other."""
    return Markup("".join(part if isinstance(part, Markup) else escaped(part) for part in parts))


def escaped(text: str) -> Markup:
    """Text as markup that shows it; a character that no page can hold is shown as one that could not be read."""
    readable = _NEVER_IN_A_PAGE.sub("\N{REPLACEMENT CHARACTER}", text.encode(errors="replace").decode())
    return Markup(escape(readable, quote=True))


def _plain(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")
