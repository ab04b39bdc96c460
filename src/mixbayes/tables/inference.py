"""The dictionary that training tables suggest. Only whoever may see all the tables can call this.

`simulate` plays every hospital and may; a real federation infers from one example table, and people sign it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.attributes.cells import Texts, in_order, missing, numbers
from mixbayes.protocol.attributes.dictionary import Dictionary, dictionary_from
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.errors import BadData, Unsupported
from mixbayes.tables.columns import Columns, rows_that

NUMERIC_ABOVE = 20
"""A column of numbers with more different ones than this is numeric."""

DEFAULT_CLASS_COLUMN = "class"
USUAL_MAX_ROWS = 2**20
MOST_BINS = 1000


def infer(
    tables: Sequence[Columns],
    class_column: str | None = None,
    nominal: Collection[str] = (),
    numeric: Collection[str] = (),
    bins: int | None = None,
    smoothing: str = "1",
    max_rows: int | None = None,
) -> Dictionary:
    """Classes, attributes and bounds as the tables have them, attributes in the first table's order.

    `nominal` and `numeric` name columns to be taken as such. A column in which no cell of any table says anything
    is left out: it could not contribute to any score. `max_rows` is 2^20 unless set, or enough for these tables.
    """
    if bins is not None and not 1 <= bins <= MOST_BINS:
        raise Unsupported(f"{bins} bins were asked for; 1 to {MOST_BINS} are possible.")
    names = common_names(tables)
    class_column = _class_column(names, class_column)
    for table in tables:
        with table.named_in_errors():
            refuse_unlabelled(table, class_column)
    attributes = [name for name in names if name != class_column]
    _refuse_unknown(attributes, [*nominal, *numeric])
    _refuse_both(nominal, numeric)
    rows = _rows(tables, max_rows)
    classes = _classes(tables, class_column)
    found = [_attribute(name, _cells(tables, name), nominal, numeric, bins) for name in attributes]
    if not any(found):
        hint = " Are the cells separated by something else than commas?" if len(names) == 1 else ""
        raise BadData(f"No table has an attribute with a value in it.{hint}")
    dictionary = dictionary_from(
        {
            "class_column": class_column,
            "classes": classes,
            "attributes": [attribute for attribute in found if attribute],
            "smoothing": smoothing,
            "max_rows": max_rows or max(USUAL_MAX_ROWS, 1 << (rows - 1).bit_length()),
        }
    )
    Layout(dictionary)  # refuses what has too many cells, while the columns can still be changed
    return dictionary


def common_names(tables: Sequence[Columns]) -> tuple[str, ...]:
    """The columns that all tables have, or a refusal that says which differ."""
    if not tables:
        raise BadData("There is no training table.")
    first = tables[0].names
    for number, table in enumerate(tables[1:], start=2):
        lacking = [name for name in first if name not in table.names]
        extra = [name for name in table.names if name not in first]
        if lacking or extra:
            one, other = tables[0].source or "table 1", table.source or f"table {number}"
            raise BadData(
                f"The columns of {one} and {other} differ. Only in {one}: {_listed(lacking)}; "
                f"only in {other}: {_listed(extra)}. All tables need the same columns."
            )
    return first


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names)) or "none"


def _class_column(names: Sequence[str], given: str | None) -> str:
    if given is None and DEFAULT_CLASS_COLUMN in names:
        return DEFAULT_CLASS_COLUMN
    if given is None:
        _refuse_nameless(names[-1])
        return names[-1]
    if given not in names:
        raise BadData(f"There is no class column {given!r}. The columns are {_listed(names)}.")
    return given


def _refuse_nameless(last: str) -> None:
    if not last.strip():
        raise BadData(
            "The last column, which would be the class, has no name: the header ends with a comma. Remove the commas "
            "at the ends of all lines, or name the class column."
        )


def _refuse_unknown(attributes: Sequence[str], named: Sequence[str]) -> None:
    unknown = [name for name in named if name not in attributes]
    if unknown:
        raise BadData(f"There is no attribute {_listed(unknown)}. The attributes are {_listed(attributes)}.")


def _refuse_both(nominal: Collection[str], numeric: Collection[str]) -> None:
    both = sorted(set(nominal) & set(numeric))
    if both:
        raise Unsupported(f"Said to be both nominal and numeric: {_listed(both)}. Say one.")


def _rows(tables: Sequence[Columns], max_rows: int | None) -> int:
    rows = sum(table.rows for table in tables)
    if not rows:
        sources = ", ".join(table.source for table in tables if table.source)
        raise BadData(f"The training tables have no rows{': ' * bool(sources)}{sources}.")
    if max_rows is not None and rows > max_rows:
        raise BadData(f"The tables have {rows} rows, the agreed maximum is {max_rows}. Agree on more.")
    return rows


def _cells(tables: Sequence[Columns], name: str) -> Texts:
    return np.concatenate([table.column(name) for table in tables])


def _classes(tables: Sequence[Columns], class_column: str) -> tuple[str, ...]:
    classes = tuple(in_order(np.unique(_cells(tables, class_column))).tolist())
    if len(classes) < 2:
        sources = ", ".join(dict.fromkeys(table.source for table in tables if table.source))
        raise BadData(
            f"{sources or 'The tables'}: all rows have the same class in column {class_column!r}. A classifier needs "
            "two classes; is it the right column?"
        )
    return classes


def refuse_unlabelled(table: Columns, class_column: str | None = None) -> None:
    """Refuse rows without a class."""
    column = _class_column(table.names, class_column)
    without = missing(table.column(column))
    if without.any():
        raise BadData(
            f"A row without a class is refused: {rows_that(without)} none in column {column!r}. "
            "Fill them in, remove them, or name another class column."
        )


def _attribute(
    name: str, cells: Texts, nominal: Collection[str], numeric: Collection[str], bins: int | None
) -> Mapping[str, object] | None:
    present = cells[~missing(cells)]
    if not present.size:
        return None
    distinct = np.unique(present)
    if name in numeric or (name not in nominal and _looks_numeric(distinct)):
        return _numeric(name, _all_numbers(name, present, distinct), bins)
    return {"name": name, "kind": "nominal", "values": in_order(distinct).tolist()}


def _looks_numeric(distinct: Texts) -> bool:
    values = numbers(distinct)
    return not np.isnan(values).any() and np.unique(values).size > NUMERIC_ABOVE


def _all_numbers(name: str, present: Texts, distinct: Texts) -> NDArray[np.float64]:
    words = distinct[np.isnan(numbers(distinct))]
    if words.size:
        shown = _listed(words[:5].tolist()) + (f" and {words.size - 5} more" if words.size > 5 else "")
        raise BadData(f"Column {name!r} was named numeric and holds what is no number: {shown}.")
    return numbers(present)


def _numeric(name: str, values: NDArray[np.float64], bins: int | None) -> Mapping[str, object]:
    low, high = float(values.min()), float(values.max())
    if bins is None:
        low, high = _apart(low, high)
        return {"name": name, "kind": "numeric", "low": low, "high": high}
    cuts = np.unique(np.quantile(values, np.arange(1, bins) / bins))
    return {"name": name, "kind": "binned", "low": low, "high": high, "cuts": cuts.tolist()}


def _apart(low: float, high: float) -> tuple[float, float]:
    """Bounds with a width: a value v that never changes gets v ± max(1, |v|)/2.

    Every class then has the same mean and the floor alone as variance, so the column prefers no class.
    """
    margin = 0.0 if low < high else max(1.0, abs(low)) / 2
    return low - margin, high + margin
