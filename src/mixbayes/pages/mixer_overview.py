"""The first page at a mixer: the round and the hospitals' budgets, and nothing of a patient or a table."""

from __future__ import annotations

from mixbayes.node.rounds.state import COLLECTING, OVER, SERVING
from mixbayes.node.rounds.status import Status
from mixbayes.pages.at_mixer import AtMixer
from mixbayes.pages.frame import Shown
from mixbayes.pages.overview import certificate_warnings
from mixbayes.pages.parts import code, keys, listed, moment, notice, paragraphs, section, sentence, since, table
from mixbayes.pages.texts import Texts
from mixbayes.pages.watching import ROUND, Seen
from mixbayes.report.markup import Markup, element, joined


def mixer_overview(texts: Texts, node: AtMixer) -> Shown:
    seen = node.watching.seen
    if seen.status is None:
        return Shown(texts("overview.heading"), paragraphs(texts("overview.nothing_yet")))
    status, now = seen.status, node.clock()
    trails = notice("trouble", texts("overview.trails"), listed(status.trails)) if status.trails else ""
    body = joined(
        _headline(texts, node, seen, status, now),
        trails,
        *certificate_warnings(texts, node),
        keys(_keys(texts, node, status)),
        _hospitals(texts, node, seen, now),
        element("p", texts("overview.digest"), " ", code(node.federation.digest())),
        element("p", texts("overview.as_of"), " ", moment(seen.time), class_="hint"),
    )
    return Shown(texts("overview.heading"), body)


def _headline(texts: Texts, node: AtMixer, seen: Seen, status: Status, now: float) -> Markup:
    told = element("p", texts("overview.since"), " ", since(texts, seen.since[ROUND].time, now))
    reason = paragraphs(sentence(status.reason))
    if status.state == SERVING and status.reason:
        return notice("trouble", texts("mixer.waits", round=status.round), reason, told)
    if status.state == SERVING:
        return notice("good", texts("mixer.serving", round=status.round), reason, told)
    if status.state == COLLECTING and status.missing:
        who = ", ".join(map(node.federation.title, status.missing))
        return notice("attention", texts("overview.collecting", round=status.round, who=who), reason, told)
    kind = "trouble" if status.state in OVER else "attention"
    return notice(kind, texts(f"overview.{status.state}", round=status.round), reason, told)


def _keys(texts: Texts, node: AtMixer, status: Status) -> list[tuple[str, str]]:
    privacy = node.federation.privacy
    of_noise = texts("overview.key_no_noise"), texts("overview.no_noise")
    if privacy:
        spent = texts("overview.spent_of", spent=f"{status.epsilon_spent:.3g}", all=f"{privacy.total_epsilon:g}")
        of_noise = texts("overview.key_privacy"), spent
    first = min(node.certificates(), key=lambda one: one.ends)
    return [
        (texts("overview.key_round"), texts(f"state.{status.state}", round=status.round)),
        of_noise,
        (texts("overview.key_certificates"), texts.many("time.days", max(0, first.days))),
    ]


def _hospitals(texts: Texts, node: AtMixer, seen: Seen, now: float) -> Markup:
    heads = [texts(f"overview.head_{name}") for name in ("who", "stands", "since")] + [texts("mixer.head_left")]
    rows = [_row(texts, node, seen, name, now) for name in node.federation.names]
    return section(texts("overview.who"), table(texts("overview.who_caption"), heads, rows))


def _row(texts: Texts, node: AtMixer, seen: Seen, name: str, now: float) -> list[str]:
    status = node.status_of(name)
    how = "contributed" if name in status.contributed else "refused" if name in status.refused else "missing"
    time = seen.since[name].time if name in seen.since else seen.time
    left = texts("overview.left_of", left=f"{status.budget_left:,}", all=f"{status.budget:,}")
    return [node.federation.title(name), texts(f"overview.{how}"), since(texts, time, now), left]
