"""Two hospitals alone, as nodes on loopback: what lies on their disks, and what of it the other one holds."""

from __future__ import annotations

import hashlib
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mixbayes.node.questions import ID_BYTES
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.parties.alone.store import PartnerStore
from mixbayes.tables.columns import Columns
from tests.services.couple import NORTH, OTHER, ROWS, SOUTH, Couple, both, make_couple
from tests.services.helpers import DICTIONARY

PLANTED = {"well": "well-as-planted", "large": "large-as-planted"}
"""Words that are too long to turn up by chance in what is sealed."""


def _planted(table: Columns) -> Columns:
    cells = tuple(np.array([PLANTED.get(cell, cell) for cell in column]) for column in map(table.texts, table.names))
    return Columns.of(table.names, cells, table.rows)


def test_nothing_of_a_patient_lies_in_the_clear(tmp_path: Path) -> None:
    told = deepcopy(DICTIONARY)
    told["classes"][1] = PLANTED["well"]
    told["attributes"][1]["values"][2] = PLANTED["large"]
    couple = make_couple(tmp_path / "site", dictionary=told)
    couple.site.tables |= {name: _planted(table) for name, table in couple.site.tables.items()}
    rows = _planted(ROWS)
    found: list[bytes] = []
    with couple.nodes():
        couple.serve()
        for name in (NORTH, SOUTH):
            assert PLANTED["well"] in couple.labels(name, rows=rows)
            couple.labels(name, private=False, rows=rows)
        for name in (NORTH, SOUTH):
            found += [path.read_bytes() for path in couple.site.state(name).iterdir()]
    found += [path.read_bytes() for name in (NORTH, SOUTH) for path in couple.site.state(name).iterdir()]
    found += [couple.site.journals[name].getvalue().encode() for name in (NORTH, SOUTH)]
    assert any(b"contributed" in content for content in found)
    for name in (NORTH, SOUTH):
        counts = couple.settings(name).vector.astype("<u8").tobytes()
        digest = hashlib.sha256(counts)
        planted = [counts[start : start + 24] for start in range(0, len(counts) - 24, 8)]
        planted = [cells for cells in planted if cells.count(0) < 22]
        assert planted
        words = [word.encode() for word in PLANTED.values()]
        for secret in (*planted, digest.digest(), digest.hexdigest().encode(), *words):
            assert not [content for content in found if secret in content], secret


@both
def test_a_hospital_holds_its_own_counts_and_the_others_id(couple: Couple, name: str) -> None:
    stores: dict[str, PartnerStore] = {}
    seen: dict[tuple[str, str], bytes] = {}
    really_made, really_hold = PartnerStore.__init__, Rounds.hold

    def made(store: PartnerStore, *arguments: Any) -> None:
        really_made(store, *arguments)
        stores[store.name] = store

    def hold(rounds: Rounds, number: int, hospital: str, id: bytes, message: bytes) -> None:
        seen[rounds.me, hospital] = message
        really_hold(rounds, number, hospital, id, message)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(PartnerStore, "__init__", made)
        patched.setattr(Rounds, "hold", hold)
        with couple.nodes():
            couple.serve()
            ids = {at: stores[at].rounds.contributions(1) for at in (NORTH, SOUTH)}
    me, other = f"party {name}", OTHER[name]
    assert {hospital for at, hospital in seen if at == me} == {NORTH, SOUTH}
    assert seen[me, other] == ids[name][other].id == ids[other][other].id
    assert len(seen[me, other]) == ID_BYTES
    assert seen[me, name].startswith(couple.settings(name).vector.astype("<u8").tobytes())
