"""The pages by their addresses: who may see which, and what each answers."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import IO, TYPE_CHECKING

from werkzeug.exceptions import HTTPException
from werkzeug.http import parse_cookie
from werkzeug.routing import Map, Rule
from werkzeug.wrappers import Request, Response

from mixbayes.node.log import Log, logged
from mixbayes.node.serving.greeting import SOFTWARE
from mixbayes.pages import gate
from mixbayes.pages.at_hospital import AtHospital
from mixbayes.pages.at_mixer import AtMixer
from mixbayes.pages.classify import answered_page, classify_page
from mixbayes.pages.door import Door, Role, Session
from mixbayes.pages.enter import closed, entrance
from mixbayes.pages.examination import examination_page, examined_page
from mixbayes.pages.frame import OF_HOSPITAL, OF_MIXER, Place, Shown, framed
from mixbayes.pages.job import broken
from mixbayes.pages.links import NUMBER, ROLE, links_page
from mixbayes.pages.mixer_overview import mixer_overview
from mixbayes.pages.node import PageNode
from mixbayes.pages.overview import overview
from mixbayes.pages.parts import failure, notice
from mixbayes.pages.recipes import RECIPE, evaluation_report, recipes_page, remembered
from mixbayes.pages.style import STYLE
from mixbayes.pages.table import table_page
from mixbayes.pages.texts import Texts
from mixbayes.pages.trail import Wanted, trail_page
from mixbayes.pages.upload import FILE, upload_page, uploaded_page

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

MANAGER = frozenset({Role.MANAGER})
ALL = frozenset(Role)
_OPEN_TO_ALL = ("/style.css", "/enter/")
Answer = Shown | Response
View = Callable[["Visit"], Answer]


@dataclass(frozen=True)
class Visit:
    """A request of somebody who may make it."""

    request: Request
    session: Session

    def field(self, name: str) -> str:
        return self.request.values.get(name, "")

    @property
    def answers(self) -> Mapping[str, list[str]]:
        return {name: self.request.form.getlist(name) for name in self.request.form}


@dataclass(frozen=True)
class _Page:
    view: View
    roles: frozenset[Role]


class Site:
    """Answers requests. `spent` is called when a link has been used up."""

    def __init__(
        self, node: PageNode, door: Door, texts: Texts, port: int, log: Log, spent: Callable[[], object]
    ) -> None:
        self._node, self._door, self._texts, self._log, self._spent = node, door, texts, log, spent
        self._host = gate.own_host(port)
        self._cookie = f"mixbayes-{port}"  # cookies of one host are those of all its ports
        self._paths = OF_HOSPITAL if isinstance(node, AtHospital) else OF_MIXER
        self._pages: dict[str, _Page] = {}
        self._map = Map(list(self._rules()), strict_slashes=False)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        with InMemory(environ) as request:  # files that came with it are closed
            request.max_content_length = request.max_form_memory_size = gate.most_bytes(request.path)
            response = self._answered(request)
        for name, value in gate.HEADERS.items():
            response.headers.setdefault(name, value)
        return response(environ, start_response)

    def may_send(self, headers: Mapping[str, str]) -> bool:
        """Whether somebody with these headers may send a body worth keeping."""
        cookies = parse_cookie(headers.get("COOKIE", ""))
        return headers.get("HOST") == self._host and self._door.knows(cookies.get(self._cookie, ""))

    def _rules(self) -> Iterable[Rule]:
        yield Rule("/style.css", endpoint="style", methods=["GET"])
        yield Rule("/enter/<token>", endpoint="enter", methods=["GET", "POST"])
        yield self._rule("GET", "/", self._overview, ALL)
        yield self._rule("POST", "/leave", self._leave, ALL)
        yield self._rule("GET", "/trail", self._trail, MANAGER)
        yield self._rule("GET", "/examination", lambda visit: examination_page(self._texts, visit.session), MANAGER)
        yield self._rule("POST", "/examination", self._examined, MANAGER)
        yield self._rule("GET", "/links", self._links, MANAGER)
        yield self._rule("POST", "/links", self._new_link, MANAGER)
        yield self._rule("POST", "/links/end", self._end_session, MANAGER)
        yield self._rule("POST", "/links/withdraw", self._withdraw, MANAGER)
        if isinstance(self._node, AtHospital):
            yield from self._rules_of_hospital(self._node)

    def _rules_of_hospital(self, node: AtHospital) -> Iterable[Rule]:
        texts = self._texts
        yield self._rule("GET", "/table", lambda visit: table_page(texts, node, visit.session), MANAGER)
        yield self._rule("POST", "/table", lambda visit: self._began(visit, node.look_at_table, "/table"), MANAGER)
        yield self._rule("GET", "/classify", lambda visit: classify_page(texts, node, visit.session), ALL)
        yield self._rule(
            "POST", "/classify", lambda visit: answered_page(texts, node, visit.session, visit.answers), ALL
        )
        yield self._rule("GET", "/classify/table", lambda visit: upload_page(texts, node, visit.session), ALL)
        yield self._rule(
            "POST",
            "/classify/table",
            lambda visit: uploaded_page(texts, node, visit.session, visit.answers, visit.request.files.get(FILE)),
            ALL,
        )
        yield self._rule("GET", "/recipes", lambda visit: recipes_page(texts, node, visit.session), ALL)
        yield self._rule(
            "POST", "/recipes/evaluate", lambda visit: self._began(visit, node.evaluate, "/recipes"), MANAGER
        )
        yield self._rule(
            "POST",
            "/recipes/usual",
            lambda visit: remembered(texts, node, visit.session, visit.field(RECIPE)),
            MANAGER,
        )
        yield self._rule("GET", "/evaluation", lambda visit: self._report(visit, node), MANAGER)

    def _rule(self, method: str, path: str, view: View, roles: frozenset[Role]) -> Rule:
        endpoint = f"{method} {path}"
        self._pages[endpoint] = _Page(view, roles)
        return Rule(path, endpoint=endpoint, methods=[method])

    def _answered(self, request: Request) -> Response:
        try:
            if gate.is_foreign(request, self._host):
                said = f"This request did not come from the page, which is at http://{self._host}\n"
                return Response(said, 403, mimetype="text/plain")
            session, path = self._visitor(request)
            if session is None and not path.startswith(_OPEN_TO_ALL):
                return self._shown(request, None, closed(self._texts, self._texts("enter.nobody")))
            endpoint, values = self._map.bind_to_environ(request.environ).match(path)
            return self._of(endpoint, values, request, session)
        except HTTPException as error:
            return self._shown(request, self._visitor(request)[0], self._refusal(error))
        except Exception as error:  # noqa: BLE001 - the visitor is told that it is ours; the log has the place
            logged(self._log, error, "a page failed")
            body = notice("trouble", self._texts("page.broken"), failure(broken()))
            return self._shown(request, None, Shown(self._texts("page.broken"), body, 500, failed=True))

    def _visitor(self, request: Request) -> tuple[Session | None, str]:
        """Whose request it is, and the page that it is for. A session's pages are below a path of its own."""
        first, _, rest = request.path.removeprefix("/").partition("/")
        session = self._door.session(request.cookies.get(self._cookie, ""))
        if session and hmac.compare_digest(first.encode(), session.path.encode()):
            return session, f"/{rest}"
        return None, request.path

    def _of(self, endpoint: str, values: Mapping[str, str], request: Request, session: Session | None) -> Response:
        if endpoint == "style":
            return Response(STYLE, mimetype="text/css")
        if endpoint == "enter":
            return self._enter(request, values["token"])
        page = self._pages[endpoint]
        if session is None or session.role not in page.roles:
            body = notice("attention", self._texts("page.not_yours"))
            return self._shown(request, session, Shown(self._texts("page.not_yours"), body, 403))
        if request.method == "POST" and request.form.get("form_key") != session.form_key:
            body = notice("attention", self._texts("page.old_form"))
            return self._shown(request, session, Shown(self._texts("page.old_form"), body, 403))
        found = page.view(Visit(request, session))
        return self._shown(request, session, found) if isinstance(found, Shown) else found

    def _shown(self, request: Request, session: Session | None, shown: Shown) -> Response:
        paths = self._paths[session.role] if session and session.role in self._paths else ()
        path = f"/{request.path.removeprefix('/').partition('/')[2]}" if session else request.path
        place = Place(path, paths, session, f"{self._node.title}, {self._node.federation.name}")
        html = framed(self._texts, shown, place)
        return Response(below(session.path, html) if session else html, shown.status, mimetype="text/html")

    def _refusal(self, error: HTTPException) -> Shown:
        status = error.code or 500
        name = f"page.error_{status}" if self._texts.knows(f"page.error_{status}") else "page.error"
        return Shown(self._texts(name), notice("attention", self._texts("page.error_remedy")), status, failed=True)

    # Coming and going.

    def _enter(self, request: Request, token: str) -> Response:
        if request.method != "POST":
            return self._shown(request, None, entrance(self._texts, self._door, token))
        entered = self._door.enter(token)
        if entered is None:
            return self._shown(request, None, closed(self._texts, self._texts("enter.used")))
        cookie, session = entered
        self._log.info("somebody came to the page", role=session.role.value, session=session.number)
        self._spent()
        response = _to(session, "/")
        response.set_cookie(self._cookie, cookie, httponly=True, samesite="Strict", path=f"/{session.path}/")
        return response

    def _leave(self, visit: Visit) -> Answer:
        self._door.close(visit.session.number)
        response = _to(visit.session, "/")
        response.delete_cookie(self._cookie, path=f"/{visit.session.path}/")
        return response

    # Pages.

    def _overview(self, visit: Visit) -> Answer:
        if isinstance(self._node, AtMixer):
            return mixer_overview(self._texts, self._node)
        return overview(self._texts, self._node, visit.session.role is Role.MANAGER)

    def _began(self, visit: Visit, begin: Callable[[], None], path: str) -> Answer:
        begin()
        return _to(visit.session, path)

    def _report(self, visit: Visit, node: AtHospital) -> Answer:
        report = evaluation_report(self._texts, node, SOFTWARE)
        if report is None:
            return _to(visit.session, "/recipes")
        return Response(report, mimetype="text/html", headers=gate.headers_of_report())

    def _trail(self, visit: Visit) -> Answer:
        before = visit.field("before")
        number = int(before) if before.isdecimal() and len(before) < 16 else 0
        return trail_page(self._texts, self._node, Wanted(visit.field("actor"), visit.field("verb"), number))

    def _examined(self, visit: Visit) -> Answer:
        return examined_page(self._texts, self._node, visit.session)

    def _links(self, visit: Visit, made: str = "") -> Answer:
        return links_page(self._texts, self._door, visit.session, tuple(self._paths), made)

    def _new_link(self, visit: Visit) -> Answer:
        role = Role(visit.field(ROLE)) if visit.field(ROLE) in self._paths else None
        if role is None:
            return self._links(visit)
        token = self._door.link(role, visit.session)
        if not token:
            return self._links(visit)
        self._log.info("a link to the page was made", role=role.value, by=visit.session.number)
        return self._links(visit, address_of(self._host, token))

    def _withdraw(self, visit: Visit) -> Answer:
        self._door.withdraw()
        return _to(visit.session, "/links")

    def _end_session(self, visit: Visit) -> Answer:
        self._door.close(visit.field(NUMBER))
        return _to(visit.session, "/links")


class InMemory(Request):
    """A request whose files stay in memory: they hold patients."""

    def _get_file_stream(
        self, total_content_length: object, content_type: object, filename: object = None, content_length: object = None
    ) -> IO[bytes]:
        return BytesIO()


def address_of(host: str, token: str) -> str:
    """What somebody types or clicks to come in."""
    return f"http://{host}/enter/{token}"


def below(folder: str, html: str) -> str:
    """The page with its own addresses below this folder.

    Pages write them as of the root. What others have written cannot look like one: its quotes are escaped.
    """
    return re.sub(r'( (?:href|action)=")/(?!style\.css")', rf"\1/{folder}/", html)


def _to(session: Session, path: str) -> Response:
    """After a form the browser asks for a page, so that loading it anew sends no form again."""
    return Response(status=303, headers={"Location": f"/{session.path}{path}"})
