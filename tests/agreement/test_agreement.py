from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import pytest
from pydantic import ValidationError

from mixbayes.agreement.agreement import BadFederation, federation_from
from mixbayes.protocol.bayes.recipe import OWN, read_recipe
from mixbayes.protocol.errors import DictionaryTooLarge, Unsupported
from mixbayes.protocol.transfer.kinds import EXTENDED, SILENT
from tests.keys.helpers import HEART, PAIR, PRIVACY, Place, changed


def problems(content: dict[str, Any]) -> list[str]:
    """Everything that is said to be wrong, a line each."""
    with pytest.raises(BadFederation) as caught:
        federation_from(content)
    first, *lines = str(caught.value).split("\n  ")
    assert first == "The agreement is not valid:"
    return lines


def test_members_and_their_titles() -> None:
    federation = federation_from(HEART)
    assert federation.names == ("north", "south", "west")
    assert not federation.two_party
    assert [federation.role_of(name) for name in ("north", "a", "c", "North")] == ["party", "mixer", None, None]
    assert [federation.title(name) for name in ("north", "b")] == ["party north", "mixer b"]
    assert federation.party("south").address is None
    assert federation.mixer("b").address == "[::1]:4002"
    assert federation.listener is None


def test_two_hospitals_alone_one_listening() -> None:
    federation = federation_from(PAIR)
    assert federation.two_party
    assert federation.listener == federation.party("north")


@pytest.mark.parametrize(("role", "there"), [("party", "north, south, west"), ("mixer", "a, b")])
def test_a_stranger_is_refused_with_those_there_are(role: str, there: str) -> None:
    with pytest.raises(Unsupported, match=f"has no {role} 'x'; it has {there}"):
        getattr(federation_from(HEART), role)("x")


def test_policy_has_usual_values() -> None:
    policy = federation_from(HEART).policy
    assert (policy.budget, policy.collect_hours, policy.timeout, policy.rounds) == (100_000, 24.0, 60.0, 10)


def test_mixers_are_in_order_however_they_are_listed() -> None:
    turned = changed(HEART, (("mixers",), HEART["mixers"][::-1]))
    assert federation_from(turned).digest() == federation_from(HEART).digest()


def test_a_copy_has_its_own_digest_and_members() -> None:
    federation = federation_from(HEART)
    before = federation.digest(), federation.names
    copied = federation.model_copy(update={"parties": federation.parties[:2]})
    assert copied.digest() != before[0]
    assert copied.role_of("west") is None
    assert (federation.digest(), federation.names) == before
    assert federation.model_copy() == federation


def test_digest_is_of_sorted_compact_json() -> None:
    federation = federation_from(HEART)
    content = json.loads(federation.canonical())
    assert content == federation.model_dump(mode="json", exclude={"changes"})
    again = json.dumps(content, sort_keys=True, separators=(",", ":"))
    assert federation.digest() == hashlib.sha256(again.encode()).hexdigest()


CHANGES: list[tuple[str, Place, object]] = [
    ("name", ("name",), "Heart"),
    ("members", ("parties", 0, "name"), "nord"),
    ("members", ("mixers", 1, "address"), "[::1]:4003"),
    ("policy", ("policy", "minimum"), 3),
    ("policy", ("policy", "timeout"), 30),
    ("policy", ("policy", "transfers"), "silent"),
    ("dictionary", ("dictionary", "classes"), ["present", "absent"]),
]


def test_transfers_are_extended_unless_said_and_such_an_agreement_keeps_its_digest() -> None:
    unsaid, said = federation_from(HEART), federation_from(changed(HEART, (("policy", "transfers"), "extended")))
    silent = federation_from(changed(HEART, (("policy", "transfers"), "silent")))
    assert "transfers" not in unsaid.canonical()
    assert unsaid.digest() == said.digest() != silent.digest()
    assert (said.transfers, silent.transfers) == (EXTENDED, SILENT)
    assert federation_from(silent.model_dump(mode="json")) == silent


