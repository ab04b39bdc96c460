"""Somebody who comes to a page without scripts: follows its links and sends its forms."""

from __future__ import annotations

import http.client
import re
from dataclasses import dataclass, field
from html import unescape
from urllib.parse import urlencode

PATIENCE = 60
BOUNDARY = "----mixbayes-test"


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: str

    @property
    def text(self) -> str:
        """What is read on it."""
        return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", self.body)))

    @property
    def title(self) -> str:
        found = re.search("<title>(.*?)</title>", self.body)
        return unescape(found[1]) if found else ""

    def hidden(self, name: str) -> str:
        found = re.search(rf'name="{name}" value="([^"]*)"', self.body)
        assert found, name
        return unescape(found[1])


@dataclass
class Visitor:
    port: int
    cookies: dict[str, str] = field(default_factory=dict)
    folder: str = ""
    """The path of the session's pages, which the cookie is for."""

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str | None) -> Reply:
        """One request; a header that is None is left out."""
        sent = {"Host": f"127.0.0.1:{self.port}"}
        if method == "POST":
            sent |= {"Origin": self.origin, "Content-Type": "application/x-www-form-urlencoded"}
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        whole = {name: value for name, value in (sent | named).items() if value is not None}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            at = path if path.startswith(("/enter/", "/style.css")) else f"{self.folder}{path}"
            connection.putrequest(method, at, skip_host=True, skip_accept_encoding=True)
            for name, value in whole.items():
                connection.putheader(name, value)
            if method == "POST" and "Content-Length" not in whole:
                connection.putheader("Content-Length", str(len(body or b"")))
            connection.endheaders(body)
            reply = connection.getresponse()
            found = Reply(reply.status, dict(reply.getheaders()), reply.read().decode())
        finally:
            connection.close()
        self._take_cookie(found.headers.get("Set-Cookie", ""))
        return found

    def open(self, path: str) -> Reply:
        return self.ask("GET", path)

    def send(self, path: str, *pairs: tuple[str, str], key: str | None = None, **headers: str | None) -> Reply:
        """A form, with the key that the page's own forms have; a redirection is followed."""
        fields = [("form_key", self.form_key() if key is None else key), *pairs]
        reply = self.ask("POST", path, urlencode(fields).encode(), **headers)
        return self.open(self.own(reply.headers["Location"])) if reply.status == 303 else reply

    def upload(self, path: str, name: str, content: bytes, *pairs: tuple[str, str]) -> Reply:
        parts = [f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{n}"\r\n\r\n{v}\r\n' for n, v in pairs]
        parts += [f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="form_key"\r\n\r\n{self.form_key()}\r\n']
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="table"; filename="{name}"\r\n\r\n'
        body = "".join(parts).encode() + head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()
        return self.ask("POST", path, body, Content_Type=f"multipart/form-data; boundary={BOUNDARY}")

    def form_key(self) -> str:
        return self.open("/").hidden("form_key")

    def enter(self, link: str) -> Reply:
        """Press the button that the link shows."""
        path = "/enter/" + link.rpartition("/")[2]
        assert self.open(path).status == 200
        assert not self.cookies
        reply = self.ask("POST", path, b"")
        assert reply.status == 303, reply.text
        return self.open(self.own(reply.headers["Location"]))

    def own(self, location: str) -> str:
        """A page's address as of its folder."""
        assert location.startswith(f"{self.folder}/")
        return location.removeprefix(self.folder)

    def _take_cookie(self, said: str) -> None:
        if not said:
            return
        name, _, value = said.partition(";")[0].partition("=")
        self.cookies = {name: value} if value else {}
        path = re.search("Path=(/[^;]+)/", said)
        if value and path:
            self.folder = path[1]
