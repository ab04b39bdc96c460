"""A hospital's table as a local method releases it, fold by fold, and the patients by whom classifiers are judged.

A classifier is judged by patients who did not count in it. So every fold is protected by itself, from its own rows and
with a seed of its own, and what is without a fold is a difference here too. The patients who are asked about are those
of the table, not what was released of them. The rows that are kept aside are chosen before anything is protected.

**A release with a promise to a row.** Where a method promises every row an ε and a δ, the rows are dealt by chance, so
that a row more or less is one row more or less in one fold (`Dealing`). It then changes one of the releases, and has
the promise of that one. The seed hangs on the table, so that the same table has the same release for ever, after a
restart too, and another table has an independent one. A newer version of the program may draw otherwise from a seed:
two releases would be of one randomness. So the seed hangs on the version too. The hospital's ledger counts every
release that it contributes (`node/own_releases.py`).
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import version

import numpy as np

from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.evaluation import MOST_ROWS
from mixbayes.protocol.bayes.validity import joint
from mixbayes.protocol.errors import BadData
from mixbayes.tables.changed import changed_by
from mixbayes.tables.columns import Columns
from mixbayes.tables.folding import Dealing, Folded, folded
from mixbayes.tables.private_release import PrivateRelease
from mixbayes.tables.protecting import Progress, Protected, Protection, protect, row_privacy
from mixbayes.tables.tallying import Counted, Counting


def protected_in_folds(
    layout: Layout,
    table: Columns,
    protection: Protection,
    *,
    test_share: float = 0,
    secret: bytes,
    drawn_by: bytes,
    most: int = MOST_ROWS,
    progress: Progress | None = None,
) -> Folded:
    """The counts of every fold as the method releases it. `secret` deals the rows, and `drawn_by` decides the draws."""
    promised = row_privacy(protection)
    folds, by_chance = layout.terms.folds, promised is not None
    before = folded(layout, table, test_share=test_share, secret=secret, most=most, by_chance=by_chance)
    dealt = Dealing(folds, test_share, secret, by_chance=by_chance).deal(table.rows).folds
    parts = [_named(table.take(np.flatnonzero(dealt == fold)), fold, folds) for fold in range(folds)]
    seeds = [seed_for(drawn_by, protection, fold, layout.dictionary, part) for fold, part in enumerate(parts)]
    releases = {
        fold: _protected(part, layout, protection, np.random.default_rng(seeds[fold]), progress)
        for fold, part in enumerate(parts)
        if part.rows
    }
    found = _counted(layout, releases)
    unprotected = before.counted.vector
    about = replace(
        found,
        unlabelled=sum(one.unlabelled for one in releases.values()),
        protection=str(protection),
        guarantee=_in_each(folds, [one.guarantee for one in releases.values()]),
        coarsened=sum(one.coarsened for one in releases.values()),
        changed=changed_by(layout, joint(layout, unprotected), joint(layout, found.vector)),
        own_release=PrivateRelease(_id_of(seeds), *promised) if promised else None,
    )
    return replace(before, counted=about, unprotected=unprotected)


def seed_for(secret: bytes, protection: Protection, fold: int, dictionary: Dictionary, part: Columns) -> int:
    """The same for the same hospital, method and fold, for ever: several releases of one table could be averaged.

    Where the method promises a row something, another table, dictionary or version has another seed.
    """
    digest = hmac.new(secret, b"mixbayes protection", "sha256")
    _feed(digest, (str(protection), str(fold)))
    if row_privacy(protection):
        _feed(digest, (version("mixbayes"), dictionary.model_dump_json()))
        for name in (*dictionary.names, dictionary.class_column):
            _feed(digest, (name, "\0".join(part.texts(name).tolist())))
    return int.from_bytes(digest.digest(), "little")


def _id_of(seeds: Iterable[int]) -> bytes:
    return sha256(b"".join(seed.to_bytes(32, "little") for seed in seeds)).digest()


def _feed(digest: hmac.HMAC, texts: Iterable[str]) -> None:
    for text in texts:
        raw = text.encode(errors="surrogatepass")
        digest.update(len(raw).to_bytes(8, "little") + raw)


def _protected(
    part: Columns, layout: Layout, protection: Protection, chance: np.random.Generator, progress: Progress | None
) -> Protected:
    try:
        return protect(part, layout.dictionary, protection, chance, progress)
    except BadData as error:
        if layout.terms.folds == 1:
            raise
        raise type(error)(
            f"{error} Every fold is protected by itself, so that its patients can be judged, and this one has "
            f"{part.rows} rows: choose settings for so few, or agree on fewer folds (policy, folds = 1 for none)."
        ) from None


def _named(part: Columns, fold: int, folds: int) -> Columns:
    """This fold, of which messages say which one it is."""
    if folds == 1:
        return part
    return replace(part, source=f"{part.source}, fold {fold + 1} of {folds}".removeprefix(", "))


def _counted(layout: Layout, releases: dict[int, Protected]) -> Counted:
    """All folds together are what must fit the agreement, as many rows as each has."""
    counting = Counting(layout, layout.terms.folds)
    for fold, one in releases.items():
        columns = one.table.chosen(counting.columns_of(one.table.names))
        counting.add(columns, np.full(columns.rows, fold))
    return counting.done()


def _in_each(folds: int, guarantees: list[str]) -> str:
    """Every fold keeps its own; they differ in what was learned, if at all."""
    first = next(iter(guarantees), "")
    return first if folds == 1 else f"in each of {folds} folds, by itself: {first}"
