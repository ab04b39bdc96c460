"""Seconds that noise adds to a training: python benchmarks/drawing.py [--epsilon 1]

Both computing parties are in memory. The difference is the draw on shares and the clamping of every cell.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from statistics import median
from time import perf_counter

import numpy as np

from mixbayes.privacy.choosing import coins_for
from mixbayes.privacy.coins import Coins
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.training import run_training

DELTA = 1e-6
SEEDS = bytes(32), b"a" * 32, b"b" * 32
COIN_SEEDS = b"c" * 32, b"d" * 32
NOMINAL = [(15, 6), (50, 49)]
"""Attributes and values of each, for two classes: some 210 and 5,000 cells."""
GAUSSIAN = 13
TIMES = 5


def nominal(attributes: int, values: int) -> Dictionary:
    texts = tuple(f"v{value}" for value in range(values))
    return _dictionary([Nominal(name=f"a{at}", values=texts) for at in range(attributes)])


def gaussian(attributes: int) -> Dictionary:
    return _dictionary([Gaussian(name=f"x{at}", low=0, high=1) for at in range(attributes)])


def _dictionary(attributes: Sequence[Attribute]) -> Dictionary:
    return Dictionary(class_column="class", classes=("ill", "well"), attributes=tuple(attributes))


def seconds(dictionary: Dictionary, coins: Coins | None) -> float:
    layout = Layout(dictionary, Terms(hospitals=3, coins=coins))
    nobody = np.zeros(layout.size, np.uint64)
    start = perf_counter()
    run_training(layout, [nobody], SEEDS, COIN_SEEDS if coins else None)
    return perf_counter() - start


def compare(what: str, dictionary: Dictionary, epsilon: float, times: int) -> None:
    layout = Layout(dictionary)
    coins = coins_for(epsilon, DELTA, layout.coordinates, layout.noisy_numbers)
    pairs = [(seconds(dictionary, None), seconds(dictionary, coins)) for _ in range(times)]
    exact, noisy = (median(side) for side in zip(*pairs, strict=True))
    print(
        f"{what}, {layout.size} cells, {sum(coins.counts)} coins each: {exact:.3f} s, with noise {noisy:.3f} s",
        flush=True,
    )


def main(epsilon: float = 1.0, times: int = TIMES, shapes: Sequence[tuple[int, int]] = NOMINAL) -> None:
    for attributes, values in shapes:
        compare(f"{attributes} nominal attributes", nominal(attributes, values), epsilon, times)
    compare(f"{GAUSSIAN} Gaussian attributes", gaussian(GAUSSIAN), epsilon, times)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epsilon", type=float, default=1.0)
    main(parser.parse_args().epsilon)
