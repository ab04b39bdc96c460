"""Nodes as the processes that operators start, stop, kill and start again."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from mixbayes.node.disk.heads import heads_in
from mixbayes.protocol.errors import MixbayesError, PeerError
from mixbayes.transport.errors import QuestionSpent
from mixbayes.transport.peer import Peer
from mixbayes.wire.v1.node_pb2 import Column, Rows
from mixbayes.wire.v1.node_pb2_grpc import PartyStub
from tests.services.helpers import COMMAND, PATIENCE, Running, Site, command, hurry, wait_until, write_csv
from tests.trails import behind_the_head, cut
from tests.transport.strangers import listening, silence


def test_from_the_first_start_to_the_last_stop(site: Site) -> None:
    new = site.folder / "new.csv"
    write_csv(new, site.tables["west"])
    with ExitStack() as stack:
        nodes = {name: stack.enter_context(Running.mixer(site, name)) for name in ("a", "b")}
        nodes |= {name: stack.enter_context(Running.party(site, name)) for name in site.federation.names}
        for node in nodes.values():
            node.ready()
        site.wait_for("serving")
        done = command(site, "north", "classify", str(new), "-o", str(site.folder / "labels.csv"))
        assert (done.returncode, done.stdout) == (0, "")
        labels = (site.folder / "labels.csv").read_text().splitlines()
        assert labels == ["label", *site.expected(site.tables["west"])]
        told = json.loads(command(site, "south", "status", "--json").stdout)
        assert told["state"] == "serving"
        wait_until(lambda: _witnesses(site.state("b")) >= {f"party {name}" for name in site.federation.names}, "noted")
        for name, number in zip(nodes, itertools.cycle([signal.SIGTERM, signal.SIGINT]), strict=False):
            assert nodes[name].stop(number) == 0, nodes[name].all_said
    for node in nodes.values():
        assert all(json.loads(line)["node"] for line in node.said)
        assert '"stopping"' in node.all_said
    verified = subprocess.run(
        [*COMMAND, "audit", "verify", "--state", str(site.state("b"))], capture_output=True, text=True, check=True
    )
    assert "are witnessed by" in verified.stdout
    assert all(f"party {name}" in verified.stdout for name in site.federation.names)


def _witnesses(state: Path) -> set[str]:
    heads = heads_in(state)
    return {one.peer for one in heads.witnesses} if heads else set()


def test_a_cut_trail_shows_in_status_and_doctor(served: Site) -> None:
    cut(served.state("b"), behind_the_head(served.state("b")))
    with ExitStack() as stack:
        nodes = {name: stack.enter_context(Running.mixer(served, name)).ready() for name in ("b", "a")}
        nodes["a"].says("an audit trail is cut", "mixer b")
        told = json.loads(command(served, "north", "status", "--json").stdout)
        state = ("--state", str(served.state("a")))
        report = json.loads(command(served, "a", "doctor", *state, "--json").stdout)
    said = "the audit trail of mixer b no longer has the head that mixer a noted of it in round 1 "
    assert any(said in text for text in told["trails"])
    assert told["state"] == "serving"
    (finding,) = [check for check in report["checks"] if check["what"] == "audit trails"]
    assert finding["verdict"] == "WARNING"
    assert said in finding["said"]


def test_mixers_killed_in_the_middle_of_training(site: Site) -> None:
    """Again and again, at whatever they are doing; in the end there is one model, and it is the right one."""
    with ExitStack() as stack:
        nodes = {name: stack.enter_context(Running.mixer(site, name)).ready() for name in ("b", "a")}
        for name in site.federation.names:
            made = site.message(name)
            site.hand_in(name, "a", made.to_a)
            site.hand_in(name, "b", made.to_b)
        for name in ("b", "a", "b"):
            nodes[name].stop(signal.SIGKILL)
            nodes[name] = stack.enter_context(Running.mixer(site, name)).ready()
        site.wait_for_through_failures("serving")
        rows = site.tables["north"]
        assert site.labels("south", rows) == site.expected(rows)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # ssl forgets a socket that breaks early
@pytest.mark.parametrize("killed", ["a", "b"])
def test_a_mixer_killed_while_hospitals_ask(served: Site, killed: str) -> None:
    rows = served.tables["west"].take(np.arange(10))
    stopped = threading.Event()
    answers: list[list[str]] = []
    errors: list[MixbayesError] = []

    def ask() -> None:
        while not stopped.is_set():
            try:
                answers.append(served.labels("south", rows))
            except MixbayesError as error:
                errors.append(error)
                time.sleep(0.1)

    with ExitStack() as stack, ThreadPoolExecutor(1) as pool:
        nodes = {name: stack.enter_context(Running.mixer(served, name)).ready() for name in ("b", "a")}
        asking = pool.submit(ask)
        wait_until(lambda: bool(answers), "a question is answered")
        nodes[killed].stop(signal.SIGKILL)
        wait_until(lambda: bool(errors), "the question ends")
        nodes[killed] = stack.enter_context(Running.mixer(served, killed)).ready()
        wait_until(lambda: served.asks("south"), "it answers again")
        stopped.set()
        asking.result(PATIENCE)
        answers.append(served.labels("south", rows))
    assert all(answer == served.expected(rows) for answer in answers)
    for error in errors:
        assert isinstance(error, PeerError | QuestionSpent), error
        assert not isinstance(error, PeerError) or error.peer in ("mixer a", "mixer b"), error


def test_a_mixer_is_stopped_while_it_answers(served: Site) -> None:
    """It ends with 0, soon, whoever asks."""
    rows = served.tables["west"]
    with ExitStack() as stack, ThreadPoolExecutor(2) as pool:
        nodes = {name: stack.enter_context(Running.mixer(served, name)).ready() for name in ("b", "a")}
        stopped, answered = threading.Event(), threading.Event()

        def ask(name: str) -> None:
            while not stopped.is_set():
                with suppress(MixbayesError):
                    served.labels(name, rows)
                    answered.set()

        asking = [pool.submit(ask, name) for name in ("north", "south")]
        assert answered.wait(PATIENCE)
        for name in ("a", "b"):
            assert nodes[name].stop() == 0, nodes[name].all_said
            assert "a mistake of this program" not in nodes[name].all_said, nodes[name].all_said
        stopped.set()
        for one in asking:
            one.result(PATIENCE)


def test_a_mixer_whose_other_one_is_stuck_still_stops(served: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped in the sense of the operating system: its connections stay, and nothing answers."""
    hurry(monkeypatch, "mixer b")
    with Running.mixer(served, "b").ready() as b, Running.mixer(served, "a").ready() as a:
        with ThreadPoolExecutor(1) as pool:
            b.process.send_signal(signal.SIGSTOP)
            asking = pool.submit(served.labels, "north", served.tables["west"])
            time.sleep(0.3)  # so that it has probably begun
            assert a.stop() == 0, a.all_said
            assert isinstance(asking.exception(PATIENCE), MixbayesError)
        b.process.send_signal(signal.SIGCONT)
        assert b.stop() == 0


