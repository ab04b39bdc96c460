"""The dictionary that training tables suggest. Only whoever may see all the tables can call this.

`simulate` plays every hospital and may; a real federation infers from one example table, and people sign it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Final

import numpy as np

from mixbayes.local_methods.arithmetic.rounding import grid as grid_cuts
from mixbayes.local_methods.arithmetic.rounding import outwards, rounded
from mixbayes.protocol.attributes.cells import in_order
from mixbayes.protocol.attributes.dictionary import Dictionary, dictionary_from
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.several import USUAL_MOST
from mixbayes.protocol.errors import BadData, Unsupported
from mixbayes.tables.code_lists import listed_values
from mixbayes.tables.columns import Columns, named_in_errors, said_of_rows
from mixbayes.tables.profile import MOST_DISTINCT, ColumnProfile, Profile, merged, profiled
from mixbayes.tables.quantiles import quantiles

NUMERIC_ABOVE = 20
"""A column of numbers with more different ones than this is numeric."""

DEFAULT_CLASS_COLUMN = "class"
USUAL_MAX_ROWS = 2**20
MOST_BINS = 1000
NO_LISTS: Final[Mapping[str, str]] = {}


def infer(
    tables: Sequence[Columns | Profile],
    class_column: str | None = None,
    nominal: Collection[str] = (),
    numeric: Collection[str] = (),
    bins: int | None = None,
    smoothing: str = "1",
    max_rows: int | None = None,
    *,
    several: Mapping[str, str] = NO_LISTS,
    most_values: int = USUAL_MOST,
    public: bool = False,
    grid: int | None = None,
) -> Dictionary:
    """Classes, attributes and bounds as the tables have them, attributes in the first table's order.

    `nominal` and `numeric` name columns to be taken as such. A column in which no cell of any table says anything
    is left out: it could not contribute to any score. `max_rows` is 2^20 unless set, or enough for these tables.
    `several` has the separators of columns whose cells hold several values, of which at most `most_values` count.
    `public` is for a dictionary that others will read: bounds are rounded outwards, and cut points are rounded.
    With `grid` numeric columns are binned at so many round numbers at most, whatever the tables hold between bounds.
    """
    if bins is not None and not 1 <= bins <= MOST_BINS:
        raise Unsupported(f"{bins} bins were asked for; 1 to {MOST_BINS} are possible.")
    profiles = [profiled(table) if isinstance(table, Columns) else table for table in tables]
    names = common_names(profiles)
    class_column = class_of(names, class_column)
    for profile in profiles:
        refuse_unlabelled(profile, class_column)
    attributes = [name for name in names if name != class_column]
    refuse_unknown(attributes, [*nominal, *numeric, *several])
    refuse_both({"nominal": nominal, "numeric": numeric, "of several values": several})
    rows = _rows(profiles, max_rows)
    classes = _classes(profiles, class_column)
    columns = [_column(profiles, name) for name in attributes]
    found = [
        _of_lists(column, several[column.name], most_values)
        if column.name in several
        else _attribute(column, nominal, numeric, partial(_numeric, bins=bins, public=public, cells=grid))
        for column in columns
    ]
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


def common_names(tables: Sequence[Columns | Profile]) -> tuple[str, ...]:
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


def class_of(names: Sequence[str], given: str | None) -> str:
    """The column that is predicted: the one that was named, else the one called `class`, else the last."""
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


def refuse_unknown(attributes: Sequence[str], named: Sequence[str]) -> None:
    """Refuse what was said of columns that are no attributes."""
    unknown = [name for name in named if name not in attributes]
    if unknown:
        raise BadData(f"There is no attribute {_listed(unknown)}. The attributes are {_listed(attributes)}.")


def refuse_both(said: Mapping[str, Collection[str]]) -> None:
    """Refuse two things that were said of one column."""
    for (one, names), (other, others) in combinations(said.items(), 2):
        if both := sorted(set(names) & set(others)):
            raise Unsupported(f"Said to be both {one} and {other}: {_listed(both)}. Say one.")


def _rows(tables: Sequence[Profile], max_rows: int | None) -> int:
    rows = sum(table.rows for table in tables)
    if not rows:
        sources = ", ".join(table.source for table in tables if table.source)
        raise BadData(f"The training tables have no rows{': ' * bool(sources)}{sources}.")
    if max_rows is not None and rows > max_rows:
        raise BadData(f"The tables have {rows} rows, the agreed maximum is {max_rows}. Agree on more.")
    return rows


def _column(tables: Sequence[Profile], name: str) -> ColumnProfile:
    return merged([table.columns[name] for table in tables])


def _classes(tables: Sequence[Profile], class_column: str) -> tuple[str, ...]:
    classes = tuple(in_order(_column(tables, class_column).values).tolist())
    if len(classes) < 2:
        sources = ", ".join(dict.fromkeys(table.source for table in tables if table.source))
        raise BadData(
            f"{sources or 'The tables'}: all rows have the same class in column {class_column!r}. A classifier needs "
            "two classes; is it the right column?"
        )
    return classes


def refuse_unlabelled(table: Profile, class_column: str | None = None) -> None:
    """Refuse rows without a class."""
    with named_in_errors(table.source):
        column = table.columns[class_of(table.names, class_column)]
        if column.missing:
            raise BadData(
                f"A row without a class is refused: {said_of_rows(column.missing, column.first_missing)} none in "
                f"column {column.name!r}. Fill them in, remove them, or name another class column."
            )


def _attribute(
    column: ColumnProfile,
    nominal: Collection[str],
    numeric: Collection[str],
    of_numbers: Callable[[ColumnProfile], Mapping[str, object]],
) -> Mapping[str, object] | None:
    if not column.present:
        return None
    if column.name in numeric or (column.name not in nominal and looks_numeric(column)):
        _refuse_words(column)
        return of_numbers(column)
    _refuse_unlisted(column)
    return {"name": column.name, "kind": "nominal", "values": in_order(column.values).tolist()}


def _of_lists(column: ColumnProfile, separator: str, most: int) -> Mapping[str, object] | None:
    if not column.present:
        return None
    _refuse_unlisted(column)
    values = listed_values(column.name, column.values, separator)
    if not values:
        raise BadData(f"Column {column.name!r} has no value between {separator!r} in any cell. Leave it out.")
    return {"name": column.name, "kind": "several", "values": values, "separator": separator, "most": most}


def _refuse_unlisted(column: ColumnProfile) -> None:
    if not column.complete:
        raise BadData(
            f"Column {column.name!r} has more than {MOST_DISTINCT} different values, too many for a list. Leave it out."
        )


def looks_numeric(column: ColumnProfile) -> bool:
    """Whether a column is taken for measurements if nothing is said of it."""
    return column.numeric and (not column.complete or np.unique(column.numbers()).size > NUMERIC_ABOVE)


def _refuse_words(column: ColumnProfile) -> None:
    if not column.numeric:
        words = column.values[np.isnan(column.numbers())]
        shown = _listed(words[:5].tolist()) + (f" and {words.size - 5} more" if words.size > 5 else "")
        raise BadData(f"Column {column.name!r} was named numeric and holds what is no number: {shown}.")


def _numeric(column: ColumnProfile, bins: int | None, public: bool, cells: int | None) -> Mapping[str, object]:
    low, high = column.range or (0.0, 0.0)
    if cells is not None:
        low, high = outwards(low, high)
        return {"name": column.name, "kind": "binned", "low": low, "high": high, "cuts": grid_cuts(low, high, cells)}
    cuts = np.array([])
    if bins is not None:
        cuts = np.unique(quantiles(column.numbers(), column.counts, np.arange(1, bins) / bins))
    if public:
        low, high = outwards(low, high)
        cuts = rounded(cuts, low, high)
    if bins is None:
        low, high = _apart(low, high)
        return {"name": column.name, "kind": "numeric", "low": low, "high": high}
    return {"name": column.name, "kind": "binned", "low": low, "high": high, "cuts": cuts.tolist()}


def _apart(low: float, high: float) -> tuple[float, float]:
    """Bounds with a width: a value v that never changes gets v ± max(1, |v|)/2.

    Every class then has the same mean and the floor alone as variance, so the column prefers no class.
    """
    margin = 0.0 if low < high else max(1.0, abs(low)) / 2
    return low - margin, high + margin
