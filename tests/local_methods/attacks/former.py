"""How releases were once made, each with a leak that an attack uses: the attacks must be seen to succeed for ever."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mixbayes.local_methods.coordinates import weighted_points
from mixbayes.local_methods.grouping import Groups, groups_by_kmeans
from mixbayes.local_methods.tables import Floats, Nominal, Numeric, Table

Draw = Callable[[Floats, np.random.Generator], Floats]
"""New rows from those of a group."""


def groups_of_classes(table: Table, labels: Nominal, k: int, random: np.random.Generator) -> Groups:
    points, groups, begun = weighted_points(table, labels, 0.0), np.empty(table.rows, np.intp), 0
    for code in np.unique(labels.codes):
        members = np.flatnonzero(labels.codes == code)
        groups[members] = begun + groups_by_kmeans(points.take(members), k, random, lambda rows: None)
        begun = int(groups[members].max()) + 1
    return groups


def exact_moments(rows: Floats, random: np.random.Generator) -> Floats:
    """Whitened and coloured: mean and covariance are the group's to the last digits."""
    centred = rows - rows.mean(axis=0)
    _, lengths, directions = np.linalg.svd(centred, full_matrices=False)
    rank = int((lengths > 1e-9 * max(lengths[0], 1)).sum())
    white = random.normal(size=(len(rows), rank))
    orthonormal = np.linalg.qr(white - white.mean(axis=0))[0]
    return rows.mean(axis=0) + orthonormal * lengths[:rank] @ directions[:rank]


def in_the_flat(rows: Floats, random: np.random.Generator) -> Floats:
    """Moments in expectation, with a covariance that has no full rank."""
    weights = random.normal(size=(len(rows), len(rows))) / np.sqrt(len(rows))
    return rows.mean(axis=0) + weights @ (rows - rows.mean(axis=0))


def condensed(table: Table, labels: Nominal, k: int, seed: int, draw: Draw = exact_moments) -> tuple[Table, Nominal]:
    """Class-wise condensation; a released row stands where its group stood."""
    random = np.random.default_rng(seed)
    groups = groups_of_classes(table, labels, k, random)
    numbers = table.numbers()
    new = numbers.copy()
    for group in range(int(groups.max()) + 1):
        rows = np.flatnonzero(groups == group)
        new[rows] = draw(numbers[rows], random)
        constant = (numbers[rows] == numbers[rows[0]]).all(axis=0)
        new[np.ix_(rows, constant)] = numbers[rows[0], constant]
    return table.with_numbers(new), labels


def shuffled(table: Table, labels: Nominal, seed: int) -> tuple[Table, Nominal]:
    order = np.random.default_rng(seed).permutation(table.rows)
    return table.take(order), labels.take(order)


def clipped_at_patients(table: Table, scale: float, seed: int) -> Table:
    """Noise in whole units, cut off at the smallest and the largest original number."""
    numbers = table.numbers()
    noise = np.random.default_rng(seed).normal(size=numbers.shape) * scale * numbers.std(axis=0)
    return table.with_numbers(np.clip(np.rint(numbers + noise), numbers.min(axis=0), numbers.max(axis=0)))


def blanked_where_original(released: Table, original: Table) -> Table:
    """Exactly the rows that are a patient's lose a cell: the first."""
    rows = {tuple(row) for row in original.numbers().tolist()}
    numbers = released.numbers()
    numbers[[tuple(row) in rows for row in numbers.tolist()], 0] = np.nan
    return released.with_numbers(numbers)


def people(rows: int, seed: int, columns: int = 10) -> tuple[Table, Nominal]:
    """Whole numbers, most of few values, in two classes."""
    random = np.random.default_rng(seed)
    spread = np.array([0.4, 0.4, 0.5, 0.8, 1.0, 2.0, 8.0, 15.0, 20.0, 40.0])[:columns]
    codes = (np.arange(rows) % 2).astype(np.int64)
    kinds = random.normal(size=(rows // 5 + 1, columns))[np.arange(rows) // 5]  # people come in likenesses
    whole = np.rint(50 + codes[:, None] + spread * (kinds + 0.6 * random.normal(size=(rows, columns))))
    columns_ = tuple(Numeric(np.ascontiguousarray(column)) for column in whole.T)
    return Table(tuple(f"c{at}" for at in range(columns)), columns_, rows), Nominal(codes, np.array(["A", "B"]))
