"""What a simulation counts for its report: classes taken for others, and bytes by sender and receiver."""

from __future__ import annotations

import numpy as np
import pytest

from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.simulation.flows import contributions, conversations
from mixbayes.simulation.outcome import Flow, confusion
from mixbayes.simulation.stage import stage
from mixbayes.tables.columns import Columns
from mixbayes.transport.conversation import ASKING, TRAINING
from mixbayes.transport.meter import Moved

DICTIONARY = Dictionary(
    class_column="class", classes=("no", "yes"), attributes=(Nominal(name="colour", values=("blue", "red")),)
)
HOSPITALS = ["North Ward", "south"]
WORD = 8


def questions(*classes: str) -> Columns:
    return Columns.of(("class",), (np.array(classes, np.str_),), len(classes))


def test_rows_are_counted_by_true_class_and_label() -> None:
    asked = questions("no", "no", "no", "yes", "?", "other")
    assert confusion(DICTIONARY, asked, np.array([0, 1, 1, 1, 0, 1])) == [[1, 2], [0, 1]]


@pytest.mark.parametrize("asked", [questions("?", "other"), Columns.of(("colour",), (np.array(["red"]),), 1)])
def test_without_a_known_class_nothing_is_counted(asked: Columns) -> None:
    assert confusion(DICTIONARY, asked, np.zeros(asked.rows, np.int64)) is None


def test_every_hospital_sends_a_seed_and_its_masked_counts() -> None:
    with stage(HOSPITALS, DICTIONARY, "shares", False, 5.0) as set_up:
        sent = contributions(set_up)
        talked = conversations(
            set_up, {"mixer a": {TRAINING: Moved(7, 1), ASKING: Moved(5, 1)}, "North Ward": {ASKING: Moved(9, 1)}}
        )
    ends = [(flow.sender, flow.receiver) for flow in sent]
    assert ends == [(name, mixer) for name in HOSPITALS for mixer in ("mixer a", "mixer b")]
    cells = Layout(DICTIONARY).size * WORD
    seeds, masked = [flow.bytes for flow in sent[::2]], [flow.bytes for flow in sent[1::2]]
    assert all(0 < size < cells + 100 for size in (*seeds, *masked))
    assert all(size > cells for size in masked)
    assert talked == [
        Flow("mixer a", "mixer b", TRAINING, 7, True),
        Flow("mixer a", "mixer b", ASKING, 5, True),
        Flow("North Ward", "both mixers", ASKING, 9, True),
    ]


def test_two_hospitals_alone_converse() -> None:
    with stage(HOSPITALS, DICTIONARY, "shares", True, 5.0) as set_up:
        assert contributions(set_up) == []
        seen = {"North Ward": {TRAINING: Moved()}, "south": {TRAINING: Moved(7, 1)}}
        assert conversations(set_up, seen) == [Flow("south", "North Ward", TRAINING, 7, True)]
