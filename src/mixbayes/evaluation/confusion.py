"""Figures of a confusion: accuracy alone misleads where nearly all patients are of one class."""

from __future__ import annotations

from mixbayes.evaluation.opened import Counts


def accuracy(confusion: Counts) -> float | None:
    """The share that is labelled rightly; unsure is not right. None where there is nobody."""
    rows = int(confusion.sum())
    return int(confusion.trace()) / rows if rows else None


def recalls(confusion: Counts) -> list[float | None]:
    """Of every class the share that is found; None for a class without patients."""
    sizes = confusion.sum(axis=1).tolist()
    return [found / size if size else None for found, size in zip(confusion.diagonal().tolist(), sizes, strict=True)]


def balanced_accuracy(confusion: Counts) -> float | None:
    """The mean of what is found of each class that has patients."""
    found = [one for one in recalls(confusion) if one is not None]
    return sum(found) / len(found) if found else None


def commonest(confusion: Counts) -> tuple[int, float | None]:
    """The position of the commonest true class, the first of several, and its share."""
    sizes = confusion.sum(axis=1)
    rows = int(sizes.sum())
    return int(sizes.argmax()), int(sizes.max()) / rows if rows else None


def unsure(confusion: Counts) -> int | None:
    """How many got no label; None where the recipe always gives one."""
    classes, answers = confusion.shape
    return int(confusion[:, classes].sum()) if answers > classes else None
