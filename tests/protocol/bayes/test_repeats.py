import numpy as np
import pytest

from mixbayes.protocol.bayes.repeats import as_they_are, with_repeats
from mixbayes.protocol.errors import OutOfRange
from tests.protocol.pairs import random_for

ROWS, REPEATS = 20, 5
CODES = np.arange(3 * ROWS, dtype=np.int32).reshape(3, ROWS)
BOTH = "mixer a or mixer b"


def test_every_row_is_asked_about_and_copies_have_no_place_of_their_own() -> None:
    found = [with_repeats(CODES, REPEATS, random_for(number)) for number in range(50)]
    for one in found:
        times = np.bincount(one.places, minlength=ROWS)
        assert sorted(times) == [1] * (ROWS - REPEATS) + [2] * REPEATS
        np.testing.assert_array_equal(one.codes, CODES[:, one.places])
    assert len({tuple(one.places) for one in found}) == 50


def test_any_row_may_have_a_copy_and_one_without_may_stand_anywhere() -> None:
    """Whoever sees the places of the rows alone cannot tell which of them have a copy."""
    copied, alone = set[int](), set[int]()
    for number in range(50):
        places = with_repeats(CODES, REPEATS, random_for(number)).places
        has_copy = np.bincount(places)[places] > 1
        copied.update(places[has_copy].tolist())
        alone.update(np.flatnonzero(~has_copy).tolist())
    assert copied == set(range(ROWS))
    assert alone == set(range(ROWS + REPEATS))


def test_answers_come_back_in_the_order_of_the_rows() -> None:
    one = with_repeats(CODES, REPEATS, random_for(1))
    assert one.labels(one.places % 7, BOTH).tolist() == [row % 7 for row in range(ROWS)]
    assert as_they_are(CODES).labels(np.arange(ROWS), BOTH).tolist() == list(range(ROWS))


def test_more_copies_than_rows_are_copies_of_copies() -> None:
    one = with_repeats(CODES[:, :1], 3, random_for(2))
    assert one.places.tolist() == [0] * 4
    assert one.labels(np.array([1, 1, 1, 1]), BOTH).tolist() == [1]


def test_false_answer_is_noticed_exactly_where_a_row_has_a_copy() -> None:
    one = with_repeats(CODES, REPEATS, random_for(3))
    times = np.bincount(one.places)
    for at, row in enumerate(one.places):
        answers = one.places % 2
        answers[at] ^= 1
        if times[row] == 1:
            assert one.labels(answers, BOTH)[row] == answers[at]
        else:
            with pytest.raises(OutOfRange, match="mixer a or mixer b, at label: a row that was asked about twice"):
                one.labels(answers, BOTH)


def test_same_lie_about_every_row_is_not_noticed() -> None:
    one = with_repeats(CODES, REPEATS, random_for(4))
    assert one.labels(1 - one.places % 2, BOTH).tolist() == [1 - row % 2 for row in range(ROWS)]
