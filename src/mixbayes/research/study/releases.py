"""What a hospital's table becomes under a protection, and what the release gives away."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np

from mixbayes.local_methods.measures import release as measures
from mixbayes.local_methods.measures.alignment import aligned
from mixbayes.local_methods.measures.attacker import Attacker
from mixbayes.local_methods.measures.disclosure import Unknown
from mixbayes.local_methods.measures.pair import Pair
from mixbayes.local_methods.originals import in_original
from mixbayes.local_methods.registry import method_class
from mixbayes.local_methods.tables import Table
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.research.study.results import Privacy, Release
from mixbayes.tables.columns import Columns
from mixbayes.tables.method_table import as_table
from mixbayes.tables.protecting import protect, read_protection


def release(table: Columns, dictionary: Dictionary, setting: str, seed: int) -> Release:
    """Protect the whole table once, and measure."""
    protection = read_protection(setting)
    begun = perf_counter()
    done = protect(table, dictionary, protection, seed)
    seconds = perf_counter() - begun
    in_order = method_class(protection.method).KEEPS_ORDER
    return Release(
        done.table.rows,
        done.unlabelled,
        done.guarantee,
        done.people is not None,
        privacy(table, done.table, dictionary, seed, in_order=in_order),
        seconds,
    )


def privacy(
    original: Columns, released: Columns, dictionary: Dictionary, seed: int, *, in_order: bool = True
) -> Privacy:
    """Measures of the released table. An attacker may know every column but the class."""
    numeric = [a.name for a in dictionary.attributes if a.numeric]
    before, after = as_table(original, numeric), as_table(released, numeric)
    pair = Pair.of(before, after, dictionary.class_column, None)
    attacker = Attacker.of(pair, None, Unknown.WILDCARD, seed)
    paired = in_order and before.rows == after.rows
    return Privacy(
        unchanged_rows=float(in_original(*_alike(released, original, numeric, dictionary.names)).mean()),
        k_anonymity=measures.k_anonymity(pair.released.columns),
        reidentification=measures.reidentification(attacker.codes[1], attacker.queries, attacker.unknown),
        attribute_disclosure=_attribute_disclosure(attacker),
        confidence_interval=_finite(measures.confidence_interval(*pair.numbers())) if paired else None,
        vd=_finite(measures.vd(*pair.numbers())) if paired else None,
    )


def _attribute_disclosure(attacker: Attacker) -> float:
    classes = attacker.classes[1] if attacker.classes else np.empty(0, np.int64)
    return measures.attribute_disclosure(attacker.codes[1], classes, attacker.queries, attacker.unknown)


def _alike(released: Columns, original: Columns, numeric: Sequence[str], names: Sequence[str]) -> tuple[Table, Table]:
    """The attributes of both, with the same lists of values."""
    one, other = aligned([as_table(released, numeric), as_table(original, numeric)], names)
    return one, other


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
