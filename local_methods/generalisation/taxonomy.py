"""A taxonomy tree: which values a more general value stands for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from mixbayes.local_methods.errors import BadParameter, UnfitTable
from mixbayes.local_methods.tables import Codes, Nominal

ROOT = 0
Nested = Any
"""A value's text, or a mapping from the names of nodes to their children: a list of such, or a mapping again."""


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """The nodes of a tree, the root first and parents before children. Leaves are values of a column, by their texts.

    Beside what was written there is a node for missing cells, the last one; it is a child of the root.
    """

    column: str
    written: tuple[str, ...]
    parent: Codes = field(repr=False)

    @staticmethod
    def read(column: str, nested: Nested) -> Taxonomy:
        """From {root: [child, {child: [grandchild, ...]}, ...]}."""
        if not isinstance(nested, Mapping) or len(nested) != 1:
            raise BadParameter(f"The taxonomy of {column!r} must have one root: {{root: [child, child, ...]}}.")
        found = list(_nodes(column, nested, -1, [0]))
        name, times = Counter(name for name, _ in found).most_common(1)[0]
        if times > 1:
            raise BadParameter(f"The taxonomy of {column!r} has the name {name!r} twice. Name every node apart.")
        written = tuple(name for name, _ in found)
        return Taxonomy(column, written, np.array([*(parent for _, parent in found), ROOT]))

    @property
    def missing(self) -> int:
        """The node of missing cells."""
        return len(self.written)

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """Of each node that stands for several values."""
        found: dict[int, list[int]] = {}
        for node, parent in enumerate(self.parent.tolist()):
            if node:
                found.setdefault(parent, []).append(node)
        return found

    @cached_property
    def sibling(self) -> Codes:
        """Which child of its parent each node is."""
        place = np.zeros(len(self.parent), np.int64)
        for nodes in self.children.values():
            place[nodes] = np.arange(len(nodes))
        return place

    @cached_property
    def path(self) -> Codes:
        """The node at each depth on the way from the root to each node: nodes × depths, the node itself at the end."""
        ways: list[list[int]] = []
        for node, parent in enumerate(self.parent.tolist()):
            ways.append([*ways[parent], node] if node else [node])
        longest = max(map(len, ways)) + 1
        return np.array([way + [way[-1]] * (longest - len(way)) for way in ways])

    @cached_property
    def depth(self) -> Codes:
        """How far each node is from the root."""
        depth = np.zeros(len(self.parent), np.int64)
        for node in range(1, len(depth)):
            depth[node] = depth[self.parent[node]] + 1
        return depth

    def leaf_of(self, value: object) -> int | None:
        """Where a value stands; nowhere if it is no leaf."""
        return self._leaves.get(str(value))

    def leaves(self, column: Nominal) -> Codes:
        """The leaf of each cell; every value that occurs must have one."""
        found = [self.leaf_of(value) for value in column.values.tolist()]
        leaf = np.array([*(-1 if at is None else at for at in found), self.missing])[column.codes]
        foreign = np.flatnonzero(leaf < 0)
        if foreign.size:
            values = len(np.unique(column.codes[foreign]))
            raise UnfitTable(
                f"The taxonomy of {self.column!r} has no leaf for {values} of the values that the column holds; the "
                f"first stands in row {foreign[0] + 1}. Add every value to the taxonomy."
            )
        return leaf

    @cached_property
    def _leaves(self) -> dict[str, int]:
        return {name: node for node, name in enumerate(self.written) if node not in self.children}


def _nodes(column: str, nested: Nested, parent: int, count: list[int]) -> Iterator[tuple[str, int]]:
    """Names and parents of what hangs below a node; `count` holds how many nodes there were so far."""
    if isinstance(nested, Mapping):
        for name, children in nested.items():
            own = count[0]
            count[0] += 1
            yield str(name), parent
            if not isinstance(children, (Mapping, list, tuple)) or not children:
                raise BadParameter(
                    f"The taxonomy of {column!r} has no list of children for {name!r}. Write a value without children "
                    "as a text."
                )
            for child in [children] if isinstance(children, Mapping) else children:
                yield from _nodes(column, child, own, count)
    elif isinstance(nested, (list, tuple)) or nested is None:
        raise BadParameter(f"The taxonomy of {column!r} has a list in a list. Give the inner one a name.")
    else:
        count[0] += 1
        yield str(nested), parent
