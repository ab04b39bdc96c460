"""Evaluation between two hospitals: what the asking one learns is what the reference counts, whoever of them asks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.privacy.coins import Coins
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.bayes import two_hospitals
from mixbayes.protocol.bayes.evaluation import PADDING, Sheet
from mixbayes.protocol.bayes.recipe import read_recipe
from mixbayes.protocol.bayes.two_hospitals import run_partner_evaluation
from mixbayes.protocol.computing_party import A, B
from mixbayes.protocol.errors import OutOfRange
from mixbayes.protocol.randomness import Randomness
from tests.protocol.adversary import Tap, tapped_memory
from tests.protocol.bayes.test_evaluation import SEVERAL, Patients, layout_of
from tests.protocol.pairs import SEEDS, seed

pytestmark = pytest.mark.usefixtures("remembered_group")


def joint_of(patients: Patients, asker: int, number: int) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """Each hospital's own counts; with noise shares of N~."""
    own = patients.folds.sum(axis=0, dtype=np.uint64)
    if patients.layout.terms.coins:
        own = Randomness(seed(number)).words(own.size)
    other = patients.joint - own
    return (own, other) if asker == A else (other, own)


@pytest.mark.parametrize(("text", "attributes", "classes", "coins"), SEVERAL)
@given(number=SEEDS, each=st.sampled_from([1, 7, 30]), asker=st.sampled_from([A, B]))
@settings(max_examples=3)
def test_what_the_asking_hospital_learns_is_what_the_reference_counts(
    text: str, attributes: Sequence[Attribute], classes: int, coins: Coins | None, number: int, each: int, asker: int
) -> None:
    layout = layout_of(attributes, classes, coins)
    sheet, patients = Sheet(layout, read_recipe(text), each), Patients(layout, number, each)
    joint, seeds = joint_of(patients, asker, number), (seed(number + 2), seed(number + 3))
    found = run_partner_evaluation(sheet, joint, patients.folds, patients.codes, patients.groups, seeds, asker=asker)
    expected = patients.expected(sheet)
    assert found.answers.tolist() == expected.answers.tolist()
    assert found.above.tolist() == expected.above.tolist()
    assert found.answers.sum() == (patients.groups >= 0).sum()


def test_pieces_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = layout_of()
    sheet, patients = Sheet(layout, read_recipe("personal"), 20), Patients(layout, 1, 20)
    monkeypatch.setattr("mixbayes.protocol.bayes.question._MOST_ROWS", 7)
    assert len(sheet.pieces()) > sheet.folds
    joint = joint_of(patients, B, 1)
    found = run_partner_evaluation(
        sheet, joint, patients.folds, patients.codes, patients.groups, (seed(1), seed(2)), asker=B
    )
    assert found.answers.tolist() == patients.expected(sheet).answers.tolist()


def test_a_share_that_makes_no_totals_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other hospital adds a patient who was not asked about."""
    layout = layout_of()
    sheet, patients = Sheet(layout, read_recipe("joint"), 9), Patients(layout, 5, 9)
    really = two_hospitals.send_partner_totals
    monkeypatch.setattr(two_hospitals, "send_partner_totals", lambda asker, share: really(asker, share + np.uint64(1)))
    with pytest.raises(OutOfRange, match="party B, at totals of the evaluation: they are not the totals of the rows"):
        run_partner_evaluation(
            sheet, joint_of(patients, A, 1), patients.folds, patients.codes, patients.groups, (seed(1), seed(2))
        )


def talk_about(sheet: Sheet, patients: Patients, asker: int, number: int) -> list[Tap]:
    """Of A then of B, channel by channel, what is said in an evaluation."""
    taps: list[Tap] = []
    joint, seeds = joint_of(patients, asker, number), (seed(number + 2), seed(number + 3))
    with tapped_memory(taps):
        run_partner_evaluation(sheet, joint, patients.folds, patients.codes, patients.groups, seeds, asker=asker)
    return taps


@pytest.mark.parametrize("asker", [A, B], ids=["A asks", "B asks"])
@pytest.mark.parametrize("text", ["joint", "personal:weight=3:prior=joint:unsure=1"])
def test_messages_depend_on_public_sizes_alone(asker: int, text: str) -> None:
    """Not on whose rows they are, on what they are, on how many are padding, or on what is counted."""
    layout = layout_of()
    sheet, found = Sheet(layout, read_recipe(text), 8), []
    for number in range(3):
        patients = Patients(layout, number, 8)
        patients.groups[: number * 8] = PADDING
        taps = talk_about(sheet, patients, asker, number)
        found.append([[(step, raw.size) for step, raw in tap.said] for tap in taps])
    assert found[0] == found[1] == found[2]
    larger = talk_about(Sheet(layout, read_recipe(text), 9), Patients(layout, 1, 9), asker, 1)
    assert [[(step, raw.size) for step, raw in tap.said] for tap in larger] != found[0]


@pytest.mark.parametrize("asker", [A, B], ids=["A asks", "B asks"])
def test_only_the_asking_hospital_hears_totals_and_no_label_is_sent(asker: int) -> None:
    layout = layout_of()
    taps = talk_about(Sheet(layout, read_recipe("joint"), 8), Patients(layout, 1, 8), asker, 1)
    said = {(at % 2, step) for at, tap in enumerate(taps) for step, _ in tap.said}
    assert not [step for _, step in said if step in ("label", "groups of the rows")]
    assert [role for role, step in said if step == "totals of the evaluation"] == [B if asker == A else A]
