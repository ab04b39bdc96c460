"""What every call carries, and what a node reads in it, whatever it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.agreement.agreement import federation_from
from mixbayes.node.serving.greeting import PROTOCOL, greeting, refuse_difference
from mixbayes.transport.errors import Disagreement
from tests.keys.helpers import HEART, PRIVACY, changed

FEDERATION = federation_from(HEART)
KEYS = [key for key, _ in greeting(FEDERATION)]


def told(metadata: object) -> str:
    with pytest.raises(Disagreement) as error:
        refuse_difference("mixer a", "party north", FEDERATION, metadata)  # type: ignore[arg-type]
    assert error.value.peer == "mixer a"
    return str(error.value)


def test_the_same_agreement_is_let_through() -> None:
    refuse_difference("mixer a", "party north", federation_from(HEART), greeting(FEDERATION))


def test_it_fits_into_a_header() -> None:
    assert sum(len(key) + len(value) + 32 for key, value in greeting(FEDERATION)) < 2048
    assert all(value.isascii() and value.isprintable() for _, value in greeting(FEDERATION))


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("name",), "hearts", "the name."),
        (("policy", "budget"), 3, "the policy."),
        (("dictionary", "classes"), ["present", "absent"], "the dictionary."),
        (("recipes",), ["joint:unsure=1"], "the list of recipes."),
        (("privacy",), PRIVACY, "the promise."),
        (("mixers", 0, "address"), "127.0.0.1:5001", "the list of members."),
    ],
)
def test_what_differs_is_named(place: tuple[str | int, ...], value: object, words: str) -> None:
    other = federation_from(changed(HEART, (place, value)))
    said = told(greeting(other))
    assert f"they differ in {words}" in said
    assert FEDERATION.digest()[:16] in said
    assert other.digest()[:16] in said


def test_another_protocol_is_said_before_another_agreement() -> None:
    header = dict(greeting(federation_from(changed(HEART, (("name",), "hearts")))))
    header["mixbayes-protocol"] = str(PROTOCOL + 1)
    said = told(header.items())
    assert f"it speaks protocol {PROTOCOL} " in said
    assert f"party north speaks protocol {PROTOCOL + 1} " in said
    assert "differ" not in said


def test_every_section_has_a_name_for_people() -> None:
    header = dict(greeting(FEDERATION)) | {"mixbayes-federation": "0" * 64, "mixbayes-sections": ""}
    assert told(header.items()).count(", the ") == len(FEDERATION.sections()) - 1


def test_sections_that_do_not_say_what_differs() -> None:
    header = dict(greeting(FEDERATION)) | {"mixbayes-federation": "0" * 64}
    assert "they differ in the form of the file" in told(header.items())


@given(st.dictionaries(st.sampled_from([*KEYS, "else"]), st.text(max_size=3000) | st.binary(max_size=30)))
def test_no_header_crashes_it_or_makes_it_say_much(header: dict[str, str | bytes]) -> None:
    assert len(told(header.items())) < 700
