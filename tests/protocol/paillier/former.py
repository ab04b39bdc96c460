"""How B once answered on A's ciphertexts. The masks covered what an honest A encrypts, and nothing beyond it."""

from __future__ import annotations

from collections.abc import Sequence

from mixbayes.protocol.paillier.exact import MASK_BITS
from mixbayes.protocol.paillier.key import PublicKey, below
from mixbayes.protocol.paillier.training import Group
from mixbayes.protocol.randomness import Randomness


def slot_width(group: Group, hidden: int) -> int:
    return group.bits + hidden + MASK_BITS + 1


def veiled(
    group: Group, key: PublicKey, hidden: int, ciphertexts: Sequence[int], added: Sequence[int], random: Randomness
) -> int:
    """One answer: each encrypted number plus the number added to it, plus a multiple of P that hides the quotient."""
    width = slot_width(group, hidden)
    veils = [group.modulus * below(random, 1 << hidden + MASK_BITS) for _ in added]
    numbers = sum(number + veil << width * slot for slot, (number, veil) in enumerate(zip(added, veils, strict=True)))
    return key.total([key.packed(ciphertexts, width), key.encrypt(numbers, key.obfuscator(random))])


def difference(group: Group, key: PublicKey, sides: Sequence[int], factors: Sequence[int], random: Randomness) -> int:
    """A question: A's encrypted sides times B's factors of them, and a mask of 41 bits more than the difference."""
    x, y = factors
    mask = below(random, 1 << group.comparison_bits + MASK_BITS)
    product = key.weighted(sides, (x, group.modulus - y))
    return veiled(group, key, group.bits + 1, [product], [(1 << group.comparison_bits) + mask], random)


def cell(group: Group, key: PublicKey, hidden: int, part: int, own: int, factor: int, random: Randomness) -> int:
    """Training: A's encrypted part of a cell plus B's, times B's factor."""
    return veiled(group, key, hidden, [key.weighted([part], [factor])], [own * factor], random)
