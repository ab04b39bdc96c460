"""A share of a model as bytes: what comes back is what was kept, word by word."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.node.model_codec import model_bytes, model_from
from mixbayes.protocol.bayes.model import Model

words = st.integers(0, 2**64 - 1)


@st.composite
def models(draw: st.DrawFn) -> Model:
    later = draw(st.integers(1, 4))
    heights = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    tables = tuple(
        np.array(draw(st.lists(words, min_size=rows * later, max_size=rows * later)), np.uint64).reshape(rows, later)
        for rows in heights
    )
    prior = np.array(draw(st.lists(words, min_size=later, max_size=later)), np.uint64)
    gaussian = draw(st.sets(st.integers(0, len(tables) - 1)))
    return Model(draw(st.integers(8, 64)), prior, tables, tuple(sorted(gaussian)))


@given(models())
def test_share_of_a_model_comes_back_whole(model: Model) -> None:
    back = model_from(model_bytes(model))
    assert (back.width, back.gaussian) == (model.width, model.gaussian)
    assert back.prior.dtype == np.uint64
    assert back.prior.tolist() == model.prior.tolist()
    assert [table.tolist() for table in back.tables] == [table.tolist() for table in model.tables]
    assert back.classes == model.classes


@given(models())
def test_size_of_a_share_depends_on_its_form_alone(model: Model) -> None:
    zeros = Model(
        model.width, np.zeros_like(model.prior), tuple(np.zeros_like(table) for table in model.tables), model.gaussian
    )
    assert len(model_bytes(model)) == len(model_bytes(zeros))
