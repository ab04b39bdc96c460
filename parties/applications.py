"""A hospital's node as its own applications see it: a server on loopback, for the hospital's certificate alone.

While the server listens, its address lies in a file beside the hospital's key, where the hospital's commands find it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Protocol

import grpc
import numpy as np

from mixbayes.agreement.agreement import Federation
from mixbayes.node.identity import Identity
from mixbayes.node.log import Log
from mixbayes.node.questions import ID_BYTES, NEXT
from mixbayes.node.rounds.status import Status, encode
from mixbayes.node.serving.admission import OF_APPLICATIONS, Admission
from mixbayes.node.serving.conversations import IDLE
from mixbayes.node.serving.server import Server
from mixbayes.node.tallies import Tallies
from mixbayes.parties.node_address import remembered
from mixbayes.parties.own_patients import OwnPatients
from mixbayes.parties.settings import Settings
from mixbayes.protocol.arrays import Values
from mixbayes.protocol.bayes.evaluation import Integers, Totals
from mixbayes.protocol.bayes.label import Labels as Positions
from mixbayes.protocol.bayes.recipe import JOINT, OWN, UNSURE, Recipe, read_recipe
from mixbayes.protocol.errors import BadData, Unsupported
from mixbayes.tables.columns import Columns
from mixbayes.tables.encoding import encode_query
from mixbayes.transport.errors import RefusedByPolicy, TooEarly
from mixbayes.transport.peer import chunks, on_loopback
from mixbayes.transport.watch import Watch, in_time
from mixbayes.wire.v1.node_pb2 import (
    Chunk,
    Column,
    Evaluated,
    Evaluation,
    JointFigures,
    JointTest,
    Labels,
    RecipeName,
    ReportRequest,
    RoundNumber,
    RoundReport,
    Rows,
)
from mixbayes.wire.v1.node_pb2_grpc import PartyServicer, add_PartyServicer_to_server

FULL_NAME = "mixbayes.wire.v1.Party"
Context = grpc.ServicerContext
BEST = "best"
NO_BEST = (
    "This hospital's node remembers no best recipe. `mixbayes evaluate --remember RECIPE` judges the recipes, and says "
    "which one it is from then on."
)
NO_JOINT_TEST = (
    "There is no joint test between two hospitals without mixers: each would read the other's figures by subtraction. "
    "Evaluate your own patients without --joint."
)
_MOST_CHARACTERS = 1 << 24
"""The most characters that a table may take in memory."""


class Backend(Protocol):
    """What answers the applications: both mixers, or the other hospital."""

    def status(self) -> Status: ...

    def labels(
        self, codes: Values, *, private: bool, id: bytes, renew: bool, recipe: Recipe
    ) -> Iterator[Positions]: ...

    def totals(self, recipe: Recipe) -> Totals: ...

    def figures(self) -> Integers: ...

    def best(self) -> Recipe | None: ...

    def remember_best(self, recipe: Recipe) -> None: ...

    def open_round(self, number: int) -> None: ...

    def close_round(self, number: int) -> None: ...

    def counts(self, number: int) -> bytes: ...


class PartyService(PartyServicer):
    """Answers the hospital's own applications: only its own certificate is admitted, on loopback."""

    def __init__(self, federation: Federation, backend: Backend, own: OwnPatients, protection: str) -> None:
        self._federation = federation
        self._dictionary = federation.dictionary
        self._protection = protection
        self._backend = backend
        self._own = own
        self._deadline = federation.policy.timeout
        self._watch = Watch()

    def Classify(self, request_iterator: Iterator[Rows], context: Context) -> Iterator[Labels]:
        for rows in in_time(request_iterator, context.cancel, self._watch, self._deadline, IDLE[NEXT]):
            codes = encode_query(self._dictionary, table_of(rows.columns)).codes
            if rows.id and len(rows.id) != ID_BYTES:
                raise BadData(f"The id of a table of rows has {len(rows.id)} bytes instead of {ID_BYTES}.")
            for found in self._labels(rows, codes):
                yield Labels(labels=[self._answers[position] for position in found])

    def Report(self, request: ReportRequest, context: Context) -> RoundReport:
        found = self._backend.status()
        protection = ". ".join(filter(None, [self._protection, found.protection]))
        return encode(replace(found, protection=protection))

    def OpenRound(self, request: RoundNumber, context: Context) -> RoundReport:
        self._backend.open_round(request.round)
        return self.Report(ReportRequest(), context)

    def CloseRound(self, request: RoundNumber, context: Context) -> RoundReport:
        self._backend.close_round(request.round)
        return self.Report(ReportRequest(), context)

    def Counts(self, request: RoundNumber, context: Context) -> Iterator[Chunk]:
        yield from chunks(self._backend.counts(request.round))

    def Evaluate(self, request: Evaluation, context: Context) -> Iterator[Evaluated]:
        recipes = [read_recipe(text) for text in request.recipes]
        for recipe in recipes:
            refuse_not_agreed(self._federation, recipe)
        if self._federation.protocol == "paillier":
            raise Unsupported("The Paillier protocol judges no classifiers. Agree on the shares protocol for that.")
        self._own.refuse_none()
        for recipe in [OWN, *(recipe for recipe in recipes if recipe != OWN)]:
            found = self._own.own_totals(recipe) if recipe.base == "own" else self._backend.totals(recipe)
            yield evaluated(recipe, found, self._own.judged)

    def TestJointly(self, request: JointTest, context: Context) -> JointFigures:
        figures = self._backend.figures()
        return JointFigures(figures=figures.reshape(-1).tolist(), hospitals=self._backend.status().contributed)

    def Best(self, request: RecipeName, context: Context) -> RecipeName:
        if request.recipe:
            recipe = read_recipe(request.recipe)
            refuse_not_agreed(self._federation, recipe)
            self._backend.remember_best(recipe)
        found = self._backend.best()
        return RecipeName(recipe=str(found) if found else "")

    @property
    def _answers(self) -> tuple[str, ...]:
        return (*self._dictionary.classes, UNSURE)

    def _labels(self, rows: Rows, codes: Values) -> Iterator[Positions]:
        """From the classifier of the recipe: the hospital's own one needs nobody else."""
        recipe = self._recipe(rows.recipe)
        refuse_not_agreed(self._federation, recipe)
        if recipe.base == "own":
            yield self._own.labels(recipe, codes)
        else:
            private = not rows.public
            yield from self._backend.labels(codes, private=private, id=rows.id, renew=rows.renew, recipe=recipe)

    def _recipe(self, text: str) -> Recipe:
        if text != BEST:
            return read_recipe(text or str(JOINT))
        if found := self._backend.best():
            return found
        raise TooEarly(NO_BEST)