@pytest.mark.parametrize(("section", "place", "value"), CHANGES)
def test_sections_say_which_part_differs(section: str, place: Place, value: object) -> None:
    one, other = federation_from(HEART), federation_from(changed(HEART, (place, value)))
    assert one.digest() != other.digest()
    assert {part for part, mark in one.sections().items() if other.sections()[part] != mark} == {section}


def test_protocol_is_a_section() -> None:
    content = changed(PAIR, (("dictionary", "attributes"), HEART["dictionary"]["attributes"][::2]))
    one, other = federation_from(content), federation_from(content | {"protocol": "paillier"})
    assert {part for part, mark in one.sections().items() if other.sections()[part] != mark} == {"protocol"}
    parts = {"name", "protocol", "members", "keys", "policy", "privacy", "recipes", "cuts", "dictionary"}
    assert set(one.sections()) == parts


def test_nothing_can_be_changed_afterwards() -> None:
    federation = federation_from(HEART)
    with pytest.raises(ValidationError, match="frozen"):
        federation.policy.budget = 7  # type: ignore[misc]


MISTAKES: list[tuple[Place, object, str]] = [
    (("name",), "", "name: it must be one line"),
    (("name",), "two\nlines", "name: it must be one line"),
    (("name",), " heart", "name: it must be one line"),
    (("name",), "h" * 101, "name: it must be one line"),
    (("name",), 7, "name: Input should be a valid string"),
    (("color",), "red", "color: there is no such field"),
    (("protocol",), "magic", "protocol: Input should be 'shares' or 'paillier'"),
    (("parties",), [], "parties: a federation needs two parties"),
    (("parties",), [{"name": "north"}], "parties: a federation needs two parties"),
    (("parties", 0), {}, "parties[1].name: it is missing"),
    (("parties", 1, "name"), "North", "parties['North'].name: 'North' cannot be a node's name"),
    (("parties", 1, "adress"), "h:1", "parties['south'].adress: there is no such field"),
    (("parties", 2, "name"), "a", "parties['a'].name: a mixer has it"),
    (("parties", 2, "address"), "h:1", "parties['west'].address: with mixers nobody dials a party"),
    (("mixers",), HEART["mixers"][:1], "mixers: there must be two mixers, a and b, or none; here: a"),
    (("mixers",), HEART["mixers"][:1] * 2, "mixers: there must be two mixers, a and b, or none; here: a, a"),
    (("mixers", 0, "name"), "c", "mixers['c'].name: Input should be 'a' or 'b'"),
    (("mixers", 1), {"name": "b"}, "mixers['b'].address: it is missing"),
    (("mixers", 1, "address"), "b", "mixers['b'].address: 'b' is not HOST:PORT"),
    (("policy",), {}, "policy.minimum: it is missing"),
    (("policy", "minimum"), 1, "policy.minimum: Input should be greater than or equal to 2"),
    (("policy", "minimum"), 4, "policy.minimum: 4 hospitals are needed, 3 are listed"),
    (("policy", "minimum"), 2.0, "policy.minimum: Input should be a valid integer"),
    (("policy", "budget"), 0, "policy.budget: Input should be greater than or equal to 1"),
    (("policy", "budget"), True, "policy.budget: Input should be a valid integer"),
    (("policy", "collect_hours"), 0, "policy.collect_hours: Input should be greater than 0"),
    (("policy", "collect_hours"), 1e300, "policy.collect_hours: Input should be less than or equal to 8784"),
    (("policy", "transfers"), "quiet", "policy.transfers: Input should be 'extended' or 'silent'"),
    (("policy", "timeout"), math.inf, "policy.timeout: Input should be"),
    (("policy", "timeout"), math.nan, "policy.timeout: Input should be"),
    (("policy", "timeout"), "60", "policy.timeout: Input should be a valid number"),
    (("policy", "rounds"), 0, "policy.rounds: Input should be greater than or equal to 1"),
    (("dictionary", "classes"), ["x"], "dictionary.classes: "),
    (("dictionary", "attributes", 1, "low"), "x", "dictionary.attributes['age'].low: Input should be a valid number"),
    (("dictionary", "attributes", 2, "cuts"), [3, 2], "dictionary.attributes['chol']: the cuts must rise strictly"),
    (("dictionary", "attributes", 0, "kind"), "text", "dictionary.attributes['sex']: "),
]


