"""What every hospital needs to ask: ids for its questions."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable

from mixbayes.node.disk.sealing import Seal
from mixbayes.node.questions import ID_BYTES, Kind, Question
from mixbayes.protocol.arrays import Values
from mixbayes.protocol.bayes.recipe import JOINT, Recipe

WARM_EVERY = 240.0
"""Seconds between two signs of life. A conversation that is silent for much longer is ended."""
Numbering = Callable[[bytes, int, Kind, Values], bytes]
"""Makes a question's id from the application's id, the part of its table, how the question is asked, and its rows."""


def numbering(seal: Seal) -> Numbering:
    """Under one id of an application the same rows get the same question id. Without an id, every question id is new.

    Mixers see the ids of questions, so they are made of the rows under a key that only this hospital has.
    """

    def numbered(id: bytes, part: int, kind: Kind, codes: Values) -> bytes:
        if not id:
            return fresh_id()
        about = b"question" + id + bytes([kind]) + part.to_bytes(8, "little")
        return seal.tag(about + codes.astype("<i8").tobytes())[:ID_BYTES]

    return numbered


def of_recipe(id: bytes, recipe: Recipe) -> bytes:
    """An application's id for one recipe: the same rows have another answer from another classifier."""
    if not id or recipe == JOINT:
        return id
    return hashlib.sha256(b"mixbayes recipe" + id + str(recipe).encode()).digest()[:ID_BYTES]


def renewed(id: bytes) -> bytes:
    """The id under which the rows of a question are asked about that broke off under this one: always the same."""
    return hashlib.sha256(b"mixbayes renewed" + id).digest()[:ID_BYTES]


def broken(question: Question) -> Question:
    """The announcement that this question broke off."""
    return Question(Kind.BROKEN, question.round, id=question.id)


def fresh_id() -> bytes:
    return secrets.token_bytes(ID_BYTES)
