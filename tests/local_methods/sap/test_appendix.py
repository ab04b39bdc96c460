"""SAP as the code of the appendix has it."""

from __future__ import annotations

import numpy as np
import pytest

from mixbayes.local_methods.errors import UnfitTable
from mixbayes.local_methods.sap.sap import SAP
from mixbayes.local_methods.tables import Nominal
from tests.local_methods.mixed import classes, mixed_table


def test_every_attribute_gives_way_to_a_damaged_copy_of_the_class() -> None:
    table, labels = mixed_table(50, gaps=0.0), classes(20, 30)
    sap = SAP(p=0.3, follows="appendix", random_state=0)
    released, released_labels = sap.fit_resample(table, labels)
    for column in released.columns:
        assert isinstance(column, Nominal)
        assert np.array_equal(column.codes[~column.missing], labels.codes[~column.missing])
        assert np.bincount(labels.codes[column.missing]).tolist() == [6, 9]
    assert released_labels.codes.tolist() == labels.codes.tolist()
    assert sap.kept_columns_ == []
    assert sap.critical_values_ == {}
    assert sap.guarantee_.holds
    assert "in the place of every attribute" in sap.guarantee_.not_promised
    assert sap.suppressed_cells_ == 15 * len(table.names)


def test_the_share_of_classes_is_rounded_up_in_binary() -> None:
    table, labels = mixed_table(200), classes(100, 100)
    lost = {}
    for follows in ("text", "appendix"):
        sap = SAP(p=0.07, target="class", follows=follows, random_state=0)
        lost[follows] = int(sap.fit_resample(table, labels)[1].missing.sum())
        assert sap.guarantee_.holds
    assert lost == {"text": 14, "appendix": 16}


def test_new_rows_have_no_class_to_copy() -> None:
    sap = SAP(follows="appendix").fit(mixed_table(40), classes(20, 20))
    with pytest.raises(UnfitTable, match="new rows have none"):
        sap.transform(mixed_table(40))
