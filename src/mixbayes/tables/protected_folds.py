"""A hospital's table as a local method releases it, fold by fold, and the patients by whom classifiers are judged.

A classifier is judged by patients who did not count in it. So every fold is protected by itself, from its own rows and
with a seed of its own, and what is without a fold is a difference here too. The patients who are asked about are those
of the table, not what was released of them. The rows that are kept aside are chosen before anything is protected.

**A release with a promise to a row.** Where a method promises every row an ε and a δ, the rows are dealt by chance, so
that a row more or less is one row more or less in one fold (`Dealing`). It then changes one of the releases, and has
the promise of that one. A hospital's node draws such a release once, from the system's randomness, and keeps it: the
same table is the same release after a restart, and another table, drawn from chance that is independent, is another
one. The ledger counts every release that is contributed (`node/own_releases.py`).
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from mixbayes.protocol.attributes.kind import Integers
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.evaluation import MOST_ROWS
from mixbayes.protocol.bayes.validity import joint
from mixbayes.protocol.errors import BadData
from mixbayes.tables.changed import changed_by
from mixbayes.tables.columns import Columns
from mixbayes.tables.folding import Dealing, Folded, folded
from mixbayes.tables.private_release import PrivateRelease
from mixbayes.tables.protecting import Chance, Progress, Protected, Protection, protect, row_privacy
from mixbayes.tables.tallying import Counted, Counting

ID_BYTES = 32
LEAST_IN_FOLD = 20
"""Rows for each fold that a table must have, where rows are dealt by chance. No fold is then likely to be empty, with
less than exp(-20) for each: that a fold was released at all would tell that it is not."""


class ReleaseShelf(Protocol):
    """Where the counts of a release lie that is drawn once."""

    def recall(self, tag: bytes) -> Counted | None: ...

    def keep(self, tag: bytes, counts: Counted) -> None: ...


@dataclass(frozen=True)
class Secrets:
    """What a hospital's dealing and drawing hang on."""

    dealing: bytes = field(repr=False)
    """Under every agreement another one."""
    drawing: bytes = field(repr=False)
    """For ever the same."""


def protected_in_folds(
    layout: Layout,
    table: Columns,
    protection: Protection,
    hidden: Secrets,
    *,
    test_share: float = 0,
    most: int = MOST_ROWS,
    kept: ReleaseShelf | None = None,
    progress: Progress | None = None,
) -> Folded:
    """The counts of every fold as the method releases it, and the patients of the table as it is.

    With `kept`, a release that promises a row something is drawn once, from the system's randomness.
    """
    promised = row_privacy(protection)
    folds, by_chance = layout.terms.folds, promised is not None
    if promised and folds > 1 and table.rows < LEAST_IN_FOLD * folds:
        raise BadData(
            f"{table.source}: {protection} in {folds} folds needs {LEAST_IN_FOLD * folds} rows, and there are "
            f"{table.rows}. Agree on fewer folds (policy, folds = 1 for none)."
        )
    before = folded(layout, table, test_share=test_share, secret=hidden.dealing, most=most, by_chance=by_chance)
    dealt = Dealing(folds, test_share, hidden.dealing, by_chance=by_chance).deal(table.rows).folds

    def drawn(*, by_system: bool = False) -> Counted:
        seeds = [None if by_system else seed_for(hidden.drawing, protection, fold) for fold in range(folds)]
        found = _released(layout, _parts(table, dealt, folds), protection, seeds, progress)
        own = PrivateRelease(secrets.token_bytes(ID_BYTES), *promised) if promised else None
        return replace(found, protection=str(protection), own_release=own)

    if kept and promised:
        tag = _tag(layout, table, protection, hidden, test_share)
        if (found := kept.recall(tag)) is None:
            kept.keep(tag, found := drawn(by_system=True))
    else:
        found = drawn()
    as_it_is = before.counted.vector
    changed = changed_by(layout, joint(layout, as_it_is), joint(layout, found.vector))
    return replace(before, counted=replace(found, changed=changed), unprotected=as_it_is)


def seed_for(secret: bytes, protection: Protection, fold: int) -> int:
    """The same for the same hospital, method and fold, for ever: several releases of one table could be averaged."""
    return int.from_bytes(_digest(secret, "seed", [str(protection), str(fold)]), "little")


def _tag(layout: Layout, table: Columns, protection: Protection, hidden: Secrets, test_share: float) -> bytes:
    """The same for the same release: of this table, by this method, counted by this dictionary in these folds."""
    dictionary, folds = layout.dictionary, layout.terms.folds
    texts = [str(protection), dictionary.model_dump_json(), str(folds)]
    if folds > 1 or test_share:  # else the dealing changes nothing
        texts.append(f"{float(test_share)!r} {hidden.dealing.hex()}")
    for name in (*dictionary.names, dictionary.class_column):
        texts += [name, "\0".join(table.texts(name).tolist())]
    return _digest(hidden.drawing, "release", texts)


def _digest(secret: bytes, purpose: str, texts: Iterable[str]) -> bytes:
    found = hmac.new(secret, f"mixbayes protection {purpose}".encode(), "sha256")
    for text in texts:
        raw = text.encode(errors="surrogatepass")
        found.update(len(raw).to_bytes(8, "little") + raw)
    return found.digest()


def _released(
    layout: Layout,
    parts: Iterable[Columns],
    protection: Protection,
    seeds: Sequence[int | None],
    progress: Progress | None,
) -> Counted:
    """All folds together are what must fit the agreement, as many rows as each has."""
    counting, releases = Counting(layout, len(seeds)), []
    for fold, (part, seed) in enumerate(zip(parts, seeds, strict=True)):
        if not part.rows:
            continue
        one = _protected(part, layout, protection, None if seed is None else np.random.default_rng(seed), progress)
        columns = one.table.chosen(counting.columns_of(one.table.names))
        counting.add(columns, np.full(columns.rows, fold))
        releases.append(one)
    return replace(
        counting.done(),
        unlabelled=sum(one.unlabelled for one in releases),
        guarantee=_in_each(len(seeds), [one.guarantee for one in releases]),
        coarsened=sum(one.coarsened for one in releases),
    )


def _protected(
    part: Columns, layout: Layout, protection: Protection, chance: Chance, progress: Progress | None
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


def _parts(table: Columns, dealt: Integers, folds: int) -> Iterator[Columns]:
    """The rows of each fold, of which messages say which one it is; one after the other, because they are copies."""
    for fold in range(folds):
        rows = np.flatnonzero(dealt == fold)
        part = table if len(rows) == table.rows else table.take(rows)
        title = f"{table.source}, fold {fold + 1} of {folds}".removeprefix(", ") if folds > 1 else table.source
        yield replace(part, source=title)


def _in_each(folds: int, guarantees: list[str]) -> str:
    """Every fold keeps its own; they differ in what was learned, if at all."""
    first = next(iter(guarantees), "")
    return first if folds == 1 else f"in each of {folds} folds, by itself: {first}"
