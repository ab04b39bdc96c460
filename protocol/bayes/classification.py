"""Classification: from shares of θ and instances to labels, for the hospital that asked and nobody else.

| | privately | publicly |
|---|---|---|
| hospital → mixers | its choices, masked | the rows |
| mixer → hospital | tables plus ρ | |
| hospital → mixers | A's sums to B, and B's to A | |
| mixer ↔ mixer | comparison | digests of the rows, comparison |
| mixer → hospital | its blinded share of the label | the same |

Rows are worked off in pieces of a public size. An asker is one piece ahead of the labels it waits for, so that the
mixers compare while it prepares the next piece.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Values
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes import label
from mixbayes.protocol.bayes import public_rows as rows
from mixbayes.protocol.bayes.label import Labels, Release, joined
from mixbayes.protocol.bayes.model import Model, scores
from mixbayes.protocol.bayes.question import Form, Line, Selection, answer, hand_over, take_over
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pool import ReceivedPool, SentPool, connect_answerer, connect_asker, connect_pair


def answer_public(
    me: ComputingParty,
    asker: Channel,
    layout: Layout,
    model: Model,
    count: int,
    blinding: Randomness,
    release: Release | None = None,
) -> None:
    """A mixer's part for rows that the hospital shows."""
    release = release or partial(label.send, asker)
    for piece in rows.pieces(count):
        shown = rows.receive(asker, layout, piece.stop - piece.start)
        refuse_others = rows.start_comparing(me, asker, shown)
        share = label.decided(me, scores(layout, model, shown.codes), model)
        refuse_others()
        release(label.blinded(share, model.answers, blinding))


def ask_public(
    mixers: tuple[Channel, Channel], layout: Layout, width: int, codes: Values, answers: int | None = None
) -> Labels:
    """The hospital's part: show the rows to both mixers. There are as many answers as classes, if not said."""
    labels = _Waiting(mixers, answers or layout.classes)
    for piece in rows.pieces(codes.shape[1]):
        for mixer in mixers:
            rows.send(mixer, layout, codes[:, piece])
        labels.collect()
        labels.expect(piece.stop - piece.start)
    return labels.all()


def answer_private(
    me: ComputingParty,
    asker: Line[SentPool],
    layout: Layout,
    model: Model,
    count: int,
    blinding: Randomness,
    release: Release | None = None,
) -> None:
    """A mixer's part for rows that it does not see."""
    form, release = Form.of(layout, model.width), release or partial(label.send, asker.channel)
    for piece in form.pieces(count):
        hidden = answer(form, asker, model, me.random, piece.stop - piece.start)
        share = take_over(asker.channel, form, model, hidden)
        release(label.blinded(label.decided(me, share, model), model.answers, blinding))


def ask_private(
    mixers: tuple[Line[ReceivedPool], Line[ReceivedPool]],
    layout: Layout,
    width: int,
    codes: Values,
    answers: int | None = None,
) -> Labels:
    """The hospital's part: choose obliviously from both mixers' tables, and give each the other's sums."""
    form = Form.of(layout, width)
    labels = _Waiting((mixers[0].channel, mixers[1].channel), answers or layout.classes)
    pieces = [codes[:, piece] for piece in form.pieces(codes.shape[1])]
    for compared in carry_over(mixers, form, pieces, labels.collect):
        labels.expect(compared)
    return labels.all()


def carry_over(
    mixers: tuple[Line[ReceivedPool], Line[ReceivedPool]],
    form: Form,
    pieces: Sequence[Values],
    meanwhile: Callable[[], None] = lambda: None,
) -> Iterator[int]:
    """Piece by piece, give each mixer the sums of the other one; yields how many rows both can now compare.

    `meanwhile` is called while the mixers make their tables.
    """
    questions = [[Selection(form, mixer, codes) for mixer in mixers] for codes in pieces]
    for (to_a, to_b), following in zip(questions, [*questions[1:], []], strict=False):
        to_a.prepare()
        to_b.prepare()
        at_a, at_b = to_a.announce(), to_b.announce()
        meanwhile()
        for question in following:
            question.prepare()
        from_a, from_b = at_a.receive_and_add_up(), at_b.receive_and_add_up()
        hand_over(mixers[1].channel, from_a, form.width)
        hand_over(mixers[0].channel, from_b, form.width)
        yield to_a.rows


