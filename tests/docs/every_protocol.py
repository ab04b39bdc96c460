"""Every protocol once, all roles in memory: with mixers, and between two hospitals alone, as functions and as nodes."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mixbayes.agreement.agreement import Federation, federation_from
from mixbayes.mixers.supply import Supply, follow, lead
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.datastore import COMPUTING_PARTY
from mixbayes.node.disk.sealing import Seal
from mixbayes.node.questions import ID_BYTES, Kind, Question
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.parties.alone.store import PartnerStore
from mixbayes.parties.alone.talk import Asker, answer_questions, train_round
from mixbayes.privacy.coins import Coins
from mixbayes.protocol import memory
from mixbayes.protocol.bayes.cuts import run_cuts
from mixbayes.protocol.bayes.evaluation import Sheet, run_evaluation
from mixbayes.protocol.bayes.joint_test import run_joint_test
from mixbayes.protocol.bayes.recipe import JOINT, read_recipe
from mixbayes.protocol.bayes.two_hospitals import run_partner_evaluation
from mixbayes.protocol.bayes.whole import Question as Asked
from mixbayes.protocol.bayes.whole import run_federation, run_two_hospitals
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import A, B
from mixbayes.protocol.paillier.key import SecretKey
from mixbayes.protocol.paillier.whole import run_paillier
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.lots import LOT
from mixbayes.protocol.transfer.pool import connect_pair
from mixbayes.protocol.transfer.supplied import connect_supplied
from tests.mixers import test_joint_test, test_recipes
from tests.mixers.three_hospitals import HOSPITALS, NOISE, NOON, agreement, new_folder, one_hot
from tests.protocol.bayes.test_cuts import SMALL
from tests.protocol.bayes.test_cuts import tables_of as tables_on_grids
from tests.protocol.bayes.test_cuts import together as together_on_grids
from tests.protocol.bayes.test_whole import BUDGET, COINS, IDS, PAIR, SEEDS, layout_of, sent, some_codes, tables_of
from tests.protocol.pairs import Marks, random_codes, random_counts, random_for, seed
from tests.protocol.pairs import layout_of as nominal
from tests.protocol.transfer.silent_pairs import SMALL_KIND

NOISY = Coins((4, 2, 3))
OF_TWO = seed(1), seed(2)
BROKEN = Question(Kind.BROKEN, 1, id=os.urandom(ID_BYTES))


def with_mixers() -> None:
    """The protocol's own functions: a round, an evaluation, a joint test, cut points."""
    layout = layout_of(NOISY)
    _, received = sent(layout)
    asked = [
        Asked(HOSPITALS[0], some_codes(layout, 3, at), private=private) for at, private in enumerate((True, False))
    ]
    run_federation(layout, received, asked, BUDGET, SEEDS, COINS)
    layout = layout_of(folds=2, classes=2)
    codes, shares = some_codes(layout, 4, 1), np.zeros(layout.size, np.uint64)
    folds = np.zeros((2, layout.size), np.uint64)
    run_evaluation(Sheet(layout, JOINT, 2), ((shares, folds), (shares, folds)), codes, np.arange(4), SEEDS)
    run_joint_test(layout, (shares, shares), [(codes, np.zeros(4, np.int64))] * 3, NOISY, COINS, SEEDS)
    cut_points()
    silent_transfers()


def silent_transfers() -> None:
    """Between any two computing parties."""
    ends = memory.channels("party A", "party B")
    memory.together(*(partial(_take_silently, role, ends[role]) for role in (A, B)))


def _take_silently(role: int, channel: Channel) -> None:
    connect_pair(role, channel, random_for(role), Marks(), SMALL_KIND).take(SMALL_KIND.extended + 1)


def cut_points() -> None:
    """Between any two computing parties."""
    vectors, _ = together_on_grids(SMALL, tables_on_grids(SMALL, 4, [60]))
    run_cuts(SMALL, 3, vectors, SEEDS)


def at_mixers() -> None:
    """Nodes on disks: a recipe, an evaluation, a question that broke off, the joint test."""
    for wards, does in ((test_recipes.Wards, _recipes), (partial(test_joint_test.Wards, noisy=True), _joint_test)):
        with new_folder() as folder:
            world: Any = wards(folder)
            try:
                world.everybody()
                does(world)
            finally:
                world.close()


def supply() -> None:
    """The mixers' standing supply: transfers are ordered and made, then nothing is left to make, then mixer a stops."""
    now, ahead, asked = (memory.channels("mixer a", "mixer b") for _ in range(3))
    at_a, at_b = Supply(LOT, "mixer b", 1.0), Supply(LOT, "mixer a", 1.0)

    def takes(role: int, source: Supply) -> None:
        while not source.ready:
            time.sleep(0.01)
        connect_supplied(role, asked[role], Randomness(OF_TWO[role]), source).take(1)

    def stops() -> None:
        takes(A, at_a)
        while not now[A].traffic.received:  # the other mixer has said that it is still there
            time.sleep(0.01)
        at_a.close()

    memory.together(
        lambda: lead(at_a, (now[A], ahead[A]), "key"),
        lambda: follow(at_b, (now[B], ahead[B]), "key"),
        stops,
        lambda: takes(B, at_b),
    )


