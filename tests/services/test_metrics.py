"""What real nodes tell Prometheus: every name of the catalogue, and nothing of which hospital asked about what."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import pytest

from mixbayes.mixers.store import Store
from mixbayes.node.metrics.address import Address
from mixbayes.node.metrics.catalogue import COMPUTING, EVERY, HOSPITALS, METRICS, SUMMARY, WITH_NOISE, Which
from mixbayes.node.metrics.listener import served
from mixbayes.node.observed import Observed
from mixbayes.node.rounds.state import SERVING
from mixbayes.protocol.errors import MixbayesError
from mixbayes.transport.errors import NotAdmitted
from mixbayes.wire.v1.node_pb2 import ReportRequest
from mixbayes.wire.v1.node_pb2_grpc import MixerStub
from tests.node.metrics.scraped import Scraped, scrape
from tests.ports import free_port
from tests.services.couple import NORTH, SOUTH, make_couple
from tests.services.helpers import Running, Site, command, make_site, wait_until

TOTAL_EPSILON, TOTAL_DELTA = 10.0, 1e-5
NOISE: dict[str, Any] = {"epsilon": 4.0, "delta": 1e-6, "coins": [24]}
NOISE |= {"total_epsilon": TOTAL_EPSILON, "total_delta": TOTAL_DELTA}


@contextmanager
def watched(observed: Observed, site: Site) -> Iterator[int]:
    """The port at which the node of this process shows its metrics."""
    port = free_port()
    with served(Address("127.0.0.1", port), observed, site.log(observed.name)):
        yield port


def names_of(*which: Which) -> set[str]:
    """As they are exported by a node that has these metrics."""
    found = [metric for metric in METRICS if metric.which in which]
    return {f"{m.name}{end}" for m in found for end in (("_count", "_sum") if m.kind is SUMMARY else ("",))}


def labelled_by(found: Scraped, label: str) -> dict[str, set[str]]:
    """By name, the values of a label."""
    values: dict[str, set[str]] = {}
    for name, labels in found.values:
        values.setdefault(name, set()).update(value for key, value in labels if key == label)
    return {name: of for name, of in values.items() if of}


def ask(site: Site, name: str, rows: int) -> None:
    assert len(site.labels(name, site.tables["west"].take(np.arange(rows)))) == rows


def test_a_mixer_shows_the_round_and_not_who_asked(served: Site) -> None:
    site = served
    with ExitStack() as stack:
        nodes = {name: stack.enter_context(site.mixer(name)) for name in ("b", "a")}
        ports = {name: stack.enter_context(watched(node.observed, site)) for name, node in nodes.items()}
        site.wait_for(SERVING)
        before = {name: scrape(port) for name, port in ports.items()}
        ask(site, "north", 7)
        ask(site, "south", 5)
        wait_until(lambda: all(questions(scrape(port)) == 2 for port in ports.values()), "both questions have ended")
        after = {name: scrape(port) for name, port in ports.items()}
    for name, found in after.items():
        assert found.names == names_of(EVERY, COMPUTING)
        assert found.value("mixbayes_round_state", state="serving") == 1
        assert sum(found.value("mixbayes_round_state", state=state) for state in ("collecting", "closed")) == 0
        assert found.value("mixbayes_round_charged_rows") == 12
        assert found.value("mixbayes_round_charged_questions") == 2
        assert found.value("mixbayes_question_rows_total", side="answered", kind="private") == 12
        assert found.value("mixbayes_calls_total", method="Mixer/Ask") >= 2
        assert labelled_by(found, "hospital") == {
            f"mixbayes_round_{word}": set(site.federation.names) for word in ("missing", "refused")
        }
        other = "b" if name == "a" else "a"
        assert labelled_by(found, "peer") == {
            "mixbayes_peer_last_contact_timestamp_seconds": {other, *site.federation.names},
            "mixbayes_peer_received_bytes_total": {other, "all hospitals"},
            "mixbayes_peer_sent_bytes_total": {other, "all hospitals"},
        }
        for peer in (other, "all hospitals"):
            for way in ("received", "sent"):
                series = f"mixbayes_peer_{way}_bytes_total"
                assert found.value(series, peer=peer) > before[name].value(series, peer=peer)


def questions(found: Scraped) -> float:
    return found.value("mixbayes_question_duration_seconds_count", side="answered", kind="private")


def test_what_two_mixers_send_each_other_both_count_alike(site: Site) -> None:
    with ExitStack() as stack:
        nodes = {name: stack.enter_context(site.mixer(name)).observed for name in ("b", "a")}
        site.serve()

        def alike() -> bool:
            a, b = nodes["a"].tallies.traffic.of("b"), nodes["b"].tallies.traffic.of("a")
            return (a.sent, a.received) == (b.received, b.sent)

        wait_until(alike, "what one has sent the other has received")
        assert nodes["a"].tallies.traffic.of("b").sent > 1000
        assert nodes["a"].tallies.trainings.of("training").times == 1
        assert nodes["b"].tallies.trainings.of("training").times == 1


def test_a_hospital_shows_its_budget_and_who_is_missing(site: Site) -> None:
    with ExitStack() as stack:
        for name in ("b", "a"):
            stack.enter_context(site.mixer(name))
        port = stack.enter_context(watched(stack.enter_context(site.hospital("north")).observed, site))
        site.contribute("south")
        wait_until(lambda: scrape(port).value("mixbayes_round_missing", hospital="south") == 0, "south has contributed")
        found = scrape(port)
        assert [found.value("mixbayes_round_missing", hospital=name) for name in site.federation.names] == [0, 0, 1]
        assert found.value("mixbayes_round_state", state="collecting") == 1
        site.contribute("west")
        site.wait_for(SERVING)
        ask(site, "north", 9)
        wait_until(lambda: scrape(port).value("mixbayes_budget_left_rows") == 10_000 - 9, "it hears what is left")
        found = scrape(port)
    assert found.names == names_of(EVERY, HOSPITALS)
    assert found.value("mixbayes_budget_rows") == 10_000
    assert found.value("mixbayes_round_charged_rows") == 9
    assert 0 <= time.time() - found.value("mixbayes_round_opened_timestamp_seconds") < 3600
    assert labelled_by(found, "peer")["mixbayes_peer_received_bytes_total"] == {"a", "b", "own applications"}
    for mixer in ("a", "b"):
        assert found.value("mixbayes_peer_received_bytes_total", peer=mixer) > 0
        contact = found.value("mixbayes_peer_last_contact_timestamp_seconds", peer=mixer)
        assert found.value("process_start_time_seconds") < contact <= time.time()


def test_a_node_that_hears_of_nobody_says_since_when(served: Site) -> None:
    with served.mixer("b") as node, watched(node.observed, served) as port:
        found = scrape(port)
    assert found.value("mixbayes_peer_last_contact_timestamp_seconds", peer="a") == node.observed.tallies.began
    assert found.value("mixbayes_peer_received_bytes_total", peer="a") == 0


def test_refusals_are_counted_by_their_code(served: Site) -> None:
    with served.mixer("b") as node, watched(node.observed, served) as port:
        assert scrape(port).value("mixbayes_refusals_total", code="E207") == 0
        with served.dialled("a", "b") as peer, pytest.raises(NotAdmitted):
            peer.call(MixerStub(peer.channel).Report, ReportRequest(), "asking")
        found = scrape(port)
    assert found.value("mixbayes_refusals_total", code="E207") == 1
    assert ("mixbayes_calls_total", (("method", "Mixer/Report"),)) not in found.values


def test_certificates_show_when_they_end(served: Site) -> None:
    identity = served.identity("b")
    with served.mixer("b") as node, watched(node.observed, served) as port:
        found = scrape(port)
    ends = "mixbayes_certificate_expiry_timestamp_seconds"
    assert found.value(ends, certificate="own") == identity.expires.timestamp()
    assert found.value(ends, certificate="authority") == identity.authority_expires.timestamp()
    assert identity.expires < identity.authority_expires


def test_it_answers_while_a_training_runs(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the training goes on whoever asks."""
    really, within, go_on = Store.train, threading.Event(), threading.Event()

    def slow(self: Store, number: int, other: Any) -> Any:
        within.set()
        assert go_on.wait(60)
        return really(self, number, other)

    monkeypatch.setattr(Store, "train", slow)
    with ExitStack() as stack:
        nodes = [stack.enter_context(site.mixer(name)) for name in ("b", "a")]
        ports = [stack.enter_context(watched(node.observed, site)) for node in nodes]
        site.contribute(*site.federation.names)
        assert within.wait(60)
        for port in ports:
            assert scrape(port).value("mixbayes_round_state", state="sealed") == 1
        go_on.set()
        site.wait_for(SERVING)
        assert scrape(ports[0]).value("mixbayes_round_state", state="serving") == 1


