"""The protocol itself, all roles in memory."""

from __future__ import annotations

from collections.abc import Sequence

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.classification import run_classification
from mixbayes.protocol.bayes.training import run_training
from mixbayes.protocol.randomness import SEED_BYTES, Randomness
from mixbayes.simulation.outcome import Labels


def by_protocol(layout: Layout, vectors: Sequence[Words], codes: Values) -> Labels:
    """Trained and asked on shares; the rows asked about stay hidden."""
    models = run_training(layout, list(vectors), _seeds())
    return run_classification(layout, models, codes, _seeds())


def _seeds() -> tuple[bytes, bytes, bytes]:
    random = Randomness.from_system()
    return random.bytes(SEED_BYTES), random.bytes(SEED_BYTES), random.bytes(SEED_BYTES)
