"""What surrounds every page: its title, the ways to the others, who is shown it, and the node's name."""

from __future__ import annotations

from dataclasses import dataclass

from mixbayes.node.serving.greeting import SOFTWARE
from mixbayes.pages.door import Role, Session
from mixbayes.pages.parts import button, form
from mixbayes.pages.texts import Texts
from mixbayes.report.markup import Markup, element, joined

OF_HOSPITAL = {
    Role.MANAGER: ("/", "/table", "/classify", "/recipes", "/trail", "/examination", "/links"),
    Role.DOCTOR: ("/", "/classify", "/recipes"),
}
OF_MIXER = {Role.MANAGER: ("/", "/trail", "/examination", "/links")}
NAMES = {
    "/": "overview",
    "/table": "table",
    "/classify": "classify",
    "/recipes": "recipes",
    "/trail": "trail",
    "/examination": "examination",
    "/links": "links",
}


@dataclass(frozen=True)
class Shown:
    """A page without its surroundings."""

    title: str
    body: Markup
    status: int = 200
    failed: bool = False
    """Whether its title should begin with the word for a mistake, which a screen reader reads first."""


@dataclass(frozen=True)
class Place:
    """Where a page is shown."""

    path: str
    paths: tuple[str, ...]
    session: Session | None
    node: str
    """The title of the node and of its federation."""


def framed(texts: Texts, shown: Shown, place: Place) -> str:
    """The whole document."""
    title = texts("page.title", page=shown.title, node=place.node)
    if shown.failed:
        title = texts("page.failed_title", title=title)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("link", rel="icon", href="data:,"),
        element("link", rel="stylesheet", href="/style.css"),
        element("title", title),
    )
    main = element("main", element("h1", shown.title), shown.body, id="main", tabindex="-1")
    skip = element("a", texts("page.skip"), href="#main", class_="skip")
    body = element("body", skip, _header(texts, place), main, _footer(texts))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang=texts.language)}\n"


def _header(texts: Texts, place: Place) -> Markup:
    items = [
        element(
            "li",
            element("a", texts(f"menu.{NAMES[path]}"), href=path, aria_current="page" if path == place.path else None),
        )
        for path in place.paths
    ]
    menu = element("nav", element("ul", *items), aria_label=texts("page.menu")) if items else Markup()
    leave = Markup()
    if place.session:
        leave = form("/leave", place.session.form_key, button(texts("page.leave"), kind="quiet"))
    return element("header", element("p", place.node, class_="node"), menu, leave, class_="top")


def _footer(texts: Texts) -> Markup:
    return joined(element("footer", element("p", texts("page.footer", version=SOFTWARE))))
