"""What a private question takes at each role, and how secure its encryption is: python benchmarks/private_questions.py

"bits" are the bits of security of a key against the primal lattice attack (`security`), first of a whole key, then once
as many of its coefficients are known as the bits that are opened about its rows can tell. "small" is the standard
deviation of what is below the masked sums, measured, in bits.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import e, log2, pi

import numpy as np

from mixbayes.protocol.arrays import Bytes, Values
from mixbayes.protocol.lattice.encryption import SIZES, Key, OpenedBits, Table, masks, shares_of_masks
from mixbayes.protocol.lattice.layout import PolynomialLayout, cheapest, most_rows
from mixbayes.protocol.lattice.polynomials import LIMB, from_bytes, spectrum, to_bytes
from mixbayes.protocol.randomness import Randomness

SHAPES = {
    # words, later classes, bits of a word, words that a row names
    "13 attributes of 10 values, 2 classes": (130, 1, 41, 13),
    "13 attributes of 10 values, 5 classes": (130, 4, 42, 13),
    "30 Gaussian attributes, 2 classes": (1590, 1, 59, 800),
}
ROWS = 1, 3600
CLASSES = 2, 3, 5, 10
ERROR = 10.5**0.5


def security(dimension: float, bits: float) -> float:
    """Of LWE with q = 2^bits and a ternary secret: log2 of the cost of the cheapest primal attack.

    The attack reduces a lattice by BKZ with blocks of β until it contains the secret's vector as an unusually short one
    (Alkim, Ducas, Pöppelmann and Schwabe, 2016). Its cost is taken as 2^(0.292·β + 16.4 + log2(8·d)), as in the
    Homomorphic Encryption Standard. The secret is rescaled to the size of the errors.
    """
    scale = ERROR / (2 / 3) ** 0.5
    for block in range(60, 3000, 5):
        delta = ((pi * block) ** (1 / block) * block / (2 * pi * e)) ** (1 / (2 * (block - 1)))
        samples = np.arange(int(dimension / 4), int(2 * dimension), 16)
        d = samples + dimension + 1
        volume = (samples * bits + dimension * log2(scale)) / d
        reached = (2 * block - d - 1) * log2(delta) + volume
        if (log2(block) / 2 + log2(ERROR) <= reached).any():
            best = d[log2(block) / 2 + log2(ERROR) <= reached].min()
            return 0.292 * block + 16.4 + log2(8 * best)
    return float("inf")


def sizes() -> None:
    rows_of = "".join(f" {f'rows, K = {classes}':>12}" for classes in CLASSES)
    print(f"{'dimension':>9} {'log2 q':>6}{rows_of} {'bits':>5} {'after them':>10}")
    for size in SIZES:
        rows, bits = [size.rows(OpenedBits(classes)) for classes in CLASSES], LIMB * size.limbs
        # A row tells a bit for every class, and a coefficient has log2 3 bits.
        known = max(many * classes for many, classes in zip(rows, CLASSES, strict=True)) / log2(3)
        whole, left = security(size.dimension, bits), security(size.dimension - known, bits)
        print(f"{size.dimension:9} {bits:6}" + "".join(f" {many:12,}" for many in rows) + f" {whole:5.0f} {left:10.0f}")
    print(f"at the bound of the standard, dimension 4096 and log2 q = 109: {security(4096, 109):.0f} bits")


def named_words(words: int, few: int, rows: int) -> Values:
    rng = np.random.default_rng(1)
    return np.stack([rng.permutation(words)[:few] for _ in range(rows)], axis=1).astype(np.int32)


def milliseconds(work: Callable[[], object], repeats: int = 5) -> float:
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return 1e3 * min(found)


def asked(
    layout: PolynomialLayout, tables: list[Table], named: Values, random: Randomness
) -> list[tuple[Bytes, Bytes]]:
    """The hospital's part towards two mixers: for each product and mixer c1 and c0, as bytes."""
    sent = []
    for part in layout.products(named.shape[1]):
        factors, places = spectrum(layout.row_polynomials(named[:, part])), layout.places(part.stop - part.start)
        for table in tables:
            own = masks(layout.parameters, bytes(32), places.size)
            c1, c0 = table.masked_sum(factors, places, own, random)
            sent.append((to_bytes(c1), to_bytes(c0)))
    return sent


def opened(layout: PolynomialLayout, key: Key, sent: list[tuple[Bytes, Bytes]], rows: int, width: int) -> None:
    """A mixer's part."""
    of = layout.parameters
    for part, (c1, c0) in zip(layout.products(rows), sent, strict=True):
        places = layout.places(part.stop - part.start)
        limbs = from_bytes(c1, of.limbs, of.dimension), from_bytes(c0, of.limbs, places.size)
        key.shares(*limbs, places, width)
        shares_of_masks(of, bytes(32), places.size, width)


def small_bits(layout: PolynomialLayout, named: Values, random: Randomness) -> float:
    """log2 of the standard deviation of what is small: the sums of an encrypted table of zeros, without masks."""
    of, places = layout.parameters, np.arange(layout.parameters.dimension)
    key, zeros = Key(of, random), np.zeros((layout.polynomials, of.dimension), np.uint64)
    table = Table.of(of, key.encrypt(zeros, 1, random))
    factors = spectrum(layout.row_polynomials(named[:, : layout.rows_together]))
    c1, c0 = table.masked_sum(factors, places, np.zeros((of.limbs, of.dimension), np.uint32), random)
    lowest = key.opened(c1, c0, places)[0].astype(np.int64)
    return log2(float(np.where(lowest >> LIMB - 1, lowest - (1 << LIMB), lowest).std()))


def shown(words: int, classes: int, width: int, few: int, rows: int, random: Randomness) -> str:
    """One line of the table, for at most so many rows."""
    of_a_row = OpenedBits(classes + 1)
    rows = min(rows, most_rows(width, of_a_row))
    table = np.random.default_rng(2).integers(0, 1 << width, (words, classes), dtype=np.uint64)
    layout, named = cheapest(words, classes, width, rows, of_a_row), named_words(words, few, rows)
    key, laid = Key(layout.parameters, random), layout.table(table)
    encrypted = key.encrypt(laid, width, random)
    tables = [Table.of(layout.parameters, encrypted) for _ in range(2)]
    sent = asked(layout, tables, named, random)[::2]
    taken = (
        milliseconds(lambda: key.encrypt(laid, width, random)),
        milliseconds(lambda: [Table.of(layout.parameters, encrypted) for _ in range(2)]),
        milliseconds(lambda: asked(layout, tables, named, random), 2),
        milliseconds(lambda: opened(layout, key, sent, rows, width), 2),
    )
    cost, steps = layout.bytes(rows), " ".join(f"{step:8.2f}" for step in taken)
    return f"{rows:5,} {cost / 1e3:10,.0f} {cost / rows:11,.0f} {steps} {small_bits(layout, named, random):6.1f}"


def main() -> None:
    sizes()
    steps = "".join(f" {step:>8}" for step in ("encrypt", "prepare", "add up", "decrypt"))
    print(f"\n{'milliseconds':40} {'rows':>5} {'KB a mixer':>10} {'bytes a row':>11}{steps}  small")
    random = Randomness(bytes(32))
    for name, shape in SHAPES.items():
        for rows in ROWS:
            print(f"{name:40} {shown(*shape, rows, random)}")


if __name__ == "__main__":
    main()
