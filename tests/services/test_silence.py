"""Nodes that say nothing, or fall silent: who waits for them learns who it is, before long."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from mixbayes.node import questions
from mixbayes.node.questions import Kind, Question
from mixbayes.node.serving import conversations
from mixbayes.parties.asking import numbering
from mixbayes.parties.with_mixers.asking import Asking
from mixbayes.parties.with_mixers.both_mixers import BothMixers
from mixbayes.protocol.errors import PeerSilent
from mixbayes.transport import probe
from mixbayes.transport.errors import Unreachable
from tests.ports import free_port
from tests.services.helpers import CALM, HASTE, Relay, Site, hurry, make_site, wait_until
from tests.transport.strangers import (
    Answer,
    be_silent_for,
    hanging_up,
    listening,
    plain_http,
    silence,
    tls_and_then_silence,
)


def mixers(a: str, b: str = "") -> list[dict[str, str]]:
    return [{"name": "a", "address": a}, {"name": "b", "address": b or f"127.0.0.1:{free_port()}"}]


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Keys to shake hands with."""
    return make_site(tmp_path_factory.mktemp("keys") / "site")


@pytest.mark.parametrize("kind", ["silence", "TLS and then silence"])
def test_a_mixer_that_never_answers(elsewhere: Site, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = silence if kind == "silence" else tls_and_then_silence(elsewhere.credentials("a"))
    words = "accepts connections and says nothing" if kind == "silence" else "speaks TLS and then says nothing"
    with listening(answer) as address:
        site = elsewhere.other(mixers=mixers(address))
        hurry(monkeypatch, "mixer a")
        if kind != "silence":
            monkeypatch.setattr(probe, "PATIENCE", CALM)
            be_silent_for(HASTE, monkeypatch)
        with site.mixer("b"):
            status = site.status("north")
    assert status.state == "collecting"
    error = status.unreachable["mixer a"]
    assert type(error) is PeerSilent
    assert (error.code, error.exit_code) == ("E210", 4)
    assert str(error).startswith("mixer a, at asking for the status: ")
    assert words in str(error)


@pytest.mark.parametrize(
    ("answer", "words"),
    [(plain_http, "does not speak TLS"), (hanging_up, "hangs up during the greeting"), (None, "nothing listens")],
)
def test_something_else_at_the_address(elsewhere: Site, answer: Answer | None, words: str) -> None:
    with listening(answer) if answer else nullcontext(f"127.0.0.1:{free_port()}") as address:
        error = _unreachable(elsewhere.other(mixers=mixers(address)))
    assert (type(error), error.code, error.exit_code) == (Unreachable, "E212", 3)
    assert str(error).startswith("mixer a, at asking for the status: ")
    assert words in str(error)


def _unreachable(site: Site) -> Unreachable:
    with site.both("north") as both:
        error = both.reports()[1]["mixer a"]
    assert isinstance(error, Unreachable)
    return error


def test_mixer_a_waits_for_a_silent_mixer_b_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch, "mixer b")
    with listening(silence) as address:
        site = make_site(tmp_path / "site", mixers=mixers(f"127.0.0.1:{free_port()}", address))
        with site.mixer("a"), site.both("north") as both:
            for name in site.federation.names:
                site.hand_in(name, "a")
            wait_until(lambda: "mixer b" in both.report("a").reason, "mixer a says whom it waits for")
            assert "accepts connections and says nothing" in both.report("a").reason
            assert site.journals["a"].says("waiting", "mixer b")


@pytest.fixture
def behind_relays(tmp_path: Path) -> tuple[Site, Relay, Relay]:
    """Everybody dials the mixers through something that can fall silent."""
    relays = Relay(free_port()), Relay(free_port())
    site = make_site(tmp_path / "site", mixers=mixers(*(relay.address for relay in relays)))
    site.listens |= {name: f"127.0.0.1:{relay.port}" for name, relay in zip("ab", relays, strict=True)}
    return site, *relays


@pytest.mark.parametrize("silent", ["a", "b"])
def test_a_mixer_that_falls_silent_in_the_middle_of_a_question(
    behind_relays: tuple[Site, Relay, Relay], silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, *relays = behind_relays
    relay = relays["ab".index(silent)]
    with relays[0], relays[1], site.mixers():
        site.serve()
        relay.freeze_after(4_000)
        with monkeypatch.context() as patch:
            hurry(patch, f"mixer {silent}")
            with pytest.raises(PeerSilent) as told:
                site.labels("north", site.tables["south"])
        assert (told.value.exit_code, told.value.peer) == (4, f"mixer {silent}")
        assert relay.frozen
        relay.thaw()
        wait_until(lambda: site.asks("north"), "they are at work again")
        assert site.labels("north", site.tables["south"]) == site.expected(site.tables["south"])


def test_a_hospital_that_falls_silent_holds_up_nobody(serving: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """It joins a conversation and asks nothing; another hospital is answered meanwhile."""
    monkeypatch.setattr(conversations, "IDLE", {questions.NEXT: HASTE})
    given_up = "broke off", "party north", "nothing came within", "E210"
    with serving.both("north") as both, both.conversation():
        assert serving.labels("south", serving.tables["west"]) == serving.expected(serving.tables["west"])
        wait_until(lambda: any(serving.journals[name].says(*given_up) for name in "ab"), "a mixer gives it up")
    assert serving.labels("south", serving.tables["west"]) == serving.expected(serving.tables["west"])


@pytest.mark.parametrize("asked", ["a", "b"])
def test_a_hospital_that_asks_one_mixer_alone_is_named_and_holds_up_nobody(
    serving: Site, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = {"a": "mixer b", "b": "mixer a"}[asked]
    with serving.both("north") as both:
        asking = Asking(both, serving.federation.layout, numbering(serving.identity("north").seal))
        asking.warm()  # and both mixers wait for a question
        line = dict(zip("ab", asking._connected().channels, strict=True))[asked]
        with monkeypatch.context() as patch:
            hurry(patch, other)
            questions.send(line, Question(Kind.PUBLIC, 1, 1, bytes(16)))
            named = "broke off", f"party north or {other}", f"nothing came within {HASTE:g} s from {other}"
            wait_until(lambda: serving.journals[asked].says(*named), "the mixer that was asked gives it up")
        assert serving.labels("south", serving.tables["west"]) == serving.expected(serving.tables["west"])
        with pytest.raises(PeerSilent, match=f"party north or {other}"):
            questions.receive_verdict(line)


def test_who_waits_for_a_mixer_that_waits_for_the_one_that_cannot_be_reached_is_told_so(serving: Site) -> None:
    nowhere = f"127.0.0.1:{free_port()}"
    with serving.dialled("north", "a") as a, serving.dialled("north", "b", nowhere) as b:
        both = BothMixers({"a": a, "b": b})
        with pytest.raises(Unreachable, match=r"mixer b, at .*nothing listens"), both.conversation() as (to_a, _):
            questions.receive_verdict(to_a)
