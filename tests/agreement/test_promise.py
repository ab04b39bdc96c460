"""What noise promises, what it costs, and agreements that promise more than their noise keeps."""

from __future__ import annotations

import math
from itertools import pairwise
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.agreement import noise
from mixbayes.agreement.agreement import BadFederation, federation_from
from mixbayes.agreement.noise import (
    JointTest,
    against_whom,
    document,
    in_words,
    joint_test_document,
    joint_test_in_words,
    not_covered,
    promised,
    spent_together,
    without_noise,
)
from mixbayes.agreement.promise import UNIT, coins_in_words, cost, keeps, release_of, rounded_up
from mixbayes.privacy.coins import Coins
from mixbayes.privacy.loss import Release, delta_of, epsilon_of
from mixbayes.protocol.attributes.dictionary import dictionary_from
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.noise import _units
from mixbayes.protocol.errors import Unsupported
from tests.keys.helpers import HEART, changed

DICTIONARY = federation_from(HEART).dictionary
COINS = Coins((4, 5, 27))
COORDINATES = 6
"""A class count, one cell each of two attributes, and what a bell curve sums up."""
PROMISE: dict[str, Any] = {
    "epsilon": 1.0,
    "delta": 1e-6,
    "total_epsilon": 3.1,
    "total_delta": 1e-5,
    "coins": list(COINS.counts),
}


def with_privacy(**differently: object) -> dict[str, Any]:
    return changed(HEART, (("privacy",), PROMISE | differently))


def problems(content: dict[str, Any]) -> list[str]:
    with pytest.raises(BadFederation) as caught:
        federation_from(content)
    return str(caught.value).split("\n  ")[1:]


def test_a_layout_counts_what_one_patient_changes() -> None:
    assert Layout(DICTIONARY).coordinates == COORDINATES
    lists = {"name": "codes", "kind": "several", "values": [f"c{i}" for i in range(30)], "most": 4}
    assert layout_of([lists]).coordinates == 1 + 4 + 1
    assert layout_of([lists | {"values": ["c"]}]).coordinates == 1 + 1 + 1


def layout_of(attributes: list[dict[str, Any]]) -> Layout:
    return Layout(dictionary_from({"class_column": "x", "classes": ["a", "b"], "attributes": attributes}))


def test_an_agreement_may_promise_what_its_coins_keep() -> None:
    federation = federation_from(with_privacy())
    assert federation.layout.coordinates == COORDINATES
    assert delta_of([Release(COINS, COORDINATES)], 1.0) <= 1e-6


@pytest.mark.parametrize("differently", [{"epsilon": 0.8}, {"delta": 1e-7}, {"coins": [4, 5, 20]}])
def test_an_agreement_cannot_promise_more_than_its_coins_keep(differently: dict[str, Any]) -> None:
    agreed: dict[str, Any] = PROMISE | differently
    found = epsilon_of([Release(Coins(tuple(agreed["coins"])), COORDINATES)], agreed["delta"])
    assert found > agreed["epsilon"]
    assert problems(with_privacy(**differently)) == [
        f"privacy.coins: at delta {agreed['delta']:g} they give epsilon {found:.4g}, "
        f"and {agreed['epsilon']:g} is promised"
    ]


def test_coins_that_promise_nothing() -> None:
    assert problems(with_privacy(coins=[2], epsilon=100.0, total_epsilon=100.0)) == [
        "privacy.coins: at delta 1e-06 no epsilon is large enough, and 100 is promised"
    ]


def test_another_machine_may_find_another_last_digit_of_delta() -> None:
    exact = delta_of([Release(COINS, COORDINATES)], 1.0)
    federation_from(with_privacy(delta=exact * (1 - 1e-7)))
    assert problems(with_privacy(delta=exact * (1 - 1e-5)))


