"""Start every node, let the hospitals contribute, train, classify, stop everything."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial

import numpy as np

from mixbayes.agreement.agreement import Federation, Given, Privacy
from mixbayes.agreement.noise import (
    USUAL_DELTA,
    document,
    in_words,
    promised,
    without_noise,
)
from mixbayes.evaluation.document import Evaluation
from mixbayes.mixers.node import Settings as MixerSettings
from mixbayes.node.rounds.state import FAILED, SERVING
from mixbayes.parties.desk import AtOwnNode
from mixbayes.parties.settings import Settings as PartySettings
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.several import USUAL_MOST
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.precision import precision_for
from mixbayes.protocol.bayes.recipe import UNSURE
from mixbayes.protocol.errors import MixbayesError, Unsupported
from mixbayes.protocol.paillier.exact import USUAL_BITS, fitting_bits
from mixbayes.simulation import roles
from mixbayes.simulation.applications import all_by_the_first, applications, each_by_recipe, evaluated
from mixbayes.simulation.by_recipe import Asked, Labels
from mixbayes.simulation.crew import Crew, ended_in_order, make_room
from mixbayes.simulation.flows import PURPOSES, ByNode, by_purpose, contributions, conversations, seen_by
from mixbayes.simulation.outcome import (
    Flow,
    Hospital,
    Outcome,
    Rounds,
    Seconds,
    Volumes,
    compare_by_recipe,
    confusion,
)
from mixbayes.simulation.outcome import compare as compared_with_pooling
from mixbayes.simulation.plan import plan
from mixbayes.simulation.prepared import Prepared, Progress, prepare
from mixbayes.simulation.stage import Rules, Stage, stage
from mixbayes.simulation.wishes import PAILLIER, Wishes, wishes
from mixbayes.tables.columns import Columns
from mixbayes.tables.inference import NO_LISTS, class_of, common_names, infer, refuse_unlabelled
from mixbayes.tables.profile import profiled
from mixbayes.tables.protecting import read_protection
from mixbayes.tables.tallying import Counted
from mixbayes.tables.with_noise import refuse_unfit_for_noise
from mixbayes.transport.errors import CannotServe, RoundFailed, TooEarly
from mixbayes.transport.meter import Moved

SHARES = "shares"
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

    joint: Labels
    """Of all rows that were asked about."""
    seconds: Seconds
    bytes: Volumes
    rounds: Rounds
    flows: list[Flow]
    asked: Mapping[str, Asked]
    """By hospital, where each asks by a recipe; else none."""
    evaluations: Mapping[str, Evaluation]
    """By hospital, where they evaluate."""


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
    evaluate: bool = False,
    folds: int | None = None,
    test_share: float = 0.0,
    recipe: str = "",
    compare: Sequence[str] = (),
    seed: int = 0,
    deadline: float = DEADLINE,
    agreed: Callable[[Dictionary], None] = lambda dictionary: None,
    staged: Callable[[Federation], None] = lambda federation: None,
    progress: Progress = lambda what, done, total: None,
) -> Outcome:
    """Train on the union of the hospitals' tables and classify, every node a process with TLS between them.

    `tables` are the hospitals' by name; a single one is split at random. `seed` fixes who holds which rows, never the
    randomness of the protocol, or of the noise; there is noise if `epsilon` is given. `agreed` is told the dictionary
    before the nodes start, and `staged` the whole agreement. With `evaluate` every hospital judges the usual recipes,
    or those of `compare`, by its own patients, who are dealt into `folds`. With a `recipe` every hospital asks about
    its own rows by it; `best` is what its evaluation finds. Nodes are new processes: a script calls this under
    `if __name__ == "__main__"`.
    """
    if protocol == PAILLIER and not two_party:
        raise Unsupported(
            "The Paillier protocol is for two hospitals alone: add --two-party, or use --protocol shares."
        )
    if epsilon is not None:
        for text in filter(None, [protect] if isinstance(protect, str) else protect.values()):
            refuse_unfit_for_noise(read_protection(text), epsilon, delta)
    wished = wishes(
        evaluate=evaluate,
        folds=folds,
        test_share=test_share,
        recipe=recipe,
        compare=compare,
        protocol=protocol,
        noise=epsilon is not None,
    )
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
    # Nothing is made ahead, so that every byte is counted where it is needed.
    rules = Rules(min_rows, max_rows_each, privacy, wished.folds, wished.agreed, ahead=0)
    coins = privacy.noise if privacy else None
    layout = Layout(dictionary, Terms(len(training), min_rows, max_rows_each, coins, folds=wished.folds))
    _refuse_unfit(layout, protocol)
    wished.refuse_unfit(layout, protocol)
    prepared = prepare(planned, layout, protect, seed, progress, wished.test_share)
    agreed(dictionary)
    make_room(len(prepared.held) + (0 if two_party else 2))

    def play(set_up: Stage) -> _Answers:
        staged(set_up.federation)
        return _answers(set_up, prepared, wished, private, progress)

    with ended_in_order():
        answers = _staged(
            partial(stage, list(prepared.held), dictionary, protocol, two_party, deadline, rules),
            play,
        )
    return _outcome(prepared, protocol, answers, privacy, wished)


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


def _outcome(prepared: Prepared, protocol: str, answers: _Answers, privacy: Privacy | None, wished: Wishes) -> Outcome:
    layout, dictionary = prepared.layout, prepared.layout.dictionary
    agreement, accuracy = compared_with_pooling(
        layout, prepared.counts, prepared.before, prepared.codes, prepared.questions, answers.joint
    )
    labels, answered = answers.joint, None
    if answers.asked:
        agreement, answered = compare_by_recipe(
            layout,
            prepared.counts,
            prepared.before,
            prepared.codes,
            prepared.questions,
            prepared.parts,
            wished.recipe,
            answers.asked,
        )
        labels = np.concatenate([one.labels for one in answers.asked.values()])
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
        labels=np.array([*dictionary.classes, UNSURE])[labels].tolist(),
        flows=answers.flows,
        confusion=confusion(dictionary, prepared.questions, answers.joint),
        privacy=document(privacy, layout) if privacy else None,
        about_noise=list(in_words(privacy)) if privacy else [without_noise(layout)],
        evaluation={name: one.as_json() for name, one in answers.evaluations.items()} if wished.evaluate else None,
        recipe=answered,
    )


def _described(name: str, held: Counted) -> Hospital:
    protect, guarantee = held.protection or None, held.guarantee or None
    return Hospital(name, held.rows, protect, guarantee, held.unlabelled, held.coarsened, held.changed)


def _staged(make: Callable[[], AbstractContextManager[Stage]], play: Callable[[Stage], _Answers]) -> _Answers:
    """On a stage; on another one if somebody else has taken a port meanwhile that was free."""
    for _ in range(_STAGES - 1):
        with suppress(CannotServe), make() as set_up:
            return play(set_up)
    with make() as set_up:
        return play(set_up)


def _answers(set_up: Stage, prepared: Prepared, wished: Wishes, private: bool, progress: Progress) -> _Answers:
    """Every node in a process of its own; this process is the hospitals' applications."""
    watch, hospitals = _Watch(), list(prepared.held)
    asking = hospitals if wished.everybody_asks else hospitals[:1]
    with Crew(preload=roles.__name__) as crew:
        _start(crew, set_up, prepared)
        setup = watch.lap()
        _contribute(crew, hospitals, progress)
        contributed = watch.lap()
        with _causes_first(crew), applications(set_up, asking) as desks:
            progress("training", 0, 1)
            _until_serving(crew, desks[hospitals[0]])
            progress("training", 1, 1)
            training, after_training = watch.lap(), seen_by(crew, set_up, asking)
            evaluations: Mapping[str, Evaluation] = {}
            asked: Mapping[str, Asked] = {}
            if wished.evaluate:
                evaluations = evaluated(set_up.federation, desks, wished.compared, progress)
            evaluation, after_evaluation = watch.lap(), seen_by(crew, set_up, asking)
            if wished.recipe:
                asked = each_by_recipe(desks, prepared, wished.recipe, private, progress)
                joint = np.concatenate([one.joint for one in asked.values()])
            else:
                joint = all_by_the_first(desks, prepared, private, progress)
            classification = watch.lap()
        seen = by_purpose(after_training, after_evaluation, seen_by(crew, set_up, asking))
    took = Seconds(setup, contributed, training, classification, evaluation if wished.evaluate else None)
    sent = contributions(set_up)
    volumes, rounds = _moved(seen, sum(flow.bytes for flow in sent), wished)
    return _Answers(joint, took, volumes, rounds, [*sent, *conversations(set_up, seen)], asked, evaluations)


