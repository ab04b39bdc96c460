from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes import public_rows as rows
from mixbayes.protocol.bayes import question
from mixbayes.protocol.bayes.classification import answer_private, ask_private, run_classification
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.question import Form, TableHolder, TableReader
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model
from mixbayes.protocol.bayes.training import run_training
from mixbayes.protocol.bayes.two_hospitals import run_partner_classification
from mixbayes.protocol.computing_party import A, B, ComputingParty
from tests.protocol.adversary import TappedEnds, share_model
from tests.protocol.pairs import SEEDS, Pair, converse, layout_of, random_codes, random_counts, random_for, seed

ways = pytest.mark.parametrize("private", [False, True], ids=["public", "private"])
dealt = pytest.mark.usefixtures("dealt_base_transfers")
"""Where many problems are tried; the base transfers are those of the protocol in the other tests."""
Models = tuple[Model, Model]
NO_SHRINKING = [Phase.explicit, Phase.reuse, Phase.generate]
"""A problem is made from one seed, and running it takes long: a failure is shown as it was found."""


@dataclass
class Problem:
    """A table of log-probabilities, both parties' shares of it, and rows to classify."""

    layout: Layout
    joint: Model
    models: Models
    codes: Values

    @property
    def expected(self) -> list[int]:
        labels: list[int] = fixed_labels(self.layout, self.joint, self.codes).tolist()
        return labels


def shared_model(joint: Model, number: int) -> Models:
    """Fresh shares, as training would leave them."""
    return share_model(joint, number)


def with_ties(layout: Layout, vector: Words, rng: np.random.Generator) -> Words:
    """Some classes take over another one's counts, and tie with it for every row."""
    same = np.where(rng.random(layout.classes) < 0.4, rng.integers(layout.classes), np.arange(layout.classes))
    blocks = [layout.block(vector, a)[:, same].reshape(-1) for a in range(len(layout.rows))]
    return np.concatenate([layout.class_counts(vector)[same], *blocks])


def problem(
    number: int,
    classes: int,
    sizes: list[int],
    count: int,
    *,
    patients: int | None = None,
    smoothing: str = "1",
) -> Problem:
    rng = np.random.default_rng(number)
    layout = layout_of(classes, sizes, smoothing=smoothing)
    vector = random_counts(layout, rng, int(2 ** rng.uniform(0, 40)) if patients is None else patients)
    if rng.random() < 0.5:
        vector = with_ties(layout, vector, rng)
    joint = fixed_model(layout, vector)
    return Problem(layout, joint, shared_model(joint, number), random_codes(layout, rng, count))


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    sizes = st.one_of(
        st.lists(st.integers(2, 9), min_size=1, max_size=14),
        st.lists(st.integers(2, 3), min_size=15, max_size=100),
        st.lists(st.integers(2, 1000), min_size=1, max_size=2),
    )
    return problem(
        draw(SEEDS),
        draw(st.one_of(st.integers(2, 5), st.integers(2, 26))),
        draw(sizes),
        draw(st.integers(1, 60)),
        smoothing=draw(st.sampled_from(["1", "1", "1/2", "0.01"])),
    )


def seeds_for(number: int) -> tuple[bytes, bytes, bytes]:
    return seed(3 * number), seed(3 * number + 1), seed(3 * number + 2)


def asked_alone(p: Problem, asker: int, private: bool) -> list[int]:
    """Two hospitals alone, the asker being A or B."""
    seeds = seed(1), seed(2)
    labels = run_partner_classification(p.layout, p.models, p.codes, seeds, private=private, asker=asker)
    return labels.tolist()


@ways
@dealt
@given(problems(), SEEDS)
@settings(max_examples=70, phases=NO_SHRINKING)
def test_labels_are_those_of_the_pooled_classifier(private: bool, p: Problem, number: int) -> None:
    labels = run_classification(p.layout, p.models, p.codes, seeds_for(number), private=private)
    assert labels.tolist() == p.expected


@ways
@pytest.mark.parametrize("asker", [A, B], ids=["A asks", "B asks"])
@dealt
@given(p=problems())
@settings(max_examples=30, phases=NO_SHRINKING)
def test_two_hospitals_alone_get_the_same_labels(private: bool, asker: int, p: Problem) -> None:
    assert asked_alone(p, asker, private) == p.expected


@ways
@pytest.mark.parametrize("number", range(6))
def test_many_rows(private: bool, number: int) -> None:
    p = problem(number, 2 + number, [10] * 13, 1000)
    labels = run_classification(p.layout, p.models, p.codes, seeds_for(number), private=private)
    assert labels.tolist() == p.expected


@ways
@pytest.mark.parametrize(
    ("classes", "sizes", "count"),
    [(26, [1000], 10), (2, [1000] * 100, 2), (5, [2] * 100, 20), (26, [40] * 100, 2), (64, [2, 1], 10)],
)
def test_large_dictionaries_and_2_40_patients(private: bool, classes: int, sizes: list[int], count: int) -> None:
    p = problem(1, classes, sizes, count, patients=2**40)
    labels = run_classification(p.layout, p.models, p.codes, seeds_for(1), private=private)
    assert labels.tolist() == p.expected


