"""What in a table looks like an oversight, one sentence each. The commands print them; nothing is refused.

Columns are named. Of their cells only words that are to be written otherwise, and numbers that seem to mean "missing",
are quoted, one of a kind.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Values
from mixbayes.protocol.attributes.cells import Numbers, Texts, missing, numbers
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.several import SEPARATOR, entries_of
from mixbayes.protocol.errors import BadData
from mixbayes.tables.columns import Columns
from mixbayes.tables.inference import NO_LISTS, NUMERIC_ABOVE, looks_numeric
from mixbayes.tables.profile import ColumnProfile, Profile, merged, profiled
from mixbayes.tables.quantiles import quantiles

VALUES_LOOKED_AT = 10_000
"""Of every column: doubts must not cost as much as the work."""
LONGEST_QUOTED = 30
LIST_SEPARATORS = ";|,/"
MANY_CLASSES = 10
FREQUENT = 0.005
"""A number that means "missing" stands in so large a share of the cells, or in `OFTEN` of them."""
OFTEN = 3
_WITH_UNIT = re.compile(r"\s*([-+]?\d+(?:[.,]\d+)?)(?:\s+[^\W\d_]|\s*[%°])\D*")
_COMMA_NUMBER = re.compile(r"\s*[-+]?\d*,\d+(?:[eE][-+]?\d+)?\s*")
_LIST_OF_NUMBERS = re.compile(r"\d+(?:,\s*\d+){2,}")
_THOUSANDS = {
    "points": re.compile(r"[-+]?[1-9]\d{0,2}(?P<groups>(?:\.\d{3})+)(?P<fraction>,\d+)?"),
    "commas": re.compile(r"[-+]?[1-9]\d{0,2}(?P<groups>(?:,\d{3})+)(?P<fraction>\.\d+)"),
}
_BELOW_THOUSAND = re.compile(r"[-+]?\d{1,3}(?:[.,]\d+)?")
_TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?")
_DATE = re.compile(r"\d{1,4}([-./])\d{1,2}\1\d{1,4}(?:[T ].*)?")
_REPEATED_DIGIT = re.compile(r"-?(?:9+(?:\.9+|\.0+)?|8{2,}|7{2,})")
_MEANS_MISSING = re.compile(
    r"n\.?\s?/?a\.?|<na>|#n/?a!?|null|\(null\)|nan|nil|n\.?d\.?|k\.?\s?a\.?|missing|\.+|-+|_+|\?{2,}", re.IGNORECASE
)


def doubts(
    tables: Sequence[Columns | Profile],
    nominal: Collection[str] = (),
    numeric: Collection[str] = (),
    several: Mapping[str, str] = NO_LISTS,
) -> Iterator[str]:
    """The doubts about columns that all tables have. `nominal` are meant to be names, `numeric` numbers.

    `several` has the separators of columns whose cells hold several values.
    """
    profiles = [profiled(table) if isinstance(table, Columns) else table for table in tables]
    names = [name for name in profiles[0].names if all(name in profile.names for profile in profiles)]
    for name in filter(several.__contains__, names):
        cells = merged([profile.columns[name] for profile in profiles]).values[:VALUES_LOOKED_AT]
        single = np.unique(entries_of(cells, several[name])[0])
        yield from (f"column {name!r} {doubt}" for doubt in doubts_of_lists(single))
    names = [name for name in names if name not in several]
    for name in names:
        for doubt in column_doubts([profile.columns[name] for profile in profiles], name in nominal, name in numeric):
            yield f"column {name!r} {doubt}"
    yield from _without_information([merged([profile.columns[name] for profile in profiles]) for name in names])


def column_doubts(parts: Sequence[ColumnProfile], named: bool, measured: bool) -> Iterator[str]:
    """What is doubtful about one column of several tables."""
    if not parts[0].name.strip():
        yield "has no name. Name it in the header, or remove it"
    elif parts[0].name != parts[0].name.strip():
        yield "has a blank at an end of its name, which is a part of it"
    yield from _about(parts, named, measured)


def predicted(column: ColumnProfile) -> str:
    """What is doubtful about a class that nobody named, if anything is."""
    if not looks_numeric(column) and column.values.size <= MANY_CLASSES:
        return ""
    at_least = "" if column.complete else "more than "
    return f"has {at_least}{column.values.size} different values: is it the class? `--class-column` names another"


def is_empty(column: ColumnProfile) -> bool:
    """Whether there are rows, and none of them says anything in this column."""
    return bool(column.rows) and not column.present


def is_constant(column: ColumnProfile) -> bool:
    """Whether all rows say the same in this column."""
    return column.rows > 1 and column.values.size == 1 and not column.missing


def _without_information(columns: Sequence[ColumnProfile]) -> Iterator[str]:
    """Columns that distinguish no patients, in one sentence for each reason."""
    empty = [column.name for column in columns if is_empty(column)]
    constant = [column.name for column in columns if is_constant(column)]
    if empty:
        yield f"{_listed(empty)} empty, and left out"
    if constant:
        yield f"{_listed(constant)} the same in every row, and tell{'s' * (len(constant) == 1)} nothing"


def _listed(names: Sequence[str]) -> str:
    return f"column{'s' * (len(names) > 1)} {', '.join(map(repr, names))} {'are' if len(names) > 1 else 'is'}"


def doubts_of_lists(values: Texts) -> Iterator[str]:
    """What is doubtful about the single values of a column whose cells hold several."""
    if alike := _spelled_alike(values):
        yield f"lists values that differ only in capitals or blanks, as {alike}; they count as different ones"


def unknown(dictionary: Dictionary, rows: Columns, id_column: str | None = None) -> Iterator[str]:
    """The columns of these rows, and the values in them, that the classifier does not know."""
    for name in rows.names:
        if name not in (*dictionary.names, dictionary.class_column, id_column):
            yield (f"column {name!r} is not one that was learned from, and is left out")
    for attribute in dictionary.attributes:
        cells = rows.column(attribute.name)
        unknown = np.count_nonzero(attribute.read(cells.values).foreign[cells.codes])
        if unknown:
            where = f"{rows.source}: " if rows.source else ""
            yield (
                f"{where}column {attribute.name!r} has an unknown value in {unknown} of {rows.rows} rows, "
                "which counts as missing"
            )


def refuse_unknown_columns(dictionary: Dictionary, rows: Columns, codes: Values) -> None:
    """Refuse to ask about rows of which the classifier knows no value of some column, though they have values."""
    unknown = [
        attribute.name
        for attribute, cells in Layout(dictionary).cells(codes)
        if attribute.absent(cells).all() and rows.column(attribute.name).distinct.size
    ]
    if unknown:
        known = next(a for a in dictionary.attributes if a.name == unknown[0])
        raise BadData(
            f"{rows.source}: {_listed(unknown)} unknown to the classifier in every row; it knows {known.described()} "
            f"of {unknown[0]!r}. Nothing was asked. Write the values as the agreement does, or ask all the same with "
            "--force."
        )


def identities(columns: Columns, released: Sequence[str]) -> Iterator[str]:
    """The columns, of those that were released as they were, whose value differs in every row."""
    for name in released:
        column = columns.column(name)
        if column.distinct.size == np.count_nonzero(~column.where(missing)) > 1:
            yield (
                f"column {name!r} has another value in every row, and is released as it was: whoever knows a patient's "
                "value knows the row. Remove it from the table"
            )


def _about(parts: Sequence[ColumnProfile], named: bool, measured: bool) -> Iterator[str]:
    whole = merged(parts)
    if whole.present and not whole.complete and not whole.numeric:
        yield "has too many different values for names: free text? Leave it out"
        return
    distinct = whole.values[:VALUES_LOOKED_AT]
    if not distinct.size:
        return
    words = np.isnan(numbers(distinct))
    meant_missing = [text for text in distinct.tolist() if _MEANS_MISSING.fullmatch(text.strip())]
    if "+" in distinct:
        meant_missing = [text for text in meant_missing if text != "-"]
    if not named and (thousands := _thousands(distinct)):
        yield thousands
        return
    if not named and (separator := _list_separator(distinct)):
        of_list = [whole.name] if separator == SEPARATOR and ":" not in whole.name else [f"{whole.name}:{separator}"]
        yield f"has several values in a cell, between {separator!r}. To count each, say {typed('--several', *of_list)}"
        return
    of_numbers = list(_doubts_of_numbers(distinct, words)) if not named else []
    yield from of_numbers
    if meant_missing and len(meant_missing) < distinct.size and not of_numbers:
        yield _of_words_for_missing(meant_missing)
    if not named and all(map(_DATE.fullmatch, distinct.tolist())):
        yield "has dates, which count as names, each day another one. Write a number, as a year or an age, or remove it"
    elif not named and distinct.size > NUMERIC_ABOVE and all(map(_TIME.fullmatch, distinct.tolist())):
        yield "has times of day, which count as names, each another one. Write a number, as the hour, or remove it"
    elif not of_numbers and any(map(one_of_a_kind, parts)):
        yield "has another value in every row. If it tells patients apart, remove it"
    elif not (named or measured or of_numbers or looks_numeric(whole)) and mostly_once(whole):
        yield f"has {_once(whole)} values that only one row has: free text, or names? Remove it"
    elif not (named or measured or words.any()) and distinct.size > NUMERIC_ABOVE and _zeros_lead(distinct):
        codes = typed("--nominal", whole.name)
        yield "has numbers that begin with a zero, and counts as measurements. If they are codes, say " + codes
    if not words.any() and (code := _number_for_missing(whole)):
        yield (
            f"has {code} in {_share(whole, code)} cells, far from all others. If it means that nothing is "
            f"known, say {typed('--missing', f'{whole.name}={code}')}"
        )
    of_names = named or words.any() or (not measured and _numbers(distinct).size <= NUMERIC_ABOVE)
    if of_names and _one_number_twice(distinct):
        yield "has a number in several spellings, as 1 and 1.0 are; among names they count as different ones"
    if words.any() and (alike := _spelled_alike(distinct)):
        yield f"has values that differ only in capitals or blanks, as {alike}; they count as different ones"


def typed(*words: str) -> str:
    """What is to be typed, so that a shell takes no word apart and nobody types the sentence's full stop."""
    return f"`{shlex.join(words)}`"


