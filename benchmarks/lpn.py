"""What attacks on the LPN problem of silent transfers cost: python benchmarks/lpn.py

Prints the binary logarithm of the operations of each attack, for the sizes in use and for published ones. Each formula
is an estimate of its authors, or bounds it from below where that is simpler. docs/transfers.md says what follows.

The noise is regular: of each of t bins of b outputs, one is noisy. So each bin gives one equation without noise, that
its noise adds up to one. An attacker has k − t unknown bits and n − t outputs after using these (section 4 of Liu et
al.), unless the attack uses the bins in another way.

All but the last attack take the matrix for a dense random one. Its rows have few ones, and the last attack uses that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from heapq import heappop, heappush

import numpy as np

from mixbayes.protocol.transfer.lpn import USUAL, LpnSizes

LINEAR_ALGEBRA = 2.8
"""Inverting a matrix of k rows takes k to this power (Strassen)."""
MOST_PAIRS = 30
SAMPLED = 4096
"""The share of secret bits that `few_secrets` finds is that of a matrix with so many columns, made in proportion."""
HIGHEST_DEGREE = 4
_TAKEN = -1
MOST_WHOLE = 8
ENOUGH = 136
"""Sizes are chosen so that no attack costs less: 128 bits, and 8 for attacks yet to be found."""
PUBLISHED = {
    "emp-ot, first stage": LpnSizes(32_768, 918, 9),
    "emp-ot, second stage": LpnSizes(452_000, 1280, 13),
}


def log_binomial(n: float, k: float) -> float:
    """log2 of n over k."""
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / math.log(2)


def log_sum(*terms: float) -> float:
    """log2 of a sum whose terms are given by their logarithms."""
    top = max(terms)
    return top + math.log2(sum(2 ** (term - top) for term in terms))


def pooled_gauss(n: int, k: int, t: int) -> float:
    """Guess k outputs without noise, and solve for the secret (Esser, Kübler and May, CRYPTO 2017)."""
    n, k = n - t, k - t
    return LINEAR_ALGEBRA * math.log2(k) + log_binomial(n, t) - log_binomial(n - k, t)


def statistical_decoding(n: int, k: int, t: int) -> float:
    """Collect parity checks of k + 1 random outputs, each biased by the noise (Boyle et al., CCS 2018, section 5.1)."""
    n, k = n - t, k - t
    return math.log2(k + 1) + 2 * t * math.log2(n / (n - k - 1))


def collision_decoding(n: int, k: int, t: int) -> float:
    """Information set decoding that finds p noisy outputs by a collision (Stern 1988, Dumer 1991; by Liu et al.)."""
    return min(_collision(n - t, k - t, t, pairs) for pairs in range(MOST_PAIRS))


def _collision(n: int, k: int, t: int, pairs: int) -> float:
    """With `pairs` noisy outputs in each of two lists, matched on as many bits as a list has entries."""
    bits = 0.0
    for _ in range(5):  # the length of the lists depends on the bits matched, and conversely
        bits = log_binomial((k + bits) / 2, pairs)
    elimination = 2 * math.log2(n - k - bits) + math.log2(n) - math.log2(math.log2(n))
    tries = log_binomial(n, t) - log_binomial(n - k - bits, t - 2 * pairs) - 2 * bits
    return tries + log_sum(elimination, math.log2(n) + bits + 2)


def regular_decoding(n: int, k: int, t: int) -> float:
    """The same with lists that take at most one noisy output of a bin (Esser and Santini, CRYPTO 2024)."""
    return min(_regular(n, k - t, t, pairs) for pairs in range(MOST_PAIRS))


def _regular(n: int, k: int, t: int, pairs: int) -> float:
    size = n / t
    bits = log_binomial(t / 2, pairs) + pairs * math.log2(k / t)
    taken = (k + bits) / t  # outputs of each bin that are among the k + bits that the lists run over
    right = 2 * pairs * math.log2(taken / size) + (t - 2 * pairs) * math.log2(1 - taken / size)
    return math.log2(n) + max(2 * math.log2(n - k), bits + 1) - 2 * log_binomial(t / 2, pairs) - right


def algebraic(n: int, k: int, t: int) -> float:
    """Guess u outputs without noise in each bin, and solve the equations of the bins: their entries are bits with
    product zero two by two (Briaud and Øygarden, EUROCRYPT 2023). The cost is that of the smallest degree at which the
    Hilbert series ((1 + (b − u − 1)z)^t / (1 + z)^(n − k) has no positive coefficient, by block Wiedemann.
    """
    size = n // t
    found = []
    for guessed in range(min(size - 1, k // t)):
        free = size - guessed - 1
        degree = _solving_degree(free, t, n - k)
        if degree:
            columns = log_sum(*(log_binomial(t, j) + j * math.log2(free) for j in range(1, degree + 1)))
            found.append(2 * columns + math.log2(3 * (k + 1 - guessed * t)) - t * math.log2(1 - guessed / size))
    return min(found, default=math.inf)


def _solving_degree(free: int, t: int, equations: int) -> int | None:
    """The first degree at which the series has no positive coefficient, if it is a small one."""
    for degree in range(2, HIGHEST_DEGREE + 1):
        terms = (
            math.comb(t, j) * free**j * (-1) ** (degree - j) * math.comb(equations + degree - j - 1, degree - j)
            for j in range(degree + 1)
        )
        if sum(terms) <= 0:
            return degree
    return None


def hybrid(n: int, k: int, t: int) -> float:
    """Guess outputs without noise in all bins but a few, try all places of the noise in these few, and solve the
    quadratic equations of the others by linearisation (IACR ePrint 2025/1284, in the form of its authors' estimator).
    """
    return min(_hybrid(n, k, t, whole, guesses) for whole in range(MOST_WHOLE) for guesses in range(0, k - t, t // 64))


def _hybrid(n: int, k: int, t: int, whole: int, guesses: int) -> float:
    """With so many bins tried as a whole, and so many outputs guessed in the others."""
    size, bins = n // t, t - whole
    each, more = divmod(guesses, bins)
    left = k - t - guesses
    unknown = left - whole * (size - 1)  # of the bins that are not tried as a whole
    free = size - each - 1
    products = (bins - more) * free * (free - 1) / 2 + more * (free - 1) * (free - 2) / 2
    if unknown < 1 or (unknown + 2) ** 2 > 2 * products:
        return math.inf
    right = more * math.log2(1 - (each + 1) / size) + (bins - more) * math.log2(1 - each / size)
    prepared = log_sum(_elimination(n - k, size, each, left), _linearised(unknown, left))
    tried = whole * math.log2(size) + _last_step(unknown, whole * (size - 1))
    return log_sum(prepared, tried) - right


def _elimination(checks: int, size: int, each: int, left: int) -> float:
    """The linear equations: the parity checks, of which whole bins serve as pivots without work."""
    dense = checks - checks // (size - 1) * (size - each - 2)
    return math.log2(dense) + math.log2(checks) + math.log2(dense + left)


def _linearised(unknown: int, left: int) -> float:
    """Elimination among as many quadratic equations as there are products of two unknown bits."""
    products = max(unknown**2 / 2, 2)
    return 2 * math.log2(products) + 2 * math.log2(left) - 1 - math.log2(math.log2(products))


def _last_step(unknown: int, tried: int) -> float:
    """Putting in one place of the noise in each bin that is tried as a whole, and solving what becomes linear."""
    rows = 2.5 * unknown
    return math.log2(2.5 * unknown**2 * tried + 1.25 * unknown * tried**2 + rows**3 / math.log2(max(rows, 2)))


def sparse_decoding(n: int, k: int, t: int, weight: int) -> float:
    """Collision decoding with the outputs that name none but a few secret bits: these have as many equations as bits,
    and an attacker tries one such set of bits after another. To look for equations on few bits is the idea of Chen, Shu
    and Zhou, "Algorithms for sparse LPN and LSPN against low-noise" (2024); sets and collisions are ours.

    Whoever knows these bits finds the others from outputs with one unknown bit each. Sparse equations in x bits are
    solved in 3·weight·x² operations (Wiedemann), and it takes a solution for each bit on which lists are matched.
    """
    few = few_secrets(n, k, weight)
    return min(_few_decoded(n, few, t, weight, pairs) for pairs in range(MOST_PAIRS))


def _few_decoded(n: int, few: int, t: int, weight: int, pairs: int) -> float:
    bits = 0.0
    for _ in range(5):
        bits = log_binomial((few + bits) / 2, pairs)
    solving = math.log2(3 * weight * max(bits, 1)) + 2 * math.log2(few)
    # A set of secret bits is a random one, so the noise in its equations is as in so many random outputs.
    tries = log_binomial(n, t) - log_binomial(n - few - bits, t - 2 * pairs) - 2 * bits
    return tries + log_sum(solving, bits + 1)


@lru_cache
def few_secrets(n: int, k: int, weight: int) -> int:
    """The fewest secret bits that are found to have as many equations: bit after bit, always one that completes most.

    Which bits these are depends on those that it begins with, which are drawn at random, so there are as many such sets
    as anybody needs.
    """
    sampled, rng = min(k, SAMPLED), np.random.default_rng(1)
    matrix = rng.integers(0, sampled, (n * sampled // k, weight))
    chosen, _ = well_covered(matrix.tolist(), rng.permutation(sampled).tolist())
    return round(len(chosen) * k / sampled)


def well_covered(matrix: list[list[int]], order: list[int], spare: int = 0) -> tuple[list[int], list[int]]:
    """Secret bits, and as many outputs that name no others, and so many more: from the first quarter of `order` on."""
    k, unknown = len(order), [set(row) for row in matrix]
    naming: list[list[int]] = [[] for _ in range(k)]
    for output, bits in enumerate(unknown):
        for bit in bits:
            naming[bit].append(output)
    completes, best = [0] * k, list[tuple[int, int]]()
    chosen, outputs = list[int](), list[int]()

    def take(bit: int) -> None:
        chosen.append(bit)
        completes[bit] = _TAKEN
        for output in naming[bit]:
            unknown[output].remove(bit)
            if not unknown[output]:
                outputs.append(output)
            elif len(unknown[output]) == 1:
                (last,) = unknown[output]
                completes[last] += 1
                heappush(best, (-completes[last], last))

    for bit in order[: k // 4]:
        take(bit)
    while len(outputs) < len(chosen) + spare and len(chosen) < k:
        while best and -best[0][0] != completes[best[0][1]]:
            heappop(best)  # it completes more by now, or is taken
        take(heappop(best)[1] if best else next(bit for bit in order if completes[bit] != _TAKEN))
    return chosen, outputs


ATTACKS: dict[str, Callable[[int, int, int], float]] = {
    "pooled Gauss": pooled_gauss,
    "statistical decoding": statistical_decoding,
    "collision decoding": collision_decoding,
    "regular decoding": regular_decoding,
    "algebraic": algebraic,
    "hybrid": hybrid,
}


def costs(sizes: LpnSizes) -> dict[str, float]:
    """log2 of the operations of every attack."""
    dense = {name: attack(sizes.outputs, sizes.secret, sizes.trees) for name, attack in ATTACKS.items()}
    return dense | {"sparse decoding": sparse_decoding(sizes.outputs, sizes.secret, sizes.trees, sizes.weight)}


def main() -> None:
    for title, sizes in ({"in use": USUAL, "shorter secret": replace(USUAL, secret=40_960)} | PUBLISHED).items():
        few = few_secrets(sizes.outputs, sizes.secret, sizes.weight) / sizes.secret
        print(f"{title}: {sizes}; {few:.0%} of the secret are named alone by as many outputs")
        for name, cost in costs(sizes).items():
            print(f"  {name:22} {cost:6.1f}")


if __name__ == "__main__":
    main()
