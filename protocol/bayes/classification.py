"""Classification: from shares of θ and instances to labels, for the hospital that asked and nobody else.

| | privately | publicly |
|---|---|---|
| mixer → hospital | its table, encrypted | |
| hospital → mixers | the masked sums of its own table, encrypted, and the masks of the other one's | the rows |
| mixer ↔ mixer | comparison | digests of the rows, comparison |
| mixer → hospital | its blinded share of the label | the same |

Rows are worked off in pieces of a public size. An asker is one piece ahead of the labels it waits for, so that the
mixers compare while it adds up for the next piece.
"""

from __future__ import annotations

from collections import deque
from functools import partial

from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Values
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes import label
from mixbayes.protocol.bayes import public_rows as rows
from mixbayes.protocol.bayes.label import Labels, Release, joined
from mixbayes.protocol.bayes.model import Model, scores
from mixbayes.protocol.bayes.question import Form, TableHolder, TableReader
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pool import connect_pair


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
    show(mixers, layout, codes)
    return fetch(mixers, layout, width, codes.shape[1], private=False, answers=answers)


def show(mixers: tuple[Channel, Channel], layout: Layout, codes: Values) -> None:
    """Send the rows to both mixers. Nothing of theirs is waited for, so they can follow an announcement at once."""
    for piece in rows.pieces(codes.shape[1]):
        rows.send_all(mixers, layout, codes[:, piece])


def answer_private(
    me: ComputingParty,
    holder: TableHolder,
    layout: Layout,
    model: Model,
    count: int,
    blinding: Randomness,
    release: Release | None = None,
    about: bytes = b"",
) -> None:
    """A mixer's part for rows that it does not see. `about` names the model, if it may be asked for again."""
    form, release = Form.of(layout, model.width, model.answers), release or partial(label.send, holder.asker)
    asked = [(model, piece.stop - piece.start) for piece in form.pieces(count)]
    for share in holder.answered(form, asked, about):
        release(label.blinded(label.decided(me, share, model), model.answers, blinding))


def ask_private(
    mixers: tuple[Channel, Channel],
    layout: Layout,
    width: int,
    codes: Values,
    asker: TableReader,
    answers: int | None = None,
    about: bytes = b"",
) -> Labels:
    """The hospital's part: add up what its rows name of each mixer's encrypted table; give each the other's masks."""
    form, labels = Form.of(layout, width, answers), _Waiting(mixers, answers or layout.classes)
    pieces = list(form.pieces(codes.shape[1]))
    for piece in pieces:
        asker.ask_both(form, codes[:, piece], about if len(pieces) == 1 else b"")
        # Each mixer has sent its table for the next piece before the labels of the last one.
        labels.collect()
        labels.expect(piece.stop - piece.start)
    return labels.all()


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
    for piece in Form.of(layout, width, answers).pieces(count) if private else rows.pieces(count):
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
    # Random transfers are made on a channel of their own.
    a_ahead, b_ahead = memory.channels("mixer a", "mixer b")
    count = codes.shape[1]

    def mixer(role: int, other: Channel, ahead: Channel, asker: Channel) -> None:
        random = Randomness(seeds[1 + role])
        me = ComputingParty(role, other, connect_pair(role, ahead, random), random)
        # The mixers agree on a pad for the labels of this question.
        blinding = label.blinding_for(b"the only question", label.common_blinding(me))
        if private:
            # Each sends the hospital its table, encrypted, and decrypts masked sums. It has the masks of the other's.
            answer_private(me, TableHolder(asker, random), layout, models[role], count, blinding)
        else:
            # Each reads the rows and adds up its shares of the scores.
            answer_public(me, asker, layout, models[role], count, blinding)
        # In both cases they then compare on shares, and each sends its blinded share of the label.

    def hospital() -> Labels:
        width = models[0].width
        if not private:
            return ask_public((asker_to_a, asker_to_b), layout, width, codes, models[0].answers)
        mixers = asker_to_a, asker_to_b
        return ask_private(mixers, layout, width, codes, TableReader(mixers, Randomness(seeds[0])), models[0].answers)

    labels, _, _ = memory.together(
        hospital,
        lambda: mixer(A, a_to_b, a_ahead, a_to_asker),
        lambda: mixer(B, b_to_a, b_ahead, b_to_asker),
    )
    return labels
