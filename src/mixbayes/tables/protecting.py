"""What a hospital does to its own table before its rows are counted, and what it may say of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mixbayes.local_methods.tables import MISSING, Nominal, Table
from mixbayes.local_methods.tables import Column as MethodColumn
from mixbayes.protocol.arrays import slices
from mixbayes.protocol.attributes.cells import missing
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.errors import BadData, Unsupported
from mixbayes.tables.agreed_domain import agreed_domain
from mixbayes.tables.cells import Cells, Column
from mixbayes.tables.columns import Columns
from mixbayes.tables.method_settings import configured_method
from mixbayes.tables.method_table import as_command_error, as_table
from mixbayes.tables.released_texts import as_texts
from mixbayes.tables.room import refuse_too_large

if TYPE_CHECKING:
    from mixbayes.local_methods.base import LocalMethod
    from mixbayes.local_methods.domain import Domain

Progress = Callable[[str, int, int], None]
Chance = int | np.random.Generator | None
"""The seed of what a method draws, or what it draws from; None for the system's randomness."""

ROWS_AT_ONCE = 1 << 14
"""So many rows are texts in memory at a time while columns are compared."""


@dataclass(frozen=True)
class Protection:
    """One of the local methods with its settings, as people write it: METHOD[:key=value]..."""

    method: str
    settings: Mapping[str, str]

    def __str__(self) -> str:
        return ":".join([self.method, *(f"{key}={value}" for key, value in self.settings.items())])


@dataclass(frozen=True)
class Protected:
    """The table that is counted, and what was verified of it."""

    table: Columns
    guarantee: str
    """What the release was found to keep, in words."""
    people: str | None
    """What that promises about people; None is nothing."""
    unlabelled: int = 0
    """Rows that the method left without a class: they are not counted."""
    coarsened: int = 0
    """Cells that the table has and that count as missing, because the release says less of them than any value that
    the dictionary lists."""


def read_protection(text: str) -> Protection:
    """What METHOD[:key=value]... says; the settings are checked too."""
    method, *parts = text.split(":")
    pairs = [part.partition("=") for part in parts]
    wrong = [part for part, (key, sign, _) in zip(parts, pairs, strict=True) if not key or not sign]
    if wrong:
        raise Unsupported(f"--protect {text}: say {wrong[0]!r} as key=value, and separate keys by colons.")
    settings = {key: value for key, _, value in pairs}
    if len(settings) < len(parts):
        raise Unsupported(f"--protect {text}: a key is given twice. Say it once.")
    protection = Protection(method, settings)
    configured_method(protection.method, protection.settings)
    return protection


def protect(
    table: Columns, dictionary: Dictionary, protection: Protection, seed: Chance, progress: Progress | None = None
) -> Protected:
    """Apply the method to the columns that are counted; a release that does not keep its promise is refused."""
    domain = agreed_domain(dictionary)
    method = configured_method(protection.method, protection.settings, seed, domain)
    if method.row_privacy():
        _refuse_not_public(dictionary, domain, protection)
    counted = _counted(table, dictionary)
    with table.named_in_errors():
        refuse_too_large(method, counted.rows, len(counted.names))
        released = _released(method, counted, dictionary, progress)
    _refuse_broken_promise(method, protection)
    coarsened = 0
    if method.COARSENS:
        released = _in_listed_values(released, dictionary)
        coarsened = _cells(counted.take(method.kept_rows_), dictionary) - _present(released, dictionary)
    _refuse_nothing_to_count(released, dictionary, protection)
    texts = texts_of(method, counted, released)
    unlabelled = texts.column(dictionary.class_column).where(missing)
    counted_rows = texts.take(np.flatnonzero(~unlabelled)) if unlabelled.any() else texts
    return Protected(counted_rows, _promise(method), method.guarantee_.people, int(unlabelled.sum()), coarsened)


def row_privacy(protection: Protection) -> tuple[float, float] | None:
    """The ε and δ that the method promises for a row more or less in the table; None if it promises none."""
    return configured_method(protection.method, protection.settings).row_privacy()


def texts_of(method: LocalMethod, original: Columns, released: Table) -> Columns:
    """What the method released, as texts; what it left as it was keeps its spelling."""
    paired = method.KEEPS_ORDER and released.rows == len(method.kept_rows_)
    return as_texts(released, _taking_part(method, original) if paired else None, method.kept_columns_)