@pytest.mark.parametrize(("place", "value", "said"), MISTAKES)
def test_one_mistake_is_said_once_with_its_place(place: Place, value: object, said: str) -> None:
    (line,) = problems(changed(HEART, (place, value)))
    assert line.startswith(said)


def test_all_mistakes_are_said_at_once() -> None:
    wrong = changed(HEART, (("name",), ""), (("policy", "budget"), 0), (("mixers", 0, "address"), "x"), (("x",), 1))
    assert [line.split(":")[0] for line in problems(wrong)] == ["name", "mixers['a'].address", "policy.budget", "x"]


def test_nothing_at_all() -> None:
    missing = ["name", "parties", "policy", "dictionary"]
    assert problems({}) == [f"{field}: it is missing" for field in missing]


def test_names_and_addresses_stand_once() -> None:
    twice = changed(HEART, (("parties", 1, "name"), "north"))
    assert problems(twice) == ["parties['north'].name: two parties have it"] * 2
    same = changed(HEART, (("mixers", 0, "address"), "Host:1"), (("mixers", 1, "address"), "host:1"))
    assert problems(same) == [f"mixers['{mixer}'].address: two nodes have it" for mixer in "ab"]


def test_without_mixers_there_are_two_parties_of_which_one_listens() -> None:
    assert problems(changed(HEART, (("mixers",), []))) == [
        "parties: without mixers there must be exactly two parties, here are 3"
    ]
    one = "parties: without mixers exactly one party has an address: it listens, and the other dials"
    assert problems(changed(PAIR, (("parties", 1, "address"), "h:1"))) == [one]
    assert problems(changed(PAIR, (("parties", 0, "address"), None))) == [one]


def test_paillier_is_for_two_hospitals_without_bell_curves() -> None:
    assert problems(HEART | {"protocol": "paillier"}) == [
        "protocol: paillier works between two hospitals without mixers",
        "dictionary.attributes['age'].kind: paillier takes no attributes of kind numeric; "
        "agree on a binned attribute (--bins N), or on shares",
    ]


def test_paillier_says_what_to_agree_on_instead_of_lists() -> None:
    lists = {"name": "codes", "kind": "several", "values": ["I10"]}
    assert problems(changed(PAIR, (("protocol",), "paillier"), (("dictionary", "attributes"), [lists]))) == [
        "dictionary.attributes['codes'].kind: paillier takes no attributes of kind several; agree on a nominal "
        "attribute for every value that matters, in a column of its own, or on shares"
    ]


def test_too_many_classes_are_that() -> None:
    with pytest.raises(DictionaryTooLarge, match="65 classes"):
        federation_from(changed(HEART, (("dictionary", "classes"), list(map(str, range(65))))))


RECIPES = ["joint:unsure=1", "personal:weight=10:prior=own", "personal:weight=0:prior=own:costs=present=5"]


def test_listed_recipes_may_be_asked_for_and_no_others() -> None:
    federation = federation_from(HEART | {"recipes": RECIPES})
    assert [federation.why_not(read_recipe(text)) for text in ["joint", *RECIPES]] == [""] * 4
    assert "only the recipes that the agreement lists" in federation.why_not(read_recipe("personal:weight=11"))
    assert "own classifier" in federation.why_not(OWN)
    assert "own classifier" in federation_from(HEART | {"recipes": ["own"]}).why_not(OWN)
    assert federation.asked_anew
    assert not federation_from(HEART).asked_anew


