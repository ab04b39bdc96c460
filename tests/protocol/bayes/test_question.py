"""The private question itself: shares of scores, tables that stand for several questions, and what leaves when."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Values, Words, mask
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes import question
from mixbayes.protocol.bayes.model import Model, scores
from mixbayes.protocol.bayes.question import (
    Form,
    Offered,
    Standing,
    TableHolder,
    TableReader,
    receive_masks,
    receive_sums,
)
from mixbayes.protocol.bayes.reference import fixed_model
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import PeerSilent
from mixbayes.protocol.lattice.encryption import OpenedBits
from tests.protocol.adversary import LAYOUT, TappedEnds, counts_of, share_model
from tests.protocol.bayes.contributions import LISTS
from tests.protocol.pairs import Ends, converse, layout_of, random_for

NOMINAL = layout_of(3, [4, 5], max_rows=200)
SHAPES = {"nominal": NOMINAL, "numbers": LAYOUT, "lists": LISTS, "64 classes": layout_of(64, [3], max_rows=200)}
Models = tuple[Model, Model]


def models_of(layout: Layout, number: int = 1) -> tuple[Model, Models]:
    """In the clear, and both mixers' shares."""
    whole = fixed_model(layout, counts_of(layout, 100, number))
    return whole, share_model(whole, number)


def rows_of(layout: Layout, rows: int, number: int = 1) -> Values:
    rng = np.random.default_rng(number)
    columns = [rng.integers(0, one.codes, (one.columns, rows)) for one in layout.dictionary.attributes]
    return np.concatenate(columns).astype(np.int32)


@dataclass
class Conversation:
    """A hospital with both mixers: each question's scores must be right, and every table that is sent is counted."""

    layout: Layout
    ends: list[TappedEnds] = field(default_factory=lambda: [TappedEnds("party va", f"mixer {m}") for m in "ab"])

    def __post_init__(self) -> None:
        self.reader = TableReader([one.first for one in self.ends], random_for(1))
        self.holders = [TableHolder(one.second, random_for(2 + at)) for at, one in enumerate(self.ends)]

    def ask(self, rows: int, about: bytes = b"", number: int = 1) -> int:
        """How many tables each mixer sent for these rows."""
        whole, models = models_of(self.layout, number)
        form, codes = Form.of(self.layout, whole.width), rows_of(self.layout, rows, rows)
        before = self.tables()

        def answer(at: int) -> Words:
            asked = [(models[at], piece.stop - piece.start) for piece in form.pieces(rows)]
            return np.concatenate(list(self.holders[at].answered(form, asked, about)), axis=1)

        def hospital() -> None:
            pieces = list(form.pieces(rows))
            for piece in pieces:
                self.reader.ask_both(form, codes[:, piece], about if len(pieces) == 1 else b"")

        _, of_a, of_b = converse([*self.ends], hospital, lambda: answer(0), lambda: answer(1))
        found = (of_a + of_b) & mask(whole.width)
        assert np.array_equal(found, scores(self.layout, whole, codes) & mask(whole.width))
        after = self.tables()
        assert after[0] - before[0] == after[1] - before[1]
        return after[0] - before[0]

    def tables(self) -> list[int]:
        return [sum(step == "encrypted table" for step, _ in one.first.heard) for one in self.ends]


@pytest.mark.parametrize("rows", [1, 3, 70])
@pytest.mark.parametrize("shape", SHAPES)
def test_shares_add_up_to_the_scores(shape: str, rows: int) -> None:
    conversation = Conversation(SHAPES[shape])
    assert conversation.ask(rows) == 1
    assert conversation.ask(rows, number=2) == 1


def test_rows_of_several_pieces_have_a_table_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question, "_MOST_ROWS", 4)
    assert Conversation(NOMINAL).ask(10, b"model") == 3


def keys_that_serve(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Form, "standing_rows", property(lambda form: rows))