def _list_separator(distinct: Texts) -> str:
    """What separates values in cells that hold several each, which few cells share; nothing of others."""
    for separator in LIST_SEPARATORS:
        lists = [text for text in distinct.tolist() if separator in text.strip(separator)]
        pieces = {piece.strip() for text in lists for piece in text.split(separator)}
        several = len(lists) > NUMERIC_ABOVE and 2 * len(lists) > distinct.size and 2 * len(pieces) < len(lists)
        if several and not _single(lists):
            return separator
    return ""


def _single(cells: Sequence[str]) -> bool:
    """Whether most of these are one value each: a number with a decimal comma, perhaps with a unit, or a date."""
    one = sum(bool(_COMMA_NUMBER.fullmatch(text) or _DATE.fullmatch(text) or _comma_and_unit(text)) for text in cells)
    return 2 * one > len(cells) and not any(map(_LIST_OF_NUMBERS.fullmatch, cells))


def _comma_and_unit(text: str) -> bool:
    found = _WITH_UNIT.fullmatch(text)
    return found is not None and text.count(",") == 1 and "," in found[1]


def _thousands(distinct: Texts) -> str:
    """What to say of numbers with a sign between their thousands, which would be read as a decimal sign."""
    cells = [text.strip() for text in distinct.tolist() if any(map(str.isdigit, text))]
    for signs, pattern in _THOUSANDS.items():
        found = [match for match in map(pattern.fullmatch, cells) if match]
        others = [text for text in cells if not pattern.fullmatch(text)]
        if found and all(map(_BELOW_THOUSAND.fullmatch, others)) and _between_thousands(found, others):
            return f"has {signs} between thousands, as in {_quoted(found[0][0])}. Export numbers without them"
    return ""


