import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.attributes.binned import Binned
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.errors import DictionaryTooLarge


def layout_of(classes: int, *attributes: Attribute) -> Layout:
    return Layout(Dictionary(class_column="class", classes=tuple(map(str, range(classes))), attributes=attributes))


def nominal(name: str, size: int) -> Nominal:
    return Nominal(name=name, values=tuple(map(str, range(size))))


MIXED = layout_of(
    3,
    nominal("n", 2),
    Gaussian(name="x", low=0.0, high=1.0),
    Binned(name="b", low=0.0, high=1.0, cuts=(0.25, 0.5, 0.75)),
)


def test_vector_holds_class_counts_then_values_and_missing_then_moments() -> None:
    vector = np.arange(MIXED.size)
    assert MIXED.rows == (3, 5, 5)
    assert MIXED.size == 3 + 3 * (3 + 5 + 5)
    assert MIXED.class_counts(vector).tolist() == [0, 1, 2]
    assert MIXED.block(vector, 0).tolist() == [[3, 4, 5], [6, 7, 8], [9, 10, 11]]
    assert MIXED.block(vector, 1)[[0, -1]].tolist() == [[12, 13, 14], [24, 25, 26]]
    assert MIXED.block(vector, 2)[[0, -1]].tolist() == [[27, 28, 29], [39, 40, 41]]


@given(st.integers(2, 64), st.lists(st.integers(1, 9), min_size=1, max_size=9))
def test_views_cover_every_cell_once(classes: int, sizes: list[int]) -> None:
    layout = layout_of(classes, *(nominal(str(i), size) for i, size in enumerate(sizes)))
    vector = np.zeros(layout.size, np.int64)
    layout.class_counts(vector)[...] += 1
    for i in range(len(sizes)):
        layout.block(vector, i)[...] += 1
    assert vector.tolist() == [1] * layout.size


def test_array_of_vectors_is_viewed_not_copied() -> None:
    vectors = np.zeros((2, 4, MIXED.size), np.uint64)
    MIXED.block(vectors, 1)[1, 3, 4, 2] = 7
    MIXED.class_counts(vectors)[0, 0, 1] = 9
    assert (vectors[1, 3, 26], vectors[0, 0, 1], vectors.sum()) == (7, 9, 16)
    assert MIXED.block(vectors, 2).shape == (2, 4, 5, 3)


def test_2_20_cells_are_the_most() -> None:
    assert layout_of(64, nominal("a", 2**14 - 2)).size == 2**20
    with pytest.raises(DictionaryTooLarge, match=f"{2**20 + 64} cells"):
        layout_of(64, nominal("a", 2**14 - 1))


def test_too_many_cells_are_refused_by_their_column() -> None:
    with pytest.raises(DictionaryTooLarge, match="'patient' \\(1200060 cells\\)"):
        layout_of(60, nominal("sex", 2), nominal("patient", 20_000))