def fetch(
    mixers: tuple[Channel, Channel],
    layout: Layout,
    width: int,
    count: int,
    *,
    private: bool,
    answers: int | None = None,
) -> Labels:
    """The hospital's part when both mixers still have what they answered before."""
    labels = _Waiting(mixers, answers or layout.classes)
    for piece in Form.of(layout, width).pieces(count) if private else rows.pieces(count):
        labels.expect(piece.stop - piece.start)
    return labels.all()


class _Waiting:
    """The labels an asker waits for, collected piece by piece in the order in which it asked."""

    def __init__(self, mixers: tuple[Channel, Channel], classes: int) -> None:
        self._mixers = mixers
        self._classes = classes
        self._expected: deque[int] = deque()
        self._labels: list[Labels] = []

    def expect(self, count: int) -> None:
        self._expected.append(count)

    def collect(self) -> None:
        """Receive every label that is due."""
        while self._expected:
            self._labels.append(label.receive(*self._mixers, self._expected.popleft(), self._classes))

    def all(self) -> Labels:
        self.collect()
        return joined(self._labels)


def run_classification(
    layout: Layout,
    models: tuple[Model, Model],
    codes: Values,
    seeds: tuple[bytes, bytes, bytes],
    *,
    private: bool = True,
) -> Labels:
    """The asking hospital and the two mixers A and B, all in memory. Seeds: of the hospital, of A and of B."""
    a_to_b, b_to_a = memory.channels("mixer a", "mixer b")
    asker_to_a, a_to_asker = memory.channels("party asker", "mixer a")
    asker_to_b, b_to_asker = memory.channels("party asker", "mixer b")
    # Random transfers are made on channels of their own.
    a_ahead, b_ahead = memory.channels("mixer a", "mixer b")
    asker_ahead_a, a_ahead_asker = memory.channels("party asker", "mixer a")
    asker_ahead_b, b_ahead_asker = memory.channels("party asker", "mixer b")
    count = codes.shape[1]

    def mixer(role: int, other: Channel, ahead: Channel, asker: Channel, ahead_asker: Channel) -> None:
        random = Randomness(seeds[1 + role])
        me = ComputingParty(role, other, connect_pair(role, ahead, random), random)
        # The mixers agree on a pad for the labels of this question.
        blinding = label.blinding_for(b"the only question", label.common_blinding(me))
        if private:
            # Each offers the hospital its tables, and does not learn what is taken.
            line = Line(asker, connect_answerer(ahead_asker, random))
            answer_private(me, line, layout, models[role], count, blinding)
        else:
            # Each reads the rows and adds up its shares of the scores.
            answer_public(me, asker, layout, models[role], count, blinding)
        # In both cases they then compare on shares, and each sends its blinded share of the label.

    def hospital() -> Labels:
        width = models[0].width
        if not private:
            return ask_public((asker_to_a, asker_to_b), layout, width, codes, models[0].answers)
        random = Randomness(seeds[0])
        line_a = Line(asker_to_a, connect_asker(asker_ahead_a, random))
        line_b = Line(asker_to_b, connect_asker(asker_ahead_b, random))
        return ask_private((line_a, line_b), layout, width, codes, models[0].answers)

    labels, _, _ = memory.together(
        hospital,
        lambda: mixer(A, a_to_b, a_ahead, a_to_asker, a_ahead_asker),
        lambda: mixer(B, b_to_a, b_ahead, b_to_asker, b_ahead_asker),
    )
    return labels
