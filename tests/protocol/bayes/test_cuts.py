"""The round for cut points and ranks: on shares as in the clear, and nothing else is opened."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.privacy.coins import Coins
from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.attributes.binned import Binned
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.attributes.several import Several
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes import cuts as room
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.cut_widths import widths_for
from mixbayes.protocol.bayes.cuts import begins, cuts_in_clear, cuts_on_shares, run_cuts
from mixbayes.protocol.bayes.information import real_information
from mixbayes.protocol.bayes.noise import blurred_in_clear
from mixbayes.protocol.computing_party import A, B
from mixbayes.protocol.errors import DictionaryTooLarge
from mixbayes.protocol.randomness import Randomness
from tests.protocol.adversary import Tap, bits_heard, tapped_memory
from tests.protocol.pairs import SEEDS, layout_of, random_for, seed
from tests.protocol.views import RUNS, dealt, pairs_seen_by, tells_nothing

COINS = Coins((4, 2, 3))
LISTS = Several(name="lists", values=("p", "q"))
NUMBERS = Gaussian(name="numbers", low=0.0, high=1.0)
WORD = Nominal(name="word", values=("x", "y", "z"))


def grid(name: str, cells: int) -> Binned:
    """Whole numbers, each in a cell of its own."""
    return Binned(name=name, low=0.0, high=float(cells - 1), cuts=tuple(float(cell) for cell in range(1, cells)))


def preliminary(
    attributes: Sequence[Attribute], classes: int = 2, coins: Coins | None = None, max_rows: int = 2**20
) -> Layout:
    labels = tuple(f"class {label}" for label in range(classes))
    dictionary = Dictionary(class_column="class", classes=labels, attributes=tuple(attributes), max_rows=max_rows)
    return Layout(dictionary, Terms(hospitals=3, coins=coins))


MIXED = [grid("age", 100), LISTS, WORD, grid("score", 7), NUMBERS, grid("same", 1)]


def a_table(layout: Layout, rng: np.random.Generator, rows: int) -> Codes:
    """Patients whose first column follows their class. Some classes stay empty, and some columns never change."""
    labels = (
        rng.integers(0, layout.classes, rows) if rng.random() < 0.8 else np.full(rows, rng.integers(layout.classes))
    )
    codes = [
        rng.integers(0, 1 if rng.random() < 0.2 else attribute.codes, (attribute.columns, rows))
        for attribute in layout.dictionary.attributes
    ]
    codes[0] = np.clip(30 + 10 * labels + rng.integers(0, 20, rows), 0, layout.dictionary.attributes[0].codes - 1)[None]
    return Codes(np.concatenate(codes).astype(np.int32), labels.astype(np.int32))


def tables_of(layout: Layout, number: int, rows: Sequence[int]) -> list[Codes]:
    rng = np.random.default_rng(number)
    return [a_table(layout, rng, some) for some in rows]


def together(layout: Layout, tables: Sequence[Codes]) -> tuple[list[Words], Words]:
    vectors = [count(layout, table) for table in tables]
    return vectors, sum(vectors, np.zeros(layout.size, np.uint64))


@given(SEEDS, st.integers(2, 4), st.lists(st.sampled_from([0, 1, 30, 2000]), min_size=1, max_size=3), st.integers(2, 9))
@settings(max_examples=12)
def test_computing_parties_find_what_the_joint_counts_say(
    number: int, classes: int, rows: list[int], bins: int
) -> None:
    layout = preliminary(MIXED, classes)
    vectors, joint = together(layout, tables_of(layout, number, rows))
    found_a, found_b = run_cuts(layout, bins, vectors, (seed(number), seed(number + 1), seed(number + 2)))
    assert found_a == found_b == cuts_in_clear(layout, joint, bins)


@given(SEEDS, st.sampled_from([0, 1, 30, 2000]), st.integers(2, 9))
@settings(max_examples=12)
def test_so_they_do_of_noisy_counts(number: int, rows: int, bins: int) -> None:
    layout = preliminary([grid("age", 40), WORD, grid("score", 7), LISTS], 3, COINS)
    vectors, joint = together(layout, tables_of(layout, number, [rows, 5]))
    coins = seed(number), seed(number + 9)
    found_a, found_b = run_cuts(layout, bins, vectors, (seed(1), seed(2), seed(3)), coins)
    noisy = blurred_in_clear(layout, joint, *map(Randomness, coins))
    assert found_a == found_b == cuts_in_clear(layout, noisy, bins)


@given(SEEDS, st.integers(2, 9))
@settings(max_examples=20)
def test_cut_points_are_quantiles_of_the_pooled_table(number: int, bins: int) -> None:
    """Where every number of a column is the bound of a cell, numpy's of the numbers themselves."""
    layout = preliminary(MIXED)
    tables = tables_of(layout, number, [300, 40])
    found = cuts_in_clear(layout, together(layout, tables)[1], bins)
    shares = np.array([Fraction(i, bins) for i in range(1, bins)])
    pooled = np.concatenate([table.codes for table in tables], axis=1)
    for (attribute, codes), positions in zip(layout.cells(pooled), found.positions, strict=True):
        assert (positions is not None) == isinstance(attribute, Binned)
        if positions is not None:
            present = codes[0][codes[0] < attribute.codes - 1]
            assert list(positions) == np.quantile(present, shares, method="inverted_cdf").tolist()


