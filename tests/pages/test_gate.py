"""Who is let in, and which requests are refused, over real sockets."""

from __future__ import annotations

import re
import stat

import pytest

from mixbayes.pages import gate
from mixbayes.pages.asking_first import SMALL
from mixbayes.pages.door import Role
from mixbayes.pages.frame import OF_HOSPITAL
from mixbayes.pages.gate import HEADERS
from mixbayes.pages.server import LINK
from tests.pages.visitor import Visitor
from tests.pages.ward import Ward, token

PAGES = OF_HOSPITAL[Role.MANAGER]
FORMS = ("/table", "/classify", "/classify/table", "/recipes/evaluate", "/recipes/usual", "/examination", "/links")


@pytest.mark.parametrize("path", [*PAGES, "/evaluation", "/classify/table"])
def test_nobody_sees_a_page_without_a_link(heart: Ward, path: str) -> None:
    reply = Visitor(heart.port).open(path)
    assert reply.status == 403
    assert "mixbayes page link" in reply.text
    assert "north has contributed" not in reply.text


@pytest.mark.parametrize("path", FORMS)
def test_nobody_sends_a_form_without_a_link(heart: Ward, path: str) -> None:
    assert Visitor(heart.port).ask("POST", path, b"form_key=").status == 403


def test_a_link_works_once_and_looking_at_it_does_not_use_it_up(heart: Ward, manager: Visitor) -> None:
    link, path = heart.link(), f"/enter/{token(heart.link())}"
    for _ in range(3):
        assert "lets one person in" in Visitor(heart.port).open(path).text
    assert Visitor(heart.port).enter(link).status == 200
    again = Visitor(heart.port)
    assert again.ask("POST", path, b"").status == 403
    assert again.cookies == {}
    assert "has been used" in again.open(path).text
    assert heart.link() != link


def test_the_link_lies_where_only_the_nodes_user_reads_it(heart: Ward) -> None:
    file = heart.site.state("north") / LINK
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert f":{heart.port}/" in heart.link()


def test_the_cookie_is_for_this_port_and_for_no_script(heart: Ward) -> None:
    visitor = Visitor(heart.port)
    reply = visitor.ask("POST", f"/enter/{token(heart.link())}", b"")
    said = reply.headers["Set-Cookie"]
    assert said.startswith(f"mixbayes-{heart.port}=")
    assert "HttpOnly" in said
    assert "SameSite=Strict" in said
    assert re.search(r"Path=/[\w-]{43}/;", said)
    assert next(iter(visitor.cookies.values())) not in visitor.open("/").body


def test_a_cookie_opens_nothing_without_its_path_and_a_path_nothing_without_its_cookie(
    heart: Ward, manager: Visitor, doctor: Visitor
) -> None:
    assert Visitor(heart.port, manager.cookies).open("/").status == 403
    assert Visitor(heart.port, manager.cookies, doctor.folder).open("/").status == 403
    assert Visitor(heart.port, {}, manager.folder).open("/").status == 403
    assert Visitor(heart.port, doctor.cookies, manager.folder).open("/links").status == 403


def test_every_address_on_a_page_is_below_its_path(manager: Visitor) -> None:
    for path in PAGES:
        found = re.findall(r' (?:href|action)="(/[^"]*)"', manager.open(path).body)
        assert {address.startswith(f"{manager.folder}/") for address in found if address != "/style.css"} == {True}


