"""What a hospital has itself: which rows are judged, and how many the computing parties see."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mixbayes.parties import own_patients
from mixbayes.parties.own_patients import OwnPatients
from mixbayes.privacy.coins import Coins
from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.evaluation import PADDING
from mixbayes.protocol.bayes.recipe import JOINT, OWN
from mixbayes.protocol.errors import Unsupported
from mixbayes.tables.folding import Patients

FOLDS = 3
ATTRIBUTE = Nominal(name="n", values=("x", "y"))
DICTIONARY = Dictionary(class_column="class", classes=("a", "b"), attributes=(ATTRIBUTE,), max_rows=1000)


def own(rows: int, *, noisy: bool = False, most: int = 30, folds: int = FOLDS) -> OwnPatients:
    layout = Layout(DICTIONARY, Terms(2, 0, most, Coins((4,)) if noisy else None, folds=folds))
    codes, labels = (np.arange(rows) % 3).astype(np.int32)[None], (np.arange(rows) % 2).astype(np.int32)
    dealt = np.arange(rows) % folds
    vectors = [count(layout, Codes(codes[:, dealt == fold], labels[dealt == fold])) for fold in range(folds)]
    order = np.argsort(dealt, kind="stable")
    return OwnPatients(layout, np.concatenate(vectors), Patients(codes[:, order], labels[order], dealt[order]))


@pytest.mark.parametrize("rows", [4, 17, 29])
def test_with_noise_nobody_sees_how_many_patients_there_are(rows: int) -> None:
    noisy, exact = own(rows, noisy=True), own(rows)
    assert noisy.sheet(JOINT).rows == 10  # of the 30 that a hospital may have, in three folds
    assert exact.sheet(JOINT).rows == -(-rows // FOLDS)
    for one in (noisy, exact):
        assert one.judged == rows
        assert one.codes.shape[1] == one.groups.size == FOLDS * one.sheet(JOINT).rows
        assert (one.groups == PADDING).sum() == one.groups.size - rows


def test_every_patient_is_judged_once_by_a_classifier_without_its_fold() -> None:
    one = own(29)
    totals = one.own_totals(OWN)
    assert totals.answers.sum() == 29
    right = totals.answers[[0, 2], [0, 1]].sum() + totals.answers[[1, 3], [0, 1]].sum()
    # The groups say who is right: those of an odd group are, the others are not.
    assert right == (one.groups % 2 == 1)[one.groups >= 0].sum()


def test_of_more_patients_than_are_asked_about_a_sample_is_spread_over_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(own_patients, "MOST_PADDED", 9)
    one = own(300, noisy=True, most=600)
    assert one.judged == 9
    rows = np.arange(50)
    assert own_patients._spread(rows, 3).tolist() == [0, 24, 49]
    assert own_patients._spread(rows, 50).tolist() == rows.tolist()


def test_a_private_release_hides_how_many_patients_there_are_without_noise_too() -> None:
    exact = own(17)
    private = replace(exact, hides_rows=True)
    assert (exact.sheet(JOINT).rows, private.sheet(JOINT).rows, private.judged) == (6, 10, 17)


def test_the_own_classifier_is_that_of_the_table_as_it_is() -> None:
    """Also to judge the others by: what was contributed says the opposite."""
    layout, says = own(4).layout, (np.arange(30) // 3 % 2).astype(np.int32)
    dealt = np.arange(30) % FOLDS
    patients = Patients(says[None], says, dealt)

    def counts(labels: Values) -> Words:
        of_folds = [count(layout, Codes(says[None][:, dealt == f], labels[dealt == f])) for f in range(FOLDS)]
        return np.concatenate(of_folds)

    protecting = OwnPatients(layout, counts(1 - says), patients, None, counts(says))
    codes = np.array([[0, 1]], np.int32)
    assert protecting.labels(OWN, codes).tolist() == [0, 1]
    assert OwnPatients(layout, counts(1 - says), patients).labels(OWN, codes).tolist() == [1, 0]
    assert set(protecting.groups.tolist()) <= {1, 3, PADDING}, "who is right, of either class"
    totals = protecting.own_totals(OWN).answers
    assert totals[[1, 3], [0, 1]].sum() == totals.sum() == 30


@pytest.mark.parametrize("folds", [1, FOLDS])
def test_without_folds_or_patients_it_says_what_to_do(folds: int) -> None:
    one = own(6, folds=folds)
    nobody = OwnPatients(one.layout, one.vector, one.patients if folds == 1 else None)
    with pytest.raises(Unsupported, match="policy, folds = 5" if folds == 1 else "every fold is empty"):
        nobody.refuse_none()