def test_totals_have_room_for_a_round() -> None:
    once = epsilon_of([Release(COINS, COORDINATES)], 1e-5)
    assert once < 0.9
    federation_from(with_privacy(total_epsilon=0.9))
    assert problems(with_privacy(total_epsilon=0.8)) == [
        f"privacy.total_epsilon: one round costs {once:.4g} at delta 1e-05"
    ]
    dearer = epsilon_of([Release(COINS, COORDINATES)], 1e-9)
    assert problems(with_privacy(total_delta=1e-9, total_epsilon=1.1)) == [
        f"privacy.total_epsilon: one round costs {dearer:.4g} at delta 1e-09"
    ]


def test_an_agreement_of_many_attributes_is_checked_soon() -> None:
    attributes = [{"name": f"a{i}", "kind": "nominal", "values": ["x", "y"]} for i in range(500)]
    content = changed(with_privacy(epsilon=30.0, total_epsilon=30.0), (("dictionary", "attributes"), attributes))
    begun = perf_counter()
    federation_from(content)
    assert perf_counter() - begun < 2  # some 0.1 s where nothing else runs


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_promises_are_kept_and_add_up(epsilon: float) -> None:
    privacy = promised(DICTIONARY, epsilon, rounds=4)
    release = release_of(Coins(privacy.coins, privacy.known), Layout(DICTIONARY))
    assert privacy.known > 0
    assert (privacy.epsilon, privacy.delta, privacy.release) == (epsilon, 1e-6, "labels")
    assert keeps([release], epsilon, 1e-6)
    assert privacy.total_delta == 4e-6
    together = epsilon_of([release] * 4, 4e-6)
    assert spent_together(privacy, [release], 4) == pytest.approx(together)
    assert together <= privacy.total_epsilon <= together * 1.001
    federation_from(changed(HEART, (("privacy",), privacy.model_dump())))


def test_totals_may_be_agreed() -> None:
    privacy = promised(DICTIONARY, 2.0, 1e-5, rounds=4, total_epsilon=3.0, total_delta=1e-4, release="model")
    assert (privacy.delta, privacy.total_epsilon, privacy.total_delta) == (1e-5, 3.0, 1e-4)
    assert privacy.release == "model"
    at_that_delta = promised(DICTIONARY, 2.0, rounds=4, total_delta=1e-4).total_epsilon
    assert at_that_delta < promised(DICTIONARY, 2.0, rounds=4).total_epsilon


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"epsilon": 0.0}, "An epsilon of 0 is not possible"),
        ({"epsilon": math.nan}, "An epsilon of nan is not possible"),
        ({"epsilon": 101.0}, "at most 100"),
        ({"epsilon": 1.0, "delta": 0.0}, "A delta of 0 is not possible"),
        ({"epsilon": 1.0, "delta": 1e-6, "rounds": 10**6}, "A total delta of 1 promises nothing"),
        ({"epsilon": 1.0, "total_delta": math.nan}, "A total delta of nan promises nothing"),
        ({"epsilon": 4.0, "total_epsilon": -1.0}, "a total epsilon of -1 do not go together"),
    ],
)
def test_promises_that_nobody_can_make(given: dict[str, Any], said: str) -> None:
    with pytest.raises(Unsupported, match=said):
        promised(DICTIONARY, **given)


def test_noise_that_is_more_than_there_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*asked: object) -> Coins:
        raise ValueError("no noise is enough")

    monkeypatch.setattr(noise, "coins_for", none)
    with pytest.raises(Unsupported, match="There is no such noise: no noise is enough"):
        promised(DICTIONARY, 0.0123)


def test_what_documents_say_of_a_promise() -> None:
    privacy = federation_from(with_privacy()).privacy
    assert privacy
    said = document(privacy, Layout(DICTIONARY))
    assert said["noise"] == {"coins": [4, 5, 27], "standard_deviation": COINS.deviation}
    assert (said["epsilon"], said["delta"], said["unit"]) == (1.0, 1e-6, UNIT)
    assert said["spent"] == pytest.approx(epsilon_of([Release(COINS, COORDINATES)], 1e-6))
    assert list(in_words(privacy)) == [
        f"epsilon 1 and delta 1e-06 a round, for {UNIT}",
        "4 coins of weight 1, 5 of weight 2, 27 of weight 4 on every count, a standard deviation of 10.68",
    ]
    assert coins_in_words(Coins((2, 0, 1))) == "2 coins of weight 1, 1 of weight 4"


