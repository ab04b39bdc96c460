from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Values
from mixbayes.protocol.attributes.gaussian_moments import ABSENT_CODE
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes import public_rows as rows
from mixbayes.protocol.bayes.classification import answer_public
from mixbayes.protocol.bayes.label import blinding_for
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.reference import fixed_model
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.errors import OutOfRange
from tests.protocol.attributes.gaussians import TOP, mixed_layout
from tests.protocol.pairs import Ends, Pair, converse, layout_of, random_counts

MIXED = mixed_layout(2, [True, False])
cells = st.tuples(st.sampled_from([0, 1, TOP, ABSENT_CODE]) | st.integers(0, TOP), st.integers(0, 3))


@given(st.lists(cells, min_size=1, max_size=20))
def test_rows_arrive_as_they_were_shown(shown: list[tuple[int, int]]) -> None:
    codes = np.array(shown, np.int32).T
    ends = Ends("party asker", "mixer a")
    rows.send(ends.first, MIXED, codes)
    np.testing.assert_array_equal(rows.receive(ends.second, MIXED, len(shown)).codes, codes)


@given(st.lists(st.integers(1, 300), min_size=1, max_size=6), st.integers(1, 20), st.randoms())
def test_every_cell_travels_in_as_few_bits_as_its_attribute_needs(sizes: list[int], count: int, draw: Random) -> None:
    """An attribute of s values has s + 1 codes, and its highest code takes as many bits as s does."""
    layout, ends = layout_of(2, sizes), Ends("party asker", "mixer a")
    codes = np.array([[draw.randint(0, size) for _ in range(count)] for size in sizes], np.int32)
    rows.send(ends.first, layout, codes)
    assert ends.first.traffic.sent == 16 + -(-count * sum(size.bit_length() for size in sizes) // 8)
    np.testing.assert_array_equal(rows.receive(ends.second, layout, count).codes, codes)


def test_bits_behind_the_last_cell_are_refused() -> None:
    ends = Ends("party asker", "mixer a")
    ends.first.send("public instances", b"\x01")
    with pytest.raises(OutOfRange, match="padding bits are set"):
        rows.receive(ends.second, layout_of(2, [3]), 1)


@pytest.mark.parametrize(("layout", "row"), [(MIXED, [TOP + 2, 0]), (layout_of(2, [3, 4]), [0, 5])])
def test_cell_that_its_attribute_cannot_have_is_refused(layout: Layout, row: list[int]) -> None:
    ends = Ends("party asker", "mixer a")
    rows.send(ends.first, layout, np.array([row, [0, 0]], np.int32).T)
    with pytest.raises(OutOfRange, match="party asker, at public instances: a cell is none"):
        rows.receive(ends.second, layout, 2)


@given(st.lists(cells, min_size=1, max_size=20), st.data())
def test_whatever_cell_differs_the_digests_do(shown: list[tuple[int, int]], data: st.DataObject) -> None:
    codes = np.array(shown, np.int32).T
    other, at = codes.copy(), data.draw(st.tuples(st.integers(0, 1), st.integers(0, len(shown) - 1)))
    other[at] ^= 1
    digests = []
    for one in (codes, other):
        ends = Ends("party asker", "mixer a")
        rows.send(ends.first, MIXED, one)
        digests.append(rows.receive(ends.second, MIXED, len(shown)).digest)
    assert digests[0] != digests[1]


@pytest.mark.parametrize("same", [True, False])
def test_hospital_that_shows_the_mixers_different_rows_is_refused_by_both(same: bool) -> None:
    layout = layout_of(2, [3, 3], max_rows=1000)
    model = fixed_model(layout, random_counts(layout, np.random.default_rng(1), 100))
    pair, asked = Pair(3), [Ends("party asker", name) for name in ("mixer a", "mixer b")]
    shown: list[Values] = [np.array([[0, 1], [2, 3]], np.int32), np.array([[0, 1], [2, 3 if same else 0]], np.int32)]
    for ends, codes in zip(asked, shown, strict=True):
        rows.send(ends.first, layout, codes)

    def mixer(me: ComputingParty, share: Model) -> str:
        try:
            answer_public(me, asked[me.role].second, layout, share, 2, blinding_for(b"question", bytes(32)))
        except OutOfRange as error:
            return error.peer
        return "answered"

    nothing = Model(model.width, model.prior * 0, tuple(table * 0 for table in model.tables))
    found = converse([pair.talk, pair.ahead, *asked], lambda: mixer(pair.a, model), lambda: mixer(pair.b, nothing))
    assert found == (["answered"] * 2 if same else ["party asker or party B", "party asker or party A"])
    for ends in asked:
        assert (ends.second.traffic.sent > 0) == same, "a label leaves after the digests are compared"