@ways
@pytest.mark.parametrize("asker", [A, B])
def test_two_hospitals_alone_with_a_large_dictionary(private: bool, asker: int) -> None:
    p = problem(1, 3, [1000] * 30, 3, patients=2**40)
    assert asked_alone(p, asker, private) == p.expected


@ways
@pytest.mark.parametrize("count", [0, 1, 4, 5, 6, 23])
def test_rows_in_several_pieces(private: bool, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last piece shorter, of one row, or none."""
    monkeypatch.setattr(question, "_MOST_ROWS", 5)
    monkeypatch.setattr(rows, "_PIECE", 5)
    p = problem(count, 3, [4, 5], count)
    labels = run_classification(p.layout, p.models, p.codes, seeds_for(1), private=private)
    assert labels.tolist() == p.expected
    assert asked_alone(p, A, private) == p.expected


@pytest.mark.parametrize("count", [3, 12])
def test_only_a_question_of_one_piece_is_asked_of_a_table_that_stands(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(question, "_MOST_ROWS", 5)
    p, pair = problem(1, 3, [4, 5], count), Pair()
    ends = [TappedEnds("party va", mixer) for mixer in ("mixer a", "mixer b")]

    def mixer(me: ComputingParty) -> None:
        holder = TableHolder(ends[me.role].second, random_for(1 + me.role))
        for _ in range(2):
            answer_private(me, holder, p.layout, p.models[me.role], count, random_for(3), about=b"model")

    def hospital() -> list[Labels]:
        mixers = ends[A].first, ends[B].first
        reader = TableReader(mixers, random_for(4))
        return [ask_private(mixers, p.layout, p.joint.width, p.codes, reader, about=b"model") for _ in range(2)]

    found, _, _ = converse([*ends, pair.talk, pair.ahead], hospital, lambda: mixer(pair.a), lambda: mixer(pair.b))
    assert [labels.tolist() for labels in found] == [p.expected] * 2
    tables = sum(step == "encrypted table" for step, _ in ends[A].first.heard)
    assert tables == (1 if count <= 5 else 2 * 3)


@ways
def test_only_classes_with_patients_are_named(private: bool) -> None:
    layout = layout_of(6, [3, 3])
    rng = np.random.default_rng(1)
    vector = random_counts(layout, rng, 1000, empty=0)
    for block in [layout.class_counts(vector), layout.block(vector, 0), layout.block(vector, 1)]:
        block[..., [0, 2, 5]] = 0
    joint, codes = fixed_model(layout, vector), random_codes(layout, rng, 200)
    labels = run_classification(layout, shared_model(joint, 1), codes, seeds_for(1), private=private)
    assert set(labels.tolist()) <= {1, 3, 4}


@ways
def test_every_one_of_64_classes_can_be_named(private: bool) -> None:
    layout = layout_of(64, [64])
    vector = np.zeros(layout.size, np.uint64)
    layout.class_counts(vector)[:] = 1000
    layout.block(vector, 0)[:64] = np.eye(64) * 1000
    codes = np.arange(64, dtype=np.int32)[None]
    models = shared_model(fixed_model(layout, vector), 1)
    labels = run_classification(layout, models, codes, seeds_for(1), private=private)
    assert labels.tolist() == list(range(64))


@ways
def test_all_alike_is_the_first_class_with_patients(private: bool) -> None:
    layout = layout_of(5, [3])
    vector = np.zeros(layout.size, np.uint64)
    layout.class_counts(vector)[2:] = 9
    layout.block(vector, 0)[:, 2:] = [[4], [3], [2], [0]]
    codes = np.array([[0, 1, 2, 3]], np.int32)
    models = shared_model(fixed_model(layout, vector), 1)
    labels = run_classification(layout, models, codes, seeds_for(1), private=private)
    assert labels.tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize("number", range(4))
def test_from_counts_of_hospitals_to_labels(number: int) -> None:
    """Training and classification one after the other, public and private alike."""
    rng = np.random.default_rng(number)
    layout = layout_of(2 + number, [3, 10, 2], smoothing="1/2")
    tables = [random_counts(layout, rng, int(rows)) for rows in rng.multinomial(10**6, [0.2, 0.3, 0.5])]
    models = run_training(layout, tables, seeds_for(number))
    codes = random_codes(layout, rng, 100)
    expected = fixed_labels(layout, fixed_model(layout, np.array(tables).sum(axis=0)), codes).tolist()
    for private in (False, True):
        labels = run_classification(layout, models, codes, seeds_for(number + 1), private=private)
        assert labels.tolist() == expected


@given(st.lists(st.integers(1, 1001), min_size=1, max_size=100), st.integers(2, 64), st.integers(0, 20000))
def test_pieces_are_all_rows_in_order_and_none_is_empty(entries: list[int], classes: int, rows: int) -> None:
    layout = layout_of(classes, [max(1, words - 1) for words in entries])
    pieces = list(Form.of(layout, 46).pieces(rows))
    assert [row for piece in pieces for row in range(rows)[piece]] == list(range(rows))
    assert all(piece.stop > piece.start for piece in pieces)