def test_more_rounds_cost_more() -> None:
    costs = [cost([Release(COINS, COORDINATES)], 1e-6, rounds) for rounds in (1, 2, 5, 20)]
    assert all(fewer < more < 20 * costs[0] for fewer, more in pairwise(costs))


@given(number=st.floats(1e-9, 1e9))
def test_rounding_up_never_takes_anything_away(number: float) -> None:
    assert number <= rounded_up(number) <= number * 1.0011
    assert float(f"{rounded_up(number):.4g}") == pytest.approx(rounded_up(number), rel=1e-12)


def test_what_is_not_covered_and_what_is_given_away() -> None:
    assert "bounds and cut points of 'age', 'chol'" in not_covered(["age", "chol"], "table.csv")
    assert "'c9' and 2 more" in not_covered([f"c{i}" for i in range(12)], "table.csv")
    assert "classes and values are those of table.csv." in not_covered([], "table.csv")
    assert f"here {Layout(DICTIONARY).size:,}," in without_noise(Layout(DICTIONARY))


def test_the_joint_test_has_noise_of_its_own_that_the_totals_cover() -> None:
    plain = promised(DICTIONARY, 2.0, rounds=4)
    for figures in (1, 2):
        found = promised(DICTIONARY, 2.0, rounds=4, test=JointTest(1.0, figures))
        test = Release(Coins(found.test_coins, found.test_known), figures, len(DICTIONARY.classes) ** 2)
        assert keeps([test], 1.0, 1e-6)
        assert found.coins == plain.coins
        assert plain.total_epsilon < found.total_epsilon < plain.total_epsilon * 1.3
        together = [release_of(found.noise, Layout(DICTIONARY)), test]
        assert keeps([one for one in together for _ in range(4)], found.total_epsilon, found.total_delta)


@pytest.mark.parametrize("epsilon", [-1.0, 1000.0])
def test_a_joint_test_without_a_promise_is_refused(epsilon: float) -> None:
    with pytest.raises(Unsupported, match="test epsilon"):
        promised(DICTIONARY, 2.0, test=JointTest(epsilon, 1))


TEST_COINS = Coins((4, 6, 12))


def with_test(share: float = 0.2, **differently: object) -> dict[str, Any]:
    test = {"test_epsilon": 1.5, "test_coins": list(TEST_COINS.counts)}
    limited = changed(with_privacy(**(test | differently)), (("policy", "test_share"), share))
    return changed(limited, (("policy", "max_rows_each"), 1000))


def test_an_agreement_with_a_joint_test_says_what_it_promises() -> None:
    agreed = federation_from(with_test())
    assert agreed.test_release == Release(TEST_COINS, 1, 4)
    said = joint_test_document(agreed)
    assert said
    assert said["spent"] == pytest.approx(epsilon_of([Release(TEST_COINS, 1)], 1e-6))
    assert next(joint_test_in_words(agreed)) == "epsilon 1.5 and delta 1e-06 for the joint test of a round"
    assert list(joint_test_in_words(federation_from(with_privacy()))) == []


def test_where_some_rows_aside_are_left_out_a_row_changes_two_figures() -> None:
    content = changed(with_test(test_epsilon=3.0), (("policy", "max_rows_each"), 1 << 20))
    agreed = federation_from(changed(content, (("dictionary", "max_rows"), 1 << 20)))
    assert agreed.test_release == Release(TEST_COINS, 2, 4)
    assert "a row can change 2 figures" in list(joint_test_in_words(agreed))[1]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (with_test(test_epsilon=0.5), "privacy.test_coins: at delta 1e-06 they give epsilon"),
        (with_test(test_coins=[]), "privacy.test_epsilon: patients are kept aside"),
        (with_test(test_epsilon=None), "privacy.test_epsilon: patients are kept aside"),
        (with_test(share=0.0), "privacy.test_epsilon: there is no joint test"),
        (with_test(total_epsilon=0.9), "privacy.total_epsilon: one round costs"),
        (with_test(test_coins=[1]), "privacy.test_coins: of weight one there must be an even number"),
    ],
)
def test_agreements_whose_joint_test_keeps_no_promise(content: dict[str, Any], said: str) -> None:
    (found,) = problems(content)
    assert found.startswith(said)


