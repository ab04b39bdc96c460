"""What `protect --attacks` measures: the method with its settings, tried with people held out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from mixbayes.cli.measure_document import attacks_document
from mixbayes.local_methods.attacks.attacks import Attacks
from mixbayes.local_methods.attacks.people import FEWEST
from mixbayes.local_methods.attacks.reconstruction import of_pair
from mixbayes.local_methods.attacks.rehearsal import OfPeople, rehearsed
from mixbayes.local_methods.errors import MethodError
from mixbayes.local_methods.measures.pair import Pair
from mixbayes.local_methods.tables import Nominal, Table

if TYPE_CHECKING:
    from mixbayes.local_methods.base import LocalMethod

SEED = 0
"""Of guesses and halves; the method draws as it was told to."""

FEW = f"halves of the table need {FEWEST} people each"


def attacked(method: LocalMethod, original: Table, released: Table, label: str | None) -> dict[str, Any]:
    """The attacks on this release; and on releases of halves of the table what they tell of people."""
    pair = Pair.of(original, released, label, None)
    why_not, people = "", None
    try:
        people = _rehearsed(method, original, label) if original.rows >= 2 * FEWEST else None
        why_not = "" if people else FEW
    except MethodError as error:
        why_not = f"half of the table cannot be protected in this way: {error}"
    back = of_pair(pair, None, SEED) if pair.released.rows else None
    return {**attacks_document(Attacks.found(back, people)), **({"why_not": why_not} if why_not else {})}


def _rehearsed(method: LocalMethod, original: Table, label: str | None) -> OfPeople:
    attributes = original.select([at for at, name in enumerate(original.names) if name != label])
    labels = original.column(label) if label else None

    def protect(table: Table, classes: Nominal | None) -> tuple[Table, Nominal | None]:
        again: Any = clone(method)
        return again.fit_resample(table, classes)

    return rehearsed(attributes, labels if isinstance(labels, Nominal) else None, protect, SEED)
