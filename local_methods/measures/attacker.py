"""An attacker who knows some values of a person in the original, and what each of the two tables tells them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from mixbayes.local_methods.errors import BadParameter
from mixbayes.local_methods.measures import release as measures
from mixbayes.local_methods.measures.alike import Alike, combinations
from mixbayes.local_methods.measures.asked import Asked, Undefined
from mixbayes.local_methods.measures.disclosure import Unknown, codes_of, cuts_of, draw_queries
from mixbayes.local_methods.measures.pair import Pair, Sought
from mixbayes.local_methods.tables import Codes, Table

Value = TypeVar("Value")


@dataclass(frozen=True)
class Risk:
    """What a table gives away; None where it has no such measure."""

    k_anonymity: int | None
    reidentification: float | None
    attribute_disclosure: float | None
    l_diversity: int | None = None
    entropy_l_diversity: float | None = None
    t_closeness: float | None = None


@dataclass(frozen=True, eq=False)
class Attacker:
    """Who knows something of somebody in the original, and looks for it in either table."""

    codes: tuple[Codes, Codes]
    classes: tuple[Codes, Codes] | None
    no_classes: str
    at: Sequence[int]
    queries: Codes
    unknown: Unknown
    sought: Sought

    @staticmethod
    def of(pair: Pair, known: Sequence[str] | None, unknown: Unknown, seed: int) -> Attacker:
        """Who may know these columns, by default all but the one that is sought."""
        _refuse_known(pair, known or ())
        names = [name for name in pair.original.names if name != pair.sought.name] if known is None else known
        at = pair.original.positions(names)
        original, released = pair.original.select(at), pair.released.select(at)
        cuts = cuts_of(original)
        codes = codes_of(original, cuts), codes_of(released, cuts)
        classes = (pair.labels[0].codes, pair.labels[1].codes) if pair.labels else None
        queries = draw_queries(codes[0], np.random.default_rng(seed))
        return Attacker(codes, classes, pair.no_labels, at, queries, unknown, pair.sought)

    def risk(self, table: Table, side: int, asked: Asked) -> Risk:
        """What this table gives away."""
        groups = combinations([table.columns[at] for at in self.at], table.rows)
        alike = Alike.of(groups, self.sought.columns[side] if self.sought.columns else None)
        return Risk(
            k_anonymity=asked("k_anonymity", lambda: alike.k),
            reidentification=asked("reidentification", lambda: self._reidentification(side)),
            attribute_disclosure=asked("attribute_disclosure", lambda: self._attribute_disclosure(side)),
            l_diversity=asked("l_diversity", lambda: self._of_sensitive(alike.distinct_l)),
            entropy_l_diversity=asked("entropy_l_diversity", lambda: self._of_sensitive(alike.entropy_l)),
            t_closeness=asked("t_closeness", lambda: self._of_sensitive(alike.t)),
        )

    def _of_sensitive(self, value: Value) -> Value:
        if self.sought.columns is None:
            raise Undefined(self.sought.no_columns)
        return value

    def _reidentification(self, side: int) -> float:
        return measures.reidentification(self.codes[side], self.queries, self.unknown)

    def _attribute_disclosure(self, side: int) -> float:
        if self.classes is None:
            raise Undefined(self.no_classes)
        return measures.attribute_disclosure(self.codes[side], self.classes[side], self.queries, self.unknown)


def _refuse_known(pair: Pair, known: Sequence[str]) -> None:
    strange = [name for name in known if name not in pair.original.names]
    if strange:
        raise BadParameter(
            f"{strange[0]!r} is no attribute of both tables, so no quasi-identifier. "
            f"They have {', '.join(map(repr, pair.original.names))}."
        )
    if pair.sought.name in known:
        raise BadParameter(
            f"{pair.sought.name!r} is the sensitive column, which an attacker does not know, so no quasi-identifier. "
            "Name it as one of the two."
        )