CHECKED = {"known": 2, "epsilon": 0.9, "delta": 1e-5, "total_delta": 1e-4}
"""With the same coins, if two of each count may be known."""


def test_coins_that_may_be_known_keep_less() -> None:
    federation = federation_from(with_privacy(**CHECKED))
    assert federation.layout.terms.coins == Coins(COINS.counts, 2)
    assert federation.release == Release(Coins(COINS.counts, 2), COORDINATES, federation.layout.noisy_numbers)
    federation_from(with_privacy(**CHECKED | {"known": 0, "epsilon": 0.87}))
    assert problems(with_privacy(**CHECKED | {"epsilon": 0.87})) == [
        "privacy.coins: at delta 1e-05 they give epsilon 0.8932, and 0.87 is promised"
    ]
    (none,) = problems(with_privacy(**CHECKED | {"known": 1}))  # so many escape
    assert "no epsilon is large enough" in none


@pytest.mark.parametrize(("known", "said"), [(7, "less than or equal to 6"), (-1, "greater"), (True, "integer")])
def test_so_many_coins_cannot_be_known(known: object, said: str) -> None:
    (found,) = problems(with_privacy(known=known))
    assert found.startswith("privacy.known: ")
    assert said in found
    assert problems(with_privacy(coins=[4], known=4)) == [
        "privacy.known: of the coins of a number not all may be known"
    ]


def test_agreements_of_before_coins_were_checked_are_the_same_and_are_said_to_be_weaker() -> None:
    old = federation_from(with_privacy())
    assert old.digest() == "dc88d67ea0e59634e6a4fe3e9dd6e4c20be12f2533bab0ae1a8eee7d8ef5049f"
    assert federation_from(with_privacy(known=0)).digest() == old.digest()
    assert old.sections()["privacy"] == "564c9f48fbc50212"
    assert (
        federation_from(with_privacy(**CHECKED)).digest()
        != federation_from(with_privacy(**CHECKED | {"known": 0})).digest()
    )
    tested = federation_from(with_test())
    assert tested.digest() == "d35b8bbada51bfcc953dfccb8ceb89adf1ec81b07e08004392bbac0d7237400a"
    for one in (old, tested):
        assert one.privacy
        assert against_whom(one.privacy).startswith("only against parties that follow the protocol and listen")


def test_who_is_said_to_be_held_off() -> None:
    checked = promised(DICTIONARY, 2.0, test=JointTest(1.0, 1))
    assert against_whom(checked).startswith("also against a mixer, or one of two hospitals, that departs")
    assert "three bits of each contribution from its verdicts" in against_whom(checked)
    half = checked.model_copy(update={"test_known": 0})
    assert against_whom(half).startswith("only against")


def test_numbers_that_get_noise_are_counted_as_they_are_drawn() -> None:
    lists = {"name": "codes", "kind": "several", "values": [f"c{i}" for i in range(30)], "most": 4}
    number = {"name": "age", "kind": "numeric", "low": 0, "high": 100}
    for layout in (Layout(DICTIONARY), layout_of([lists, number])):
        assert layout.noisy_numbers == _units(layout).size >= layout.coordinates
    assert layout_of([lists, number]).noisy_numbers == 2 * (1 + 31 + 3)


def test_a_joint_test_without_noise_needs_no_coins() -> None:
    agreed = federation_from(changed(HEART, (("policy", "test_share"), 0.2)))
    assert agreed.joint_test
    assert agreed.test_coins is agreed.test_release is None
    assert agreed.rows_asked_aside == range(1, 8193)
