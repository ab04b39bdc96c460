"""What the two hospitals of a Paillier simulation do; the first one holds the key and asks."""

from __future__ import annotations

from multiprocessing.connection import Connection

from mixbayes.pair.obfuscators import Stock
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.paillier_classification import Holder, Other, answer, ask, see, show
from mixbayes.protocol.paillier_key import USUAL_BITS, generate, receive_key, send_key
from mixbayes.protocol.paillier_training import train_holder, train_other
from mixbayes.protocol.party import A, B, Party
from mixbayes.protocol.pool import connect_answerer, connect_asker, connect_pair
from mixbayes.protocol.question import Line
from mixbayes.protocol.randomness import Randomness
from mixbayes.simulation.links import Link, Seen, batches, hang_up
from mixbayes.simulation.roles import Job

BATCH = 64
"""Rows asked at a time, between two reports of progress."""


def holder(report: Connection, name: str, job: Job, other: Link, questions: Link) -> None:
    """The hospital with the key: it trains with its counts, and asks."""
    layout, random = job.layout, Randomness.from_system()
    to_other, ahead, on_questions, questions_ahead = channels = _channels(name, job, other, questions)
    key = generate()
    send_key(to_other, key.public)
    with Stock(key) as obfuscators:
        me = Party(A, to_other, connect_pair(A, ahead, random), random)
        line = Line(on_questions, connect_asker(questions_ahead, random)) if job.private else None
        report.send(Seen.by(*channels))

        vector = report.recv()
        model = train_holder(me, key, layout, vector, obfuscators)
        report.send(Seen.by(*channels))
        seat, codes = Holder(key, obfuscators), report.recv()
        for batch in batches(job.instances, BATCH):
            rows = codes[:, batch]
            report.send(ask(me, seat, line, model, rows) if line else show(me, seat, layout, model, rows))
        report.send(Seen.by(*channels))
    hang_up(*channels)


def second(report: Connection, name: str, job: Job, other: Link, questions: Link) -> None:
    """The other hospital."""
    layout, random = job.layout, Randomness.from_system()
    to_other, ahead, on_questions, questions_ahead = channels = _channels(name, job, other, questions)
    key = receive_key(to_other, USUAL_BITS)
    with Stock(key) as obfuscators:
        me = Party(B, to_other, connect_pair(B, ahead, random), random)
        line = Line(on_questions, connect_answerer(questions_ahead, random)) if job.private else None
        report.send(Seen.by(*channels))

        vector = report.recv()
        model = train_other(me, key, layout, vector, obfuscators)
        report.send(Seen.by(*channels))
        seat = Other(key, obfuscators)
        for batch in batches(job.instances, BATCH):
            count = batch.stop - batch.start
            if line:
                answer(me, seat, line, model, count)
            else:
                see(me, seat, layout, model, count)
        report.send(Seen.by(*channels))
    hang_up(*channels)


def _channels(name: str, job: Job, other: Link, questions: Link) -> tuple[Channel, Channel, Channel, Channel]:
    """To the other hospital: for the protocol and for questions, each with one for transfers made ahead."""
    peer = f"party {name}"
    return *other.channels(peer, job.deadline), *questions.channels(peer, job.deadline)
