"""The states of a round at a computing party, the events that change them, and the events that each state refuses.

All of it is one table, which knows no database and no other node:

- A round is `collecting` until its set of contributions is `sealed`. It is `trained` when this party has its share of a
  model on disk, and `serving` when the other party has the same model on disk. It ends as `closed`, or as `failed`.
- The table has a row for every event and a column for every state. A cell holds the next state, or the error with which
  the event is refused. An event that changes nothing, such as a request that arrives twice, leads back to the state.

`record.py` applies the table to the record of a round, and `rounds.py` keeps that record on disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, StrEnum, auto

from mixbayes.protocol.errors import MixbayesError
from mixbayes.transport.errors import RefusedByPolicy, RoundFailed, RoundOver, TooEarly


class State(StrEnum):
    """Where a round stands. The texts are on disk and on the wire."""

    COLLECTING = "collecting"
    SEALED = "sealed"
    TRAINED = "trained"
    SERVING = "serving"
    CLOSED = "closed"
    FAILED = "failed"


COLLECTING, SEALED, TRAINED, SERVING, CLOSED, FAILED = State
OVER = (CLOSED, FAILED)
"""The states in which a round ends."""
WITH_SET = (SEALED, TRAINED, SERVING)
"""The states that have a sealed set and may still answer questions."""


class Event(Enum):
    """What can happen to a round."""

    CONTRIBUTE = auto()
    """A hospital's first contribution arrives. (One that arrives again is recognised before.)"""
    PROPOSE = auto()
    """The leader proposes a set, and asks which one this party holds."""
    SEAL = auto()
    """The set is to be fixed."""
    SEAL_SAME = auto()
    """The set is to be fixed that is fixed already."""
    TRAIN = auto()
    """The contributions of the sealed set are read for a training."""
    KEEP_MODEL = auto()
    """A training has ended with a share of a model."""
    CONFIRM = auto()
    """The other party has the model on disk that this party has."""
    CONFIRM_OTHER = auto()
    """The other party has the model of a training of which this party has none."""
    FORGET_MODEL = auto()
    """The other party does not have the model of this party."""
    ANSWER = auto()
    """A question is charged, or its answer is kept."""
    FAIL = auto()
    """One of the two parties gives the round up."""
    CLOSE = auto()
    """A hospital or the other party ends this round."""
    LEAVE_BEHIND = auto()
    """The other party is at a later round, or another agreement takes the place of this one."""
    OPEN_NEXT = auto()
    """The round after this one is to begin."""


Cell = State | type[MixbayesError]

_EARLY, _OVER, _LOST, _BUSY = TooEarly, RoundOver, RoundFailed, RefusedByPolicy
# fmt: off
_ROWS: Mapping[Event, tuple[Cell, Cell, Cell, Cell, Cell, Cell]] = {
    #                     collecting  sealed   trained  serving  closed       failed
    Event.CONTRIBUTE:    (COLLECTING, _OVER,   _OVER,   _OVER,   _OVER,       _LOST),
    Event.PROPOSE:       (COLLECTING, SEALED,  TRAINED, SERVING, _OVER,       _LOST),
    Event.SEAL:          (SEALED,     _OVER,   _OVER,   _OVER,   _OVER,       _LOST),
    Event.SEAL_SAME:     (SEALED,     SEALED,  TRAINED, SERVING, _OVER,       _LOST),
    Event.TRAIN:         (_EARLY,     SEALED,  TRAINED, _OVER,   _OVER,       _LOST),
    Event.KEEP_MODEL:    (_EARLY,     TRAINED, TRAINED, _OVER,   _OVER,       _LOST),
    Event.CONFIRM:       (_EARLY,     SEALED,  SERVING, SERVING, _OVER,       _LOST),
    Event.CONFIRM_OTHER: (_EARLY,     SEALED,  TRAINED, SERVING, _OVER,       _LOST),
    Event.FORGET_MODEL:  (_EARLY,     SEALED,  SEALED,  _OVER,   _OVER,       _LOST),
    Event.ANSWER:        (_EARLY,     _OVER,   _OVER,   SERVING, _OVER,       _LOST),
    Event.FAIL:          (FAILED,     FAILED,  FAILED,  FAILED,  CLOSED,      FAILED),
    Event.CLOSE:         (CLOSED,     _OVER,   _OVER,   CLOSED,  CLOSED,      FAILED),
    Event.LEAVE_BEHIND:  (CLOSED,     CLOSED,  CLOSED,  CLOSED,  CLOSED,      FAILED),
    Event.OPEN_NEXT:     (_BUSY,      _BUSY,   _BUSY,   _BUSY,   COLLECTING,  COLLECTING),
}
# fmt: on
TABLE: Mapping[Event, Mapping[State, Cell]] = {
    event: dict(zip(State, cells, strict=True)) for event, cells in _ROWS.items()
}
