"""The hospital's table, as `mixbayes inspect` shows it, and what of it leaves the hospital."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mixbayes.node.log import printable
from mixbayes.pages.at_hospital import AtHospital
from mixbayes.pages.door import Session
from mixbayes.pages.frame import Shown
from mixbayes.pages.parts import button, failure, form, keys, link, listed, moment, notice, paragraphs, section, table
from mixbayes.pages.texts import Texts
from mixbayes.report.markup import Markup, element, joined
from mixbayes.tables.inspection import Inspected, InspectedColumn


def table_page(texts: Texts, node: AtHospital, session: Session) -> Shown:
    state, dictionary = node.looking.state, node.federation.dictionary
    look = form("/table", session.form_key, button(texts("table.look")))
    if state.running:
        shown = notice("attention", texts("table.looking"), element("p", link("/table", texts("page.look_again"))))
    elif state.error:
        shown = joined(notice("trouble", texts("table.failed"), failure(state.error)), look)
    elif state.result:
        looked = element("p", texts("table.looked"), " ", moment(state.ended), class_="hint")
        shown = joined(_found(texts, state.result, [*dictionary.names, dictionary.class_column]), looked, look)
    else:
        shown = joined(paragraphs(texts("table.not_yet")), look)
    return Shown(texts("table.heading"), joined(_leaves(texts, node), section(texts("table.columns"), shown)))


def _leaves(texts: Texts, node: AtHospital) -> Markup:
    """What of the table is sent to whom, by the agreement."""
    federation = node.federation
    whom = "other" if federation.two_party else "mixers"
    sent = [texts(f"table.counts_to_{whom}", cells=f"{federation.layout.size:,}")]
    if privacy := federation.privacy:
        sent.append(texts("table.adds_noise", epsilon=f"{privacy.epsilon:g}"))
    else:
        sent.append(texts("table.without_noise"))
    sent.append(texts(f"table.questions_to_{whom}"))
    sent.append(texts("table.never"))
    return section(texts("table.leaves"), listed(sent))


def _found(texts: Texts, found: Inspected, agreed: Sequence[str]) -> Markup:
    doubts = [f"{doubt}." for doubt in _doubts(found)]
    heads = [texts(f"table.head_{name}") for name in ("column", "counts_as", "values", "missing", "range", "frequent")]
    doubtful = notice("attention", texts("table.doubts"), listed(doubts)) if doubts else Markup()
    return joined(
        keys([(texts("table.rows"), f"{found.rows:,}"), (texts("table.predicted"), printable(found.class_column))]),
        doubtful,
        table(texts("table.caption"), heads, [_row(texts, column, column.name in agreed) for column in found.columns]),
    )


def _doubts(found: Inspected) -> Iterator[str]:
    yield from found.doubts
    yield from (f"column {column.name!r} {doubt}" for column in found.columns for doubt in column.doubts)


def _row(texts: Texts, column: InspectedColumn, agreed: bool) -> list[str]:
    number = f"{column.distinct:,}"
    return [
        printable(column.name),
        texts(f"kind.{column.kind}") if agreed else texts("kind.not_agreed"),
        number if column.complete else texts("table.more_than", number=number),
        f"{column.missing:,}",
        "" if column.low is None else texts("table.between", low=f"{column.low:g}", high=f"{column.high:g}"),
        ", ".join(f"{printable(value)} ({times:,})" for value, times in column.most_frequent),
    ]
