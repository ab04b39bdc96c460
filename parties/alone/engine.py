"""The two protocols of two hospitals alone behind one interface: train, ask, answer, and keep the model on disk.

A private question of the Paillier protocol needs random transfers between the hospitals, that of the shares none.

Secret sharing keeps words, in numpy's own format. Paillier keeps numbers of any length, in JSON.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from mixbayes.node.model_codec import model_bytes, model_from
from mixbayes.node.questions import most_rows
from mixbayes.parties.alone.obfuscators import Stock
from mixbayes.protocol.arrays import Numbers, Values, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.question import Form, TableHolder, TableReader
from mixbayes.protocol.bayes.recipe import JOINT, Recipe
from mixbayes.protocol.bayes.training import train, train_each
from mixbayes.protocol.bayes.two_hospitals import answer_partner, ask_partner, see_partner, show_partner
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import A, ComputingParty
from mixbayes.protocol.errors import LocalError
from mixbayes.protocol.paillier import classification as exact
from mixbayes.protocol.paillier.classification import Holder, Line, Other, Pool, Seat
from mixbayes.protocol.paillier.exact import USUAL_BITS
from mixbayes.protocol.paillier.key import (
    PublicKey,
    SecretKey,
    big_numbers,
    generate,
)
from mixbayes.protocol.paillier.modulus import receive_key, send_key
from mixbayes.protocol.paillier.training import ExactModel, Group, train_exactly
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pool import ReceivedPool, SentPool, connect_answerer, connect_asker
from mixbayes.transport.errors import RoundOver

SHARES, PAILLIER = "shares", "paillier"
_EXACT_ROWS = 64


@dataclass(frozen=True)
class AskingLine:
    """Between the hospital that asks and the other one, at the one that asks: where they talk, and transfers ahead."""

    channel: Channel
    pool: ReceivedPool | None

    @classmethod
    def connect(cls, protocol: str, channel: Channel, ahead: Channel, random: Randomness) -> AskingLine:
        return cls(channel, connect_asker(ahead, random) if protocol == PAILLIER else None)


@dataclass(frozen=True)
class AnsweringLine:
    """The same at the one that answers."""

    channel: Channel
    pool: SentPool | None

    @classmethod
    def connect(cls, protocol: str, channel: Channel, ahead: Channel, random: Randomness) -> AnsweringLine:
        return cls(channel, connect_answerer(ahead, random) if protocol == PAILLIER else None)


class Engine(ABC):
    """One hospital's half of a trained model, at work. `line` is given if the rows stay hidden, and None if not."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    @abstractmethod
    def of_recipe(self, me: ComputingParty, recipe: Recipe, joint: Words, own: Words | None) -> Engine:
        """Train a recipe with the other hospital, from this one's share of the joint counts.

        `own` are this hospital's counts if it is the one that asks. The new engine works with what this one has, and is
        not closed by itself.
        """

    @abstractmethod
    def again(self, raw: bytes) -> Engine:
        """The engine of a recipe that was kept."""

    @abstractmethod
    def ask(self, me: ComputingParty, line: AskingLine | None, codes: Values) -> Labels: ...

    @abstractmethod
    def answer(self, me: ComputingParty, line: AnsweringLine | None, count: int) -> None: ...

    @abstractmethod
    def kept(self) -> bytes:
        """The model as bytes for the disk."""

    def close(self) -> None:  # noqa: B027 - most have nothing to end
        """End the processes that work for the engine."""


class Shares(Engine):
    """Secret sharing: a share of θ."""

    def __init__(self, layout: Layout, model: Model) -> None:
        super().__init__(layout)
        self._model = model

    def of_recipe(self, me: ComputingParty, recipe: Recipe, joint: Words, own: Words | None) -> Engine:
        own = np.zeros_like(joint) if own is None else own
        return Shares(self._layout, train_each(me, self._layout, recipe, joint[None], own[None])[0])

    def again(self, raw: bytes) -> Engine:
        return Shares(self._layout, model_from(raw))

    def ask(self, me: ComputingParty, line: AskingLine | None, codes: Values) -> Labels:
        if line:
            return ask_partner(me, TableReader([line.channel], me.random), self._layout, self._model, codes)
        return show_partner(me, self._layout, self._model, codes)

    def answer(self, me: ComputingParty, line: AnsweringLine | None, count: int) -> None:
        if line:
            answer_partner(me, TableHolder(line.channel, me.random), self._layout, self._model, count)
        else:
            see_partner(me, self._layout, self._model, count)

    def kept(self) -> bytes:
        return model_bytes(self._layout, self._model)