def test_with_noise_the_ledger_shows(tmp_path: Any) -> None:
    site = make_site(tmp_path / "site", privacy=NOISE)
    with ExitStack() as stack:
        nodes = {name: stack.enter_context(site.mixer(name)) for name in ("b", "a")}
        of_mixer = stack.enter_context(watched(nodes["a"].observed, site))
        of_hospital = stack.enter_context(watched(stack.enter_context(site.hospital("north")).observed, site))
        before = scrape(of_mixer)
        site.contribute("south", "west")
        site.wait_for(SERVING)
        spent = "mixbayes_privacy_epsilon_spent"
        wait_until(lambda: scrape(of_hospital).value(spent) == scrape(of_mixer).value(spent) > 0, "both have charged")
        found = {True: scrape(of_mixer), False: scrape(of_hospital)}
    assert before.value(spent) == before.value("mixbayes_privacy_delta_spent") == 0
    for computes, one in found.items():
        assert one.names == names_of(EVERY, WITH_NOISE, COMPUTING if computes else HOSPITALS)
        for letter, agreed in (("epsilon", TOTAL_EPSILON), ("delta", TOTAL_DELTA)):
            part = {word: one.value(f"mixbayes_privacy_{letter}_{word}") for word in ("agreed", "spent", "left")}
            assert part["agreed"] == agreed
            assert 0 < part["spent"] < agreed
            assert part["left"] == agreed - part["spent"]


