"""A share of a model as bytes: what comes back is what was kept, word by word."""

from __future__ import annotations

import gc
import io
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.node.model_codec import model_bytes, model_from
from mixbayes.protocol.attributes.dictionary import dictionary_from
from mixbayes.protocol.attributes.gaussian_density import FEATURES
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.model import Model

words = st.integers(0, 2**64 - 1)
LAYOUT = Layout(
    dictionary_from(
        {
            "class_column": "class",
            "classes": ["a", "b"],
            "attributes": [
                {"name": "sex", "kind": "nominal", "values": ["f", "m"]},
                {"name": "age", "kind": "numeric", "low": 0.0, "high": 1.0},
                {"name": "drugs", "kind": "several", "values": ["a", "b", "c"]},
            ],
        }
    )
)
HEIGHTS = 3, FEATURES, 4
SMALL = Model(8, np.arange(2, dtype=np.uint64), tuple(np.ones((rows, 2), np.uint64) for rows in HEIGHTS), None)


@st.composite
def models(draw: st.DrawFn) -> Model:
    later = draw(st.integers(1, 4))
    tables = tuple(
        np.array(draw(st.lists(words, min_size=rows * later, max_size=rows * later)), np.uint64).reshape(rows, later)
        for rows in HEIGHTS
    )
    prior = np.array(draw(st.lists(words, min_size=later, max_size=later)), np.uint64)
    return Model(draw(st.integers(8, 64)), prior, tables, draw(st.none() | st.integers(1, 2**40)))


@given(models())
def test_share_of_a_model_comes_back_whole(model: Model) -> None:
    back = model_from(model_bytes(LAYOUT, model))
    assert back.width == model.width
    assert back.margin == model.margin
    assert back.prior.dtype == np.uint64
    assert back.prior.tolist() == model.prior.tolist()
    assert [table.tolist() for table in back.tables] == [table.tolist() for table in model.tables]
    assert back.classes == model.classes


@given(models())
def test_size_of_a_share_depends_on_its_form_alone(model: Model) -> None:
    zeros = Model(
        model.width, np.zeros_like(model.prior), tuple(np.zeros_like(table) for table in model.tables), model.margin
    )
    assert len(model_bytes(LAYOUT, model)) == len(model_bytes(LAYOUT, zeros))


def test_first_array_names_the_attributes_that_are_asked_about_by_features() -> None:
    """The form in which every version has kept a model."""
    model = Model(41, np.zeros(1, np.uint64), tuple(np.zeros((rows, 1), np.uint64) for rows in HEIGHTS))
    with np.load(io.BytesIO(model_bytes(LAYOUT, model)), allow_pickle=False) as arrays:
        assert arrays["arr_0"].tolist() == [41, 1, 2]


def test_many_threads_read_models_at_a_time() -> None:
    """A collection of garbage that runs Python lets another thread in, wherever this one is."""
    raw, before, switching = model_bytes(LAYOUT, SMALL), gc.get_threshold(), sys.getswitchinterval()

    def collected(phase: str, about: dict[str, int]) -> None:
        sum(range(20))

    gc.callbacks.append(collected)
    gc.set_threshold(5)
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            found = list(threads.map(lambda _: model_from(raw).width, range(200)))
    finally:
        gc.set_threshold(*before)
        sys.setswitchinterval(switching)
        gc.callbacks.remove(collected)
    assert found == [SMALL.width] * 200
