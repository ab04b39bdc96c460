"""The audit trail, newest first, and whether it is as it was written."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from mixbayes.node.disk.audit import Record, Verdict, entries, verify
from mixbayes.node.disk.heads import Witness, heads_in, without_end
from mixbayes.node.log import printable
from mixbayes.pages.frame import Shown
from mixbayes.pages.node import PageNode
from mixbayes.pages.parts import (
    asking,
    button,
    choice,
    code,
    failure,
    listed,
    moment,
    notice,
    paragraphs,
    section,
    table,
)
from mixbayes.pages.texts import Texts
from mixbayes.protocol.errors import MixbayesError
from mixbayes.report.markup import Markup, element, joined
from mixbayes.site_time import read

AT_ONCE = 50


@dataclass(frozen=True)
class Wanted:
    """Which records are shown: those of one actor or verb, since a day of this site, before a number."""

    actor: str = ""
    verb: str = ""
    since: str = ""
    before: int = 0

    @property
    def day(self) -> datetime | None:
        """Nothing if `since` says no date."""
        try:
            return read(self.since)
        except ValueError:
            return None

    def fits(self, record: Record, day: datetime | None) -> bool:
        entry = record.entry
        return (
            self.actor in ("", entry.actor)
            and self.verb in ("", entry.verb)
            and (day is None or entry.time >= day)
            and (not self.before or record.number < self.before)
        )


@dataclass
class _Found:
    """The newest records that are wanted, and who and what there is in the whole trail."""

    shown: deque[Record]
    actors: set[str] = field(default_factory=set)
    verbs: set[str] = field(default_factory=set)


def trail_page(texts: Texts, node: PageNode, wanted: Wanted) -> Shown:
    try:
        verdict, witnesses = _verified(node.state)
        found = _found(node.state, wanted)
    except MixbayesError as error:
        return Shown(texts("trail.heading"), notice("trouble", texts("trail.broken"), failure(error)), 500, True)
    body = joined(
        _verdict(texts, verdict, witnesses),
        paragraphs(texts("trail.own", node=node.title), texts("trail.commands") if _asked_past(node) else ""),
        _filter(texts, wanted, found),
        _records(texts, list(found.shown), wanted),
    )
    return Shown(texts("trail.heading"), body)


def _asked_past(node: PageNode) -> bool:
    """Whether commands ask past this node: those of a hospital ask the mixers."""
    return not node.federation.two_party and node.federation.role_of(node.name) == "party"


def _found(folder: Path, wanted: Wanted) -> _Found:
    found, day = _Found(deque(maxlen=AT_ONCE)), wanted.day
    for record in entries(folder):
        found.actors.add(record.entry.actor)
        found.verbs.add(record.entry.verb)
        if wanted.fits(record, day):
            found.shown.append(record)
    return found


def _verified(folder: Path) -> tuple[Verdict, list[Witness]]:
    heads = heads_in(folder)
    witnesses = heads.witnesses if heads else []
    return without_end(verify(folder), witnesses), witnesses


def _verdict(texts: Texts, verdict: Verdict, witnesses: list[Witness]) -> Markup:
    if verdict.broken:
        heading = texts("trail.breaks", number=verdict.broken.number)
        return notice("trouble", heading, paragraphs(f"{verdict.broken.reason}.", texts("trail.remedy")))
    note = element("p", texts("trail.head"), " ", code(verdict.head))
    noted = max((one.entries for one in witnesses), default=0)
    rest = texts("trail.unwitnessed", number=f"{noted:,}") if noted < verdict.count else ""
    seen = listed(list(_witnessed(texts, witnesses)))
    return notice("good", texts.many("trail.sound", verdict.count), note, seen, paragraphs(rest))


def _witnessed(texts: Texts, witnesses: list[Witness]) -> Iterator[str]:
    for one in witnesses:
        if one.lost:
            yield texts("trail.lost", who=printable(one.peer), number=f"{one.lost:,}")
        if one.entries:
            yield texts("trail.witnessed", who=printable(one.peer), number=f"{one.entries:,}")


def _filter(texts: Texts, wanted: Wanted, found: _Found) -> Markup:
    """Lists of what there is, because a word that is nearly right would find nothing."""
    actors = {"": texts("trail.anybody"), **{name: printable(name) for name in sorted(found.actors)}}
    verbs = {"": texts("trail.anything"), **{name: printable(name) for name in sorted(found.verbs)}}
    day = element("input", type="text", name="since", id="since", value=wanted.since, size=12, autocomplete="off")
    fields = [
        _labelled(texts, "actor", choice("actor", "actor", actors, wanted.actor)),
        _labelled(texts, "verb", choice("verb", "verb", verbs, wanted.verb)),
        _labelled(texts, "since", day),
    ]
    wrong = element("p", texts("trail.bad_date"), class_="wrong") if wanted.since and wanted.day is None else ""
    return asking("/trail", wrong, element("div", *fields, element("p", button(texts("trail.filter"))), class_="row"))


def _labelled(texts: Texts, name: str, control: Markup) -> Markup:
    return element("div", element("label", texts(f"trail.{name}"), for_=name), control, class_="field")


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
    return [("actor", wanted.actor), ("verb", wanted.verb), ("since", wanted.since), ("before", str(before))]


def _row(record: Record) -> list[str]:
    entry = record.entry
    details = ", ".join(f"{name}={value}" for name, value in entry.details.items())
    return [
        str(record.number),
        moment(entry.time.timestamp()),
        *map(printable, (entry.actor, entry.verb, entry.subject)),
        element("span", printable(details), class_="long"),
    ]