def _contribute(crew: Crew, hospitals: Sequence[str], progress: Progress) -> None:
    for name in hospitals:
        crew.tell(name, "contribute")
    for done, name in enumerate(hospitals, start=1):
        crew.hear(name)
        progress(f"contributed: {name}", done, len(hospitals))


def _moved(seen: ByNode, contributed: int, wished: Wishes) -> tuple[Volumes, Rounds]:
    trained, judged, asked = (sum((one[purpose] for one in seen.values()), Moved()) for purpose in PURPOSES)
    if not wished.evaluate:
        return Volumes(contributed, trained.bytes, asked.bytes), Rounds(trained.rounds, asked.rounds)
    return (
        Volumes(contributed, trained.bytes, asked.bytes, judged.bytes),
        Rounds(trained.rounds, asked.rounds, judged.rounds),
    )


@contextmanager
def _causes_first(crew: Crew) -> Iterator[None]:
    """A node that has failed or ended explains what the others say."""
    try:
        yield
    except MixbayesError:
        crew.raise_failures(_NEWS)
        raise


def _start(crew: Crew, set_up: Stage, prepared: Prepared) -> None:
    """The mixers listen when this returns; the hospitals wait for the word."""
    federation, vectors = set_up.federation, prepared.vectors
    for mixer in federation.mixers:
        settings = MixerSettings(federation, mixer.name, set_up.keys(mixer.name), set_up.state(mixer.name))
        crew.start(federation.title(mixer.name), roles.mixer, settings)
    for name, vector in vectors.items():
        node, patients = set_up.names[name], prepared.patients.get(name)
        crew.start(
            name,
            roles.hospital,
            PartySettings(
                federation,
                node,
                set_up.keys(node),
                set_up.state(node),
                vector,
                patients=patients,
                unprotected=prepared.unprotected[name].vector,
                own_release=prepared.held[name].own_release,
            ),
        )
    for role in (*(federation.title(mixer.name) for mixer in federation.mixers), *vectors):
        crew.hear(role)


def _until_serving(crew: Crew, desk: AtOwnNode) -> None:
    until = time.monotonic() + _PATIENCE
    while (status := desk.status()).state != SERVING:
        crew.raise_failures()
        if status.state == FAILED:
            raise RoundFailed(f"The round failed: {status.reason}")
        if time.monotonic() > until:
            raise TooEarly(f"The round is {status.state} after {_PATIENCE:g} s. {status.reason}".strip())
        time.sleep(_LOOK_EVERY)


class _Watch:
    """Seconds since the last lap."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def lap(self) -> float:
        now = time.perf_counter()
        passed, self._last = now - self._last, now
        return passed
