"""What every call carries, and what a node reads in it, whatever it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.agreement.agreement import federation_from
from mixbayes.node.serving.greeting import greeting, in_common, refuse_difference
from mixbayes.node.serving.protocols import OLDEST, OURS, PROTOCOL, Numbers, numbers_from
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


def speaking(**numbers: str) -> dict[str, str]:
    """The header of a node that says these numbers, under another agreement."""
    header = dict(greeting(federation_from(changed(HEART, (("name",), "hearts")))))
    return header | {f"mixbayes-{key.replace('_', '-')}": value for key, value in numbers.items()}


def test_another_protocol_is_said_before_another_agreement() -> None:
    said = told(speaking(protocol=str(PROTOCOL + 1), protocol_oldest=str(PROTOCOL + 1)).items())
    assert f"it speaks {OURS} " in said
    assert f"party north speaks protocol {PROTOCOL + 1} " in said
    assert "differ" not in said


OF_PROTOCOL_1 = (
    ("mixbayes-protocol", "1"),
    ("mixbayes-software", "0.1.0"),
    ("mixbayes-federation", "3ad52c3b8e7a49de60aef5d4ba4a4c5a91a5b2ff3c6d68b5d0d5b1ecf8c4a6b7"),
    ("mixbayes-sections", "name=1d0b4a5e,protocol=88f1c5a0,members=0c2f44d1,policy=5b7e9f10"),
)
"""The header of a node of protocol 1: it says one number, and no oldest one."""


def test_a_node_of_protocol_1_is_refused_and_told_to_be_upgraded() -> None:
    said = told(OF_PROTOCOL_1)
    assert "party north speaks protocol 1 (mixbayes 0.1.0)" in said
    assert "Upgrade party north, which is the older one. Mixers are upgraded before hospitals." in said
    assert in_common(OF_PROTOCOL_1) is None


def test_the_header_says_the_newest_number_where_protocol_1_looks_for_its_only_one() -> None:
    header = dict(greeting(FEDERATION))
    assert header["mixbayes-protocol"] == str(PROTOCOL)
    assert header["mixbayes-protocol-oldest"] == str(OLDEST)


def test_a_node_from_the_future_without_a_common_number_says_that_this_one_is_older() -> None:
    said = told(speaking(protocol=str(PROTOCOL + 3), protocol_oldest=str(PROTOCOL + 1)).items())
    assert f"party north speaks protocols {PROTOCOL + 1} to {PROTOCOL + 3} " in said
    assert "Upgrade mixer a, which is the older one." in said


def test_a_newer_node_that_still_speaks_this_number_is_let_through_and_its_newest_common_number_used() -> None:
    header = dict(greeting(FEDERATION)) | {"mixbayes-protocol": str(PROTOCOL + 2)}
    refuse_difference("mixer a", "party north", FEDERATION, header.items())
    assert in_common(header.items()) == PROTOCOL


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [((1, 3), (2, 5), 3), ((2, 2), (1, 4), 2), ((1, 1), (2, 3), None), ((4, 6), (1, 4), 4), ((3, 3), (3, 3), 3)],
)
def test_the_highest_number_that_both_speak(one: tuple[int, int], other: tuple[int, int], common: int | None) -> None:
    assert Numbers(*one).in_common(Numbers(*other)) == Numbers(*other).in_common(Numbers(*one)) == common


@pytest.mark.parametrize(("newest", "oldest"), [("", ""), ("0", ""), ("x", ""), ("2", "3"), ("99999", ""), ("2", "-1")])
def test_what_is_no_number_is_none(newest: str, oldest: str) -> None:
    assert numbers_from(newest, oldest) is None
    assert "speaks none" in told(speaking(protocol=newest, protocol_oldest=oldest).items())


def test_every_section_has_a_name_for_people() -> None:
    header = dict(greeting(FEDERATION)) | {"mixbayes-federation": "0" * 64, "mixbayes-sections": ""}
    assert told(header.items()).count(", the ") == len(FEDERATION.sections()) - 1


def test_sections_that_do_not_say_what_differs() -> None:
    header = dict(greeting(FEDERATION)) | {"mixbayes-federation": "0" * 64}
    assert "they differ in the form of the file" in told(header.items())


@given(st.dictionaries(st.sampled_from([*KEYS, "else"]), st.text(max_size=3000) | st.binary(max_size=30)))
def test_no_header_crashes_it_or_makes_it_say_much(header: dict[str, str | bytes]) -> None:
    assert len(told(header.items())) < 700