def evaluated(recipe: Recipe, totals: Totals, rows: int) -> Evaluated:
    """The totals of one recipe, as a message."""
    answers, above = totals.answers.reshape(-1).tolist(), totals.above.reshape(-1).tolist()
    return Evaluated(recipe=str(recipe), answers=answers, above=above, rows=rows)


def refuse_not_agreed(federation: Federation, recipe: Recipe) -> None:
    """Refuse a recipe that the agreement does not allow. The hospital's own classifier is its own matter."""
    recipe.refuse_unknown_classes(federation.dictionary.classes)
    if recipe.base != "own" and (why := federation.why_not(recipe)):
        raise RefusedByPolicy(f"The recipe {recipe} is not possible: {why}.")


def table_of(columns: Sequence[Column]) -> Columns:
    """The rows that an application sends, column by column."""
    _refuse_too_large(columns)
    cells = tuple(np.array(list(column.cells), np.str_) for column in columns)
    return Columns.of([column.name for column in columns], cells, len(cells[0]) if cells else 0)


def _refuse_too_large(columns: Sequence[Column]) -> None:
    """Every cell takes as much room in memory as the longest of its column, so a short message can ask for a lot."""
    longest = [max(map(len, column.cells), default=0) for column in columns]
    room = [len(column.cells) * most for column, most in zip(columns, longest, strict=True)]
    if sum(room) > _MOST_CHARACTERS:
        at = room.index(max(room))
        raise BadData(
            f"Column {columns[at].name!r} has a cell of {longest[at]} characters among {len(columns[at].cells)} rows, "
            "which is too much at once. Shorten it, or send fewer rows at a time."
        )


def serve_applications(
    stack: ExitStack, settings: Settings, identity: Identity, backend: Backend, tallies: Tallies, log: Log
) -> Server:
    """Listen until the stack unwinds. Until then the address lies beside the key."""
    federation, name = settings.federation, settings.name
    room, own = OF_APPLICATIONS, lambda caller, service: caller == name
    admission = Admission(federation.title(name), federation, own, log, identity.revoked, room, tallies)
    service = PartyService(federation, backend, settings.own_patients, settings.protection_text)
    server = Server(
        settings.listen,
        identity.credentials,
        admission,
        [partial(add_PartyServicer_to_server, service)],
        [FULL_NAME],
        reflected=settings.reflection,
        streams=2 * room.calls,
        callers=room.connections,
    )
    stack.enter_context(server)
    address = with_port(settings.listen, server.port)
    stack.enter_context(remembered(settings.keys, name, federation.digest(), address, log))
    return server


def refuse_elsewhere(address: str) -> None:
    """Refuse an address that other machines can reach."""
    if not on_loopback(address):
        raise Unsupported(
            f"--listen {address}: a hospital's node serves this machine alone. Give 127.0.0.1:PORT, and run the "
            "applications here."
        )


def with_port(address: str, port: int) -> str:
    """The address with the port that was found, if any port was asked for."""
    return f"{address.rpartition(':')[0]}:{port}"