@given(SEEDS)
@settings(max_examples=20)
def test_ranks_are_by_information_in_the_bins_that_were_found(number: int) -> None:
    layout = preliminary(MIXED, 3)
    tables = tables_of(layout, number, [300, 40])
    found = cuts_in_clear(layout, together(layout, tables)[1], 4)
    labels = np.concatenate([table.labels for table in tables if table.labels is not None])
    pooled = np.concatenate([table.codes for table in tables], axis=1)
    information = []
    for (attribute, codes), positions, rank in zip(layout.cells(pooled), found.positions, found.ranks, strict=True):
        assert (rank is not None) == isinstance(attribute, Binned | Nominal)
        if rank is not None:
            present = codes[0] < attribute.codes - 1
            cut = codes[0] if positions is None else np.searchsorted([max(1, p) for p in positions], codes[0], "right")
            table = np.zeros((attribute.rows, 3), np.uint64)
            np.add.at(table, (cut[present], labels[present]), np.uint64(1))
            information.append((rank, real_information(table)))
    in_order = [bits for _, bits in sorted(information)]
    assert sorted(rank for rank, _ in information) == [1, 2, 3, 4]
    assert all(one > other - 1e-4 for one, other in pairwise(in_order))


@pytest.mark.parametrize(
    ("positions", "cells", "expected"),
    [
        ((3, 5, 9), 10, [3, 5, 9]),
        ((3, 3, 9), 10, [3, 9]),
        ((0, 0, 4), 10, [1, 4]),  # many in the first cell: it is a bin of its own
        ((0, 1, 4), 10, [1, 4]),
        ((0, 0, 0), 1, []),  # a column that never changes
        ((9, 4, 0), 10, [1, 4, 9]),  # noise may leave less than nobody
    ],
)
def test_bins_begin_at_quantiles(positions: tuple[int, ...], cells: int, expected: list[int]) -> None:
    assert begins(positions, cells) == expected


def test_empty_columns_and_classes_without_patients() -> None:
    layout = preliminary(MIXED, 3)
    nobody = np.zeros(layout.size, np.uint64)
    found, _ = run_cuts(layout, 4, [nobody, nobody], (seed(1), seed(2), seed(3)))
    assert found.positions == ((0, 0, 0), None, None, (0, 0, 0), None, (0, 0, 0))
    assert found.ranks == (1, None, 2, 3, None, 4)


@pytest.mark.parametrize("coins", [None, COINS], ids=["exact", "noisy"])
def test_as_many_patients_as_there_may_be(coins: Coins | None) -> None:
    """Half of them at each end of the grid, the classes apart, and noise as large as it can be."""
    layout = preliminary([grid("age", 16), WORD], coins=coins, max_rows=2**24)
    vector, each = np.zeros(layout.size, np.uint64), np.uint64(3 * 2**23)
    layout.class_counts(vector)[:] = each
    layout.block(vector, 0)[[0, 15], [0, 1]] = each
    layout.block(vector, 1)[0] = each
    if coins:
        layout.block(vector, 0)[1:15] += np.uint64(2**64 - coins.bound)
    found, _ = run_cuts(layout, 5, [vector], (seed(1), seed(2), seed(3)))
    assert found == cuts_in_clear(layout, vector, 5)
    assert found.positions == ((0, 0, 15, 15), None)
    assert found.ranks == (1, 2)


@given(SEEDS)
@settings(max_examples=15)
def test_few_patients_under_the_largest_noise(number: int) -> None:
    """All cells of a class, of a row or of the grid may get it to the same side."""
    rng = np.random.default_rng(number)
    grids = [grid(f"age {at}", 16) for at in range(6)]
    layout = preliminary([*grids, WORD], coins=COINS, max_rows=2)
    vector = np.zeros(layout.size, np.uint64)
    for _, block in layout.blocks(vector):
        sides = rng.choice([-1, 1], [(1, 1), (1, 2), (len(block) - 1, 1)][rng.integers(3)])
        block[:-1] = (sides * layout.noise * np.ones((len(block) - 1, 2))).astype(np.int64).view(np.uint64)
    found, _ = run_cuts(layout, 5, [vector], (seed(1), seed(2), seed(3)))
    assert found == cuts_in_clear(layout, vector, 5)
    assert all(0 <= cell < 16 for positions in found.positions if positions for cell in positions)


