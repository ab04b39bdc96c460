"""The parts that pages are made of: headings, tables, forms and notices, for every way of reading a screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from mixbayes.pages.texts import Texts
from mixbayes.protocol.errors import MixbayesError
from mixbayes.report.markup import Markup, element, joined
from mixbayes.site_time import here, rfc_3339, shown

_MINUTE, _HOUR, _DAY = 60, 3600, 24 * 3600


def local(time: float) -> datetime:
    """A time in the zone of this machine."""
    return here(datetime.fromtimestamp(time, UTC))


def moment(time: float) -> Markup:
    """A time in the zone of this machine, with its distance from UTC."""
    at = local(time)
    return element("time", shown(at), datetime=rfc_3339(at))


def so_long(texts: Texts, seconds: float) -> str:
    """A span of time in one unit."""
    for unit, name in ((_DAY, "days"), (_HOUR, "hours"), (_MINUTE, "minutes")):
        if seconds >= unit:
            return texts.many(f"time.{name}", int(seconds // unit))
    return texts.many("time.seconds", max(0, int(seconds)))


def since(texts: Texts, time: float, now: float) -> Markup:
    """Since when, and for how long."""
    return joined(moment(time), f" ({so_long(texts, now - time)})")


def section(heading: str, *children: str, level: int = 2) -> Markup:
    return element("section", element(f"h{level}", heading), *children)


def sentence(words: str) -> str:
    """Words of the node's own, as a sentence."""
    return f"{words[:1].upper()}{words[1:]}{'' if words.endswith(('.', '?')) else '.'}" if words else ""


def paragraphs(*words: str) -> Markup:
    return joined(*(element("p", each) for each in words if each))


def keys(pairs: Sequence[tuple[str, str]]) -> Markup:
    """Numbers that matter, each with what it is."""
    divs = (element("div", element("dt", what), element("dd", how)) for what, how in pairs)
    return element("dl", *divs, class_="keys")


def table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    """Its first column names the rows. A wide one is scrolled sideways, by keys too."""
    made = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *(element("th", head, scope="col") for head in heads))),
        element("tbody", *(_row(row) for row in rows)),
    )
    return element("div", made, class_="wide-table", tabindex="0", role="region", aria_label=caption)


def _row(cells: Sequence[str]) -> Markup:
    return element("tr", element("th", cells[0], scope="row"), *(element("td", cell) for cell in cells[1:]))


def listed(items: Sequence[str]) -> Markup:
    return element("ul", *(element("li", item) for item in items)) if items else Markup()


def notice(kind: str, heading: str, *children: str) -> Markup:
    """What somebody should see first: `good`, `attention` or `trouble`, which its heading says in words too."""
    return element("section", element("h2", heading), *children, class_=f"notice {kind}")


def link(to: str, words: str) -> Markup:
    return element("a", words, href=to)


def form(action: str, form_key: str, *children: str, files: bool = False) -> Markup:
    """A form that changes something or costs something."""
    key = element("input", type="hidden", name="form_key", value=form_key)
    enctype = "multipart/form-data" if files else None
    return element("form", key, *children, method="post", action=action, enctype=enctype, autocomplete="off")


def asking(action: str, *children: str) -> Markup:
    """A form that only looks."""
    return element("form", *children, method="get", action=action)


def button(words: str, name: str | None = None, value: str | None = None, kind: str | None = None) -> Markup:
    return element("button", words, type="submit", name=name, value=value, class_=kind)


def hidden(name: str, value: str) -> Markup:
    return element("input", type="hidden", name=name, value=value)


def choice(name: str, id: str, options: Mapping[str, str], chosen: str, described: str | None = None) -> Markup:
    """A list of which one is chosen."""
    made = (
        element("option", words, value=value, selected="selected" if value == chosen else None)
        for value, words in options.items()
    )
    return element("select", *made, name=name, id=id, aria_describedby=described)


def code(words: str) -> Markup:
    return element("code", words)


def failure(error: MixbayesError) -> Markup:
    """An error of the node, with its code."""
    return element("p", str(error), " ", code(f"[{error.code}]"), class_="failure")