def test_with_noise_all_recipes_may_be_asked_for_but_costs_and_margins_are_agreed() -> None:
    noisy = HEART | {"privacy": PRIVACY, "recipes": ["joint:unsure=1"]}
    federation = federation_from(noisy)
    assert federation.why_not(read_recipe("personal:weight=11")) == ""
    assert federation.why_not(read_recipe("joint:unsure=1")) == ""
    assert "must be listed" in federation.why_not(read_recipe("joint:unsure=2"))
    assert federation.asked_anew


@pytest.mark.parametrize(
    ("recipes", "said"),
    [
        (["mine"], "is no recipe"),
        (["joint:costs=nobody=5"], "has a cost for 'nobody'"),
        (["personal"], "it is written 'personal:weight=10:prior=own'"),
        (["joint:unsure=1"] * 2, "twice"),
        ([f"personal:weight={weight}:prior=own" for weight in (1, 2, 3)], "at most 2 of them are personal"),
    ],
)
def test_recipes_that_cannot_be_agreed_on(recipes: list[str], said: str) -> None:
    assert any(said in line for line in problems(HEART | {"recipes": recipes}))


def test_paillier_takes_recipes_but_no_unsure_answers_and_no_folds() -> None:
    nominal = changed(PAIR, (("dictionary", "attributes"), HEART["dictionary"]["attributes"][::2]))
    exact = nominal | {"protocol": "paillier"}
    listed = ["own:unsure=1", "personal:weight=100:prior=own:costs=present=5", "joint:costs=present=0.2"]
    federation = federation_from(exact | {"recipes": listed})
    assert [federation.why_not(read_recipe(text)) for text in ("joint", *listed[1:])] == [""] * 3
    assert "only the recipes that the agreement lists" in federation.why_not(read_recipe("personal"))
    assert federation.asked_anew
    assert not federation_from(exact).asked_anew
    assert any("no unsure answers" in line for line in problems(exact | {"recipes": ["joint:unsure=1"]}))
    assert problems(changed(exact, (("policy", "folds"), 2))) == [
        "policy.folds: paillier has no evaluation; agree on one fold, or on shares"
    ]


def test_with_noise_paillier_answers_no_personal_recipe() -> None:
    """Its training would tell the other hospital which guesses at the asker's own counts are right."""
    nominal = changed(PAIR, (("dictionary", "attributes"), HEART["dictionary"]["attributes"][::2]))
    totals = {"total_epsilon": 40.0, "total_delta": 1e-5}
    noisy = nominal | {"protocol": "paillier", "privacy": {"epsilon": 4.0, "delta": 1e-6, "coins": [60], **totals}}
    federation = federation_from(noisy)
    assert federation.why_not(read_recipe("joint")) == ""
    assert "own counts of a personal recipe" in federation.why_not(read_recipe("personal:weight=1:prior=own"))
    (problem,) = problems(noisy | {"recipes": ["personal:weight=1:prior=own"]})
    assert problem.startswith("recipes[1]: with noise, paillier would show the own counts")
    assert federation_from(noisy | {"protocol": "shares", "recipes": ["personal:weight=1:prior=own"]})


def test_paillier_takes_no_recipe_that_is_too_long_for_its_key() -> None:
    values = [f"v{at}" for at in range(1000)]
    attributes = [{"name": f"a{at}", "kind": "nominal", "values": values} for at in range(60)]
    wide = changed(PAIR, (("dictionary", "attributes"), attributes), (("dictionary", "max_rows"), 2**20))
    exact = wide | {"protocol": "paillier"}
    assert federation_from(exact | {"recipes": ["personal:weight=1:prior=own"]})
    (problem,) = problems(exact | {"recipes": ["personal:weight=100:prior=own"]})
    assert "needs a key of" in problem
