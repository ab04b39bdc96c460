"""Two hospitals alone, as nodes on loopback: rounds are closed, opened, caught up with and lost."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime

import pytest

from mixbayes.node.disk.backup import back_up, put_back
from mixbayes.node.rounds.state import CLOSED, COLLECTING, FAILED, SERVING
from mixbayes.transport.errors import TooEarly
from tests.services.couple import NORTH, OTHER, ROWS, SOUTH, Couple, both
from tests.services.helpers import table, wait_until


@both
def test_either_closes_a_round_and_opens_the_next(couple: Couple, name: str) -> None:
    """In which a table counts that has changed meanwhile, and until then does not."""
    with couple.nodes():
        couple.serve()
        first = couple.labels(name)
        assert first == couple.due()
    couple.site.tables[NORTH] = table(7, rows=90, ill="none")
    assert couple.due() != first
    with couple.nodes():
        assert couple.labels(OTHER[name]) == first
        with couple.desk(name) as desk:
            desk.close_round(1)
            couple.wait_for(CLOSED)
            with pytest.raises(TooEarly, match="been closed"):
                couple.labels(OTHER[name])
            desk.open_round(2)
        couple.serve(2)
        assert [couple.labels(asker) for asker in (NORTH, SOUTH)] == [couple.due()] * 2
        assert couple.status(name).budget_left == couple.status(name).budget - ROWS.rows


def test_a_dialler_that_was_away_for_whole_rounds_catches_up(couple: Couple) -> None:
    with couple.nodes():
        couple.serve()
    with couple.node(NORTH):
        with couple.desk(NORTH) as desk:
            desk.close_round(1)
            desk.open_round(2)  # nobody has told south of either
            desk.close_round(2)
            desk.open_round(3)
        with couple.node(SOUTH):
            couple.serve(3)
            assert couple.labels(SOUTH) == couple.due()


@both
def test_a_hospital_that_begins_with_an_empty_folder_is_met_again(couple: Couple, name: str) -> None:
    with couple.nodes():
        for number in (1, 2):
            couple.serve(number)
            with couple.desk(SOUTH) as desk:
                desk.close_round(number)
                desk.open_round(number + 1)
        couple.serve(3)
    shutil.rmtree(couple.site.state(name))
    other = OTHER[name]
    with couple.nodes(), couple.desk(other) as desk:
        wait_until(lambda: couple.status(other).state in (SERVING, FAILED), "the one that remembers is at work")
        desk.close_round(desk.last_round())
        desk.open_round(desk.next_round())
        couple.serve(4)
        assert couple.labels(NORTH) == couple.labels(SOUTH) == couple.due()


@both
@pytest.mark.parametrize("at", [NORTH, SOUTH])
def test_a_hospital_that_is_restored_from_a_backup_is_met_again(couple: Couple, name: str, at: str) -> None:
    """Whichever of the two begins the next round."""
    state, backup = couple.site.state(name), couple.site.state(name).with_name("backup")
    backup.touch()
    with couple.nodes():
        couple.serve()
        back_up(state, backup, datetime.now(UTC))
        couple.labels(name)
    shutil.rmtree(state)
    put_back(backup, state, datetime.now(UTC))
    with couple.nodes():
        couple.wait_for(CLOSED)  # the other one ends the round when it hears of it
        with pytest.raises(TooEarly, match="been closed"):
            couple.labels(OTHER[name])
        with couple.desk(at) as desk:
            desk.close_round(desk.last_round())
            desk.open_round(desk.next_round())
        couple.serve(2)
        assert couple.labels(NORTH) == couple.labels(SOUTH) == couple.due()


@both
def test_both_say_where_the_other_one_is_after_a_state_folder_was_lost(couple: Couple, name: str) -> None:
    with couple.nodes():
        couple.serve()
        with couple.desk(SOUTH) as desk:
            desk.close_round(1)
            desk.open_round(2)
        couple.serve(2)
    shutil.rmtree(couple.site.state(name))
    with couple.nodes():
        for at in (NORTH, SOUTH):
            found = f"party {OTHER[at]} is at round {1 if name == NORTH != at else 2}"
            wait_until(lambda at=at, found=found: found in couple.status(at).reason, found)  # type: ignore[misc]
        with pytest.raises(TooEarly, match=r"`mixbayes round close` and then `mixbayes round new` at .* bring them"):
            couple.labels(name)
        with couple.desk(SOUTH) as desk:
            desk.close_round(desk.last_round())
            desk.open_round(desk.next_round())
        couple.serve(3)
        assert [couple.status(at).reason for at in (NORTH, SOUTH)] == ["", ""]


@both
def test_a_table_that_changes_before_the_set_is_complete_counts_in_the_next_round(couple: Couple, name: str) -> None:
    """What was contributed is sent again, not made again."""
    with couple.node(name):
        couple.wait_for(COLLECTING, 1, name)
    due = couple.due()
    couple.site.tables[name] = table(7, rows=90, ill="none")
    assert couple.due() != due
    with couple.nodes():
        couple.serve()
        assert couple.labels(name) == due