def left_as_they_were(method: LocalMethod, original: Columns, texts: Columns) -> list[str]:
    """The columns that say of every row that took part what the table says, and say anything."""
    if not method.KEEPS_ORDER or texts.rows != len(method.kept_rows_):
        return []
    before = _taking_part(method, original)
    pairs = ((name, before.column(name), texts.raw(name)) for name in texts.names)
    return [name for name, old, new in pairs if _equal(old, new) and not old.where(missing).all()]


def _taking_part(method: LocalMethod, original: Columns) -> Columns:
    kept = method.kept_rows_
    return original if len(kept) == original.rows else original.take(kept)


def _equal(one: Column, other: Column) -> bool:
    """Whether two columns of as many rows have the same texts."""
    if one is other:
        return True
    if isinstance(one, Cells) and isinstance(other, Cells):
        places = np.unique(np.append(one.values, other.values), return_inverse=True)[1]
        many = len(one.values)
        return np.array_equal(places[:many][one.codes], places[many:][other.codes])
    # Most columns that differ do so in the first rows.
    return all(np.array_equal(one.texts_in(rows), other.texts_in(rows)) for rows in slices(len(one), ROWS_AT_ONCE))


def _counted(table: Columns, dictionary: Dictionary) -> Columns:
    """The columns that the dictionary names, in its order, the class last."""
    names = (*dictionary.names, dictionary.class_column)
    return table.chosen(names)


def _released(method: LocalMethod, counted: Columns, dictionary: Dictionary, progress: Progress | None) -> Table:
    """What the method makes of these columns, the class last again."""
    measured = [a.name for a in dictionary.attributes if a.numeric]
    with as_command_error():
        whole = as_table(counted, measured)
        attributes, labels = whole.select(whole.positions(dictionary.names)), whole.column(dictionary.class_column)
        if method.row_privacy():
            labels = of_all_classes(labels, dictionary.classes)
        released, classes = method.fit_resample(attributes, labels, progress=progress)
    return Table((*released.names, dictionary.class_column), (*released.columns, classes), released.rows)


def of_all_classes(labels: MethodColumn, classes: Sequence[str]) -> MethodColumn:
    """With the agreed classes in their order: which of them occur is the table's own."""
    if not isinstance(labels, Nominal):
        return labels
    places = {name: place for place, name in enumerate(classes)}
    at = np.array([*(places.get(str(value), MISSING) for value in labels.values.tolist()), MISSING], np.int64)
    return Nominal(at[labels.codes], np.array(classes, np.str_))


def _refuse_not_public(dictionary: Dictionary, domain: Domain, protection: Protection) -> None:
    """What a method with a promise to a row takes from the table itself is not promised."""
    if lacking := [name for name in dictionary.names if name not in domain]:
        raise Unsupported(
            f"{protection}: its promise needs public values of every column, and a cell of {lacking[0]!r} may have "
            "several. Agree without that column, or choose another method."
        )


def _in_listed_values(released: Table, dictionary: Dictionary) -> Table:
    """A cell that is the name of a group of values is no value of the dictionary, unless this lists it: missing."""
    return released.with_columns(
        {
            released.position(attribute.name): _only_known(released.column(attribute.name), attribute)
            for attribute in dictionary.attributes
        }
    )


def _only_known(column: MethodColumn, attribute: Attribute) -> MethodColumn:
    if not isinstance(column, Nominal):
        return column
    known = np.append(~attribute.read(column.values.astype(np.str_)).foreign, True)
    return (
        column if known[column.codes].all() else column.with_codes(np.where(known[column.codes], column.codes, MISSING))
    )


def _cells(table: Columns, dictionary: Dictionary) -> int:
    """How many cells of attributes are there."""
    return sum(int(np.count_nonzero(~table.column(name).where(missing))) for name in dictionary.names)


def _present(table: Table, dictionary: Dictionary) -> int:
    return sum(int(np.count_nonzero(~table.column(name).missing)) for name in dictionary.names)


def _refuse_broken_promise(method: LocalMethod, protection: Protection) -> None:
    promise = method.guarantee_
    if not promise.holds:
        raise BadData(
            f"{protection}: its release does not keep what it promises ({promise.claim}). Change its settings."
        )


def _refuse_nothing_to_count(released: Table, dictionary: Dictionary, protection: Protection) -> None:
    if released.select(released.positions(dictionary.names)).empty().all():
        raise BadData(f"{protection}: it leaves no cell to count, only the classes. Change its settings.")
    if released.column(dictionary.class_column).missing.all():
        raise BadData(f"{protection}: it leaves no row a class, so that none is counted. Change its settings.")


def _promise(method: LocalMethod) -> str:
    promise = method.guarantee_
    return f"{promise.claim} (verified). It promises the people in the table {promise.people or 'nothing'}"
