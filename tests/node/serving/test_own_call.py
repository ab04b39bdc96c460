"""A node is ready once it answers a call of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mixbayes.node.serving import own_call, server
from mixbayes.node.serving.own_call import reached_at, refuse_silent
from mixbayes.transport.errors import CannotServe
from tests.node.serving.test_server import made, no_more
from tests.services.helpers import Site, make_site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return make_site(tmp_path_factory.mktemp("own") / "site")


@pytest.mark.parametrize("address", ["127.0.0.1:0", "0.0.0.0:0", "[::]:0", "localhost:0"])
def test_who_answers_is_ready(site: Site, address: str) -> None:
    with made(site, address) as listening:
        refuse_silent(address, listening.port, site.identity("a"))


def test_a_server_without_threads_listens_and_is_not_ready(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_call, "PATIENCE", 0.5)
    with made(site, "127.0.0.1:0") as listening, without_threads(monkeypatch):
        with pytest.raises(CannotServe, match="a call of its own got no answer") as told:
            refuse_silent("127.0.0.1:0", listening.port, site.identity("a"))
        assert told.value.exit_code == 1


def test_a_node_that_nobody_answers_never_says_that_it_is_ready(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_call, "PATIENCE", 0.5)
    with without_threads(monkeypatch), pytest.raises(CannotServe), site.mixer("b"):
        pass
    assert not site.journals["b"].says('"ready"')


@contextmanager
def without_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """For the pools of servers alone: what tests and gRPC itself need is there."""
    usual = threading.Thread.start

    def start(thread: threading.Thread) -> None:
        if thread.name.startswith("grpc_"):
            no_more(thread)
        usual(thread)

    with monkeypatch.context() as moment:
        moment.setattr(threading.Thread, "start", start)
        yield


@pytest.mark.parametrize(("listens", "reached"), [("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("10.1.2.3", "10.1.2.3")])
def test_where_a_node_reaches_itself(listens: str, reached: str) -> None:
    assert reached_at(listens) == reached


def test_the_thread_that_takes_calls_is_found(site: Site) -> None:
    """By a part of its name, which is gRPC's."""
    with made(site, "127.0.0.1:0") as listening:
        [thread] = listening.threads
        assert thread.is_alive()
    thread.join(4 * server._GRACE)
    assert not thread.is_alive()
