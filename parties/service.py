"""What a hospital's node answers its own applications."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import grpc
import numpy as np

from mixbayes.node.questions import ID_BYTES, NEXT
from mixbayes.node.serving.greeting import SOFTWARE
from mixbayes.node.serving.streams import IDLE
from mixbayes.parties.with_mixers.both_mixers import Status
from mixbayes.protocol.arrays import Values
from mixbayes.protocol.attributes.cells import Texts
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.bayes.label import Labels as Positions
from mixbayes.protocol.errors import BadData
from mixbayes.tables.columns import Columns
from mixbayes.tables.encoding import encode_query
from mixbayes.transport.watch import Watch, in_time
from mixbayes.wire.v1.node_pb2 import Column, Labels, ReportRequest, RoundNumber, RoundReport, Rows
from mixbayes.wire.v1.node_pb2_grpc import PartyServicer

Context = grpc.ServicerContext
_MOST_CHARACTERS = 1 << 24
"""Of a column in memory."""


class Asked(Protocol):
    """What stands behind: both mixers, or the other hospital."""

    def status(self) -> Status: ...

    def labels(self, codes: Values, *, private: bool, id: bytes, renew: bool) -> Iterator[Positions]: ...

    def open_round(self, number: int) -> None: ...

    def close_round(self, number: int) -> None: ...


class PartyService(PartyServicer):
    """For the hospital's own certificate alone, on loopback."""

    def __init__(self, dictionary: Dictionary, behind: Asked, protection: str, deadline: float) -> None:
        self._dictionary = dictionary
        self._protection = protection
        self._behind = behind
        self._deadline = deadline
        self._watch = Watch()

    def Classify(self, request_iterator: Iterator[Rows], context: Context) -> Iterator[Labels]:
        for rows in in_time(request_iterator, context.cancel, self._watch, self._deadline, IDLE[NEXT]):
            codes = encode_query(self._dictionary, table_of(rows.columns)).codes
            if rows.id and len(rows.id) != ID_BYTES:
                raise BadData(f"The id of a table of rows has {len(rows.id)} bytes instead of {ID_BYTES}.")
            for found in self._behind.labels(codes, private=not rows.public, id=rows.id, renew=rows.renew):
                yield Labels(labels=[self._dictionary.classes[position] for position in found])

    def Report(self, request: ReportRequest, context: Context) -> RoundReport:
        return report_of(self._behind.status(), self._protection)

    def OpenRound(self, request: RoundNumber, context: Context) -> RoundReport:
        self._behind.open_round(request.round)
        return self.Report(ReportRequest(), context)

    def CloseRound(self, request: RoundNumber, context: Context) -> RoundReport:
        self._behind.close_round(request.round)
        return self.Report(ReportRequest(), context)


def table_of(columns: Sequence[Column]) -> Columns:
    """The rows an application sends, column by column."""
    cells = tuple(map(_texts, columns))
    return Columns(tuple(column.name for column in columns), cells, len(cells[0]) if cells else 0)


def _texts(column: Column) -> Texts:
    """As an array, in which every cell has the room of the longest."""
    rows, longest = len(column.cells), max(map(len, column.cells), default=0)
    if rows * longest > _MOST_CHARACTERS:
        raise BadData(
            f"Column {column.name!r} has a cell of {longest} characters among {rows} rows, which is too much at once. "
            "Shorten it, or send fewer rows at a time."
        )
    return np.array(list(column.cells), np.str_)


def report_of(status: Status, protection: str) -> RoundReport:
    return RoundReport(
        round=status.round,
        state=status.state,
        reason=status.reason,
        contributed=status.contributed,
        missing=status.missing,
        refused=status.refused,
        budget=status.budget,
        budget_left=status.budget_left,
        software=SOFTWARE,
        protection=protection,
    )
