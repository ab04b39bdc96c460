"""A mixer's page: the round and budgets, and nothing of patients."""

from __future__ import annotations

import pytest

from tests.pages.visitor import Visitor
from tests.pages.ward import Ward


@pytest.fixture(scope="module")
def operator(heart: Ward) -> Visitor:
    visitor = Visitor(heart.mixer_port)
    assert visitor.enter(heart.link("a")).status == 200
    return visitor


def test_the_overview_has_every_hospital_and_its_budget(operator: Visitor) -> None:
    text = operator.open("/").text
    assert "Round 1 answers the hospitals' questions" in text
    for name in ("north", "south", "west"):
        assert f"party {name} has contributed" in text
    assert "1,000 of 1,000" in text


def test_there_is_nothing_of_patients(operator: Visitor) -> None:
    for path in ("/table", "/classify", "/classify/table", "/recipes", "/evaluation"):
        reply = operator.open(path)
        assert reply.status == 404
        assert operator.ask("POST", path, b"form_key=").status in (403, 404)
    body = operator.open("/").body
    for word in ("cp", "trestbps", "narrowed arteries", "Classify"):
        assert word not in body


def test_the_trail_and_the_examination_are_the_mixers(operator: Visitor) -> None:
    assert "contributed" in operator.open("/trail").text
    said = operator.send("/examination").text
    assert "mixer b" in said
    assert "The certificate holds until" in said


def test_a_mixer_has_links_for_its_operator_alone(operator: Visitor) -> None:
    assert "Make a link for a doctor" not in operator.open("/links").text
    assert "/enter/" not in operator.send("/links", ("role", "doctor")).text
    assert "/enter/" in operator.send("/links", ("role", "manager")).text


def test_a_link_of_one_node_opens_no_other(heart: Ward) -> None:
    path = "/enter/" + heart.link("a").rpartition("/")[2]
    visitor = Visitor(heart.port)
    assert visitor.ask("POST", path, b"").status == 403
    assert Visitor(heart.mixer_port).ask("POST", path, b"").status == 303
