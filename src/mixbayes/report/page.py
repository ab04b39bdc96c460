"""A page from its parts: one file of HTML that fetches nothing and runs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from mixbayes.report.drawing import NARROW, WIDE, Picture
from mixbayes.report.markup import Markup, element, escaped, joined
from mixbayes.report.palette import patterns
from mixbayes.report.style import STYLE
from mixbayes.site_time import rfc_3339, shown

_LONGEST_WHOLE = 14
"""Letters of a word in a table that goes over no end of a line, even on a phone."""
_NOTHING_FROM_ELSEWHERE = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


@dataclass(frozen=True)
class Run:
    """What made the page."""

    line: str
    """The command as it was typed, with nothing that should not be told."""
    version: str
    begun: datetime


@dataclass(frozen=True)
class Table:
    """The numbers behind a picture. The first cell of a row names it; columns of numbers stand to the right."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: int = -1
    """How many of the last columns hold numbers; all but the first, if nothing is said."""
    chosen: int | None = None
    """The row that stands out."""
    folded: bool = False
    """Whether it is opened only by who wants to see it: a long one."""


@dataclass(frozen=True)
class Section:
    """A heading, what is shown in plain words, the picture and its numbers."""

    heading: str
    words: Sequence[str]
    picture: Picture | None = None
    caption: str = ""
    tables: Sequence[Table] = ()
    parts: Sequence[Section] = ()
    """With headings one level lower."""


@dataclass(frozen=True)
class Page:
    """A title, the result in a sentence or two, the numbers that matter, sections, and what all this gives away."""

    title: str
    lead: Sequence[str]
    keys: Sequence[tuple[str, str]]
    """A number, and what it is."""
    sections: Sequence[Section]
    gives_away: Sequence[str] = field(default=())


def built(page: Page, run: Run) -> str:
    """The whole file."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=_NOTHING_FROM_ELSEWHERE),
        element("link", rel="icon", href="data:,"),
        element("title", page.title),
        element("style", Markup(STYLE)),
    )
    body = element("body", patterns(), _main(page, run), _footer(run))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _main(page: Page, run: Run) -> Markup:
    header = element(
        "header",
        element("h1", page.title),
        *(element("p", words, class_="lead") for words in page.lead),
        _keys(page.keys),
        _run(run),
    )
    return element("main", header, *(_section(each) for each in page.sections), _bound(page.gives_away))


def _keys(keys: Sequence[tuple[str, str]]) -> Markup:
    return element(
        "dl", *(element("div", element("dt", what), element("dd", number)) for number, what in keys), class_="keys"
    )


def _run(run: Run) -> Markup:
    told = (
        ("Date of run", element("time", shown(run.begun), datetime=rfc_3339(run.begun))),
        ("Version", run.version),
        ("Command", _unbroken(run.line)),
    )
    return element(
        "dl", *(element("div", element("dt", name), element("dd", value)) for name, value in told), class_="run"
    )


def _unbroken(line: str) -> Markup:
    """Lines end between words: broken after its hyphens, an option could not be read or copied."""
    return element("code", Markup(" ".join(element("span", word) for word in line.split(" "))))


def whole_words(cell: str, longest: int = _LONGEST_WHOLE) -> Markup:
    """Its short words whole; a name that somebody gave may be as long as it likes, and is broken."""
    if isinstance(cell, Markup):
        return cell
    words = (element("span", word) if len(word) <= longest else escaped(word) for word in cell.split(" "))
    return Markup(" ".join(words))


def _section(section: Section, level: int = 2) -> Markup:
    return element(
        "section",
        element(f"h{level}", section.heading),
        *(element("p", words) for words in section.words),
        _figure(section.picture, section.caption) if section.picture is not None else "",
        *map(_table, section.tables),
        *(_section(part, level + 1) for part in section.parts),
    )


def _figure(picture: Picture, caption: str) -> Markup:
    """Drawn for a phone and for a desk; the style shows one of them, and readers of screens are told of that one."""
    return element(
        "figure",
        picture.at(NARROW, "narrow"),
        picture.at(WIDE, "wide"),
        element("figcaption", caption) if caption else "",
    )


def _table(table: Table) -> Markup:
    first_number = len(table.columns) - (table.numbers if table.numbers >= 0 else len(table.columns) - 1)
    kinds = ["n" if at >= first_number else None for at in range(len(table.columns))]
    heads = (
        element("th", whole_words(name), scope="col", class_=kind)
        for name, kind in zip(table.columns, kinds, strict=True)
    )
    rows = (_row(row, kinds, number == table.chosen) for number, row in enumerate(table.rows))
    words = None if "n" in kinds else "words"
    made = element(
        "table",
        element("caption", table.caption),
        element("thead", element("tr", *heads)),
        element("tbody", *rows),
        class_=words,
    )
    return element("details", element("summary", table.caption), made) if table.folded else made


def _row(cells: Sequence[str], kinds: Sequence[str | None], chosen: bool) -> Markup:
    name = element("th", cells[0], scope="row", class_=kinds[0])
    others = (element("td", cell, class_=kind) for cell, kind in zip(cells[1:], kinds[1:], strict=True))
    return element("tr", name, *others, class_="chosen" if chosen else None)


def _bound(words: Sequence[str]) -> Markup:
    return element(
        "section",
        element("h2", "What this page gives away"),
        *(element("p", each) for each in words),
        class_="bound",
    )


def _footer(run: Run) -> Markup:
    made = f"Made by mixbayes {run.version}. This page is one file: it fetches nothing and runs nothing."
    return joined(element("footer", element("p", made)))
