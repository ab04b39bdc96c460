"""What a hospital's whole table becomes under a protection, and whom the release gives back."""

from __future__ import annotations

from time import perf_counter

from mixbayes.local_methods.attacks.reconstruction import Reconstruction, of_pair
from mixbayes.local_methods.measures.pair import Pair
from mixbayes.protocol.attributes.cells import missing
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.research.study.results import Release
from mixbayes.tables.agreed_domain import agreed_domain
from mixbayes.tables.columns import Columns
from mixbayes.tables.method_table import as_table
from mixbayes.tables.protecting import Protected, protect, read_protection

NONE = ""
"""The setting of a table as it is."""


def release(table: Columns, dictionary: Dictionary, setting: str, seed: int) -> Release:
    """Protect the whole table once, and attack the release."""
    begun = perf_counter()
    done = protect(table, dictionary, read_protection(setting), seed) if setting else Protected(table, NONE, None)
    seconds = perf_counter() - begun
    found = _reconstruction(table, done.table, dictionary, seed)
    best = found.scores[found.attack]
    given_back = (found.attack, best.patients, best.guessed_patients)
    return Release(table.rows, done.unlabelled, done.guarantee, done.people, *given_back, seconds)


def _reconstruction(original: Columns, released: Columns, dictionary: Dictionary, seed: int) -> Reconstruction:
    """By somebody who knows the agreement, and so the bounds of numbers."""
    numeric = [attribute.name for attribute in dictionary.attributes if attribute.numeric]
    known_of_any = [name for name in dictionary.names if not original.column(name).where(missing).all()]
    whole = as_table(original.chosen([*known_of_any, dictionary.class_column]), numeric)
    pair = Pair.of(whole, as_table(released, numeric), dictionary.class_column, None)
    return of_pair(pair, agreed_domain(dictionary), seed)
