"""What a hospital does to its own table before its rows are counted, and what it may say of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mixbayes.local_methods.registry import configured
from mixbayes.local_methods.tables import Nominal, Table
from mixbayes.parties.method_table import as_command_error, as_table
from mixbayes.parties.released_texts import as_texts
from mixbayes.protocol.cells import missing
from mixbayes.protocol.columns import Columns
from mixbayes.protocol.dictionary import Dictionary
from mixbayes.protocol.dictionary import Nominal as NominalAttribute
from mixbayes.protocol.errors import BadData, Unsupported

Progress = Callable[[str, int, int], None]


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
    unlabelled: int = 0
    """Rows that the method left without a class: they are not counted."""


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
    with as_command_error():
        configured(method, settings)
    return Protection(method, settings)


def protect(
    table: Columns, dictionary: Dictionary, protection: Protection, seed: int, progress: Progress | None = None
) -> Protected:
    """Apply the method to the columns that are counted; a release that does not keep its promise is refused."""
    with as_command_error():
        method = configured(protection.method, protection.settings, seed)
    counted = _counted(table, dictionary)
    measured = [a.name for a in dictionary.attributes if not isinstance(a, NominalAttribute)]
    with table.named_in_errors(), as_command_error():
        whole = as_table(counted, measured)
        attributes = whole.select([whole.position(name) for name in dictionary.names])
        labels = whole.column(dictionary.class_column)
        released, classes = method.fit_resample(attributes, labels, progress=progress)
    promise = method.guarantee_
    if not promise.holds:
        raise BadData(
            f"{protection}: its release does not keep what it promises ({promise.claim}). Change its settings."
        )
    if released.missing().all():
        raise BadData(f"{protection}: it leaves no cell to count, only the classes. Change its settings.")
    joined = _with_class(released, dictionary, classes)
    paired = method.KEEPS_ORDER and joined.rows == len(method.kept_rows_)
    same_rows = counted.take(method.kept_rows_) if paired else None
    texts = as_texts(joined, same_rows)
    unlabelled = missing(texts.column(dictionary.class_column))
    kind = "verified" if promise.privacy else "verified, and no guarantee of privacy"
    return Protected(
        texts.take(np.flatnonzero(~unlabelled)),
        f"{promise.claim} ({kind})",
        int(unlabelled.sum()),
    )


def _counted(table: Columns, dictionary: Dictionary) -> Columns:
    """The columns that the dictionary names, in its order, the class last."""
    names = (*dictionary.names, dictionary.class_column)
    return Columns(names, tuple(table.column(name) for name in names), table.rows, table.source)


def _with_class(released: Table, dictionary: Dictionary, classes: Nominal) -> Table:
    return Table((*released.names, dictionary.class_column), (*released.columns, classes), released.rows)
