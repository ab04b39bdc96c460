"""Private synthesis in a federation: all that it draws from is public but for its noisy counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mixbayes.local_methods.private_synthesis.synthesis import PrivateSynthesis
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.attributes.several import Several
from mixbayes.protocol.errors import Unsupported
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted
from mixbayes.tables.protecting import protect, read_protection, row_privacy

SEX, AGE = Nominal(name="sex", values=("m", "f", "x")), Gaussian(name="age", low=0.0, high=120.0)
PRIVATE = read_protection("private-synthesis:epsilon=0.5:delta=1e-5")


def dictionary(*attributes: Attribute) -> Dictionary:
    return Dictionary(class_column="class", classes=("no", "perhaps", "yes"), attributes=attributes)


def patients(rows: int = 40) -> Columns:
    """Of one class, one sex and one age."""
    cells = [["f"] * rows, ["50"] * rows, ["no"] * rows]
    return Columns.of(("sex", "age", "class"), tuple(np.array(column) for column in cells), rows)


def test_classes_values_and_bounds_are_those_of_the_agreement(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[PrivateSynthesis] = []
    fit = PrivateSynthesis.fit_resample

    def watched(method: PrivateSynthesis, X: Any, y: Any, **more: Any) -> Any:
        seen.append(method)
        assert y.values.tolist() == ["no", "perhaps", "yes"]
        return fit(method, X, y, **more)

    monkeypatch.setattr(PrivateSynthesis, "fit_resample", watched)
    agreed = dictionary(SEX, AGE)
    done = protect(patients(), agreed, PRIVATE, 1)
    (method,) = seen
    assert method.domain == {"sex": ["m", "f", "x"], "age": (0.0, 120.0), "class": ("no", "perhaps", "yes")}
    assert "are the table's own" not in method.guarantee_.not_promised
    assert set(done.table.texts("class").tolist()) - {"no"}, "with so little ε, classes that nobody has occur too"
    counted(Layout(agreed), done.table)  # it fits
    assert row_privacy(PRIVATE) == (0.5, 1e-5)


def test_a_column_without_public_values_is_refused() -> None:
    with pytest.raises(Unsupported, match="a cell of 'sex' may have several"):
        protect(patients(), dictionary(Several(name="sex", values=("m", "f"), most=2), AGE), PRIVATE, 1)
