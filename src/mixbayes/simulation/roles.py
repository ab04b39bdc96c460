"""What each process of a simulation does: the same steps that nodes take, over local sockets."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from multiprocessing.connection import Connection

import numpy as np

from mixbayes.mixers.collect import agree_on_set, collect, honest_ones, joint_share
from mixbayes.protocol import label
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.classification import answer_private, answer_public, ask_private, ask_public
from mixbayes.protocol.dictionary import Dictionary
from mixbayes.protocol.layout import Layout
from mixbayes.protocol.partner import answer_partner, ask_partner, see_partner, show_partner
from mixbayes.protocol.party import A, Party
from mixbayes.protocol.pool import PairPool, ReceivedPool, SentPool, connect_answerer, connect_asker, connect_pair
from mixbayes.protocol.precision import precision_for
from mixbayes.protocol.question import Form, Line
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.training import train
from mixbayes.simulation.links import Link, Seen, batches, hang_up
from mixbayes.transport import local

ROUND = 1
BATCH, PIECES = 1 << 14, 4
"""Rows, and pieces of them, asked at most between two reports of progress."""
MIXERS = "mixer a", "mixer b"


@dataclass(frozen=True)
class Job:
    """What is public about a simulation."""

    dictionary: Dictionary
    instances: int
    private: bool
    deadline: float

    @property
    def layout(self) -> Layout:
        return Layout(self.dictionary)

    @property
    def batch(self) -> int:
        """Rows asked between two reports of progress: a few pieces, which are the smaller the longer a row is."""
        pieces = Form.of(self.layout, precision_for(self.dictionary).width).pieces(BATCH)
        return min(BATCH, PIECES * next(pieces).stop)


def mixer(
    report: Connection, role: int, job: Job, other: Link, asker: Link, hospitals: dict[str, socket.socket]
) -> None:
    """Collect, check that both mixers hold the same set and that nobody lies, train, answer."""
    layout, random = job.layout, Randomness.from_system()
    to_other, ahead = other.channels(MIXERS[1 - role], job.deadline)
    to_asker, asker_ahead = asker.channels("the asking hospital", job.deadline)
    doors = {name: local.channel(f"party {name}", end, job.deadline) for name, end in hospitals.items()}
    me = Party(role, to_other, connect_pair(role, ahead, random), random)
    blinding = label.common_blinding(me)
    pool = connect_answerer(asker_ahead, random) if job.private else None
    _make_ahead(me.pool, pool)
    before = Seen.by(to_other, ahead)
    report.send(before)

    contributions = collect(role, layout, ROUND, doors)
    agree_on_set(me, contributions)
    accepted, refused = honest_ones(me, layout, contributions)
    if refused:
        raise refused[0]
    report.send("collected")
    model = train(me, layout, joint_share(layout, accepted))
    _make_ahead(me.pool)
    report.send(Seen.by(to_other, ahead))
    for number, batch in enumerate(batches(job.instances, job.batch)):
        count, pad = batch.stop - batch.start, label.blinding_for(number.to_bytes(8, "little"), blinding)
        if pool:
            answer_private(me, Line(to_asker, pool), layout, model, count, pad)
        else:
            answer_public(me, to_asker, layout, model, count, pad)
    report.send(Seen.by(to_other, ahead))
    hang_up(to_other, ahead, to_asker, asker_ahead, *doors.values())


def _make_ahead(*pools: PairPool | SentPool | ReceivedPool | None) -> None:
    """Fill what is low, at a moment when both ends have nothing better to do."""
    for pool in pools:
        if pool:
            pool.top_up()


def asker(report: Connection, job: Job, mixers: tuple[Link, Link]) -> None:
    """Connect to both mixers, wait for the rows, ask, report the labels batch by batch."""
    layout, random = job.layout, Randomness.from_system()
    (to_a, ahead_a), (to_b, ahead_b) = (
        link.channels(name, job.deadline) for link, name in zip(mixers, MIXERS, strict=True)
    )
    width = precision_for(job.dictionary).width
    pools = (connect_asker(ahead_a, random), connect_asker(ahead_b, random)) if job.private else None
    _make_ahead(*(pools or ()))
    report.send(Seen.by(to_a, to_b, ahead_a, ahead_b))

    codes = report.recv()
    for batch in batches(job.instances, job.batch):
        if pools:
            lines = Line(to_a, pools[0]), Line(to_b, pools[1])
            labels = ask_private(lines, layout, width, codes[:, batch])
        else:
            labels = ask_public((to_a, to_b), layout, width, codes[:, batch])
        report.send(labels)
    report.send(Seen.by(to_a, to_b, ahead_a, ahead_b))
    hang_up(to_a, to_b, ahead_a, ahead_b)


def partner(report: Connection, role: int, name: str, job: Job, other: Link, questions: Link) -> None:
    """One of two hospitals alone: its counts are its share; the first one asks."""
    layout, random = job.layout, Randomness.from_system()
    to_other, ahead = other.channels(f"party {name}", job.deadline)
    on_questions, questions_ahead = questions.channels(f"party {name}", job.deadline)
    channels = to_other, ahead, on_questions, questions_ahead
    me = Party(role, to_other, connect_pair(role, ahead, random), random)
    asks, answers = None, None
    if job.private and role == A:
        asks = Line(on_questions, connect_asker(questions_ahead, random))
    elif job.private:
        answers = Line(on_questions, connect_answerer(questions_ahead, random))
    report.send(Seen.by(*channels))

    vector: Words = report.recv()
    model = train(me, layout, vector)
    report.send(Seen.by(*channels))
    codes = report.recv() if role == A else np.empty((0, 0), np.int32)
    for batch in batches(job.instances, job.batch):
        count = batch.stop - batch.start
        if role == A:
            rows = codes[:, batch]
            report.send(ask_partner(me, asks, layout, model, rows) if asks else show_partner(me, layout, model, rows))
        elif answers:
            answer_partner(me, answers, layout, model, count)
        else:
            see_partner(me, layout, model, count)
    report.send(Seen.by(*channels))
    hang_up(*channels)
