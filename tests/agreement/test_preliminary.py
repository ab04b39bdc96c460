"""A preliminary agreement: what it may say, how it is written, and what follows from it."""

from __future__ import annotations

import tomllib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.agreement.agreement import BadFederation, Federation, federation_from
from mixbayes.agreement.files import WIDEST, written
from mixbayes.agreement.preliminary import coarsest, final, remarks
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.cuts import Cuts
from tests.keys.helpers import HEART, PAIR

CLASSES = ["well", "ill"]
CELLS = 60
AGE = {"name": "age", "kind": "binned", "low": 0.0, "high": 120.0, "cuts": [2.0 * cell for cell in range(1, CELLS)]}
SMALL = {"name": "small", "kind": "binned", "low": 0.0, "high": 1e-3, "cuts": [at * 1e-5 for at in range(1, 100)]}
SEX = {"name": "sex", "kind": "nominal", "values": ["f", "m"]}
LISTS = {"name": "codes", "kind": "several", "values": ["a", "b"]}
ATTRIBUTES = [SEX, AGE, LISTS, SMALL]
NOISE = {"epsilon": 50.0, "delta": 0.01, "total_epsilon": 99.0, "total_delta": 0.1, "coins": [20]}


def content(**changes: Any) -> dict[str, Any]:
    dictionary = {"class_column": "class", "classes": CLASSES, "attributes": ATTRIBUTES, "max_rows": 1000}
    return HEART | {"dictionary": dictionary, "cuts": {"bins": 4}} | changes


def preliminary(**changes: Any) -> Federation:
    return federation_from(content(**changes))


FOUND = Cuts(4, (None, (0, 20, 20), None, (10, 50, 90)), (2, 1, None, 3))


def test_it_is_read_back_as_it_was_written() -> None:
    federation = preliminary(privacy=NOISE)
    text = written(federation)
    assert federation_from(tomllib.loads(text)) == federation
    assert "[cuts]" in text
    assert all(len(line) <= WIDEST + len("cuts = ") for line in text.splitlines() if not line.startswith("#"))


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=300, unique=True).map(sorted))
def test_numbers_are_written_many_to_a_line(cuts: list[float]) -> None:
    age = AGE | {"low": cuts[0], "high": cuts[-1], "cuts": cuts}
    federation = preliminary(dictionary=content()["dictionary"] | {"attributes": [age]})
    assert federation_from(tomllib.loads(written(federation))) == federation


def test_it_has_another_digest_and_says_in_which_part() -> None:
    one, other = preliminary(), preliminary(cuts={"bins": 5})
    usual = preliminary(cuts=None)
    assert len({one.digest(), other.digest(), usual.digest()}) == 3
    assert {part for part, mark in one.sections().items() if other.sections()[part] != mark} == {"cuts"}
    assert (one.bins_to_find, usual.bins_to_find) == (4, None)


def two_hospitals() -> dict[str, Any]:
    only = content()["dictionary"] | {"attributes": [SEX, AGE]}
    return PAIR | {"protocol": "paillier", "cuts": {"bins": 4}, "dictionary": only}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (content(cuts={"bins": 1}), r"cuts\.bins"),
        (content(cuts={"bins": 65}), r"cuts\.bins"),
        (content(cuts={}), r"cuts\.bins: it is missing"),
        (content(cuts={"bins": 4, "grid": 9}), "no such field"),
        (content(privacy=NOISE | {"release": "model"}), "gives cut points alone"),
        (content(recipes=["own"]), "answers no questions"),
        (content(policy=HEART["policy"] | {"folds": 5}), "judges no classifier"),
        (content(policy=HEART["policy"] | {"test_share": 0.1}), "judges no classifier"),
        (content(dictionary=content()["dictionary"] | {"max_rows": 2**35}), "Lower max_rows"),
        (content(dictionary=content()["dictionary"] | {"attributes": [LISTS]}), "none that could be cut or ranked"),
        (two_hospitals(), "found on shares"),
    ],
)
def test_what_does_not_go_together_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(BadFederation, match=said):
        federation_from(wrong)


def test_the_next_agreement_has_the_cut_points_and_all_else_as_before() -> None:
    before = preliminary(privacy=NOISE)
    after = final(before, FOUND)
    cuts = {a.name: a.model_dump().get("cuts") for a in after.dictionary.attributes}
    assert cuts["age"] == (2.0, 40.0)  # the bounds of cells 1, in the place of 0, and 20
    assert cuts["small"] == tuple(SMALL["cuts"][at - 1] for at in (10, 50, 90))
    assert [a for a in after.dictionary.attributes if not a.numeric] == [
        a for a in before.dictionary.attributes if not a.numeric
    ]
    assert after.cuts is None
    assert final(before, FOUND, 5).policy == before.policy.model_copy(update={"folds": 5})
    same = {"cuts", "dictionary"}
    assert after.model_dump(exclude=same) == before.model_dump(exclude=same)
    assert after.dictionary.classes == before.dictionary.classes
    assert federation_from(tomllib.loads(written(after))) == after


def test_ranks_are_remarks_in_the_file_and_change_nothing() -> None:
    before = preliminary()
    after = final(before, FOUND)
    text = written(after, remarks(before, FOUND))
    assert federation_from(tomllib.loads(text)).digest() == after.digest()
    lines = text.splitlines()
    for name, said in (("sex", "rank 2 of 3"), ("age", "rank 1 of 3"), ("codes", "not ranked"), ("small", "rank 3")):
        at = lines.index(f'name = "{name}"')
        assert lines[at - 2].startswith(f"# {said}")
        assert lines[at - 1] == "[[dictionary.attributes]]"


@given(st.integers(2, 64), st.data())
def test_the_next_agreement_has_no_more_cells_than_foreseen(bins: int, data: st.DataObject) -> None:
    before = preliminary(cuts={"bins": bins})
    cells = st.lists(st.integers(0, CELLS - 1), min_size=bins - 1, max_size=bins - 1).map(lambda at: tuple(sorted(at)))
    found = Cuts(bins, (None, data.draw(cells), None, data.draw(cells)), (1, 2, None, 3))
    after = final(before, found)
    most = coarsest(before.dictionary, bins)
    assert after.layout.size <= Layout(most).size <= before.layout.size
    for attribute in after.dictionary.attributes:
        if attribute.numeric:
            assert (np.diff(attribute.model_dump()["cuts"]) > 0).all()
