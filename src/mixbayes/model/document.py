"""The file of a released model: noisy counts, the dictionary that they belong to, and what was promised of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mixbayes.agreement.agreement import Federation
from mixbayes.privacy.coins import Coins
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.dictionary import dictionary_from
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.errors import BadData

FORMAT = "mixbayes model 1"
_UNIT = "one row more or less in one hospital's table"
_NOT_CALIBRATED = (
    "The probabilities are those of naive Bayes, which takes attributes as independent: they are not calibrated, and "
    "mostly too close to 0 or 1."
)


@dataclass(frozen=True)
class ReleasedModel:
    """The noisy counts N~ of one round, as the agreement gives them to hospitals."""

    federation: str
    """The agreement's digest."""
    round: int
    epsilon: float
    delta: float
    layout: Layout
    counts: Words = field(repr=False)
    """Not clamped: some may be below zero, as words modulo 2^64."""

    @classmethod
    def of(cls, federation: Federation, number: int, counts: Words) -> ReleasedModel:
        if not (privacy := federation.privacy):
            raise BadData("Without noise there is no model to keep.")
        return cls(federation.digest(), number, privacy.epsilon, privacy.delta, federation.layout, counts)

    def text(self) -> str:
        """The file."""
        signed, terms = self.counts.view(np.int64), self.layout.terms
        content = {
            "format": FORMAT,
            "federation": self.federation,
            "round": self.round,
            "privacy": {"epsilon": self.epsilon, "delta": self.delta, "unit": _UNIT},
            "calibrated": False,
            "remark": _NOT_CALIBRATED,
            "terms": {
                "hospitals": terms.hospitals,
                "max_rows_each": self.layout.rows_each,
                "coins": terms.coins.counts if terms.coins else [],
            },
            "dictionary": self.layout.dictionary.model_dump(mode="json"),
            "counts": {
                "classes": self.layout.class_counts(signed).tolist(),
                "attributes": {attribute.name: block.tolist() for attribute, block in self.layout.blocks(signed)},
            },
        }
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def read_model(text: str, source: str = "the file") -> ReleasedModel:
    """The model in a file, or a refusal that says what is wrong with it."""
    try:
        content = json.loads(text)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise BadData(f"{source} is no model: its format is not {FORMAT!r}. `mixbayes model` writes one.")
        return _model(content)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise BadData(f"{source} is damaged. Have `mixbayes model` write it again.") from None


def _model(content: Mapping[str, Any]) -> ReleasedModel:
    terms, privacy = content["terms"], content["privacy"]
    coins = Coins(tuple(terms["coins"]))
    agreed = Terms(hospitals=terms["hospitals"], max_rows_each=terms["max_rows_each"], coins=coins)
    layout = Layout(dictionary_from(content["dictionary"]), agreed)
    counts = _counts(layout, content["counts"])
    return ReleasedModel(content["federation"], content["round"], privacy["epsilon"], privacy["delta"], layout, counts)


def _counts(layout: Layout, content: Mapping[str, Any]) -> Words:
    found = np.empty(layout.size, np.int64)
    layout.class_counts(found)[:] = content["classes"]
    for attribute, block in layout.blocks(found):
        block[:] = np.array(content["attributes"][attribute.name], np.int64).reshape(block.shape)
    return found.view(np.uint64)
