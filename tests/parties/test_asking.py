"""Ids of questions: the same for the same rows under one id of an application, and for nothing else."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.node.disk.sealing import Seal
from mixbayes.node.questions import ID_BYTES, Kind
from mixbayes.parties.asking import numbering

NORTH, SOUTH = (numbering(Seal(bytes([key]) * 32)) for key in (1, 2))
ROWS = np.array([[0, 1, 2], [3, 0, -1]])
ids = st.binary(min_size=ID_BYTES, max_size=ID_BYTES)


@given(ids, st.lists(st.integers(0, 10**6), min_size=2, max_size=5, unique=True))
def test_parts_of_a_request_have_ids_of_their_own_and_the_same_ones_again(id: bytes, parts: list[int]) -> None:
    found = [NORTH(id, part, Kind.PRIVATE, ROWS) for part in parts]
    assert len(set(found)) == len(parts)
    assert found == [NORTH(id, part, Kind.PRIVATE, ROWS.copy()) for part in parts]
    assert {len(one) for one in found} == {ID_BYTES}


@given(ids)
def test_other_rows_another_way_and_another_hospital_are_other_questions(id: bytes) -> None:
    usual = NORTH(id, 0, Kind.PRIVATE, ROWS)
    assert NORTH(id, 0, Kind.PRIVATE, ROWS[:, ::-1]) != usual
    assert NORTH(id, 0, Kind.PUBLIC, ROWS) != usual
    assert SOUTH(id, 0, Kind.PRIVATE, ROWS) != usual


def test_applications_that_count_their_ids_never_meet() -> None:
    one, next_one = (number.to_bytes(ID_BYTES, "little") for number in (5, 6))
    assert NORTH(one, 1, Kind.PRIVATE, ROWS) != NORTH(next_one, 0, Kind.PRIVATE, ROWS)


def test_without_an_id_every_part_gets_a_fresh_one() -> None:
    assert len({NORTH(b"", 0, Kind.PRIVATE, ROWS) for _ in range(20)}) == 20