def test_two_hospitals_alone_show_both_sides(tmp_path: Any) -> None:
    couple = make_couple(tmp_path / "site")
    with ExitStack() as stack:
        nodes = {name: stack.enter_context(couple.node(name)).observed for name in (NORTH, SOUTH)}
        ports = {name: stack.enter_context(watched(node, couple.site)) for name, node in nodes.items()}
        couple.serve()
        assert len(couple.labels(NORTH)) == 12
        found = {name: scrape(port) for name, port in ports.items()}
    for one in found.values():
        assert one.names == names_of(EVERY, COMPUTING, HOSPITALS)
        assert one.value("mixbayes_training_duration_seconds_count") == 1
        assert one.value("mixbayes_round_state", state="serving") == 1
    count = "mixbayes_question_duration_seconds_count"
    assert found[NORTH].value(count, side="asked", kind="private") == 1
    assert found[NORTH].value(count, side="answered", kind="private") == 0
    assert found[SOUTH].value("mixbayes_question_rows_total", side="answered", kind="private") == 12
    assert found[NORTH].value("mixbayes_budget_left_rows") == 10_000 - 12
    assert found[SOUTH].value("mixbayes_budget_left_rows") == 10_000
    assert labelled_by(found[NORTH], "peer")["mixbayes_peer_sent_bytes_total"] == {SOUTH, "own applications"}


def test_the_command_serves_them_and_refuses_what_it_cannot(served: Site) -> None:
    port = free_port()
    words = ("mixer", "--name", "b", "--state", str(served.state("b")), "--metrics", f"127.0.0.1:{port}")
    with Running(served, *words).ready() as node:
        node.says("metrics are served")
        assert scrape(port).value("mixbayes_round_number") == 1
        again = command(served, "a", "mixer", "--state", str(served.state("a")), "--metrics", f"127.0.0.1:{port}")
        assert (again.returncode, "[E122]" in again.stderr, str(port) in again.stderr) == (1, True, True)
        assert node.stop() == 0
    anywhere = command(served, "a", "mixer", "--state", str(served.state("a")), "--metrics", f"0.0.0.0:{port}")
    assert (anywhere.returncode, "--metrics-open" in anywhere.stderr) == (2, True)


def test_nothing_is_served_unless_it_is_asked_for(served: Site) -> None:
    with Running.mixer(served, "b").ready() as node:
        assert node.stop() == 0
    assert "metrics" not in node.all_said


def test_a_part_that_cannot_be_read_leaves_the_others(served: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: Any) -> Any:
        raise MixbayesError("the disk is gone")

    with served.mixer("b") as node, watched(node.observed, served) as port:
        monkeypatch.setattr("mixbayes.node.rounds.rounds.Rounds.seen", fails)
        found = scrape(port)
    assert found.value("mixbayes_metrics_errors_total") == 1
    assert "mixbayes_round_number" not in found.names
    assert "mixbayes_build_info" in found.names


def test_rows_of_a_table_show_nowhere(served: Site) -> None:
    """A hospital's own numbers and names of columns are not in what it shows."""
    with served.mixers(), served.hospital("north") as node, watched(node.observed, served) as port:
        text = scrape(port).text
    dictionary = served.federation.dictionary
    for word in (dictionary.class_column, *dictionary.classes, *(one.name for one in dictionary.attributes)):
        assert f'"{word}"' not in text
