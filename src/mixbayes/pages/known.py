"""What is known of how often each recipe is right here: the last evaluation, kept in the node's state folder.

It holds exact totals of the hospital's own patients, and no patient: it is for this hospital alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mixbayes.transport.errors import BadState

FILE = "page-evaluation.json"
_PRIVATE = 0o600
_KEYS = {"own", "recipes", "rows", "best", "recommended", "why"}
_OF_RECIPE = {"recipe", "accuracy", "interval", "confusion"}
"""What this version reads of a document; another version may have written another one."""


@dataclass(frozen=True)
class Evaluated:
    """An evaluation, as `evaluate --json` prints it, the round of its classifiers, and when it was made."""

    document: Mapping[str, Any]
    round: int
    time: float

    def of(self, recipe: str) -> Mapping[str, Any] | None:
        """What was found of a recipe."""
        return next((one for one in every(self.document) if one["recipe"] == recipe), None)


def every(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What was found of each recipe."""
    return [document["own"], *document["recipes"]]


class Known:
    """The file of the last evaluation under an agreement."""

    def __init__(self, folder: Path, agreement: str) -> None:
        self._path, self._agreement = folder / FILE, agreement

    def keep(self, document: Mapping[str, Any], round: int, time: float) -> None:
        content = {"agreement": self._agreement, "round": round, "time": time, "evaluation": document}
        draft = self._path.with_suffix(".new")
        try:
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _PRIVATE), "w", encoding="utf-8") as file:
                json.dump(content, file)
            draft.replace(self._path)
        except OSError as error:
            raise BadState(f"The evaluation cannot be kept in {self._path.parent}: {error.strerror}.") from None

    def last(self) -> Evaluated | None:
        """Nothing if there is none, or if it was made under another agreement."""
        try:
            content = json.loads(self._path.read_text(encoding="utf-8"))
            if content["agreement"] != self._agreement:
                return None
            document = content["evaluation"]
            if not document.keys() >= _KEYS or not all(one.keys() >= _OF_RECIPE for one in every(document)):
                return None
            return Evaluated(document, int(content["round"]), float(content["time"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
