"""What the hospitals count, and the rows to ask about, before any node is started."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.errors import Unsupported
from mixbayes.simulation.plan import Plan
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted, protected
from mixbayes.tables.encoding import encode_query
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
    questions: Columns
    codes: Values
    """Of the questions."""

    @property
    def vectors(self) -> dict[str, Words]:
        return {name: one.vector for name, one in self.held.items()}

    @property
    def before(self) -> dict[str, Words]:
        return {name: one.vector for name, one in self.unprotected.items()}


def prepare(planned: Plan, layout: Layout, protect: Mapping[str, str] | str, seed: int, progress: Progress) -> Prepared:
    """Have every hospital protect its table as it is told, and count it."""
    training = planned.training
    unprotected = {name: counted(layout, table) for name, table in training.items()}
    held = _protected(layout, training, unprotected, _protections(protect, training), seed, progress)
    with planned.questions.named_in_errors():
        codes = encode_query(layout.dictionary, planned.questions).codes
    return Prepared(layout, held, unprotected, planned.questions, codes)


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
    unprotected: Mapping[str, Counted],
    protections: Mapping[str, Protection],
    seed: int,
    progress: Progress,
) -> dict[str, Counted]:
    """What each hospital counts."""
    held = dict(unprotected)
    for number, (name, protection) in enumerate(protections.items(), start=1):
        held[name] = protected(layout, _named(name, training), protection, seed + number)
        progress(f"protected: {name}", number, len(protections))
    return held


def _named(name: str, training: Mapping[str, Columns]) -> Columns:
    """This hospital's table, of which messages say whose part it is if one table was split."""
    table = training[name]
    if [other.source for other in training.values()].count(table.source) == 1:
        return table
    return replace(table, source=f"{name}'s part of {table.source}" if table.source else name)