def test_a_hospitals_node_goes_on_after_its_mixers_were_started_again(served: Site) -> None:
    """Its conversation is dead, and it finds that out with the next question, which is answered nevertheless."""
    rows = served.tables["west"].take(np.arange(10))
    request = Rows(columns=[Column(name=name, cells=rows.texts(name).tolist()) for name in ("sex", "tumour")])
    with served.hospital("north") as node:
        for _ in range(3):
            with served.mixers(), served.dialled("north", "north", f"127.0.0.1:{node.port}") as own:
                wait_until(lambda: served.asks("north"), "both mixers answer")
                wait_until(partial(_answers_right, own, request, served.expected(rows)), "the node answers")


def _answers_right(own: Peer, request: Rows, expected: list[str]) -> bool:
    try:
        replies = list(own.answers(PartyStub(own.channel).Classify, iter([request]), "classification"))
    except MixbayesError:
        return False
    assert [label for reply in replies for label in reply.labels] == expected
    return True


@pytest.mark.parametrize(
    ("words", "number"),
    [
        (("status",), signal.SIGTERM),
        (("round", "close"), signal.SIGINT),
        (("classify", "new.csv", "-o", "out.csv"), signal.SIGINT),
    ],
)
def test_commands_that_wait_can_be_interrupted(site: Site, words: tuple[str, ...], number: int) -> None:
    """Here for mixers that accept and say nothing."""
    write_csv(site.folder / "new.csv", site.tables["west"])
    waiting = threading.Event()
    with listening(lambda raw: waiting.set()) as address, listening(silence) as other:
        both = [{"name": "a", "address": address}, {"name": "b", "address": other}]
        slow = site.other(mixers=both, policy={"timeout": PATIENCE})
        process = subprocess.Popen(
            [*COMMAND, *words, "--federation", str(slow.file), "--keys", str(slow.keys), "--name", "north"],
            cwd=site.folder,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert waiting.wait(PATIENCE)
        assert process.poll() is None
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode in ({130} if number == signal.SIGINT else {-signal.SIGTERM, 143})
    assert "Traceback" not in said
    assert not (site.folder / "out.csv").exists()


def test_nodes_refuse_what_is_in_use(served: Site) -> None:
    """A second mixer of the same name: its state is taken; elsewhere with a state of its own, its address is."""
    with Running.mixer(served, "a").ready():
        again = command(served, "a", "mixer", "--state", str(served.state("a")))
        assert again.returncode == 1
        assert "is in use by mixer a of tumours, process" in again.stderr
        assert "[E121]" in again.stderr
        elsewhere = command(served, "a", "mixer", "--state", str(served.folder / "new"))
        assert elsewhere.returncode == 1
        assert "Nothing can listen on 127.0.0.1:" in elsewhere.stderr
        assert "[E122]" in elsewhere.stderr
        assert "Traceback" not in again.stderr + elsewhere.stderr


def test_a_hospitals_table_that_does_not_fit_is_refused_before_anything_is_sent(site: Site, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("sex,tumour,class\nf,huge,ill\n")
    done = command(site, "north", "party", "--state", str(site.state("north")), "--data", str(tmp_path / "bad.csv"))
    assert done.returncode == 6
    assert "E101" in done.stderr
    assert "tumour" in done.stderr
    assert not site.state("north").exists()


def test_no_process_is_left(served: Site) -> None:
    """Whatever was started here has ended with its test."""
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    if not children.exists():
        pytest.skip("this system does not list a process's children")
    for child in children.read_text().split():
        command = Path(f"/proc/{child}/cmdline").read_bytes()
        assert b"mixbayes" not in command or b"multiprocessing" in command  # that one is kept for the next crew