def test_one_table_serves_as_many_rows_as_its_key_and_then_there_is_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    keys_that_serve(10, monkeypatch)
    conversation = Conversation(NOMINAL)
    assert [conversation.ask(rows, b"model") for rows in (3, 3, 3, 1, 1, 8, 2, 1)] == [1, 0, 0, 0, 1, 0, 1, 0]


def test_two_models_each_have_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    keys_that_serve(4, monkeypatch)
    conversation = Conversation(NOMINAL)
    asked = [(number, conversation.ask(1, b"model %d" % number, number)) for number in (1, 2, 1, 2, 1, 1, 1, 2)]
    assert [sent for number, sent in asked if number == 1] == [1, 0, 0, 0, 1]
    assert [sent for number, sent in asked if number == 2] == [1, 0, 0]


def test_of_many_models_those_that_were_not_asked_for_longest_are_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question, "_MOST_STANDING", 2)
    conversation = Conversation(NOMINAL)
    assert [conversation.ask(1, b"%d" % number, number) for number in (1, 2, 1, 3, 1, 2, 3)] == [1, 1, 0, 1, 0, 1, 1]


def test_a_question_that_is_not_about_a_named_model_has_its_own_table() -> None:
    conversation = Conversation(NOMINAL)
    assert [conversation.ask(1, about) for about in (b"model", b"", b"model", b"")] == [1, 1, 0, 1]


def test_a_question_of_more_than_one_product_has_its_own_key_and_leaves_the_standing_one_alone() -> None:
    conversation, form = Conversation(NOMINAL), Form.of(NOMINAL, models_of(NOMINAL)[0].width)
    many = form.standing.rows_together + 1
    assert [conversation.ask(rows, b"model") for rows in (1, many, 1, many - 1, many)] == [1, 1, 0, 0, 1]


def test_no_key_serves_more_rows_than_it_may_in_tables_of_few_words() -> None:
    """There a product has room for more rows than a key."""
    layout = layout_of(2, [2], max_rows=200)
    form = Form.of(layout, models_of(layout)[0].width)
    most = form.standing_rows
    assert form.standing.rows_together > most == form.standing.parameters.rows(OpenedBits(2))
    conversation = Conversation(layout)
    assert [conversation.ask(rows, b"model") for rows in (1, most + 1, most - 1, 1)] == [1, 1, 0, 1]


@given(st.integers(1, 64), st.lists(st.integers(2, 40), min_size=1, max_size=9), st.integers(1, 5000))
def test_a_standing_table_has_room_for_the_rows_that_are_asked_of_it(classes: int, sizes: list[int], rows: int) -> None:
    form = Form.of(layout_of(classes, sizes), 46) if classes > 1 else Form.of(layout_of(2, sizes), 60)
    if form.stands(rows, b"model"):
        assert rows <= form.standing.rows_together
        assert rows <= form.standing.parameters.rows(OpenedBits(form.classes))
    assert not form.stands(rows, b"")
    assert form.stands(1, b"model")


questions_asked = st.lists(st.tuples(st.integers(0, 11), st.integers(1, 30)), max_size=80)


@given(questions_asked)
@settings(max_examples=200)
def test_every_key_serves_at_most_its_rows_and_both_ends_count_alike(asked: list[tuple[int, int]]) -> None:
    """Whatever is asked: mixer and hospital agree on whether a table is there, and it is the same one."""
    ends, served = (Standing[int](), Standing[int]()), dict[int, int]()
    for at, (model, rows) in enumerate(asked):
        about, found = b"%d" % model, [end.take(b"%d" % model, rows) for end in ends]
        assert found[0] == found[1]
        table = at if found[0] is None else found[0]
        if found[0] is None:
            for end in ends:
                end.put(about, table, 30 - rows)
        served[table] = served.get(table, 0) + rows
        assert asked[table][0] == model
    assert max(served.values(), default=0) <= 30
    assert all(len(end._kept) <= question._MOST_STANDING for end in ends)


# One end alone


def offer(holder: TableHolder, form: Form, model: Model, rows: int) -> Offered:
    (offered,) = holder.offered(form, [(model, rows)], b"model")
    return offered


