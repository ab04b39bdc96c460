"""The page's server: on loopback, as long as the node works, with a link to come in by."""

from __future__ import annotations

import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from waitress import wasyncore
from waitress.server import create_server

from mixbayes.node.log import Log
from mixbayes.pages.door import Door, Role
from mixbayes.pages.node import PageNode
from mixbayes.pages.site import Site, address_of
from mixbayes.pages.texts import Texts, english, translated
from mixbayes.pages.upload import MOST_BYTES
from mixbayes.protocol.errors import Unsupported
from mixbayes.transport.errors import CannotServe
from mixbayes.transport.peer import on_loopback

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

LINK = "page.link"
THREADS = 8
_SECRET_BYTES = 32
_PRIVATE = 0o600
_FAREWELL = 5.0


@dataclass(frozen=True)
class PageSettings:
    """What the operator decides of the page."""

    listen: str
    texts: Path | None = None


def refuse_elsewhere(listen: str) -> None:
    """Refuse an address that other machines can reach: whoever has a link would be somebody else."""
    if not on_loopback(listen) or not listen.rpartition(":")[2].isdecimal():
        raise Unsupported(
            f"--page {listen}: the page is for this machine alone. Give 127.0.0.1:PORT; from another machine come "
            "through `ssh -L PORT:127.0.0.1:PORT`."
        )


@contextmanager
def page_at(settings: PageSettings, node: PageNode, log: Log) -> Iterator[int]:
    """Serve the page until the block ends; its port. The link to come in by lies in the state folder."""
    texts = _texts(settings, log)
    door = Door(time.time, partial(secrets.token_urlsafe, _SECRET_BYTES))
    late: list[Site] = []
    server = _bound(settings.listen, lambda environ, start: late[0](environ, start))
    port = int(server.effective_port)
    file = node.state / LINK

    def offer() -> str:
        address = address_of(port, door.link(Role.MANAGER))
        _keep(file, address)
        return address

    late.append(Site(node, door, texts, port, log, offer))
    thread = threading.Thread(target=server.run, name="page server", daemon=True)
    node.watching.begin()
    thread.start()
    try:
        log.info("the page is there; this link works once", link=offer())
        yield port
    finally:
        with suppress(OSError):
            file.unlink(missing_ok=True)
        node.watching.end()
        server.trigger.pull_trigger(partial(wasyncore.close_all, server._map, True))
        thread.join(_FAREWELL)
        server.task_dispatcher.shutdown()


def _texts(settings: PageSettings, log: Log) -> Texts:
    """English, or the site's own; what a translation lacks is named once."""
    if settings.texts is None:
        return english()
    texts, lacking = translated(settings.texts)
    if lacking:
        log.warning("texts of the page are not translated", number=len(lacking), first=lacking[0])
    return texts


def _bound(listen: str, site: WSGIApplication) -> Any:
    """A server that listens already, so that its port is known to the site."""
    host, _, port = listen.rpartition(":")
    host = host.strip("[]")
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, int(port)))
    except (OSError, OverflowError) as error:
        listening.close()
        why = error.strerror if isinstance(error, OSError) else "there is no such port"
        raise CannotServe(f"The page cannot listen on {listen}: {why}. Give another port with --page.") from None
    return create_server(
        site,
        sockets=[listening],
        threads=THREADS,
        ident=None,
        max_request_body_size=MOST_BYTES,
        channel_timeout=60,
        clear_untrusted_proxy_headers=True,
    )


def _keep(file: Path, address: str) -> None:
    """For whoever may read the node's state folder, and nobody else."""
    draft = file.with_suffix(".new")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _PRIVATE), "w", encoding="utf-8") as content:
        content.write(f"{address}\n")
    draft.replace(file)
