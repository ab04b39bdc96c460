"""The page's server: on loopback, as long as the node works, with a link to come in by."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
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
from mixbayes.pages.asking_first import channel_that_asks_first
from mixbayes.pages.door import Door, Role
from mixbayes.pages.gate import MOST_BYTES, own_host
from mixbayes.pages.node import PageNode
from mixbayes.pages.site import Site, address_of
from mixbayes.pages.texts import Texts, english, translated
from mixbayes.pages.upload import FOLDER
from mixbayes.protocol.errors import Unsupported
from mixbayes.transport.errors import CannotServe

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

LINK = "page.link"
THREADS = 8
_SECRET_BYTES = 32
_PRIVATE = 0o600
_FAREWELL = 5.0
_MOST_OF_ANSWER = 1 << 30
_CONNECTIONS, _IDLE = 500, 20
"""Connections at a time, and seconds after which one that says nothing is closed."""


@dataclass(frozen=True)
class PageSettings:
    """What the operator decides of the page."""

    listen: str
    texts: Path | None = None


def refuse_elsewhere(listen: str) -> None:
    """Refuse an address that other machines can reach, or that the links would not name."""
    host, _, port = listen.rpartition(":")
    if host != "127.0.0.1" or not port.isdecimal():
        raise Unsupported(
            f"--page {listen}: the page is for this machine alone. Give 127.0.0.1:PORT; from another machine come "
            "through `ssh -L PORT:127.0.0.1:PORT`."
        )


class _Offer:
    """The link that lets a data manager in. It lies in the state folder, and another one takes its place in time."""

    def __init__(self, door: Door, file: Path, host: str) -> None:
        self._door, self._file, self._host, self._token = door, file, host, ""
        self._lock = threading.Lock()

    def renew(self) -> str:
        """The address of one that opens."""
        with self._lock:
            if not self._door.opens(self._token):
                self._token = self._door.offer(Role.MANAGER)
                _keep(self._file, address_of(self._host, self._token))
            return address_of(self._host, self._token)


@contextmanager
def page_at(settings: PageSettings, node: PageNode, log: Log) -> Iterator[int]:
    """Serve the page until the block ends; its port. The link to come in by lies in the state folder."""
    texts = _texts(settings, log)
    logging.getLogger("waitress").setLevel(logging.CRITICAL)  # its lines would stand among those of the node's log
    door = Door(time.time, partial(secrets.token_urlsafe, _SECRET_BYTES))
    late: list[Site] = []
    server = _bound(settings.listen, lambda environ, start: late[0](environ, start))
    port = int(server.effective_port)
    offer = _Offer(door, node.state / LINK, own_host(port))
    site = Site(node, door, texts, port, log, offer.renew)
    late.append(site)
    server.channel_class = channel_that_asks_first(site.may_send)
    thread = threading.Thread(target=server.run, name="page server", daemon=True)
    node.watching.afterwards = offer.renew
    with _no_uploads_left(node.state / FOLDER):
        address = offer.renew()
        node.watching.begin()
        thread.start()
        try:
            log.info("the page is there; this link works once", link=address)
            yield port
        finally:
            node.watching.end()
            with suppress(OSError):
                (node.state / LINK).unlink(missing_ok=True)
            server.trigger.pull_trigger(partial(wasyncore.close_all, server._map, True))
            thread.join(_FAREWELL)
            server.task_dispatcher.shutdown()


@contextmanager
def _no_uploads_left(folder: Path) -> Iterator[None]:
    """Before and after: a node that was killed may have left a file of patients."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
    listening = socket.socket()
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
        inbuf_overflow=2 * MOST_BYTES,  # nothing of a request or of an answer goes to the disk
        outbuf_overflow=_MOST_OF_ANSWER,
        connection_limit=_CONNECTIONS,
        channel_timeout=_IDLE,
        clear_untrusted_proxy_headers=True,
    )


def _keep(file: Path, address: str) -> None:
    """For whoever may read the node's state folder, and nobody else."""
    draft = file.with_suffix(".new")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _PRIVATE), "w", encoding="utf-8") as content:
        content.write(f"{address}\n")
    draft.replace(file)
