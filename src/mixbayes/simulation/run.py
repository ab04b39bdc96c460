"""Start every role, let the hospitals contribute, train, classify, stop everything."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np

from mixbayes.parties.contribution import contribute, messages
from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.columns import Columns
from mixbayes.protocol.counts import count
from mixbayes.protocol.dictionary import Dictionary
from mixbayes.protocol.encoding import encode_query, encode_training
from mixbayes.protocol.errors import Unsupported
from mixbayes.protocol.exact import fitting_bits
from mixbayes.protocol.inference import common_names, infer, refuse_unlabelled
from mixbayes.protocol.layout import Layout
from mixbayes.protocol.paillier_key import USUAL_BITS
from mixbayes.protocol.party import A, B
from mixbayes.protocol.precision import precision_for
from mixbayes.protocol.randomness import Randomness
from mixbayes.simulation import exact_roles, roles
from mixbayes.simulation.crew import Crew
from mixbayes.simulation.links import Link, Seen, batches, socket_pair
from mixbayes.simulation.outcome import Hospital, Labels, Moved, Outcome, Rounds, Seconds, compare
from mixbayes.simulation.plan import plan
from mixbayes.simulation.roles import MIXERS, Job
from mixbayes.transport import local

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""

SHARES, PAILLIER = "shares", "paillier"
ASKER = "the asking hospital"
DEADLINE = 60.0


@dataclass(frozen=True)
class _Answers:
    """What the protocol alone yields."""

    labels: Labels
    seconds: Seconds
    bytes: Moved
    rounds: Rounds


def simulate(
    tables: Mapping[str, Columns],
    *,
    hospitals: int | None = None,
    two_party: bool = False,
    bins: int | None = None,
    smoothing: str = "1",
    max_rows: int | None = None,
    protocol: str = SHARES,
    private: bool = True,
    classify: Columns | None = None,
    holdout: float = 0.3,
    class_column: str | None = None,
    nominal: Collection[str] = (),
    numeric: Collection[str] = (),
    seed: int = 0,
    deadline: float = DEADLINE,
    progress: Progress = lambda what, done, total: None,
) -> Outcome:
    """Train on the union of the hospitals' tables and classify, the computing parties and the asker in processes.

    `tables` are the hospitals' by name; a single one is split at random. `seed` fixes who holds which rows, never the
    randomness of the protocol. Processes are spawned: a script calls this under `if __name__ == "__main__"`.
    """
    if protocol == PAILLIER and not two_party:
        raise Unsupported(
            "The Paillier protocol is for two hospitals alone: add --two-party, or use --protocol shares."
        )
    common_names(list(tables.values()))
    for table in tables.values():
        with table.named_in_errors():
            refuse_unlabelled(table, class_column)
    planned = plan(tables, hospitals=hospitals, two_party=two_party, classify=classify, holdout=holdout, seed=seed)
    training = planned.training
    dictionary = infer(
        list(training.values()), class_column, nominal, numeric, bins=bins, smoothing=smoothing, max_rows=max_rows
    )
    _refuse_unfit(dictionary, protocol)
    layout = Layout(dictionary)
    vectors = {name: count(layout, encode_training(dictionary, table)[0]) for name, table in training.items()}
    with planned.questions.named_in_errors():
        codes = encode_query(dictionary, planned.questions).codes
    job = Job(dictionary, codes.shape[1], private, deadline)
    if two_party:
        answers = _alone(job, vectors, codes, protocol, progress)
    else:
        answers = _with_mixers(job, vectors, codes, progress)
    agreement, accuracy = compare(layout, vectors, codes, planned.questions, answers.labels)
    return Outcome(
        hospitals=[Hospital(name, table.rows) for name, table in training.items()],
        protocol=protocol,
        classes=list(dictionary.classes),
        instances=codes.shape[1],
        agreement_with_pooled=agreement,
        accuracy=accuracy,
        seconds=answers.seconds,
        bytes=answers.bytes,
        rounds=answers.rounds,
        labels=np.array(dictionary.classes)[answers.labels].tolist(),
    )


def _refuse_unfit(dictionary: Dictionary, protocol: str) -> None:
    """Say at once if the numbers do not fit."""
    if protocol == PAILLIER:
        fitting_bits(dictionary, USUAL_BITS)
    else:
        precision_for(dictionary)


def _with_mixers(job: Job, vectors: Mapping[str, Words], codes: Values, progress: Progress) -> _Answers:
    """Two mixers and an asker; this process plays the hospitals that contribute."""
    watch = _Watch()
    with Crew() as crew:
        (a_b, b_a), (a_ask, ask_a), (b_ask, ask_b) = Link.pair(), Link.pair(), Link.pair()
        doors = {name: (socket_pair(), socket_pair()) for name in vectors}
        crew.start(MIXERS[A], roles.mixer, A, job, a_b, a_ask, {name: d[A][1] for name, d in doors.items()})
        crew.start(MIXERS[B], roles.mixer, B, job, b_a, b_ask, {name: d[B][1] for name, d in doors.items()})
        crew.start(ASKER, roles.asker, job, (ask_a, ask_b))
        before, _, asked_before = (crew.hear(name) for name in (*MIXERS, ASKER))
        setup = watch.lap()

        to_mixers = {
            name: tuple(local.channel(mixer, end[0], job.deadline) for mixer, end in zip(MIXERS, d, strict=True))
            for name, d in doors.items()
        }
        for done, (name, (to_a, to_b)) in enumerate(to_mixers.items(), start=1):
            both = messages(name, job.dictionary.digest(), roles.ROUND, vectors[name], Randomness.from_system())
            contribute((to_a, to_b), both)
            progress(f"contributed: {name}", done, len(vectors))
        for mixer in MIXERS:
            crew.hear(mixer)
        contributed = watch.lap()
        for channel in chain.from_iterable(to_mixers.values()):
            channel.close()

        progress("training", 0, 1)
        trained, _ = (crew.hear(name) for name in MIXERS)
        progress("training", 1, 1)
        training = watch.lap()
        crew.tell(ASKER, codes)
        labels = _listen(partial(crew.hear, ASKER), job.instances, job.batch, progress)
        classification = watch.lap()
        asked, answered, _ = (crew.hear(name) for name in (ASKER, *MIXERS))
    return _Answers(
        labels,
        Seconds(setup, contributed, training, classification),
        Moved(
            sum(channel.traffic.sent for both in to_mixers.values() for channel in both),
            trained.bytes - before.bytes,
            answered.bytes - trained.bytes + asked.bytes - asked_before.bytes,
        ),
        Rounds(
            trained.rounds - before.rounds,
            answered.rounds - trained.rounds + asked.rounds - asked_before.rounds,
        ),
    )


def _alone(job: Job, vectors: Mapping[str, Words], codes: Values, protocol: str, progress: Progress) -> _Answers:
    """Two hospitals and nobody else; the first one asks."""
    watch = _Watch()
    first, second = vectors
    with Crew() as crew:
        (now_a, now_b), (questions_a, questions_b) = Link.pair(), Link.pair()
        if protocol == PAILLIER:
            crew.start(first, exact_roles.holder, second, job, now_a, questions_a)
            crew.start(second, exact_roles.second, first, job, now_b, questions_b)
        else:
            crew.start(first, roles.partner, A, second, job, now_a, questions_a)
            crew.start(second, roles.partner, B, first, job, now_b, questions_b)
        before: Seen = crew.hear(first)
        crew.hear(second)
        setup = watch.lap()

        # Each hospital's own counts are its share: nothing is sent before training.
        for name in vectors:
            crew.tell(name, vectors[name])
        contributed = watch.lap()
        progress("training", 0, 1)
        trained: Seen = crew.hear(first)
        crew.hear(second)
        progress("training", 1, 1)
        training = watch.lap()
        crew.tell(first, codes)
        size = exact_roles.BATCH if protocol == PAILLIER else job.batch
        labels = _listen(partial(crew.hear, first), job.instances, size, progress)
        classification = watch.lap()
        answered: Seen = crew.hear(first)
        crew.hear(second)
    return _Answers(
        labels,
        Seconds(setup, contributed, training, classification),
        Moved(0, trained.bytes - before.bytes, answered.bytes - trained.bytes),
        Rounds(trained.rounds - before.rounds, answered.rounds - trained.rounds),
    )


def _listen(hear: Callable[[], Labels], instances: int, size: int, progress: Progress) -> Labels:
    labels = []
    for batch in batches(instances, size):
        labels.append(hear())
        progress("rows classified", batch.stop, instances)
    return np.concatenate(labels) if labels else np.empty(0, np.int64)


class _Watch:
    """Seconds since the last lap."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def lap(self) -> float:
        now = time.perf_counter()
        passed, self._last = now - self._last, now
        return passed
