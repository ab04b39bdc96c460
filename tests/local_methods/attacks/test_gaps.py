"""What counts as a patient given back where cells are missing."""

from __future__ import annotations

import numpy as np

from mixbayes.local_methods.attacks.claims import Claims, given_back

NONE = np.nan
ORIGINAL = np.array([[1.0, NONE], [1.0, NONE], [3.0, 4.0], [5.0, 6.0]])


def test_a_patient_with_a_gap_is_given_back_by_the_other_cells() -> None:
    assert given_back(Claims(np.array([[1.0, NONE], [3.0, 4.0]])), ORIGINAL) == 2


def test_a_claim_of_less_or_of_more_cells_gives_nobody_back() -> None:
    assert given_back(Claims(np.array([[1.0, 2.0], [3.0, NONE]])), ORIGINAL) == 0


def test_each_patient_is_given_back_once() -> None:
    assert given_back(Claims(np.array([[1.0, NONE]] * 3 + [[3.0, 4.0]] * 3)), ORIGINAL) == 3


def test_a_place_is_that_of_one_patient() -> None:
    claims = Claims(np.array([[3.0, 4.0], [5.0, 6.0], [1.0, NONE]]), np.array([2, 2, 0]))
    assert given_back(claims, ORIGINAL) == 2
