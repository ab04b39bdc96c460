"""What a collector makes of a node: names by the rules, and a part that fails takes no other with it."""

from __future__ import annotations

import io
import re
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from mixbayes.node.log import logger
from mixbayes.node.metrics import listener
from mixbayes.node.metrics.address import Address
from mixbayes.node.metrics.catalogue import COUNTER, ERRORS, METRICS, ROUND, SUMMARY, TRAILS
from mixbayes.node.metrics.collector import NodeCollector
from mixbayes.node.metrics.samples import Sample
from mixbayes.node.observed import Observed
from tests.node.metrics.scraped import PATIENCE, Scraped, read, scrape
from tests.ports import free_port

NOBODY = cast("Observed", None)


def collected(*groups: Any, log: io.StringIO | None = None, times: int = 1) -> Scraped:
    registry = CollectorRegistry()
    registry.register(NodeCollector(NOBODY, logger("mixer a", log or io.StringIO()), groups))
    for _ in range(times - 1):
        generate_latest(registry)
    return read(generate_latest(registry).decode())


def of_all(node: Observed) -> Iterator[Sample]:
    for metric in METRICS:
        if metric is not ERRORS:  # which the collector counts itself
            yield Sample(metric, 1, metric.labels)


def test_names_follow_the_rules_of_prometheus() -> None:
    names = [metric.name for metric in METRICS]
    assert len(set(names)) == len(names)
    for metric in METRICS:
        assert re.fullmatch(r"mixbayes(_[a-z]+)+", metric.name)
        assert metric.name.endswith("_total") == (metric.kind is COUNTER)
        assert all(re.fullmatch(r"[a-z_]+", label) for label in metric.labels)
        assert metric.help.endswith(".")
        assert not re.search(r"_(milliseconds|days|minutes|kilobytes|percent)", metric.name)


def test_every_metric_has_its_kind_its_labels_and_its_help() -> None:
    found = collected(of_all)
    for metric in METRICS:
        assert found.types[metric.name.removesuffix("_total")] == metric.kind.value
        series = f"{metric.name}_sum" if metric.kind is SUMMARY else metric.name
        assert found.labels_of(series) == {tuple(sorted(metric.labels))}
        assert f"# HELP {metric.name} {metric.help}\n" in found.text


def test_a_summary_has_how_many_and_how_long() -> None:
    summary = next(metric for metric in METRICS if metric.kind is SUMMARY)

    def work(node: Observed) -> Iterator[Sample]:
        yield Sample(summary, 2.5, tuple("x" for _ in summary.labels), times=3)

    labels = dict.fromkeys(summary.labels, "x")
    found = collected(work)
    assert (found.value(f"{summary.name}_count", **labels), found.value(f"{summary.name}_sum", **labels)) == (3, 2.5)


def test_what_cannot_be_read_is_left_out_counted_and_logged_once() -> None:
    journal = io.StringIO()

    def broken(node: Observed) -> Iterator[Sample]:
        yield Sample(ROUND, 7)
        raise OSError("/var/secret/place")

    def whole(node: Observed) -> Iterator[Sample]:
        yield Sample(TRAILS, 2)

    found = collected(broken, whole, log=journal, times=3)
    assert found.names == {TRAILS.name, ERRORS.name}
    assert found.value(ERRORS.name) == 3
    assert journal.getvalue().count("metrics are left out") == 1
    assert "secret" not in journal.getvalue()


@contextmanager
def served(patch: pytest.MonkeyPatch, *groups: Any) -> Iterator[int]:
    port = free_port()

    def registry_of(node: Observed, log: Any) -> CollectorRegistry:
        registry = CollectorRegistry()
        registry.register(NodeCollector(node, log, groups))
        return registry

    patch.setattr(listener, "registry_of", registry_of)
    with listener.served(Address("127.0.0.1", port), NOBODY, logger("mixer a", io.StringIO())):
        yield port


def test_it_answers_again_and_again_and_then_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    with served(monkeypatch, of_all) as port:
        assert scrape(port).names == scrape(port).names
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=PATIENCE)
    with pytest.raises(urllib.error.URLError):
        scrape(port)


def test_whoever_says_nothing_keeps_nobody_waiting_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    assert listener._Handler.timeout == listener.PATIENCE < PATIENCE
    monkeypatch.setattr(listener._Handler, "timeout", 0.2)
    with served(monkeypatch, of_all) as port, socket.create_connection(("127.0.0.1", port), PATIENCE):
        assert scrape(port).value("mixbayes_round_number") == 1


def test_however_many_ask_it_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    within, go_on = threading.Event(), threading.Event()

    def slow(node: Observed) -> Iterator[Sample]:
        within.set()
        assert go_on.wait(PATIENCE)
        yield from of_all(node)

    with served(monkeypatch, slow) as port:
        asking = [threading.Thread(target=scrape, args=(port,)) for _ in range(5)]
        before = threading.active_count()
        for one in asking:
            one.start()
        assert within.wait(PATIENCE)
        assert threading.active_count() == before + len(asking)
        go_on.set()
        for one in asking:
            one.join(PATIENCE)


def test_a_mistake_ends_neither_the_listener_nor_shows_what_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*arguments: Any) -> None:
        raise ValueError("a patient")

    with served(monkeypatch, of_all) as port:
        with monkeypatch.context() as patch:
            patch.setattr(listener.MetricsHandler, "do_GET", wrong)
            with pytest.raises((urllib.error.URLError, ConnectionError, OSError)):
                scrape(port)
        assert scrape(port).value("mixbayes_round_number") == 1
