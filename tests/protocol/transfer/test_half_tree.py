from __future__ import annotations

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.transfer.half_tree import Splitter, all_leaves, punctured_leaves
from mixbayes.protocol.transfer.pads import FixedKeyHash
from tests.protocol.pairs import SEEDS, random_for

KEY = bytes(range(16))
DEPTHS, TREES = st.integers(1, 6), st.integers(1, 5)


def splitter(depth: int, trees: int) -> Splitter:
    return Splitter(FixedKeyHash(KEY), trees << depth)


class Grown:
    """The same trees at both ends, by random choices."""

    def __init__(self, depth: int, trees: int, number: int) -> None:
        random = random_for(number)
        self.roots, self.delta = random.words(trees, 2), random.words(2)
        self.choices: Bits = random.bits(depth, trees)
        self.full, self.punctured = (np.empty((1 << depth, trees, 2), np.uint64) for _ in range(2))
        self.left = all_leaves(splitter(depth, trees), self.roots, self.delta, self.full)
        self.opened: Words = self.left ^ self.choices[..., None] * self.delta
        self.places = punctured_leaves(splitter(depth, trees), self.choices, self.opened, self.punctured)


@given(DEPTHS, TREES, SEEDS)
def test_leaves_are_equal_but_for_one_that_differs_by_delta(depth: int, trees: int, number: int) -> None:
    grown = Grown(depth, trees, number)
    expected = np.zeros_like(grown.full)
    expected[grown.places, np.arange(trees)] = grown.delta
    assert np.array_equal(grown.full ^ grown.punctured, expected)


@given(DEPTHS, TREES, SEEDS)
def test_the_place_is_the_path_that_the_choices_avoid(depth: int, trees: int, number: int) -> None:
    grown = Grown(depth, trees, number)
    for tree in range(trees):
        avoided = [1 - int(choice) for choice in grown.choices[:, tree]]
        assert grown.places[tree] == sum(side << level for level, side in enumerate(avoided))


@given(DEPTHS, TREES, SEEDS)
def test_leaves_of_a_tree_add_up_to_delta_and_the_left_ones_to_the_last_sum(
    depth: int, trees: int, number: int
) -> None:
    grown = Grown(depth, trees, number)
    assert (np.bitwise_xor.reduce(grown.full, axis=0) == grown.delta).all()
    assert np.array_equal(np.bitwise_xor.reduce(grown.full[: 1 << depth - 1], axis=0), grown.left[-1])


def plain_hash(node: int) -> int:
    """π(σ(x)) ⊕ σ(x) of a block as an integer, its left half lowest."""
    left, right = node & 2**64 - 1, node >> 64
    turned = (left ^ right | left << 64).to_bytes(16, "little")
    permuted = Cipher(algorithms.AES(KEY), modes.ECB()).encryptor().update(turned)
    return int.from_bytes(permuted, "little") ^ int.from_bytes(turned, "little")


@given(st.integers(1, 5), SEEDS)
def test_leaves_are_those_of_plain_recursion(depth: int, number: int) -> None:
    grown = Grown(depth, 1, number)
    (root,), (delta,) = integers(grown.roots), integers(grown.delta[None])
    nodes = [root, root ^ delta]
    for _ in range(1, depth):
        hashes = [plain_hash(node) for node in nodes]
        nodes = hashes + [node ^ hashed for node, hashed in zip(nodes, hashes, strict=True)]
    assert integers(grown.full[:, 0]) == nodes


def integers(blocks: Words) -> list[int]:
    return [low | high << 64 for low, high in blocks.tolist()]


def test_turning_is_a_linear_orthomorphism() -> None:
    """σ and x ↦ σ(x) ⊕ x are permutations; else a right child would give its missing parent away."""
    basis = [1 << i for i in range(128)]
    turned = [(x & 2**64 - 1 ^ x >> 64) | (x & 2**64 - 1) << 64 for x in basis]
    assert rank(turned) == rank([x ^ y for x, y in zip(basis, turned, strict=True)]) == 128


def rank(rows: list[int]) -> int:
    found = 0
    rows = list(rows)
    while rows:
        pivot = rows.pop()
        if pivot:
            found += 1
            lowest = pivot & -pivot
            rows = [row ^ pivot if row & lowest else row for row in rows]
    return found
