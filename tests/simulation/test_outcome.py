"""How a simulation's labels are compared with pooling and with the truth."""

import json
from dataclasses import replace

import numpy as np
import pytest

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.simulation.by_recipe import Answered, WithRecipe
from mixbayes.simulation.outcome import Accuracy, Hospital, Outcome, Rounds, Seconds, Volumes, compare, pooled_labels
from mixbayes.tables.changed import Changed
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted
from mixbayes.tables.encoding import encode_query

NO, YES = 0, 1
LAYOUT = Layout(
    Dictionary(
        class_column="class", classes=("no", "yes"), attributes=(Nominal(name="colour", values=("blue", "red")),)
    )
)


def table(*rows: tuple[str, str]) -> Columns:
    """Rows of a colour and a class."""
    cells = (
        tuple(np.array(column, np.str_) for column in zip(*rows, strict=True)) if rows else (np.array([], np.str_),) * 2
    )
    return Columns.of(("colour", "class"), cells, len(rows))


def vector(*rows: tuple[str, str]) -> Words:
    return counted(LAYOUT, table(*rows)).vector


def codes_of(questions: Columns) -> Values:
    return encode_query(LAYOUT.dictionary, questions).codes


BLUE_IS_NO = vector(*[("blue", "no"), ("red", "yes")] * 3)
BLUE_IS_YES = vector(*[("blue", "yes"), ("red", "no")])
"""Even two of these are outvoted when pooled with the one above."""
HOSPITALS = {"east": BLUE_IS_YES, "north": BLUE_IS_NO, "south": BLUE_IS_YES}
UNPROTECTED = HOSPITALS | {"south": BLUE_IS_NO}
"""Before south protected its table."""
NOBODY = dict.fromkeys(HOSPITALS)


def compared(questions: Columns, labels: list[int]) -> tuple[float | None, Accuracy]:
    return compare(LAYOUT, HOSPITALS, UNPROTECTED, codes_of(questions), questions, np.array(labels, np.int64))


def test_pooled_labels_are_of_the_sum_of_the_counts() -> None:
    codes = codes_of(table(("blue", "no"), ("red", "no")))
    assert pooled_labels(LAYOUT, [BLUE_IS_NO], codes).tolist() == [NO, YES]
    assert pooled_labels(LAYOUT, [BLUE_IS_YES], codes).tolist() == [YES, NO]
    assert pooled_labels(LAYOUT, [BLUE_IS_NO, BLUE_IS_YES], codes).tolist() == [NO, YES]
    assert pooled_labels(LAYOUT, [BLUE_IS_YES] * 4 + [BLUE_IS_NO], codes).tolist() == [YES, NO]


def test_class_without_rows_never_wins() -> None:
    only_yes = vector(("red", "yes"))
    assert pooled_labels(LAYOUT, [only_yes], codes_of(table(("blue", "no"), ("red", "no")))).tolist() == [YES, YES]


def test_agreement_and_accuracies() -> None:
    questions = table(("blue", "no"), ("blue", "no"), ("blue", "yes"), ("red", "yes"))
    agreement, accuracy = compared(questions, [NO, YES, YES, NO])
    assert agreement == 0.25  # pooled: no, no, no, yes
    alone: dict[str, float | None] = {"east": 0.25, "north": 0.75, "south": 0.75}
    assert accuracy == Accuracy(joint=0.5, pooled=0.75, pooled_unprotected=0.75, alone=alone)


def test_no_question() -> None:
    agreement, accuracy = compared(table(), [])
    assert agreement is None
    assert accuracy == Accuracy(None, None, None, NOBODY)


def test_questions_without_a_class_column() -> None:
    questions = Columns.of(("colour",), (np.array(["blue", "red"]),), 2)
    agreement, accuracy = compared(questions, [NO, NO])
    assert agreement == 0.5
    assert accuracy == Accuracy(None, None, None, NOBODY)


@pytest.mark.parametrize("nothing", ["", "?"])
def test_questions_whose_classes_are_all_missing(nothing: str) -> None:
    agreement, accuracy = compared(table(("blue", nothing), ("red", nothing)), [NO, YES])
    assert agreement == 1
    assert accuracy == Accuracy(None, None, None, NOBODY)


def test_rows_of_unknown_class_count_for_no_accuracy() -> None:
    questions = table(("blue", "no"), ("blue", "?"), ("red", "no"), ("red", ""))
    _, accuracy = compared(questions, [NO, NO, YES, YES])
    assert accuracy == Accuracy(joint=0.5, pooled=0.5, pooled_unprotected=0.5, alone=dict.fromkeys(HOSPITALS, 0.5))


def outcome() -> Outcome:
    return Outcome(
        class_column="ill",
        hospitals=[
            Hospital("north", 6),
            Hospital("south", 2, "sap:p=1", "one suppressed", 1, 3, Changed(6, 2, 0.25, 0.5)),
        ],
        protocol="shares",
        classes=["no", "yes"],
        instances=1,
        agreement_with_pooled=1.0,
        accuracy=Accuracy(None, None, None, {"north": None, "south": 0.5}),
        seconds=Seconds(0.5, 0.25, 1.0, 2.0),
        bytes=Volumes(1, 2, 3),
        rounds=Rounds(4, 5),
        labels=["yes"],
    )


def test_document_has_what_was_asked_for_besides() -> None:
    plain = outcome()
    answered = Answered("joint", 1, {"own": None}, {"own": None}, None)
    asked = replace(
        plain,
        seconds=replace(plain.seconds, evaluate=3.0),
        bytes=replace(plain.bytes, evaluation=7),
        rounds=replace(plain.rounds, evaluation=8),
        evaluation={"north": {"rows": 6}},
        recipe=WithRecipe(**vars(answered), hospitals={"north": answered}),
    ).document()
    assert json.loads(json.dumps(asked, allow_nan=False)) == asked
    added = {key: value for key, value in asked.items() if plain.document().get(key) != value}
    of_one = {"recipe": "joint", "rows": 1, "accuracy": {"own": None}, "confusion": {"own": None}, "unsure": None}
    assert added == {
        "evaluation": {"north": {"rows": 6}},
        "recipe": of_one | {"hospitals": {"north": of_one}},
        "seconds": plain.document()["seconds"] | {"evaluate": 3.0},
        "bytes": plain.document()["bytes"] | {"evaluation": 7},
        "rounds": plain.document()["rounds"] | {"evaluation": 8},
    }


def test_document_is_the_interfaces_and_has_no_label_of_a_row() -> None:
    document = outcome().document()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document == {
        "class_column": "ill",
        "hospitals": [
            {
                "name": "north",
                "rows": 6,
                "protect": None,
                "guarantee": None,
                "unlabelled": 0,
                "coarsened": 0,
                "changed": None,
            },
            {
                "name": "south",
                "rows": 2,
                "protect": "sap:p=1",
                "guarantee": "one suppressed",
                "unlabelled": 1,
                "coarsened": 3,
                "changed": {"numbers": 6, "differing": 2, "median": 0.25, "largest": 0.5},
            },
        ],
        "protocol": "shares",
        "classes": ["no", "yes"],
        "instances": 1,
        "agreement_with_pooled": 1.0,
        "accuracy": {
            "joint": None,
            "pooled": None,
            "pooled_unprotected": None,
            "alone": {"north": None, "south": 0.5},
        },
        "seconds": {"setup": 0.5, "contribute": 0.25, "train": 1.0, "classify": 2.0},
        "bytes": {"hospitals_to_mixers": 1, "training": 2, "classification": 3},
        "rounds": {"training": 4, "classification": 5},
        "privacy": None,
    }
