"""Start every node, let the hospitals contribute, train, classify, stop everything."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial

import numpy as np

from mixbayes.agreement.agreement import Given, Privacy
from mixbayes.agreement.noise import (
    USUAL_DELTA,
    document,
    in_words,
    promised,
    refuse_protected_and_noisy,
    without_noise,
)
from mixbayes.mixers.node import Settings as MixerSettings
from mixbayes.node.identity import Identity
from mixbayes.node.log import logger
from mixbayes.node.rounds.state import FAILED, SERVING
from mixbayes.parties.desk import AtOwnNode, at_own_node
from mixbayes.parties.settings import Settings as PartySettings
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.several import USUAL_MOST
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.precision import precision_for
from mixbayes.protocol.errors import MixbayesError, Unsupported
from mixbayes.protocol.paillier.exact import USUAL_BITS, fitting_bits
from mixbayes.protocol.privacy.coins import Coins
from mixbayes.simulation import roles
from mixbayes.simulation.crew import Crew, ended_in_order, make_room
from mixbayes.simulation.flows import contributions, conversations
from mixbayes.simulation.outcome import Flow, Hospital, Labels, Outcome, Rounds, Seconds, Volumes, compare, confusion
from mixbayes.simulation.plan import plan
from mixbayes.simulation.prepared import Prepared, Progress, prepare
from mixbayes.simulation.stage import Rules, Stage, stage
from mixbayes.tables.columns import Columns
from mixbayes.tables.inference import NO_LISTS, class_of, common_names, infer, refuse_unlabelled
from mixbayes.tables.profile import profiled
from mixbayes.tables.tallying import Counted
from mixbayes.transport.conversation import ASKING, TRAINING
from mixbayes.transport.errors import CannotServe, RoundFailed, TooEarly
from mixbayes.transport.meter import Moved

SHARES, PAILLIER = "shares", "paillier"
DEADLINE = 60.0
_PATIENCE = 900.0
"""Seconds for the hospitals to contribute, and then for the training."""
_LOOK_EVERY = 0.05
_NEWS = 1.0
"""Seconds in which the end of a process becomes known here, if others know of it already."""
_STAGES = 3


@dataclass(frozen=True)
class _Answers:
    """What the nodes alone yield."""

    labels: Labels
    seconds: Seconds
    bytes: Volumes
    rounds: Rounds
    flows: list[Flow]


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
    holdout: float | None = None,
    class_column: str | None = None,
    nominal: Collection[str] = (),
    numeric: Collection[str] = (),
    several: Mapping[str, str] = NO_LISTS,
    most_values: int = USUAL_MOST,
    protect: Mapping[str, str] | str = "",
    epsilon: float | None = None,
    delta: float = USUAL_DELTA,
    total_epsilon: float | None = None,
    total_delta: float | None = None,
    release: Given = "labels",
    min_rows: int = 1,
    max_rows_each: int | None = None,
    seed: int = 0,
    deadline: float = DEADLINE,
    agreed: Callable[[Dictionary], None] = lambda dictionary: None,
    progress: Progress = lambda what, done, total: None,
) -> Outcome:
    """Train on the union of the hospitals' tables and classify, every node a process with TLS between them.

    `tables` are the hospitals' by name; a single one is split at random. `seed` fixes who holds which rows, never the
    randomness of the protocol, or of the noise; there is noise if `epsilon` is given. `agreed` is told the dictionary
    before the nodes start. Nodes are new processes: a script calls this under `if __name__ == "__main__"`.
    """
    if protocol == PAILLIER and not two_party:
        raise Unsupported(
            "The Paillier protocol is for two hospitals alone: add --two-party, or use --protocol shares."
        )
    if protect and epsilon is not None:
        refuse_protected_and_noisy()
    if protocol == PAILLIER and epsilon is not None:
        raise Unsupported("The Paillier protocol is exact and takes no noise: leave out epsilon, or take shares.")
    _refuse_unfit_tables(tables, class_column)
    planned = plan(tables, hospitals=hospitals, two_party=two_party, classify=classify, holdout=holdout, seed=seed)
    training = list(planned.training.values())
    dictionary = infer(
        training,
        class_column,
        nominal,
        numeric,
        bins,
        smoothing,
        max_rows,
        several=several,
        most_values=most_values,
    )
    if min_rows > (most := max_rows_each or dictionary.max_rows):
        raise Unsupported(f"Every hospital needs {min_rows} rows, and may have {most}. Say what goes together.")
    privacy = None
    if epsilon is not None:
        privacy = promised(
            dictionary, epsilon, delta, total_epsilon=total_epsilon, total_delta=total_delta, release=release
        )
    rules = Rules(min_rows, max_rows_each, privacy)
    coins = Coins(privacy.coins) if privacy else None
    layout = Layout(dictionary, Terms(len(training), min_rows, max_rows_each, coins))
    _refuse_unfit(layout, protocol)
    prepared = prepare(planned, layout, protect, seed, progress)
    agreed(dictionary)
    make_room(len(prepared.held) + (0 if two_party else 2))
    with ended_in_order():
        answers = _staged(
            partial(stage, list(prepared.held), dictionary, protocol, two_party, deadline, rules),
            lambda set_up: _answers(set_up, prepared, private, progress),
        )
    return _outcome(prepared, protocol, answers, privacy)


def _refuse_unfit_tables(tables: Mapping[str, Columns], class_column: str | None) -> None:
    common_names(list(tables.values()))
    for table in tables.values():
        label = class_of(table.names, class_column)
        refuse_unlabelled(profiled(table.chosen([label])), label)


def _refuse_unfit(layout: Layout, protocol: str) -> None:
    """Say at once if the numbers do not fit."""
    if protocol == PAILLIER:
        fitting_bits(layout, USUAL_BITS)
    else:
        precision_for(layout)


def _outcome(prepared: Prepared, protocol: str, answers: _Answers, privacy: Privacy | None) -> Outcome:
    layout, dictionary = prepared.layout, prepared.layout.dictionary
    agreement, accuracy = compare(
        layout, prepared.vectors, prepared.before, prepared.codes, prepared.questions, answers.labels
    )
    return Outcome(
        hospitals=[_described(name, one) for name, one in prepared.held.items()],
        protocol=protocol,
        class_column=dictionary.class_column,
        classes=list(dictionary.classes),
        instances=prepared.codes.shape[1],
        agreement_with_pooled=agreement,
        accuracy=accuracy,
        seconds=answers.seconds,
        bytes=answers.bytes,
        rounds=answers.rounds,
        labels=np.array(dictionary.classes)[answers.labels].tolist(),
        flows=answers.flows,
        confusion=confusion(dictionary, prepared.questions, answers.labels),
        privacy=document(privacy, layout) if privacy else None,
        about_noise=list(in_words(privacy)) if privacy else [without_noise(layout)],
    )


def _described(name: str, held: Counted) -> Hospital:
    protect, guarantee = held.protection or None, held.guarantee or None
    return Hospital(name, held.rows, protect, guarantee, held.unlabelled, held.coarsened)


def _staged(make: Callable[[], AbstractContextManager[Stage]], play: Callable[[Stage], _Answers]) -> _Answers:
    """On a stage; on another one if somebody else has taken a port meanwhile that was free."""
    for _ in range(_STAGES - 1):
        with suppress(CannotServe), make() as set_up:
            return play(set_up)
    with make() as set_up:
        return play(set_up)


def _answers(set_up: Stage, prepared: Prepared, private: bool, progress: Progress) -> _Answers:
    """Every node in a process of its own; this process is an application of the first hospital."""
    watch, vectors, rows = _Watch(), prepared.vectors, prepared.questions.rows
    with Crew(preload=roles.__name__) as crew:
        _start(crew, set_up, vectors)
        setup = watch.lap()
        for name in vectors:
            crew.tell(name, "contribute")
        for done, name in enumerate(vectors, start=1):
            crew.hear(name)
            progress(f"contributed: {name}", done, len(vectors))
        contributed = watch.lap()
        with _causes_first(crew), _application(set_up) as desk:
            progress("training", 0, 1)
            _until_serving(crew, desk)
            progress("training", 1, 1)
            training = watch.lap()
            labels = desk.labels(
                prepared.codes,
                prepared.questions,
                private=private,
                progress=lambda done: progress("rows classified", done, rows),
            )
            classification = watch.lap()
        seen = _seen(crew, set_up, vectors)
    trained, asked = (sum((one[purpose] for one in seen.values()), Moved()) for purpose in (TRAINING, ASKING))
    sent = contributions(set_up)
    return _Answers(
        labels,
        Seconds(setup, contributed, training, classification),
        Volumes(sum(flow.bytes for flow in sent), trained.bytes, asked.bytes),
        Rounds(trained.rounds, asked.rounds),
        [*sent, *conversations(set_up, seen)],
    )


@contextmanager
def _causes_first(crew: Crew) -> Iterator[None]:
    """A node that has failed or ended explains what the others say."""
    try:
        yield
    except MixbayesError:
        crew.raise_failures(_NEWS)
        raise


def _start(crew: Crew, set_up: Stage, vectors: Mapping[str, Words]) -> None:
    """The mixers listen when this returns; the hospitals wait for the word."""
    federation = set_up.federation
    for mixer in federation.mixers:
        settings = MixerSettings(federation, mixer.name, set_up.keys(mixer.name), set_up.state(mixer.name))
        crew.start(federation.title(mixer.name), roles.mixer, settings)
    for name, vector in vectors.items():
        node = set_up.names[name]
        crew.start(name, roles.hospital, PartySettings(federation, node, set_up.keys(node), set_up.state(node), vector))
    for role in (*(federation.title(mixer.name) for mixer in federation.mixers), *vectors):
        crew.hear(role)


@contextmanager
def _application(set_up: Stage) -> Iterator[AtOwnNode]:
    """Of the first hospital: it asks its node on loopback, with the hospital's own keys."""
    name = set_up.federation.names[0]
    identity = Identity(set_up.keys(name), name, logger("simulation"))
    with at_own_node(set_up.federation, identity, set_up.keys(name)) as desk:
        yield desk


def _until_serving(crew: Crew, desk: AtOwnNode) -> None:
    until = time.monotonic() + _PATIENCE
    while (status := desk.status()).state != SERVING:
        crew.raise_failures()
        if status.state == FAILED:
            raise RoundFailed(f"The round failed: {status.reason}")
        if time.monotonic() > until:
            raise TooEarly(f"The round is {status.state} after {_PATIENCE:g} s. {status.reason}".strip())
        time.sleep(_LOOK_EVERY)


def _seen(crew: Crew, set_up: Stage, vectors: Mapping[str, Words]) -> dict[str, dict[str, Moved]]:
    """By node and purpose, every conversation counted once, by the node that opened it."""
    federation = set_up.federation
    seen = {}
    for role in [federation.title("a"), next(iter(vectors))] if federation.mixers else list(vectors):
        crew.tell(role, "what was seen")
        seen[role] = crew.hear(role)
    return seen


class _Watch:
    """Seconds since the last lap."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def lap(self) -> float:
        now = time.perf_counter()
        passed, self._last = now - self._last, now
        return passed
