"""Who may see the page: new links that work once, and the sessions that are open."""

from __future__ import annotations

from mixbayes.pages.door import Door, Role, Session
from mixbayes.pages.frame import Shown
from mixbayes.pages.parts import button, code, form, hidden, moment, notice, paragraphs, section, table
from mixbayes.pages.texts import Texts
from mixbayes.report.markup import Markup, element, joined

TUNNEL = "ssh -L PORT:127.0.0.1:PORT MACHINE"
ROLE, NUMBER = "role", "number"


def links_page(texts: Texts, door: Door, session: Session, roles: tuple[Role, ...], made: str = "") -> Shown:
    """`made` is the address of a link that was just asked for. It is shown this once."""
    new = Markup()
    if made:
        new = notice(
            "good", texts("links.made"), element("p", code(made), class_="label"), paragraphs(texts("links.once"))
        )
    asks = [form("/links", session.form_key, hidden(ROLE, role), button(texts(f"links.make_{role}"))) for role in roles]
    many = door.unused()
    if many:
        withdraw = form("/links/withdraw", session.form_key, button(texts("links.withdraw"), kind="quiet"))
        asks.append(joined(paragraphs(texts.many("links.unused", many)), withdraw))
    how = section(texts("links.new"), paragraphs(*(texts(f"links.what_{role}") for role in roles)), *asks)
    return Shown(
        texts("links.heading"),
        joined(new, how, element("p", texts("links.elsewhere"), " ", code(TUNNEL)), _sessions(texts, door, session)),
    )


def _sessions(texts: Texts, door: Door, own: Session) -> Markup:
    heads = [texts(f"links.head_{name}") for name in ("number", "role", "begun", "seen", "end")]
    rows = [_row(texts, one, own) for one in door.sessions()]
    return section(texts("links.sessions"), table(texts("links.caption"), heads, rows))


def _row(texts: Texts, one: Session, own: Session) -> list[str]:
    words = element("span", texts("links.end"), " ", element("span", one.number, class_="aside"))
    end: Markup | str = form("/links/end", own.form_key, hidden(NUMBER, one.number), button(words, kind="quiet"))
    if one.number == own.number:
        end = texts("links.this_one")
    return [one.number, texts(f"links.{one.role}"), moment(one.begun), moment(one.seen), end]