def _recipes(world: test_recipes.Wards) -> None:
    world.labels_of(test_recipes.PERSONAL, HOSPITALS[0])
    world.totals_of(test_recipes.COSTLY, HOSPITALS[1])
    with world.asking(HOSPITALS[0]) as asking:
        asking._give_back(BROKEN)


def _joint_test(world: test_joint_test.Wards) -> None:
    world.give(*HOSPITALS)
    world.figures(HOSPITALS[0])


def alone(asker: int, key: SecretKey) -> None:
    """Two hospitals, the protocol's own functions: on shares, an evaluation, cut points, by Paillier's encryption."""
    cut_points()
    silent_transfers()
    layout, name = layout_of(NOISY, hospitals=2), PAIR[asker]
    codes = some_codes(layout, 3, 1)
    questions = [Asked(name, codes), Asked(name, codes, private=False)]
    run_two_hospitals(layout, tables_of(layout, *PAIR), (IDS, IDS), questions, BUDGET, OF_TWO, COINS)
    layout = layout_of(folds=2, classes=2, hospitals=2)
    shares, folds = np.zeros(layout.size, np.uint64), np.zeros((2, layout.size), np.uint64)
    codes, groups = some_codes(layout, 4, 1), np.arange(4)
    run_partner_evaluation(Sheet(layout, JOINT, 2), (shares, shares), folds, codes, groups, OF_TWO, asker=asker)
    layout, rng = nominal(3, [2, 3], max_rows=60), np.random.default_rng(1)
    tables, codes = {each: random_counts(layout, rng, 20) for each in PAIR}, random_codes(layout, rng, 2)
    questions = [Asked(name, codes), Asked(name, codes, private=False)]
    run_paillier(layout, tables, (IDS, IDS), key, questions, BUDGET, OF_TWO)


RECIPE = "personal:weight=2:prior=own"


def at_two_hospitals(asker: int) -> None:
    """Nodes on disks, as they talk on shares: a training, a question by a recipe, an evaluation."""
    with new_folder() as folder, ExitStack() as stack:
        stores = [_store(stack, Path(folder), name) for name in PAIR]
        ids = {store.name: store.rounds.contributions(1)[store.name].id for store in stores}
        for store in stores:
            store.meet(1, ids)
            store.rounds.seal(1, ids)
        _in_conversation(2, *(partial(_train, store) for store in stores))
        roles = partial(_ask, stores[asker]), partial(answer_questions, stores[1 - asker])
        _in_conversation(4, *(roles if asker == A else reversed(roles)))


def _store(stack: ExitStack, folder: Path, name: str) -> PartnerStore:
    federation, me = two_hospitals(), f"party {name}"
    database = Database.open(folder / name, COMPUTING_PARTY, Seal(name.encode().ljust(32)), me)
    rounds = Rounds(stack.enter_context(database), federation, me, lambda: NOON)
    store = PartnerStore(rounds, name, np.tile(one_hot(federation.layout, name), federation.policy.folds))
    stack.callback(store.close)
    store.contribute()
    return store


def two_hospitals() -> Federation:
    """With noise that is opened to both, folds and a recipe."""
    content: dict[str, Any] = agreement(NOISE, [RECIPE], folds=2, budget=1000).model_dump(mode="json")
    parties = [{"name": PAIR[0], "address": "127.0.0.1:4000"}, {"name": PAIR[1]}]
    return federation_from(content | {"parties": parties, "mixers": [], "privacy": NOISE | {"release": "model"}})


def _in_conversation(lines: int, *roles: Any) -> None:
    """Both hospitals, over so many channels."""
    ends = [memory.channels("party A", "party B") for _ in range(lines)]
    memory.together(*(partial(role, [pair[at] for pair in ends]) for at, role in enumerate(roles)))


def _train(store: PartnerStore, channels: list[Channel]) -> None:
    train_round(store, 1, channels)
    store.rounds.serve(1, store.rounds.current().run or b"")


def _ask(store: PartnerStore, channels: list[Channel]) -> None:
    asker, layout, recipe = Asker(store, channels), store.layout, read_recipe(RECIPE)
    codes = random_codes(layout, np.random.default_rng(1), 2)
    for question in (
        Question(Kind.PRIVATE, 1, 2, os.urandom(ID_BYTES), recipe),
        Question(Kind.EVALUATION, 1, 1, os.urandom(ID_BYTES), recipe),
    ):
        engine = asker.announce(question, lambda question: None)
        assert engine
        if question.kind is Kind.PRIVATE:
            asker.ask(engine, question, codes)
        else:
            asker.evaluate(question, Sheet(layout, recipe, 1), codes, np.array([0, 1]))
    asker.give_back(BROKEN)
    asker.end()
    asker.wait()