def test_without_numbers_there_are_ranks_alone_and_without_ranks_cuts() -> None:
    words = preliminary([WORD, LISTS])
    assert cuts_in_clear(words, np.zeros(words.size, np.uint64), 4).positions == (None, None)
    lists = preliminary([LISTS])
    found, _ = run_cuts(lists, 4, [np.zeros(lists.size, np.uint64)], (seed(1), seed(2), seed(3)))
    assert (found.positions, found.ranks) == ((None,), (None,))


@pytest.mark.parametrize(
    ("layout", "match"),
    [
        (preliminary([grid("age", 4)], max_rows=2**40), "Lower max_rows"),
        (preliminary([grid("age", 4)], 64, max_rows=2**30), "Lower max_rows"),
        (layout_of(2, [1] * 1001, 1000), "1000 attributes"),
    ],
)
def test_what_is_too_large_is_refused(layout: Layout, match: str) -> None:
    with pytest.raises(DictionaryTooLarge, match=match):
        widths_for(layout, 5)


# What a computing party hears.

SMALL = preliminary([grid("age", 8), WORD, grid("score", 5)])


def test_answers_and_ranks_are_all_that_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cells, of three bits each, for two quantiles of two grids; and a rank for each of three attributes."""
    shown: list[tuple[str, int]] = []

    def watch(module: object, name: str) -> None:
        plain = getattr(module, name)

        def watched(me, step, values, *rest):  # type: ignore[no-untyped-def]
            if me.role == A:
                shown.append((step, values.size))
            return plain(me, step, values, *rest)

        monkeypatch.setattr(module, name, watched)

    watch(room.quantiles, "opened")
    watch(room.information, "opened_words")
    vectors, _ = together(SMALL, tables_of(SMALL, 4, [60]))
    taps: list[Tap] = []
    with tapped_memory(taps):
        run_cuts(SMALL, 3, vectors, (seed(1), seed(2), seed(3)))
    assert shown == [("quantiles", 4)] * 3 + [("ranks", 3)]
    # And nowhere else do both say the same step that these two names have.
    said = [step for tap in taps for step, _ in tap.said if step in {"quantiles", "ranks"}]
    assert said.count("quantiles") == 6
    assert said.count("ranks") == 2


def test_messages_and_rounds_depend_on_the_dictionary_and_on_the_cells_of_quantiles_alone() -> None:
    """Tables become as small as the bins that everybody knows. Here they are the same, and the classes differ."""
    (table,), found = tables_of(SMALL, 4, [60]), []
    for number in range(4):
        labels = np.random.default_rng(number).integers(0, 1 + number % 2, 60).astype(np.int32)
        vectors, _ = together(SMALL, [Codes(table.codes, labels)] * (number + 1))
        taps: list[Tap] = []
        with tapped_memory(taps):
            cuts, _ = run_cuts(SMALL, 4, vectors, (seed(number), seed(number + 10), seed(number + 20)))
        found.append((cuts.positions, [[(step, raw.size) for step, raw in [*tap.said, *tap.heard]] for tap in taps]))
    assert all(each == found[0] for each in found)
    assert len(found[0][1]) == 4


def heard(role: int, counts: Words) -> Bits:
    """What a mixer hears, its own share fixed."""
    own = random_for(40).words(SMALL.size)
    shares = (own, counts - own) if role == A else (counts - own, own)
    views = []
    for pair in pairs_seen_by(role)[:RUNS]:
        tap = pair.talk.first if role == A else pair.talk.second
        tap.forget()
        pair.run(lambda me, share: cuts_on_shares(me, SMALL, share, 3), (shares[0],), (shares[1],))
        views.append(bits_heard(tap.heard))
    return np.stack(views)


@dealt
@pytest.mark.parametrize("role", [A, B], ids=["A", "B"])
def test_what_a_mixer_hears_is_uniform_whatever_was_counted(role: int) -> None:
    """Also its peer's shares of what is opened: its own share of that is drawn anew in every run."""
    counts = np.zeros(SMALL.size, np.uint64), together(SMALL, tables_of(SMALL, 8, [200]))[1]
    tells_nothing([heard(role, each) for each in counts])
