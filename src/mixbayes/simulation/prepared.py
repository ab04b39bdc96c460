"""What the hospitals count, and the rows to ask about, before any node is started."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.validity import joint
from mixbayes.protocol.errors import Unsupported
from mixbayes.simulation.plan import Plan
from mixbayes.tables.columns import Columns
from mixbayes.tables.encoding import encode_query
from mixbayes.tables.folding import Folded, Patients, folded
from mixbayes.tables.protected_folds import Secrets, protected_in_folds
from mixbayes.tables.protecting import Protection, read_protection
from mixbayes.tables.tallying import Counted

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


@dataclass(frozen=True)
class Prepared:
    """By hospital, what it counts, and what it would have counted of its table as it is."""

    layout: Layout
    held: Mapping[str, Counted]
    unprotected: Mapping[str, Counted]
    patients: Mapping[str, Patients]
    """Rows of their tables as they are, by which they judge classifiers."""
    questions: Columns
    codes: Values
    """Of the questions."""
    asked: Mapping[str, int]
    """How many of the questions are whose, one hospital after the other."""

    @property
    def vectors(self) -> dict[str, Words]:
        """What each contributes, fold after fold."""
        return {name: one.vector for name, one in self.held.items()}

    @property
    def counts(self) -> dict[str, Words]:
        """Of all folds together,"""
        return self._together(self.held)

    @property
    def before(self) -> dict[str, Words]:
        """and without protection."""
        return self._together(self.unprotected)

    @property
    def parts(self) -> dict[str, slice]:
        """Where the questions of each hospital stand."""
        found, at = {}, 0
        for name, rows in self.asked.items():
            found[name] = slice(at, at := at + rows)
        return found

    def _together(self, held: Mapping[str, Counted]) -> dict[str, Words]:
        return {name: joint(self.layout, one.vector) for name, one in held.items()}


def prepare(
    planned: Plan,
    layout: Layout,
    protect: Mapping[str, str] | str,
    seed: int,
    progress: Progress,
    test_share: float = 0.0,
) -> Prepared:
    """Have every hospital protect its table as it is told, and count it."""
    training = planned.training
    protections = _protections(protect, training)
    dealt = {
        name: folded(layout, table, test_share=test_share, secret=_secret(seed, name))
        for name, table in training.items()
        if name not in protections
    }
    dealt |= _protected(layout, training, protections, seed, test_share, progress)
    held = {name: dealt[name].counted for name in training}
    unprotected = {
        name: one.counted if (vector := one.unprotected) is None else replace(one.counted, vector=vector)
        for name, one in dealt.items()
    }
    patients = {name: one.patients for name, one in dealt.items()}
    with planned.questions.named_in_errors():
        codes = encode_query(layout.dictionary, planned.questions).codes
    return Prepared(layout, held, unprotected, patients, planned.questions, codes, planned.asked)


def _secret(seed: int, name: str) -> bytes:
    """What decides which of a hospital's rows are kept aside. In a simulation the seed does."""
    return hashlib.sha256(f"mixbayes simulation {seed} {name}".encode(errors="replace")).digest()


def _protections(protect: Mapping[str, str] | str, training: Mapping[str, Columns]) -> dict[str, Protection]:
    """By hospital; a text alone is for all of them, and so is one under no name."""
    asked = {"": protect} if isinstance(protect, str) else dict(protect)
    unknown = [name for name in asked if name and name not in training]
    if unknown:
        raise Unsupported(f"--protect {unknown[0]}=...: there is no such hospital. There are {', '.join(training)}.")
    texts = {name: asked.get(name) or asked.get("", "") for name in training}
    return {name: read_protection(text) for name, text in texts.items() if text}


def _protected(
    layout: Layout,
    training: Mapping[str, Columns],
    protections: Mapping[str, Protection],
    seed: int,
    test_share: float,
    progress: Progress,
) -> dict[str, Folded]:
    """What each of these hospitals counts."""
    found = {}
    for number, (name, protection) in enumerate(protections.items(), start=1):
        table, hidden = _named(name, training), Secrets(_secret(seed, name), _secret(seed, name))
        found[name] = protected_in_folds(layout, table, protection, hidden, test_share=test_share)
        progress(f"protected: {name}", number, len(protections))
    return found


def _named(name: str, training: Mapping[str, Columns]) -> Columns:
    """This hospital's table, of which messages say whose part it is if one table was split."""
    table = training[name]
    if [other.source for other in training.values()].count(table.source) == 1:
        return table
    return replace(table, source=f"{name}'s part of {table.source}" if table.source else name)
