"""The bits of what finds cut points and ranks. Agreements need them, to refuse what would be too large."""

from __future__ import annotations

from dataclasses import dataclass

from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.information import information_width
from mixbayes.protocol.bayes.precision import MOST_COUNT_BITS
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.errors import DictionaryTooLarge

MOST_BINS = 64
MOST_RANKED = 1000
"""Every two attributes are compared."""


@dataclass(frozen=True, slots=True)
class Widths:
    """Bits that follow from the dictionary and the number of bins."""

    count: int
    """Every sum of clamped counts is below 2^count."""
    quantile: int
    """Of the comparisons that find quantiles, the sign included."""
    information: int
    """Of those that rank, the sign included."""


def widths_for(layout: Layout, bins: int) -> Widths:
    """The widths, or a refusal that says what is too large."""
    most = layout.rows_together + max(layout.rows) * layout.classes * layout.noise
    widths = Widths(
        max(2, most.bit_length()), (2 * bins * most).bit_length() + 1, information_width(most, layout.classes)
    )
    if widths.count > MOST_COUNT_BITS or max(widths.quantile, widths.information) > ring.WORD:
        raise DictionaryTooLarge(
            f"Information over up to {most} rows needs {widths.information} bits, {ring.WORD} are possible. Lower "
            "max_rows."
        )
    if sum(attribute.exact for attribute in layout.dictionary.attributes) > MOST_RANKED:
        raise DictionaryTooLarge(f"At most {MOST_RANKED} attributes can be ranked.")
    return widths
