"""A cut through a taxonomy tree. A refinement, the paper's specialisation, replaces a node by its children."""

from __future__ import annotations

import numpy as np

from mixbayes.local_methods.generalisation.cut import CLOSED, NodeCut
from mixbayes.local_methods.generalisation.information import gain, mixed
from mixbayes.local_methods.generalisation.rules import TaxonomyRule
from mixbayes.local_methods.generalisation.taxonomy import ROOT, Taxonomy
from mixbayes.local_methods.tables import Codes, Floats, Indices, Nominal


class TaxonomyCut(NodeCut):
    """The root at first. A missing cell is a value of its own, a child of the root."""

    def __init__(self, column: Nominal, taxonomy: Taxonomy, labels: Codes, classes: int) -> None:
        self.taxonomy, self._column = taxonomy, column
        self._leaf = taxonomy.leaves(column)
        self.sides = int(taxonomy.sibling.max()) + 1
        self._gain = _gains(taxonomy, self._leaf, labels, classes)
        self.node = np.zeros(len(column), np.int32)
        self.side = np.zeros(len(column), np.int32)
        self.rows = {}
        self.gains = np.full(len(taxonomy.parent), CLOSED)
        self._enter(ROOT, np.arange(len(column)))

    def refine(self, refinement: int) -> None:
        rows, side = self.divided(refinement)
        self.close(refinement)
        del self.rows[refinement]
        for child in self.taxonomy.children[refinement]:
            self._enter(child, rows[side == self.taxonomy.sibling[child]])

    def rule(self) -> TaxonomyRule:
        return TaxonomyRule.of(self._column, self.taxonomy, sorted(self.rows))

    def _enter(self, node: int, rows: Indices) -> None:
        """A node comes onto the cut."""
        tree = self.taxonomy
        self.rows[node] = rows
        self.gains[node] = self._gain[node]
        self.node[rows] = node
        self.side[rows] = tree.sibling[tree.path[self._leaf[rows], tree.depth[node] + 1]]


def _gains(tree: Taxonomy, leaf: Codes, labels: Codes, classes: int) -> Floats:
    """The gain of each node's refinement; closed for leaves, and if all rows are of one class but of several children.

    If all rows are of one child, the refinement is made although it gains nothing, because it divides no combination.
    """
    nodes = len(tree.parent)
    counts = np.bincount(leaf * classes + labels, minlength=nodes * classes).reshape(nodes, classes)
    for node in range(nodes - 1, 0, -1):
        counts[tree.parent[node]] += counts[node]
    gains = np.full(nodes, CLOSED)
    for node, children in tree.children.items():
        parts = [counts[child] for child in children if counts[child].any()]
        if len(parts) == 1 or mixed(counts[node]):
            gains[node] = gain(counts[node], parts)
    return gains
