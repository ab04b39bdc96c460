"""Two hospitals alone on this machine: north listens, south dials."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mixbayes.node.disk import audit
from mixbayes.node.rounds.state import FAILED, SERVING
from mixbayes.node.rounds.status import Status
from mixbayes.parties.alone import engine
from mixbayes.parties.alone import node as partner_node
from mixbayes.parties.alone.obfuscators import Key, Stock
from mixbayes.parties.desk import AtOwnNode, at_own_node
from mixbayes.parties.settings import RunningHospital, Settings
from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.recipe import UNSURE
from mixbayes.protocol.bayes.reference import real_scores
from mixbayes.protocol.bayes.validity import joint
from mixbayes.protocol.paillier.key import SecretKey
from mixbayes.tables.columns import Columns
from mixbayes.tables.encoding import encode_query
from mixbayes.tables.folding import folded
from mixbayes.wire.v1 import node_pb2
from tests.ports import free_port
from tests.services.helpers import Site, make_site, wait_until

NORTH, SOUTH = "north", "south"
OTHER = {NORTH: SOUTH, SOUTH: NORTH}
both = pytest.mark.parametrize("name", [NORTH, SOUTH])
ROWS = Columns.of(
    ("sex", "tumour"),
    (np.repeat(["f", "m", ""], 4), np.tile(["none", "small", "large", ""], 3)),
    12,
)
"""Every row there can be."""
_NEAR_TIE = 1e-3


@dataclass
class Couple:
    """Both nodes' disks; what runs of them runs in this process."""

    site: Site

    @property
    def layout(self) -> Layout:
        return self.site.federation.layout

    def settings(self, name: str, **changes: Any) -> Settings:
        made = folded(self.layout, self.site.tables[name], secret=name.encode())
        federation, keys, state = self.site.federation, self.site.keys, self.site.state(name)
        changes = {"patients": made.patients} | changes
        return Settings(federation, name, keys, state, made.counted.vector, made.counted.rows, **changes)

    @contextmanager
    def node(self, name: str) -> Iterator[RunningHospital]:
        with partner_node.running(self.settings(name), self.site.log(name)) as party:
            yield party

    @contextmanager
    def nodes(self, *names: str) -> Iterator[None]:
        with ExitStack() as stack:
            for name in names or (NORTH, SOUTH):
                stack.enter_context(self.node(name))
            yield

    @contextmanager
    def desk(self, name: str) -> Iterator[AtOwnNode]:
        with at_own_node(self.site.federation, self.site.identity(name), self.site.keys) as desk:
            yield desk

    def status(self, name: str) -> Status:
        with self.desk(name) as desk:
            return desk.status()

    def wait_for(self, state: str, number: int = 1, *names: str) -> None:
        for name in names or (NORTH, SOUTH):

            def there(name: str = name) -> bool:
                status = self.status(name)
                assert status.state != FAILED or state == FAILED, status.reason
                return (status.round, status.state) == (number, state)

            wait_until(there, f"round {number} is {state} at {name}")

    def serve(self, number: int = 1) -> None:
        self.wait_for(SERVING, number)

    def codes(self, rows: Columns) -> Values:
        return encode_query(self.site.federation.dictionary, rows).codes

    def labels(self, name: str, *, private: bool = True, rows: Columns = ROWS, recipe: str = "") -> list[str]:
        """As `mixbayes classify` asks."""
        with self.desk(name) as desk:
            found = desk.labels(self.codes(rows), rows, private=private, progress=lambda done: None, recipe=recipe)
        return [(*self.site.federation.dictionary.classes, UNSURE)[label] for label in found]

    def labels_of(self, name: str, id: bytes, *, private: bool = True, rows: Columns = ROWS) -> list[str]:
        """As an application asks that numbers its requests."""
        columns = [node_pb2.Column(name=n, cells=rows.texts(n).tolist()) for n in rows.names]
        asked = node_pb2.Rows(id=id, columns=columns, public=not private)
        with self.desk(name) as desk:
            replies = desk._peer.answers(desk._stub.Classify, iter([asked]), "classification")
            return [label for reply in replies for label in reply.labels]

    def counts(self, name: str) -> Words:
        """Of all folds."""
        return joint(self.layout, self.settings(name).vector)

    def due(self, rows: Columns = ROWS) -> list[str]:
        """What the pooled classifier says; none of these rows may be a tie."""
        scores = real_scores(self.layout, self.counts(NORTH) + self.counts(SOUTH), self.codes(rows))
        best = np.sort(scores, axis=0)
        assert (best[-1] - best[-2] > _NEAR_TIE).all()
        return [self.site.federation.dictionary.classes[label] for label in scores.argmax(axis=0)]

    def asked(self, at: str) -> list[str]:
        """Who asked how many rows in what way, by the audit trail of this node."""
        records = (record.entry for record in audit.entries(self.site.state(at)))
        return [
            f"{entry.actor}: {number} {detail}"
            for entry in records
            if entry.verb == "asked"
            for detail, number in entry.details.items()
            if detail.startswith("rows")
        ]


def make_couple(folder: Path, protocol: str = "shares", **changes: Any) -> Couple:
    parties = [{"name": NORTH, "address": f"127.0.0.1:{free_port()}"}, {"name": SOUTH}]
    return Couple(make_site(folder, parties=parties, mixers=[], protocol=protocol, **changes))


def cheap_paillier(key: SecretKey, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes with this key, and with less made ahead than in earnest."""

    def stock(key: Key) -> Stock:
        return Stock(key, ahead=64, low=32)

    monkeypatch.setattr(engine, "generate", lambda: key)
    monkeypatch.setattr(engine, "USUAL_BITS", key.public.bits)
    monkeypatch.setattr(engine, "Stock", stock)
