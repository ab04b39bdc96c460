"""What an agreement makes public of the columns that a local method works on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mixbayes.local_methods.domain import Domain
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.entry import Entry, Measurement, OneOption


def agreed_domain(dictionary: Dictionary) -> Domain:
    """The bounds of numbers and the values of names; a cell of several values has no such list."""
    found = {attribute.name: public for attribute in dictionary.attributes if (public := _public(attribute.entry))}
    return found | {dictionary.class_column: dictionary.classes}


def _public(entry: Entry) -> Sequence[Any]:
    if isinstance(entry, Measurement):
        return entry.low, entry.high
    return [option.value for option in entry.options] if isinstance(entry, OneOption) else ()
