"""The page of a hospital that has no mixers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from mixbayes.pages.opening import PageSettings, hospital_page
from mixbayes.parties.examination import Patient
from mixbayes.tables.sources.how import How
from tests.pages.test_hospital_pages import answer, once
from tests.pages.visitor import Visitor
from tests.services.couple import NORTH, SOUTH, Couple, make_couple
from tests.services.helpers import write_csv


@pytest.fixture(scope="module")
def couple(tmp_path_factory: pytest.TempPathFactory) -> Couple:
    return make_couple(tmp_path_factory.mktemp("couple"), policy={"timeout": 5.0})


@pytest.fixture(scope="module")
def south(couple: Couple) -> ExitStack:
    """South's node, until this is closed."""
    return ExitStack()


@pytest.fixture(scope="module")
def visitor(couple: Couple, south: ExitStack) -> Iterator[Visitor]:
    site = couple.site
    data = site.folder / "north.csv"
    write_csv(data, site.tables[NORTH])
    with south, ExitStack() as stack:
        north = stack.enter_context(couple.node(NORTH))
        south.enter_context(couple.node(SOUTH))
        couple.serve()
        patient = Patient(site.file, NORTH, site.keys, str(data), How(), site.state(NORTH), None)
        settings, log = PageSettings("127.0.0.1:0"), site.log(NORTH)
        port = stack.enter_context(hospital_page(settings, patient, site.federation, log, north))
        visitor = Visitor(port)
        link = Path(site.state(NORTH), "page.link").read_text().strip()
        visitor.enter(link)
        yield visitor


def test_the_pages_speak_of_the_other_hospital_and_not_of_mixers(visitor: Visitor) -> None:
    text = once(visitor, "/", lambda reply: "Round 1 answers questions" in reply.text).text
    assert "party south has contributed" in text
    for path in ("/", "/table", "/classify"):
        assert "mixer" not in visitor.open(path).text
    assert "the other hospital cannot read" in visitor.open("/table").text


def test_a_patient_is_classified(couple: Couple, visitor: Visitor) -> None:
    for at, label in enumerate(couple.due()[:2]):
        tumour = ("none", "small", "large", "")[at]
        form = (("a0", "f"), ("a1", tumour), ("recipe", "joint"), ("question", f"{at}"))
        assert answer(visitor.send("/classify", *form)) == label


def test_the_other_hospital_is_away(visitor: Visitor, south: ExitStack) -> None:
    """Last: it does not come back."""
    south.close()
    said = visitor.send("/classify", ("a0", "f"), ("recipe", "joint"), ("question", "away"))
    assert said.status == 503
    assert "party south" in said.text
    own = visitor.send("/classify", ("a0", "f"), ("recipe", "own"), ("question", "own"))
    assert answer(own)
    text = once(visitor, "/", lambda reply: "Waiting for party south, which does not answer" in reply.text).text
    assert "no answer since" in text
