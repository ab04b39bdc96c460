"""What nodes moved, by purpose."""

from __future__ import annotations

from mixbayes.simulation.flows import EVALUATING, by_purpose
from mixbayes.transport.conversation import ASKING, TRAINING
from mixbayes.transport.meter import Moved


def seen(training: int, asking: int) -> dict[str, dict[str, Moved]]:
    return {"mixer a": {TRAINING: Moved(training, training), ASKING: Moved(asking, asking)}}


def test_everything_that_moved_has_one_purpose() -> None:
    """In an evaluation classifiers are trained and asked; what is asked ahead of it is for questions."""
    found = by_purpose(seen(100, 10), seen(130, 15), seen(131, 21))["mixer a"]
    assert found == {TRAINING: Moved(100, 100), EVALUATING: Moved(35, 35), ASKING: Moved(17, 17)}


def test_nobody_evaluates() -> None:
    found = by_purpose(seen(100, 10), seen(100, 10), seen(100, 21))["mixer a"]
    assert found == {TRAINING: Moved(100, 100), EVALUATING: Moved(), ASKING: Moved(21, 21)}
