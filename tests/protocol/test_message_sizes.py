"""Which messages are sent, how long they are and in how many rounds depends on public sizes alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.several import Several
from mixbayes.protocol.bayes.classification import run_classification
from mixbayes.protocol.bayes.question import Form
from mixbayes.protocol.bayes.reference import fixed_model
from mixbayes.protocol.bayes.training import run_training
from mixbayes.protocol.packing import bits_bytes
from tests.protocol.adversary import LAYOUT, Tap, counts_of, share_model, tapped_memory
from tests.protocol.bayes.contributions import LISTS
from tests.protocol.pairs import layout_of, random_codes, seed

pytestmark = pytest.mark.usefixtures("remembered_group")


def sizes(taps: list[Tap]) -> list[tuple[list[tuple[str, int]], list[tuple[str, int]], int]]:
    """Per end of every conversation: what was said and heard, step by step with its length, and the rounds."""
    return [
        (
            [(step, raw.size) for step, raw in tap.said],
            [(step, raw.size) for step, raw in tap.heard],
            tap.traffic.rounds,
        )
        for tap in taps
    ]


SHAPES = {
    "two classes": layout_of(2, [2, 5], 1000),
    "five classes": layout_of(5, [1, 4, 3], 10**6, "1/2"),
    "with numbers": LAYOUT,
    "with lists": LISTS,
}


def tables_of(layout: Layout) -> dict[str, list[Words]]:
    """Different data under one dictionary: what hospitals could have counted."""
    nobody = np.zeros(layout.size, np.uint64)
    one_class = nobody.copy()
    layout.class_counts(one_class)[0] = 7
    same = nobody.copy()
    layout.class_counts(same)[:] = 12
    for a in range(len(layout.rows)):
        layout.block(one_class, a)[-1, 0] = 7  # all missing
        layout.block(same, a)[-1] = 12
    return {
        "some": [counts_of(layout, 50, 1), counts_of(layout, 20, 2)],
        "others": [counts_of(layout, 200, 3), nobody],
        "nobody": [nobody, nobody],
        "one class, all missing": [one_class, nobody],
        "ties": [same, same],
    }


def questions_of(layout: Layout) -> dict[str, Values]:
    cells = np.array([a.codes for a in layout.dictionary.attributes for _ in range(a.columns)])[:, None]
    missing = cells - 1
    some, others = (np.random.default_rng(number).integers(0, cells, (len(cells), 9)) for number in (4, 5))
    questions = {
        "some": some,
        "others": others,
        "all missing": np.repeat(missing, 9, axis=1),
        "all the same": np.zeros((len(cells), 9)),
    }
    return {name: codes.astype(np.int32) for name, codes in questions.items()}


def different(found: list[Any]) -> int:
    return sum(one != found[0] for one in found)


@pytest.mark.parametrize("shape", SHAPES)
def test_messages_and_rounds_of_training_depend_on_the_dictionary_alone(shape: str) -> None:
    layout, found = SHAPES[shape], []
    for number, tables in enumerate(tables_of(layout).values()):
        taps: list[Tap] = []
        with tapped_memory(taps):
            run_training(layout, tables, (seed(number), seed(number + 10), seed(number + 20)))
        found.append(sizes(taps))
    assert len(found[0]) == 4
    assert all(said or heard for said, heard, _ in found[0])
    assert different(found) == 0


@pytest.mark.parametrize("private", [False, True], ids=["public", "private"])
@pytest.mark.parametrize("shape", SHAPES)
def test_messages_and_rounds_of_classification_depend_on_public_sizes_alone(shape: str, private: bool) -> None:
    layout, found = SHAPES[shape], []
    for number, tables in enumerate(tables_of(layout).values()):
        whole = fixed_model(layout, sum(tables, np.zeros(layout.size, np.uint64)))
        models = share_model(whole, number)
        for codes in questions_of(layout).values():
            taps: list[Tap] = []
            with tapped_memory(taps):
                seeds = seed(number), seed(number + 10), seed(number + 20)
                run_classification(layout, models, codes, seeds, private=private)
            found.append(sizes(taps))
    assert len(found) == 20
    assert different(found) == 0


def test_sizes_do_depend_on_the_dictionary_and_on_the_number_of_rows() -> None:
    """So that the tests above could fail."""
    found = []
    for shape, rows in (("two classes", 3), ("two classes", 40), ("five classes", 3)):
        layout = SHAPES[shape]
        models = share_model(fixed_model(layout, tables_of(layout)["some"][0]), 1)
        taps: list[Tap] = []
        with tapped_memory(taps):
            codes = random_codes(layout, np.random.default_rng(1), rows)
            run_classification(layout, models, codes, (seed(1), seed(2), seed(3)))
        found.append(sizes(taps))
    assert different(found) == 2
    assert found[1] != found[2]


@pytest.mark.parametrize(("shape", "rows"), [("two classes", 1500), ("five classes", 3), ("with numbers", 40)])
def test_what_a_question_will_cost_is_known_before_it_is_asked(shape: str, rows: int) -> None:
    layout, taps = SHAPES[shape], list[Tap]()
    models = share_model(fixed_model(layout, tables_of(layout)["some"][0]), 1)
    with tapped_memory(taps):
        codes = random_codes(layout, np.random.default_rng(1), rows)
        run_classification(layout, models, codes, (seed(1), seed(2), seed(3)))
    hospital = [one for one in taps if any(step == "encrypted table" for step, _ in one.heard)]
    exchanged = [sum(raw.size for step, raw in one.said + one.heard if step != "label") for one in hospital]
    form = Form.of(layout, models[0].width)
    assert exchanged == [form.volume(rows)] * 2
    # What a key must withstand is what leaves a mixer about its rows.
    labels = [sum(raw.size for step, raw in one.heard if step == "label") for one in hospital]
    bits = [form.opened.of_a_row * (piece.stop - piece.start) for piece in form.pieces(rows)]
    assert labels == [sum(map(bits_bytes, bits))] * 2


@pytest.mark.parametrize("values", [1, 7, 40])
def test_a_value_of_a_list_costs_a_word_of_the_table_whoever_has_it(values: int) -> None:
    """And "there is a cell" costs one more. Shown, a row takes the bits of as many positions as values count."""
    rows, most, classes = 16, 3, 3
    attribute = Several(name="x", values=tuple(map(str, range(values))), most=most)
    names = tuple(f"class {c}" for c in range(classes))
    layout = Layout(Dictionary(class_column="class", classes=names, attributes=(attribute,), max_rows=200))
    model = fixed_model(layout, counts_of(layout, 50, 1))
    codes = attribute.read(np.array(["0", "none", "", "0"] * (rows // 4))).codes
    heard: dict[str, set[int]] = {}
    for private in (True, False):
        taps: list[Tap] = []
        with tapped_memory(taps):
            run_classification(layout, share_model(model, 1), codes, (seed(1), seed(2), seed(3)), private=private)
        for tap in taps:
            for step, raw in tap.heard:
                heard.setdefault(step, set()).add(raw.size)
    form = Form.of(layout, model.width)
    laid = form.polynomials(rows)
    coefficient = 3 * laid.parameters.limbs
    polynomial = coefficient * laid.parameters.dimension
    assert form.words == values + 1
    assert laid.rows_together >= rows
    assert heard["encrypted table"] == {32 + (-(-(values + 1) // laid.run) + 1) * polynomial}
    assert heard["masks of the other sums"] == {32}
    assert heard["masked sums"] == {polynomial + coefficient * rows * (classes - 1)}
    # The positions of values, "none" and "missing".
    assert heard["public instances"] == {bits_bytes(rows * min(values, most) * (values + 1).bit_length())}
