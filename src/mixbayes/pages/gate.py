"""Which requests are let through, and what every answer says to the browser.

The page listens on loopback, but every page in the browser can send requests there. A foreign page is kept out by the
name it asks for (Host, against DNS rebinding), by where a form comes from (Origin and Sec-Fetch-Site), by a key in
every form, and by a cookie that is never sent from another site, nor to a server at another port (`door.py`).
"""

from __future__ import annotations

from collections.abc import Mapping

from werkzeug.wrappers import Request

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; frame-ancestors 'none'; "
        "base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with no-referrer browsers would send forms with the Origin "null"
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cache-Control": "no-store",
}
_STYLES_INSIDE = "style-src 'self' 'unsafe-inline'"


def headers_of_report() -> dict[str, str]:
    """For a report, which is a whole file and has its style inside."""
    policy = HEADERS["Content-Security-Policy"].replace("style-src 'self'", _STYLES_INSIDE)
    return {**HEADERS, "Content-Security-Policy": policy}


MOST_BYTES, MOST_OF_FORM = 8 << 20, 1 << 20
"""Of a request that carries a file, and of any other."""
OF_FILES = "/classify/table"


def most_bytes(path: str) -> int:
    """How large a request to this address may be."""
    return MOST_BYTES if path.endswith(OF_FILES) else MOST_OF_FORM


def own_host(port: int) -> str:
    """The one name by which a browser asks for the page. Behind `localhost` somebody else may listen, at ::1."""
    return f"127.0.0.1:{port}"


def is_foreign(request: Request, host: str) -> bool:
    """Whether a request was not meant for this page, or a form was sent from another one."""
    if request.headers.get("Host", "") != host:
        return True
    if request.method in ("GET", "HEAD"):
        return False
    origin = request.headers.get("Origin", "")
    return origin != f"http://{host}" or request.headers.get("Sec-Fetch-Site") not in (
        "same-origin",
        None,  # a browser that does not say it
    )