def _between_thousands(found: Sequence[re.Match[str]], others: Sequence[str]) -> bool:
    """Whether the groups of three digits can be nothing else.

    Decimals may have three digits, too. But then zeros at their ends are kept or they are not: with an end as in 1.250
    there would be 950.000, and with 950 there would be 1.25.
    """
    if any(match["fraction"] or len(match["groups"]) > 4 for match in found):
        return True
    keeps_zeros = any(match[0].endswith("0") for match in found)
    return len(found) > NUMERIC_ABOVE and keeps_zeros and any(map(str.isdecimal, others))


def _of_words_for_missing(words: Sequence[str]) -> str:
    quoted = ", ".join(map(_quoted, words))
    count = "counts as a value" if len(words) == 1 else "count as values"
    spelled = ",".join(word.strip() for word in words)
    return f"has {quoted}, which {count}. If nothing is known there, say {typed('--missing', spelled)}"


def _number_for_missing(column: ColumnProfile) -> str:
    """The text of a frequent number that lies far outside all others, as -999, 9 or 99 in a short scale do."""
    values = column.numbers()
    order = np.argsort(values)
    for at, rest in ((order[-1:], order[:-1]), (order[:1], order[1:])):
        others = values[rest]
        if np.unique(others).size < 2 or not _frequent(column, int(at[0])):
            continue
        text = str(column.values[at[0]])
        with np.errstate(over="ignore"):
            spread, gap = float(np.ptp(others)), float(np.abs(others - values[at]).min())
        if gap > spread and (_REPEATED_DIGIT.fullmatch(text) or (gap > 10 * spread and others.size > NUMERIC_ABOVE)):
            return text
        if float(text) == 0 and others.size > NUMERIC_ABOVE and gap > _middle_half(others, column.counts[rest]):
            return text
    return ""


