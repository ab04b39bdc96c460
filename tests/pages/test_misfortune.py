"""What the pages say when something is wrong: a mixer away, a budget spent, a certificate about to end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mixbayes.keys.authority import sign
from tests.pages.test_hospital_pages import answer, once
from tests.pages.visitor import Visitor
from tests.pages.ward import Ward, ward

BUDGET = 3


@pytest.fixture(scope="module")
def unlucky(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ward]:
    with ward(tmp_path_factory.mktemp("unlucky"), policy={"budget": BUDGET, "timeout": 10.0}) as made:
        yield made


@pytest.fixture(scope="module")
def manager(unlucky: Ward) -> Visitor:
    visitor = Visitor(unlucky.port)
    visitor.enter(unlucky.link())
    return visitor


def test_one_misfortune_after_the_other(unlucky: Ward, manager: Visitor) -> None:
    """In an order, because a spent budget and a mixer that is gone stay so."""
    certificate_ends_soon(unlucky, manager)
    budget_is_spent(manager)
    mixer_is_away(unlucky, manager)


def certificate_ends_soon(unlucky: Ward, manager: Visitor) -> None:
    assert "certificate ends in" not in manager.open("/").text
    keys = unlucky.site.keys
    sign(keys / "north.csr", unlucky.site.authority, keys / "north.pem", 12)
    text = manager.open("/").text
    assert "This node's certificate ends in 11 days" in text
    assert f"mixbayes keys request north --out {keys}" in text
    assert "certificate" in manager.send("/examination").text


def budget_is_spent(manager: Visitor) -> None:
    for number in range(BUDGET):
        reply = manager.send("/classify", ("a0", str(40 + number)), ("recipe", "joint"), ("question", str(number)))
        assert answer(reply)
    said = manager.send("/classify", ("a0", "70"), ("recipe", "joint"), ("question", "one more"))
    assert said.status == 503
    assert "Nothing was charged" in said.text
    assert "[E231]" in said.text
    assert 'value="70"' in said.body
    text = once(manager, "/", lambda reply: "No patient can be asked about any more" in reply.text).text
    assert "0 of 3" in text
    own = manager.send("/classify", ("a0", "70"), ("recipe", "own"), ("question", "own"))
    assert answer(own)


def mixer_is_away(unlucky: Ward, manager: Visitor) -> None:
    unlucky.mixer_b.close()
    text = once(manager, "/", lambda reply: "Waiting for mixer b, which does not answer" in reply.text).text
    assert "no answer since" in text
    assert "mixer b does not answer" in text
    assert "mixer a answers" in text
    assert "PROBLEM" not in text
    said = manager.send("/examination").text
    assert "Problem: port of mixer b" in said, said
    assert "What to do:" in said


def test_a_page_on_a_port_that_is_taken(unlucky: Ward, tmp_path: Path) -> None:
    from mixbayes.pages.server import _bound
    from mixbayes.transport.errors import CannotServe

    with pytest.raises(CannotServe, match="--page"):
        _bound(f"127.0.0.1:{unlucky.port}", lambda environ, start: [])
