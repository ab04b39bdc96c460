"""The first page: who waits for whom and since when, what is left to ask, and what needs somebody's attention."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from mixbayes.agreement.agreement import Federation
from mixbayes.node.rounds.state import COLLECTING, OVER, SERVING
from mixbayes.node.rounds.status import Status
from mixbayes.pages.frame import Shown
from mixbayes.pages.node import PageNode
from mixbayes.pages.parts import (
    code,
    failure,
    keys,
    listed,
    moment,
    notice,
    paragraphs,
    section,
    sentence,
    since,
    table,
)
from mixbayes.pages.texts import Texts
from mixbayes.pages.watching import ROUND, Seen
from mixbayes.report.markup import Markup, element, joined

FEW = 0.1
"""The share of a budget below which the page warns."""


def overview(texts: Texts, node: PageNode, of_manager: bool) -> Shown:
    """For a hospital. A doctor sees what concerns questions; the data manager all of it."""
    seen, now = node.watching.seen, node.clock()
    if seen.status is None:
        return Shown(texts("overview.heading"), _nothing_yet(texts, node, seen))
    status = seen.status
    predicted = node.federation.dictionary.class_title or node.federation.dictionary.class_column
    about = {"federation": node.federation.name, "hospitals": len(node.federation.names), "what": predicted}
    parts = [
        paragraphs(texts("overview.what", **about)),
        _headline(texts, node, seen, status, now),
        *_warnings(texts, node, status, of_manager),
        keys(list(_keys(texts, node, status, of_manager))),
    ]
    if of_manager:
        parts += [_who(texts, node, seen, status, now), _rounds(texts, node.federation, seen, status, now)]
    as_of = element("p", texts("overview.as_of"), " ", moment(seen.time), class_="hint")
    return Shown(texts("overview.heading"), joined(*parts, as_of))


def _nothing_yet(texts: Texts, node: PageNode, seen: Seen) -> Markup:
    if seen.error is None:
        return paragraphs(texts("overview.nothing_yet"))
    heading = texts("overview.nobody_answers")
    return notice("trouble", heading, failure(seen.error), _silent_since(texts, node, seen))


def _silent_since(texts: Texts, node: PageNode, seen: Seen) -> Markup:
    now = node.clock()
    silent = [(title, one) for title, one in seen.since.items() if one.stands == "silent"]
    return listed(
        [joined(title, ": ", texts("overview.silent_since"), " ", since(texts, one.time, now)) for title, one in silent]
    )


def _headline(texts: Texts, node: PageNode, seen: Seen, status: Status, now: float) -> Markup:
    """What happens now, in one sentence, and whom it waits for."""
    if seen.error is not None:
        words = texts("overview.nobody_answers")
        return notice("trouble", words, failure(seen.error), _silent_since(texts, node, seen))
    if status.unreachable:
        words = texts("overview.waits_for", who=", ".join(status.unreachable))
        failures = [failure(error) for error in status.unreachable.values()]
        return notice("trouble", words, *failures, _silent_since(texts, node, seen))
    return _of_round(texts, node.federation, seen, status, now)


def _of_round(texts: Texts, federation: Federation, seen: Seen, status: Status, now: float) -> Markup:
    told = element("p", texts("overview.since"), " ", since(texts, seen.since[ROUND].time, now))
    reason = paragraphs(sentence(status.reason))
    if status.state == SERVING:
        name = "overview.cuts_found" if federation.cuts else "overview.serving"
        return notice("good", texts(name, round=status.round), told)
    if status.state == COLLECTING and status.missing:
        who = ", ".join(federation.title(name) for name in status.missing)
        return notice("attention", texts("overview.collecting", round=status.round, who=who), reason, told)
    if status.state in OVER:
        remedy = element("p", texts("overview.begin_another"), " ", code("mixbayes round new"))
        return notice("trouble", texts(f"overview.{status.state}", round=status.round), reason, told, remedy)
    return notice("attention", texts(f"overview.{status.state}", round=status.round), reason, told)


def _warnings(texts: Texts, node: PageNode, status: Status, of_manager: bool) -> Iterator[Markup]:
    if status.state == SERVING and not node.federation.cuts:
        yield from _of_budget(texts, status)
    if not of_manager:
        return
    yield from certificate_warnings(texts, node)
    privacy = node.federation.privacy
    if privacy and status.epsilon_spent + privacy.epsilon > privacy.total_epsilon * (1 + 1e-9):
        yield notice("attention", texts("overview.privacy_spent"), paragraphs(texts("overview.privacy_remedy")))
    if status.trails:
        yield notice("trouble", texts("overview.trails"), listed(status.trails))


def _of_budget(texts: Texts, status: Status) -> Iterator[Markup]:
    if status.budget_left == 0:
        heading = texts("overview.budget_spent", round=status.round, number=f"{status.budget:,}")
        yield notice("trouble", heading, paragraphs(texts("overview.budget_remedy")))
    elif status.budget_left < FEW * status.budget:
        heading = texts("overview.budget_low", left=f"{status.budget_left:,}", number=f"{status.budget:,}")
        yield notice("attention", heading, paragraphs(texts("overview.budget_remedy")))


def certificate_warnings(texts: Texts, node: PageNode) -> Iterator[Markup]:
    """What ends soon, and how it is renewed."""
    for one in node.certificates():
        if not one.soon:
            continue
        left = texts.many("time.days", max(0, one.days))
        kind = "trouble" if one.days < 0 else "attention"
        said = texts(f"overview.{one.whose}_ended" if one.days < 0 else f"overview.{one.whose}_ends", left=left)
        remedy = element("p", texts(f"overview.{one.whose}_remedy"), " ", code(_renewal(node)))
        yield notice(kind, said, element("p", moment(one.ends)), remedy)


def _renewal(node: PageNode) -> str:
    return f"mixbayes keys request {node.name} --out {node.keys}"


def _keys(texts: Texts, node: PageNode, status: Status, of_manager: bool) -> Iterator[tuple[str, str]]:
    yield texts("overview.key_round"), texts(f"state.{status.state}", round=status.round)
    if not node.federation.cuts:
        left = texts("overview.left_of", left=f"{status.budget_left:,}", all=f"{status.budget:,}")
        yield texts("overview.key_budget"), left
    if not of_manager:
        return
    if privacy := node.federation.privacy:
        of = texts("overview.spent_of", spent=f"{status.epsilon_spent:.3g}", all=f"{privacy.total_epsilon:g}")
        yield texts("overview.key_privacy"), of
    else:
        yield texts("overview.key_no_noise"), texts("overview.no_noise")
    first = min(node.certificates(), key=lambda one: one.ends)
    yield texts("overview.key_certificates"), texts.many("time.days", max(0, first.days))


def _who(texts: Texts, node: PageNode, seen: Seen, status: Status, now: float) -> Markup:
    """Every member of the federation, how it stands, and since when."""
    heads = [texts(f"overview.head_{name}") for name in ("who", "stands", "since")]
    nobody = texts("overview.nobody_waits") if node.name in status.contributed else ""
    rows = [_member_row(texts, node, seen, name, how, now) for name, how in _members(status)]
    rows += [_mixer_row(texts, seen, status, title, now) for title in chain(status.software, status.unreachable)]
    return section(texts("overview.who"), paragraphs(nobody), table(texts("overview.who_caption"), heads, rows))


def _members(status: Status) -> Iterator[tuple[str, str]]:
    yield from ((name, "contributed") for name in status.contributed)
    yield from ((name, "missing") for name in status.missing)
    yield from ((name, "refused") for name in status.refused)


def _member_row(texts: Texts, node: PageNode, seen: Seen, name: str, how: str, now: float) -> list[str]:
    here = texts("overview.this_node") if name == node.name else ""
    time = seen.since[name].time if name in seen.since else seen.time
    return [f"{node.federation.title(name)} {here}".strip(), texts(f"overview.{how}"), since(texts, time, now)]


def _mixer_row(texts: Texts, seen: Seen, status: Status, title: str, now: float) -> list[str]:
    silent = title in status.unreachable or seen.error is not None
    version = status.software.get(title, "")
    words = texts("overview.silent") if silent else texts("overview.answers", version=version)
    time = seen.since[title].time if title in seen.since else seen.time
    return [title, words, since(texts, time, now)]


def _rounds(texts: Texts, federation: Federation, seen: Seen, status: Status, now: float) -> Markup:
    allowed = texts("overview.rounds_allowed", round=status.round, allowed=f"{federation.policy.rounds:,}")
    digest = element("p", texts("overview.digest"), " ", code(federation.digest()))
    protection = texts("overview.protection", how=status.protection) if status.protection else ""
    return section(texts("overview.rounds"), paragraphs(allowed, _promise(texts, federation), protection), digest)


def _promise(texts: Texts, federation: Federation) -> str:
    """What a patient was promised, where noise is agreed."""
    if not (privacy := federation.privacy):
        return ""
    numbers = {"epsilon": f"{privacy.epsilon:g}", "delta": f"{privacy.delta:g}", "total": f"{privacy.total_epsilon:g}"}
    return texts("overview.promise", **numbers)