@pytest.mark.parametrize(
    "host",
    ["localhost:{port}", "[::1]:{port}", "evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", None],
)
def test_another_name_for_this_machine_is_refused(manager: Visitor, host: str | None) -> None:
    named = host and host.format(port=manager.port)
    reply = manager.ask("GET", "/", Host=named)
    assert reply.status in (400, 403)
    assert "Round 1" not in reply.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": None},
        {"Origin": "https://127.0.0.1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_a_form_of_another_page_is_refused(manager: Visitor, headers: dict[str, str | None]) -> None:
    before = manager.open("/links").body.count("End visit")
    reply = manager.send("/links", ("role", "doctor"), **headers)
    assert reply.status == 403
    assert "/enter/" not in reply.text
    assert manager.open("/links").body.count("End visit") == before


@pytest.mark.parametrize("key", ["", "guess"])
def test_a_form_without_the_sessions_key_is_refused(manager: Visitor, key: str) -> None:
    reply = manager.send("/links", ("role", "doctor"), key=key)
    assert reply.status == 403
    assert "earlier visit" in reply.text


def test_a_key_of_another_session_is_refused(manager: Visitor, doctor: Visitor) -> None:
    assert manager.send("/links", ("role", "doctor"), key=doctor.form_key()).status == 403


@pytest.mark.parametrize("path", ["/table", "/trail", "/examination", "/links", "/evaluation"])
def test_a_doctor_does_not_see_what_is_the_data_managers(doctor: Visitor, path: str) -> None:
    reply = doctor.open(path)
    assert reply.status == 403
    assert "data manager" in reply.text
    assert path not in doctor.open("/").body


@pytest.mark.parametrize(
    "path", ["/table", "/recipes/evaluate", "/recipes/usual", "/examination", "/links", "/links/end"]
)
def test_a_doctor_does_not_do_what_is_the_data_managers(doctor: Visitor, path: str) -> None:
    assert doctor.send(path, ("role", "manager")).status == 403


def test_a_role_that_does_not_exist_gets_no_link(manager: Visitor) -> None:
    assert "/enter/" not in manager.send("/links", ("role", "king")).text


def test_somebody_who_leaves_is_out(heart: Ward) -> None:
    visitor = Visitor(heart.port)
    visitor.enter(heart.link())
    cookies = dict(visitor.cookies)
    assert visitor.ask("POST", "/leave", f"form_key={visitor.form_key()}".encode()).status == 303
    visitor.cookies = cookies
    assert visitor.open("/").status == 403


def test_somebody_else_who_comes_does_not_use_up_the_nodes_own_link(heart: Ward, manager: Visitor) -> None:
    offered = heart.link()
    made = manager.send("/links", ("role", "doctor"))
    link = re.findall(r"http://127\.0\.0\.1:\d+/enter/[\w-]+", made.text)[0]
    assert Visitor(heart.port).enter(link).status == 200
    assert heart.link() == offered


def test_links_that_nobody_used_are_withdrawn(heart: Ward, manager: Visitor) -> None:
    made = manager.send("/links", ("role", "manager"))
    link = re.findall(r"/enter/[\w-]+", made.text)[0]
    assert "has not been used" in made.text or "have not been used" in made.text
    manager.send("/links/withdraw")
    assert Visitor(heart.port).ask("POST", link, b"").status == 403
    assert "not been used" not in manager.open("/links").text


def test_the_data_manager_ends_a_visit(heart: Ward, manager: Visitor) -> None:
    visitor = Visitor(heart.port)
    visitor.enter(heart.link())
    own = visitor.open("/links")
    number = own.text.partition(" this visit")[0].rsplit(" data manager ", 1)[0].rsplit(" ", 1)[-1]
    assert visitor.open("/").status == 200
    manager.send("/links/end", ("number", number))
    assert visitor.open("/").status == 403


@pytest.mark.parametrize("path", [*PAGES, "/nowhere", "/style.css", "/enter/x"])
def test_every_answer_says_what_a_browser_may_do_with_it(manager: Visitor, path: str) -> None:
    headers = manager.open(path).headers
    assert HEADERS.items() <= headers.items()
    assert "Server" not in headers


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/nowhere", 404), ("DELETE", "/", 403), ("POST", "/", 405)]
)
def test_what_is_not_there_is_said_in_words(manager: Visitor, method: str, path: str, status: int) -> None:
    reply = manager.ask(method, path, b"")
    assert reply.status == status


@pytest.mark.parametrize("size", [gate.MOST_OF_FORM + 1, gate.MOST_BYTES + 1, 1 << 40])
def test_a_form_that_is_too_large_is_refused(manager: Visitor, size: int) -> None:
    body = b"a" * size if size < gate.MOST_BYTES else None  # a larger one is refused by its headers
    reply = manager.ask("POST", "/classify", body, Content_Length=str(size))
    assert reply.status == 413


@pytest.mark.parametrize("path", ["/", "/classify/table", "/enter/x"])
def test_a_large_body_of_somebody_who_is_not_signed_in_is_not_taken(heart: Ward, path: str) -> None:
    """It is refused by its headers: the body has not been sent yet."""
    stranger = Visitor(heart.port)
    assert stranger.ask("POST", path, None, Content_Length=str(SMALL + 1)).status == 400
    assert stranger.ask("POST", path, b"a" * SMALL).status == 403


def test_a_large_body_for_another_name_is_not_taken(manager: Visitor) -> None:
    reply = manager.ask("POST", "/classify/table", None, Content_Length=str(SMALL + 1), Host="evil.example")
    assert reply.status == 400