def _middle_half(values: Numbers, counts: NDArray[np.int64]) -> float:
    """The distance between the quartiles: a zero beyond it is often a measurement that was not made."""
    low, high = quantiles(values, counts, np.array([0.25, 0.75]))
    return float(high - low)


def _frequent(column: ColumnProfile, at: int) -> bool:
    """Whether a value occurs more often than chance would have it, far out as it is."""
    times = int(column.counts[at])
    return times >= OFTEN or times >= max(2, FREQUENT * column.present)


def _share(column: ColumnProfile, text: str) -> str:
    times = int(column.counts[column.values == text].sum())
    return f"{times} of its {column.present}"


def one_of_a_kind(column: ColumnProfile) -> bool:
    """Whether every row has a value of its own. Of measurements with decimals that is usual, and says nothing."""
    values = column.numbers()
    with_decimals = bool((values != np.rint(values))[~np.isnan(values)].any())
    return column.values.size > NUMERIC_ABOVE and bool((column.counts == 1).all()) and not with_decimals


def mostly_once(column: ColumnProfile) -> bool:
    """Whether most of its values are those of one patient each."""
    once = _once(column)
    values = column.numbers()
    with_decimals = bool((values != np.rint(values))[~np.isnan(values)].any()) and column.numeric
    return bool(column.values.size > NUMERIC_ABOVE and 2 * once > column.values.size and not with_decimals)


def _once(column: ColumnProfile) -> int:
    return int(np.count_nonzero(column.counts == 1))


def all_dates(column: ColumnProfile) -> bool:
    """Whether it has dates, and nothing else."""
    return bool(column.values.size) and all(map(_DATE.fullmatch, column.values[:VALUES_LOOKED_AT].tolist()))


def _doubts_of_numbers(distinct: Texts, words: NDArray[np.bool_]) -> Iterator[str]:
    """Of a column that has words in it, so that its numbers are names too. In one of numbers alone, none."""
    meant = ~np.isnan(numbers(np.char.replace(distinct, ",", ".")))
    with_unit = np.array([bool(_WITH_UNIT.fullmatch(text)) for text in distinct.tolist()])
    if np.count_nonzero(meant | with_unit) <= max(NUMERIC_ABOVE, distinct.size / 2):
        return
    if (meant & words).any():
        yield "has numbers with a decimal comma, which count as names. Write decimal points, or say `--decimal ,`"
    if not meant.all():
        remedies = "; ".join(_as_numbers(distinct[with_unit].tolist(), distinct[~meant & ~with_unit].tolist()))
        yield f"has numbers, and words among them, so that all count as names. {remedies[:1].upper()}{remedies[1:]}"


def _as_numbers(with_unit: Sequence[str], others: Sequence[str]) -> Iterator[str]:
    """What to write instead of one of each."""
    if with_unit and (found := _WITH_UNIT.fullmatch(with_unit[0])):
        yield f"write {_quoted(with_unit[0])} as {found[1].replace(',', '.')}, and the unit into the header"
    absent = [text.strip() for text in others if _MEANS_MISSING.fullmatch(text.strip())]
    if absent:
        yield f"leave {', '.join(map(_quoted, absent))} empty, or say {typed('--missing', ','.join(absent))}"
    words = [text for text in others if text.strip() not in absent]
    if words:
        instead = "as a number, or leave it empty" if any(map(str.isdigit, words[0])) else ""
        yield f"write {_quoted(words[0])} {instead}" if instead else f"leave {_quoted(words[0])} empty"


def _numbers(distinct: Texts) -> Numbers:
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
