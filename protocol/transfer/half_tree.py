"""Trees of which one party knows all leaves and the other all but one ("Half-Tree", Guo, Yang, Wang, Zhang, Xie, Liu
and Zhao, EUROCRYPT 2023, section 4).

The nodes of every level add up to the sender's Δ. The first level is a random node and that node ⊕ Δ. The children of
a node x are H(x) and x ⊕ H(x), so one hash makes both. The receiver takes one correlated transfer a level, with random
choice b: the sum of all nodes on side b of the level, masked by the sender with its row q, is what the receiver's row
q ⊕ b·Δ opens, because the sums of the two sides differ by Δ. So the receiver knows all nodes but those on the path that
its choices avoid. Its leaves add up to the missing leaf ⊕ Δ, which it puts there: in all places the two parties' leaves
are equal, except in one that the receiver chose, where they differ by Δ.

H(x) = π(σ(x)) ⊕ σ(x), with AES as π and σ(left, right) = (left ⊕ right, left), is circular correlation robust for a
random permutation π (Guo, Katz, Wang and Yu, S&P 2020, section 7.3). Without σ, the right child of a missing node would
give the node away.

Trees are made side by side: nodes stand as (node, tree, 2), and child `side` of node m is node m + 2^level·side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.transfer.pads import FixedKeyHash

Places = NDArray[np.intp]


class Splitter:
    """Makes two children of every node. It owns scratch memory for `most` nodes."""

    def __init__(self, hashing: FixedKeyHash, most: int) -> None:
        self.hashing = hashing
        self._turned = np.empty((most, 2), np.uint64)
        self._hashed = np.empty((most + 1, 2), np.uint64)

    def split(self, nodes: Words, size: int) -> None:
        """Replace the first `size` nodes by their children: the left ones first, then the right ones."""
        parents, right = nodes[:size].reshape(-1, 2), nodes[size : 2 * size].reshape(-1, 2)
        turned, left = self._turned[: len(parents)], self._hashed[: len(parents) + 1]
        np.bitwise_xor(parents[:, 0], parents[:, 1], out=turned[:, 0])
        turned[:, 1] = parents[:, 0]
        self.hashing.absorb(turned, left)
        np.bitwise_xor(parents, left[:-1], out=right)
        parents[:] = left[:-1]


def all_leaves(splitter: Splitter, roots: Words, delta: Words, leaves: Words) -> Words:
    """Fill the leaves (2^depth, trees, 2), and return the sums of every level's left nodes, (depth, trees, 2)."""
    depth = len(leaves).bit_length() - 1
    sums = np.empty((depth, *roots.shape), np.uint64)
    leaves[0], leaves[1], sums[0] = roots, roots ^ delta, roots
    for level in range(1, depth):
        splitter.split(leaves, 1 << level)
        np.bitwise_xor.reduce(leaves[: 1 << level], axis=0, out=sums[level])
    return sums


def punctured_leaves(splitter: Splitter, choices: Bits, sums: Words, leaves: Words) -> Places:
    """Fill the leaves (2^depth, trees, 2) from the sums of each level's chosen side, (depth, trees, 2).

    Returns the place of the leaf in each tree that the other party has otherwise, by Δ.
    """
    every = np.arange(choices.shape[1])
    leaves[:2] = 0
    leaves[choices[0], every] = sums[0]
    path = 1 - choices[0].astype(np.intp)
    known = sums[0].copy()
    for level in range(1, len(choices)):
        side = choices[level].astype(np.intp)
        splitter.split(leaves, 1 << level)
        sibling = _sibling(leaves, level, path, side, known) ^ sums[level]
        leaves[path + (side << level), every] = sibling
        known ^= sibling
        path += (1 - side) << level
    leaves[path, every] = known
    return path


def _sibling(leaves: Words, level: int, path: Places, side: Places, known: Words) -> Words:
    """The sum of all known nodes on the chosen side of the level. Clears the children of the missing node.

    Both sides together have the sum of the known nodes of the level before, because two children add up to their node.
    """
    every = np.arange(len(path))
    leaves[path, every] = 0
    leaves[path + (1 << level), every] = 0
    left = np.bitwise_xor.reduce(leaves[: 1 << level], axis=0)
    return left ^ (known & -side.astype(np.uint64)[:, None])
