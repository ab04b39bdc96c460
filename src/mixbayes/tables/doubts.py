"""What in a table looks like an oversight, one sentence each. The commands print them; nothing is refused.

Columns are named. Of their cells only words that are to be written otherwise are quoted, one of a kind.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.attributes.cells import Texts, missing, numbers
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.tables.columns import Columns
from mixbayes.tables.encoding import encode_query
from mixbayes.tables.inference import NUMERIC_ABOVE

ROWS_LOOKED_AT = 10_000
"""Of every table: doubts must not cost as much as the work."""
LONGEST_QUOTED = 30
_WITH_UNIT = re.compile(r"\s*([-+]?\d+(?:[.,]\d+)?)(?:\s+[^\W\d_]|\s*[%°])\D*")
_DATE = re.compile(r"\d{1,4}([-./])\d{1,2}\1\d{1,4}(?:[T ].*)?")


def doubts(tables: Sequence[Columns], nominal: Collection[str] = (), numeric: Collection[str] = ()) -> Iterator[str]:
    """The doubts about columns that all tables have. `nominal` are meant to be names, `numeric` numbers."""
    names = [name for name in tables[0].names if all(name in table.names for table in tables)]
    for name in names:
        if name != name.strip():
            yield (f"column {name!r} has a blank at an end of its name, which is a part of it")
        parts = [table.column(name)[:ROWS_LOOKED_AT] for table in tables]
        for doubt in _about(parts, name in nominal, name in numeric):
            yield (f"column {name!r} {doubt}")


def unknown(dictionary: Dictionary, rows: Columns) -> Iterator[str]:
    """The columns of these rows, and the values in them, that the classifier does not know."""
    for name in rows.names:
        if name not in (*dictionary.names, dictionary.class_column):
            yield (f"column {name!r} is not one that was learned from, and is left out")
    for attribute, codes in Layout(dictionary).cells(encode_query(dictionary, rows).codes):
        unknown = np.count_nonzero(attribute.absent(codes) & ~missing(rows.column(attribute.name)))
        if unknown:
            where = f"{rows.source}: " if rows.source else ""
            yield (
                f"{where}column {attribute.name!r} has an unknown value in {unknown} of {rows.rows} rows, "
                "which counts as missing"
            )


def identities(columns: Columns, released: Sequence[str]) -> Iterator[str]:
    """The columns, of those that were released as they were, whose value differs in every row."""
    for name in released:
        present = columns.column(name)[~missing(columns.column(name))]
        if np.unique(present).size == present.size > 1:
            yield (
                f"column {name!r} has another value in every row, and is released as it was: whoever knows a patient's "
                "value knows the row. Remove it from the table"
            )


def _about(parts: Sequence[Texts], named: bool, measured: bool) -> Iterator[str]:
    parts = [cells[~missing(cells)] for cells in parts]
    distinct = np.unique(np.concatenate(parts))
    if not distinct.size:
        return
    words = np.isnan(numbers(distinct))
    of_numbers = list(_doubts_of_numbers(distinct, words)) if not named else []
    yield from of_numbers
    if not named and all(map(_DATE.fullmatch, distinct.tolist())):
        yield "has dates, which count as names, each day another one. Write a number, as a year or an age, or remove it"
    elif not of_numbers and any(map(_one_of_a_kind, parts)):
        yield "has another value in every row. If it tells patients apart, remove it"
    elif not (named or measured or words.any()) and distinct.size > NUMERIC_ABOVE and _zeros_lead(distinct):
        yield "has numbers that begin with a zero, and counts as measurements. If they are codes, name it in --nominal"
    of_names = named or words.any() or (not measured and _numbers(distinct).size <= NUMERIC_ABOVE)
    if of_names and _one_number_twice(distinct):
        yield "has a number in several spellings, as 1 and 1.0 are; among names they count as different ones"
    if words.any() and (alike := _spelled_alike(distinct)):
        yield f"has values that differ only in capitals or blanks, as {alike}; they count as different ones"


def _one_of_a_kind(present: Texts) -> bool:
    """Measurements seldom are, unless they have decimals."""
    distinct = np.unique(present)
    values = numbers(distinct)
    return present.size == distinct.size > NUMERIC_ABOVE and not (values != np.rint(values))[~np.isnan(values)].any()


def _doubts_of_numbers(distinct: Texts, words: NDArray[np.bool_]) -> Iterator[str]:
    """Of a column that has words in it, so that its numbers are names too. In one of numbers alone, none."""
    meant = ~np.isnan(numbers(np.char.replace(distinct, ",", ".")))
    with_unit = np.array([bool(_WITH_UNIT.fullmatch(text)) for text in distinct.tolist()])
    if np.count_nonzero(meant | with_unit) <= max(NUMERIC_ABOVE, distinct.size / 2):
        return
    if (meant & words).any():
        yield "has numbers with a decimal comma, which count as names. Write decimal points"
    if not meant.all():
        remedies = "; ".join(_as_numbers(distinct[with_unit].tolist(), distinct[~meant & ~with_unit].tolist()))
        yield f"has numbers, and words among them, so that all count as names. {remedies[:1].upper()}{remedies[1:]}"


def _as_numbers(with_unit: Sequence[str], others: Sequence[str]) -> Iterator[str]:
    """What to write instead of one of each."""
    if with_unit and (found := _WITH_UNIT.fullmatch(with_unit[0])):
        yield f"write {_quoted(with_unit[0])} as {found[1].replace(',', '.')}, and the unit into the header"
    if others:
        no_number = not any(map(str.isdigit, others[0]))
        word = _quoted(others[0])
        yield f"leave {word} empty" if no_number else f"write {word} as a number, or leave it empty"


def _numbers(distinct: Texts) -> NDArray[np.float64]:
    values = numbers(distinct)
    return np.unique(values[~np.isnan(values)])


def _one_number_twice(distinct: Texts) -> bool:
    return bool(_numbers(distinct).size < np.count_nonzero(~np.isnan(numbers(distinct))))


def _zeros_lead(distinct: Texts) -> bool:
    return any(text[0] == "0" and text[1:2].isdigit() for text in map(str.strip, distinct.tolist()))


def _spelled_alike(distinct: Texts) -> str:
    """Two values that people would call one, if there are such."""
    first: dict[str, str] = {}
    for text in distinct.tolist():
        other = first.setdefault(" ".join(text.split()).casefold(), text)
        if other != text:
            return f"{_quoted(other)} and {_quoted(text)}"
    return ""


def _quoted(cell: str) -> str:
    return repr(cell if len(cell) <= LONGEST_QUOTED else cell[:LONGEST_QUOTED] + "...")
