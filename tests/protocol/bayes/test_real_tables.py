"""The real tables: the fixed-point classifier, which the protocol equals bit for bit, against float64 and fractions."""

import os
from pathlib import Path

import numpy as np
import pytest

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model, real_scores
from mixbayes.protocol.paillier import exact
from mixbayes.tables.counting import counted
from mixbayes.tables.encoding import encode_query
from mixbayes.tables.inference import infer
from mixbayes.tables.sources.opening import read_table

pytestmark = pytest.mark.real_tables
HEART = [f"heart4/{name}.csv" for name in ("cleveland", "hungarian", "switzerland", "va")]
TABLES = {name: [f"{name}.csv"] for name in ("wine", "ionosphere", "pima", "waveform", "vote", "german_credit", "iris")}
TABLES["heart4"] = HEART


@pytest.mark.parametrize("bins", [None, 5], ids=["gaussian", "binned"])
@pytest.mark.parametrize("name", TABLES)
def test_no_label_differs(name: str, bins: int | None) -> None:
    folder = Path(os.environ["MIXBAYES_DATA"])
    tables = [read_table(folder / path) for path in TABLES[name]]
    dictionary = infer(tables, bins=bins)
    layout = Layout(dictionary)
    vectors = [counted(layout, table).vector for table in tables]
    vector: Words = np.stack(vectors).sum(axis=0, dtype=np.uint64)
    for table in tables:
        codes = encode_query(dictionary, table).codes
        labels = fixed_labels(layout, fixed_model(layout, vector), codes)
        np.testing.assert_array_equal(labels, real_scores(layout, vector, codes).argmax(axis=0))
        if bins:
            np.testing.assert_array_equal(labels[:200], exact.labels(layout, vector, codes[:, :200]))