def asked_of(ends: Ends, reader: TableReader, form: Form, codes: Values, offered: Offered) -> Words:
    """What the holder makes of these rows under what it offered."""
    share = reader.ask_partner(form, codes, b"model")
    return (receive_sums(ends.second, offered) - offered.prior[:, None] + share) & mask(form.width)


def test_after_a_renewal_sums_of_the_old_table_do_not_decrypt(monkeypatch: pytest.MonkeyPatch) -> None:
    keys_that_serve(4, monkeypatch)
    whole, (model, _) = models_of(NOMINAL)
    form, codes, ends = Form.of(NOMINAL, whole.width), rows_of(NOMINAL, 2), Ends("party va", "mixer a")
    holder, reader = TableHolder(ends.second, random_for(3)), TableReader([ends.first], random_for(4))
    first = offer(holder, form, model, 2)
    right = asked_of(ends, reader, form, codes, first)
    second = offer(holder, form, model, 2)
    assert second.key is first.key
    old = reader._standing._kept[b"model"][0]
    assert np.array_equal(asked_of(ends, reader, form, codes, second), right)
    third = offer(holder, form, model, 2)
    assert third.key is not first.key
    reader._standing.put(b"model", old, 2)
    assert not (asked_of(ends, reader, form, codes, third) == right).any()


def tables_there(channel: Channel, form: Form, rows: int) -> int:
    """How many tables lie ready to be read."""
    size, found = 32 + form.polynomials(rows).table_bytes, 0
    while True:
        try:
            channel.receive("encrypted table", size)
        except PeerSilent:
            return found
        found += 1


@pytest.mark.parametrize(("taken", "there"), [(1, 2), (2, 3), (3, 3)])
def test_the_table_of_the_next_piece_leaves_before_the_sums_of_this_one_are_awaited(taken: int, there: int) -> None:
    _, (model, _) = models_of(NOMINAL)
    form, ends = Form.of(NOMINAL, model.width), Ends("party va", "mixer a", deadline=0.05)
    offers = TableHolder(ends.second, random_for(3)).offered(form, [(model, 5)] * 3)
    for _ in range(taken):
        next(offers)
    assert tables_there(ends.first, form, 5) == there


def test_a_mixer_gets_the_masks_of_the_other_ones_sums() -> None:
    """Its own would show it the sums of its table."""
    whole, models = models_of(NOMINAL)
    form, codes = Form.of(NOMINAL, whole.width), np.array([[0, 1, 3], [2, 0, 4]], np.int32)
    ends = [Ends("party va", "mixer a"), Ends("party va", "mixer b")]
    offers = [offer(TableHolder(end.second, random_for(at)), form, models[at], 3) for at, end in enumerate(ends)]
    TableReader([end.first for end in ends], random_for(7)).ask_both(form, codes, b"model")
    masks = [receive_masks(end.second, one) for end, one in zip(ends, offers, strict=True)]
    sums = [receive_sums(end.second, one) for end, one in zip(ends, offers, strict=True)]
    for own, other in ((0, 1), (1, 0)):
        expected = scores(NOMINAL, models[own], codes)[1:] & mask(form.width)
        assert np.array_equal((sums[own] + masks[other]) & mask(form.width), expected)
        assert not ((sums[own] + masks[own]) & mask(form.width) == expected).any()


def test_every_number_of_rows_of_one_conversation_takes_fresh_masks() -> None:
    whole, (model, _) = models_of(NOMINAL)
    form, codes, ends = Form.of(NOMINAL, whole.width), rows_of(NOMINAL, 3), Ends("party va", "mixer a")
    holder, reader = TableHolder(ends.second, random_for(3)), TableReader([ends.first], random_for(4))
    seen = []
    for _ in range(3):
        offered = offer(holder, form, model, 3)
        reader.ask_partner(form, codes, b"model")
        seen.append(receive_sums(ends.second, offered))
    assert len(np.unique(np.stack(seen))) == 3 * 2 * 3
