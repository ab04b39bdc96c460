"""The way in: a link shows a button, and the button uses the link up.

A link is looked at by programs that nobody asked to, such as a mail program's preview. They open it, but press nothing.
"""

from __future__ import annotations

from mixbayes.pages.door import Door
from mixbayes.pages.frame import Shown
from mixbayes.pages.parts import button, code, notice, paragraphs
from mixbayes.pages.texts import Texts
from mixbayes.report.markup import element, joined


def entrance(texts: Texts, door: Door, token: str) -> Shown:
    """The button, or how to get another link."""
    role = door.opens(token)
    if role is None:
        return closed(texts, texts("enter.used"))
    made = element("form", button(texts("enter.button")), method="post", action=f"/enter/{token}")
    return Shown(texts("enter.heading"), joined(paragraphs(texts(f"enter.as_{role}")), made))


def closed(texts: Texts, why: str) -> Shown:
    """To somebody who has no session."""
    remedy = element("p", texts("enter.remedy"), " ", code("mixbayes page link --state DIR"))
    return Shown(texts("enter.closed"), notice("attention", why, remedy), 403)
