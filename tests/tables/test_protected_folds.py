"""A protected table, fold by fold: what is counted, who judges, and on what the draws hang."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.validity import joint
from mixbayes.protocol.errors import BadData
from mixbayes.tables.changed import GIVEN_AWAY, changed_by
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted
from mixbayes.tables.folding import Dealing, folded
from mixbayes.tables.protected_folds import Secrets, protected_in_folds, seed_for
from mixbayes.tables.protecting import Protection, read_protection
from mixbayes.tables.tallying import Counted
from tests.tables.private_stand_in import private_stand_in
from tests.tables.whole_release import protected

SEX, AGE = Nominal(name="sex", values=("m", "f")), Gaussian(name="age", low=0.0, high=100.0)
SECRET = b"a secret"
HIDDEN = Secrets(SECRET, SECRET)
NOISE = read_protection("additive-noise:scale=0.5")
GROUPS = read_protection("generalisation:k=3:quasi_identifiers=sex")


def layout_of(folds: int, *attributes: Nominal | Gaussian) -> Layout:
    dictionary = Dictionary(class_column="class", classes=("no", "yes"), attributes=attributes or (SEX, AGE))
    return Layout(dictionary, Terms(folds=folds))


def hospital(rows: int = 60) -> Columns:
    random = np.random.default_rng(3)
    sex, label = random.choice(["m", "f"], rows), random.choice(["no", "yes"], rows)
    age = random.integers(20, 80, rows).astype(np.str_)
    return Columns.of(("sex", "age", "class"), (sex, age, label), rows, "north.csv")


@pytest.mark.parametrize("share", [0, 0.25])
def test_every_fold_is_released_from_its_own_rows_and_the_patients_are_those_of_the_table(share: float) -> None:
    layout, table = layout_of(4), hospital()
    found = protected_in_folds(layout, table, NOISE, HIDDEN, test_share=share)
    plain = folded(layout, table, test_share=share, secret=SECRET)
    dealt = Dealing(4, share, SECRET).deal(table.rows).folds
    assert (0 < (dealt == 4).sum() < 30) if share else 4 not in dealt
    for fold, vector in enumerate(found.counted.vector.reshape(4, -1)):
        rows = table.take(np.flatnonzero(dealt == fold))
        chance = np.random.default_rng(seed_for(SECRET, NOISE, fold))
        assert vector.tolist() == protected(layout_of(1), rows, NOISE, chance).vector.tolist()
    assert found.unprotected is not None
    assert found.unprotected.tolist() == plain.counted.vector.tolist() != found.counted.vector.tolist()
    for mine, theirs in [(found.patients, plain.patients), (found.aside, plain.aside)]:
        assert mine.codes.tolist() == theirs.codes.tolist()
        assert mine.folds.tolist() == theirs.folds.tolist()
    assert found.counted.guarantee.startswith("in each of 4 folds, by itself: Normal noise")
    assert found.counted.changed == changed_by(
        layout, joint(layout, found.unprotected), joint(layout, found.counted.vector)
    )


def test_where_a_fold_is_without_its_rows_nothing_of_them_is_left() -> None:
    """Whatever the rows of the first fold say, the sum of the others stays: it is what judges the first fold."""
    layout, table = layout_of(3), hospital()
    other = table.texts("age").copy()
    other[::3] = "99"
    changed = Columns.of(table.names, (table.texts("sex"), other, table.texts("class")), table.rows, table.source)
    vectors = [protected_in_folds(layout, one, NOISE, HIDDEN).counted.vector.reshape(3, -1) for one in (table, changed)]
    assert vectors[0][0].tolist() != vectors[1][0].tolist()
    assert vectors[0][1:].tolist() == vectors[1][1:].tolist()


def test_equal_folds_are_drawn_apart_and_a_restart_draws_the_same() -> None:
    layout, once = layout_of(2), hospital(20)
    twice = once.take(np.repeat(np.arange(20), 2))
    found = [protected_in_folds(layout, twice, NOISE, HIDDEN).counted for _ in range(2)]
    first, second = found[0].vector.reshape(2, -1)
    assert first.tolist() != second.tolist()
    assert found[0].vector.tolist() == found[1].vector.tolist()


def test_rows_that_a_method_drops_are_missing_in_their_fold_alone() -> None:
    layout, table = layout_of(2), hospital(24)
    ages = table.texts("age").copy()
    ages[:8:2] = "?"
    table = Columns.of(table.names, (table.texts("sex"), ages, table.texts("class")), table.rows, table.source)
    dropping = read_protection("additive-noise:missing=drop")
    found = protected_in_folds(layout, table, dropping, HIDDEN)
    assert layout.class_counts(found.counted.vector.reshape(2, -1)).sum(axis=1).tolist() == [8, 12]
    assert (found.counted.rows, found.patients.rows) == (20, 24)


def test_a_fold_too_small_for_the_method() -> None:
    with pytest.raises(BadData, match=r"north.csv, fold 1 of 5: k = 3 .* this one has 2 rows.*policy, folds"):
        protected_in_folds(layout_of(5), hospital(10), GROUPS, HIDDEN)
    with pytest.raises(BadData, match=r"^north.csv: k = 3[^E]*$"):
        protected_in_folds(layout_of(1), hospital(2), GROUPS, HIDDEN)
    assert protected_in_folds(layout_of(5), hospital(4), NOISE, HIDDEN).counted.rows == 4


def test_one_fold_is_the_whole_table() -> None:
    layout, table = layout_of(1), hospital()
    found = protected_in_folds(layout, table, GROUPS, HIDDEN)
    assert replace(found.counted, vector=None) == replace(protected(layout, table, GROUPS, 0), vector=None)  # type: ignore[arg-type]
    assert found.patients.rows == 0


class Shelf:
    """In memory."""

    def __init__(self) -> None:
        self.there: dict[bytes, Counted] = {}

    def recall(self, tag: bytes) -> Counted | None:
        return self.there.get(tag)

    def keep(self, tag: bytes, counts: Counted) -> None:
        self.there[tag] = counts


def test_a_release_with_a_promise_is_drawn_once_for_a_table() -> None:
    """From the system's randomness: whoever knows the hospital's key can draw it again as little as others."""
    shelf, layout, more = Shelf(), layout_of(2), hospital(41)
    with private_stand_in() as name:
        one, other = read_protection(name), read_protection(f"{name}:epsilon=2")

        def release(table: Columns, layout: Layout, protection: Protection, hidden: Secrets = HIDDEN) -> bytes:
            own = protected_in_folds(layout, table, protection, hidden, kept=shelf).counted.own_release
            assert own
            return own.id

        first = release(hospital(40), layout, one)
        assert release(hospital(40), layout, one) == first
        elsewhere = Secrets(b"another agreement", SECRET)
        others = [
            release(more, layout, one),
            release(hospital(40), layout_of(2, SEX), one),
            release(hospital(40), layout, other),
            release(hospital(40), layout, one, elsewhere),
        ]
        assert len({first, *others}) == 5 == len(shelf.there)
        alone = release(hospital(40), layout_of(1), one)
        assert release(hospital(40), layout_of(1), one, elsewhere) == alone, "nothing is dealt, so nothing differs"
        vectors = [
            protected_in_folds(layout, hospital(40), one, HIDDEN, kept=Shelf()).counted.vector.tolist()
            for _ in range(2)
        ]
        assert vectors[0] != vectors[1]
        seeded = [protected_in_folds(layout, hospital(40), one, HIDDEN).counted.vector.tolist() for _ in range(2)]
        assert seeded[0] == seeded[1], "as in simulations"
    protected_in_folds(layout, hospital(40), NOISE, HIDDEN, kept=(unused := Shelf()))
    assert not unused.there


def test_so_few_rows_that_a_fold_may_be_empty_are_no_private_release() -> None:
    with private_stand_in() as name:
        with pytest.raises(BadData, match="in 2 folds needs 40 rows, and there are 39"):
            protected_in_folds(layout_of(2), hospital(39), read_protection(name), HIDDEN)
        assert protected_in_folds(layout_of(1), hospital(39), read_protection(name), HIDDEN).counted.rows == 39


def test_by_chance_a_row_is_dealt_by_its_own_number() -> None:
    """A row more moves no other: each has a number of its own, whatever stands before it."""
    dealing = Dealing(5, 0.2, SECRET, by_chance=True)
    parts = [dealing.deal(rows) for rows in (7, 400, 93)]
    numbers, folds = (np.concatenate([getattr(part, name) for part in parts]) for name in ("numbers", "folds"))
    aside = numbers < int(0.2 * 2**64)
    assert (folds == np.where(aside, 5, numbers % np.uint64(5))).all()
    assert (np.bincount(folds) > 60).all()
    with private_stand_in() as name:
        found = protected_in_folds(layout_of(5), hospital(100), read_protection(name), HIDDEN)
    sizes = np.bincount(Dealing(5, 0, SECRET, by_chance=True).deal(100).folds).tolist()
    assert layout_of(5).class_counts(found.counted.vector.reshape(5, -1)).sum(axis=1).tolist() == sizes
    assert np.bincount(found.patients.folds).tolist() == sizes
    release = found.counted.own_release
    assert release
    assert (release.epsilon, release.delta, len(release.id)) == (1.0, 1e-6, 32)


def test_what_changed_by_hand() -> None:
    layout = layout_of(1)
    ages = np.array(["50", "50", "0", ""]), np.array(["50", "80", "0", ""])
    sexes = np.array(["m", "f", "m", "f"]), np.array(["m", "m", "m", "f"])
    classes = np.array(["no"] * 3 + ["yes"])
    table, other = (
        Columns.of(("sex", "age", "class"), (sex, age, classes), 4) for sex, age in zip(sexes, ages, strict=True)
    )
    before, after = (counted(layout, one).vector for one in (table, other))
    found = changed_by(layout, before, after)
    # One of three men more and one woman less; the sum of ages by 30 of 3 · 100, that of the squares by 39 of 300.
    assert (found.numbers, found.differing) == (18, 5)  # the low halves of the squares differ too, and say nothing
    assert found.largest == pytest.approx(1 / 3)
    assert found.median == pytest.approx((0.13 + 1 / 3) / 2, abs=1e-6)
    assert str(found).startswith("5 of 18 numbers of the contribution differ from the unprotected ones, half of these")
    assert GIVEN_AWAY not in str(found)
    same = changed_by(layout, before, before)
    assert (same.differing, same.median, same.largest, same.hardly) == (0, 0, 0, True)
    assert str(same) == f"0 of 18 numbers of the contribution differ from the unprotected ones: {GIVEN_AWAY}"
