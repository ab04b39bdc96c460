"""The audit trail, newest first, and whether it is as it was written."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mixbayes.node.disk.audit import Record, Verdict, entries, verify
from mixbayes.node.disk.heads import Witness, heads_in, without_end
from mixbayes.node.log import printable
from mixbayes.pages.frame import Shown
from mixbayes.pages.node import PageNode
from mixbayes.pages.parts import asking, button, code, failure, listed, moment, notice, paragraphs, section, table
from mixbayes.pages.texts import Texts
from mixbayes.protocol.errors import MixbayesError
from mixbayes.report.markup import Markup, element, joined

AT_ONCE = 50


@dataclass(frozen=True)
class Wanted:
    """Which records are shown: those of one actor or verb, before a number."""

    actor: str = ""
    verb: str = ""
    before: int = 0

    def fits(self, record: Record) -> bool:
        entry = record.entry
        return (
            self.actor in ("", entry.actor)
            and self.verb in ("", entry.verb)
            and (not self.before or record.number < self.before)
        )


def trail_page(texts: Texts, node: PageNode, wanted: Wanted) -> Shown:
    try:
        verdict, witnesses = _verified(node.state)
        shown = list(deque(filter(wanted.fits, entries(node.state)), AT_ONCE))
    except MixbayesError as error:
        return Shown(texts("trail.heading"), notice("trouble", texts("trail.broken"), failure(error)), 500, True)
    body = joined(_verdict(texts, verdict, witnesses), _filter(texts, wanted), _records(texts, shown, wanted))
    return Shown(texts("trail.heading"), body)


def _verified(folder: Path) -> tuple[Verdict, list[Witness]]:
    heads = heads_in(folder)
    witnesses = heads.witnesses if heads else []
    return without_end(verify(folder), witnesses), witnesses


def _verdict(texts: Texts, verdict: Verdict, witnesses: list[Witness]) -> Markup:
    if verdict.broken:
        heading = texts("trail.breaks", number=verdict.broken.number)
        return notice("trouble", heading, paragraphs(f"{verdict.broken.reason}.", texts("trail.remedy")))
    note = element("p", texts("trail.head"), " ", code(verdict.head))
    return notice("good", texts.many("trail.sound", verdict.count), note, listed(list(_witnessed(texts, witnesses))))


def _witnessed(texts: Texts, witnesses: list[Witness]) -> Iterator[str]:
    for one in witnesses:
        if one.lost:
            yield texts("trail.lost", who=printable(one.peer), number=f"{one.lost:,}")
        if one.entries:
            yield texts("trail.witnessed", who=printable(one.peer), number=f"{one.entries:,}")


def _filter(texts: Texts, wanted: Wanted) -> Markup:
    fields = [
        element(
            "div",
            element("label", texts(f"trail.{name}"), for_=name),
            element("input", type="text", name=name, id=name, value=value),
            class_="field",
        )
        for name, value in (("actor", wanted.actor), ("verb", wanted.verb))
    ]
    return asking("/trail", element("div", *fields, element("p", button(texts("trail.filter"))), class_="row"))


def _records(texts: Texts, shown: list[Record], wanted: Wanted) -> Markup:
    if not shown:
        return paragraphs(texts("trail.nothing"))
    heads = [texts(f"trail.head_{name}") for name in ("number", "time", "actor", "verb", "subject", "details")]
    made = table(texts("trail.caption"), heads, [_row(record) for record in reversed(shown)])
    first = shown[0].number
    if len(shown) < AT_ONCE or first == 1:
        return section(texts("trail.records"), made)
    older = asking(
        "/trail",
        *(element("input", type="hidden", name=name, value=value) for name, value in _same(wanted, first)),
        button(texts("trail.older")),
    )
    return section(texts("trail.records"), made, older)


def _same(wanted: Wanted, before: int) -> list[tuple[str, str]]:
    return [("actor", wanted.actor), ("verb", wanted.verb), ("before", str(before))]


def _row(record: Record) -> list[str]:
    entry = record.entry
    details = ", ".join(f"{name}={value}" for name, value in entry.details.items())
    return [
        str(record.number),
        moment(entry.time.timestamp()),
        *map(printable, (entry.actor, entry.verb, entry.subject, details)),
    ]