class Paillier(Engine):
    """Factors of every cell, and the key: the whole of it at A, its public part at B."""

    def __init__(self, layout: Layout, key: SecretKey | PublicKey, model: ExactModel, stock: Stock) -> None:
        super().__init__(layout)
        self._key = key
        self._model = model
        self._stock = stock
        self._seat: Seat = Holder(key, stock) if isinstance(key, SecretKey) else Other(key, stock)

    def of_recipe(self, me: ComputingParty, recipe: Recipe, joint: Words, own: Words | None) -> Engine:
        return _trained(me, self._layout, self._key, self._stock, joint, recipe, own)

    def again(self, raw: bytes) -> Engine:
        return Paillier(self._layout, *exact_from(raw), self._stock)

    def ask(self, me: ComputingParty, line: AskingLine | None, codes: Values) -> Labels:
        if line:
            return exact.ask(me, self._seat, Line(line.channel, _connected(line.pool)), self._model, codes)
        return exact.show(me, self._seat, self._layout, self._model, codes)

    def answer(self, me: ComputingParty, line: AnsweringLine | None, count: int) -> None:
        if line:
            exact.answer(me, self._seat, Line(line.channel, _connected(line.pool)), self._model, count)
        else:
            exact.see(me, self._seat, self._layout, self._model, count)

    def kept(self) -> bytes:
        return exact_bytes(self._key, self._model)

    def close(self) -> None:
        self._stock.close()


def _connected(pool: Pool | None) -> Pool:
    if pool is None:
        raise LocalError("A private question of the Paillier protocol needs transfers, and this line was made without.")
    return pool


def train_engine(protocol: str, me: ComputingParty, layout: Layout, vector: Words) -> Engine:
    """A hospital's part of the training, with its own counts."""
    if protocol == SHARES:
        return Shares(layout, train(me, layout, vector))
    with ExitStack() as failing:
        if me.role == A:
            secret = generate()
            send_key(me.channel, secret)
            engine = _trained(me, layout, secret, failing.enter_context(Stock(secret)), vector)
        else:
            public = receive_key(me.channel, USUAL_BITS)
            engine = _trained(me, layout, public, failing.enter_context(Stock(public)), vector)
        failing.pop_all()  # the engine closes it
    return engine


def _trained(
    me: ComputingParty,
    layout: Layout,
    key: SecretKey | PublicKey,
    stock: Stock,
    joint: Words,
    recipe: Recipe = JOINT,
    own: Words | None = None,
) -> Engine:
    """The Paillier protocol's training of one recipe."""
    group = Group.of(layout, key.public if isinstance(key, SecretKey) else key, recipe)
    return Paillier(layout, key, train_exactly(me, group, layout, joint, recipe, own), stock)


def most_rows_of(protocol: str, layout: Layout, recipe: Recipe) -> int:
    """The largest number of rows in one question for this recipe."""
    if protocol == PAILLIER:
        return _EXACT_ROWS
    return most_rows(Form.of_recipe(layout, recipe))


def engine_from(protocol: str, layout: Layout, raw: bytes) -> Engine:
    """The engine of a model that was kept."""
    if protocol == SHARES:
        return Shares(layout, model_from(raw))
    key, model = exact_from(raw)
    return Paillier(layout, key, model, Stock(key))


def exact_bytes(key: SecretKey | PublicKey, model: ExactModel) -> bytes:
    """One hospital's factors in the Paillier protocol, with the key of their round, which was proven to fit."""
    group = model.group
    return json.dumps(
        {
            "key": key.primes if isinstance(key, SecretKey) else [key.modulus],
            "fits": True,
            "group": [group.modulus, group.comparison_bits, group.key_bits, group.small],
            "start": _plain(model.start),
            "tables": [_plain(table) for table in model.tables],
            "empty": model.empty.tolist(),
        },
        default=int,
    ).encode()


def exact_from(raw: bytes) -> tuple[SecretKey | PublicKey, ExactModel]:
    kept = json.loads(raw)
    if "fits" not in kept:
        raise RoundOver(
            "This round was trained by a version that did not prove its key. Close it with `mixbayes round close` and "
            "begin another one with `mixbayes round new`."
        )
    key = SecretKey(*kept["key"]) if len(kept["key"]) == 2 else PublicKey(kept["key"][0])
    modulus, bits, key_bits, small = kept["group"]
    model = ExactModel(
        Group(PublicKey(modulus).modulus, bits, key_bits, bool(small)),
        big_numbers(kept["start"]),
        tuple(big_numbers(table) for table in kept["tables"]),
        np.array(kept["empty"], np.uint8),
    )
    return key, model


def _plain(numbers: Numbers) -> list[object]:
    return numbers.tolist()
