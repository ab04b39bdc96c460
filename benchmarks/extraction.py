"""How many labels give how much of the counts away: python benchmarks/extraction.py [TABLE] [--plot FILE.svg]

Two attacks ask mixers that run the protocol's own code, in memory. The lying asker moves scores by offsets, and
computes the joint counts behind them; the legal asker asks about rows that could exist. Without a TABLE it is breast
cancer, as scikit-learn carries it. Numbers are binned. Both attacks see a model of exact counts, then of noisy ones.
What they find is compared with the counts that the mixers hold, noise included ("held"), and with those of the
hospitals' tables ("true"). "tables" is how many have exactly the scores that were found; one of them is taken. σ is the
standard deviation of the noise on a count. The errors of weights, θ with the prior, are in bits; those of the legal
asker are up to the one factor that labels do not tell. It ends early when it finds no row any more whose label it does
not know.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import islice, product
from math import ceil, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from attacks.legal import learned, scaled
from attacks.lying import Found, Integers, bisected, reconstructed, relative, score_bits, single_values, values_of
from attacks.standing import Asker, run_attack
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mixbayes.privacy.choosing import coins_for
from mixbayes.privacy.coins import Coins
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.noise import IN_A_CLASS, blurred_in_clear, clamped_in_clear
from mixbayes.protocol.bayes.reference import fixed_model
from mixbayes.protocol.bayes.training import run_training
from mixbayes.protocol.circuits.logarithm import FRACTION
from mixbayes.protocol.randomness import Randomness
from mixbayes.report.palette import BLUE, VERMILLION
from mixbayes.tables.breast_cancer import breast_cancer
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted
from mixbayes.tables.inference import infer
from mixbayes.tables.sources.opening import read_table

SEEDS = bytes(32), bytes([1]) * 32, bytes([2]) * 32
COIN_SEEDS = bytes([3]) * 32, bytes([4]) * 32
DELTA = 1e-6
DEVIATIONS = 4
"""Noise farther from zero than so many standard deviations is not reckoned with."""
LYING, LEGAL = "lying", "legal"
SMALLEST = 2.0 ** -(FRACTION + 1)
"""An error that is drawn."""
LINES = "-", "--", ":", "-."

Floats = NDArray[np.float64]


# The table and the model.


@dataclass(frozen=True, eq=False)
class Problem:
    """What hospitals contribute."""

    layout: Layout
    tables: list[Words]

    @classmethod
    def of(cls, columns: Columns, attributes: int, bins: int, hospitals: int) -> Problem:
        """The first attributes of a table, dealt out to hospitals."""
        names = columns.names[:-1][:attributes]
        part = columns.chosen([*names, columns.names[-1]])
        layout = Layout(infer([part], columns.names[-1], bins=bins))
        dealt = (np.arange(hospital, part.rows, hospitals) for hospital in range(hospitals))
        return cls(layout, [counted(layout, part.take(rows)).vector for rows in dealt])

    @property
    def joint(self) -> Words:
        return np.stack(self.tables).sum(axis=0, dtype=np.uint64)


@dataclass(frozen=True, eq=False)
class Trained:
    """A model as the mixers have it, and the counts that it was made of."""

    layout: Layout
    epsilon: float | None
    held: Words
    models: tuple[Model, Model]

    @property
    def deviation(self) -> float:
        return self.layout.terms.coins.deviation if self.layout.terms.coins else 0.0

    @property
    def noise(self) -> str:
        return f"ε {self.epsilon:g}, σ {self.deviation:.1f}" if self.epsilon else "none"


def coins(epsilon: float, layout: Layout) -> Coins:
    return coins_for(epsilon, DELTA, layout.coordinates, layout.noisy_numbers)


def trained(problem: Problem, epsilon: float | None) -> Trained:
    """By the protocol, with noise for this ε."""
    if epsilon is None:
        models = run_training(problem.layout, problem.tables, SEEDS)
        return Trained(problem.layout, None, problem.joint, models)
    terms = Terms(hospitals=len(problem.tables), coins=coins(epsilon, problem.layout))
    layout = Layout(problem.layout.dictionary, terms)
    held = clamped_in_clear(layout, blurred_in_clear(layout, problem.joint, *map(Randomness, COIN_SEEDS)))
    layout.class_counts(held)[:] -= np.uint64(IN_A_CLASS * layout.spread)  # these patients are public
    return Trained(layout, epsilon, held, run_training(layout, problem.tables, SEEDS, COIN_SEEDS))


def weights_of(*shares: Model) -> Floats:
    """In bits: the prior, then every θ[a][v]."""
    words = np.stack([_words(share) for share in shares]).sum(axis=0, dtype=np.uint64)
    top = 64 - shares[0].width
    signed: Integers = (words << np.uint64(top)).view(np.int64) >> np.int64(top)
    return signed / 2.0**FRACTION


def _words(share: Model) -> Words:
    return np.concatenate([share.prior, *(table[:-1, 0] for table in share.tables)])


# The attacks.


@dataclass(frozen=True, eq=False)
class Estimate:
    """What is known after so many labels."""

    labels: int
    weights: Floats


def run_lying(model: Trained) -> list[Estimate]:
    """An estimate for every bit of the scores; the last one is exact."""
    cells, bits = single_values(values_of(model.layout)), score_bits(model.layout)

    def attack(asker: Asker) -> list[Estimate]:
        found = bisected(asker.ask_with_offsets, cells, bits)
        return [Estimate(asker.labels, relative(scores) / 2.0**FRACTION) for scores in found]

    return run_attack(model.layout, model.models, SEEDS, attack)


def run_legal(model: Trained, most: int) -> list[Estimate]:
    """An estimate after every label, up to a factor."""

    def attack(asker: Asker) -> list[Estimate]:
        weights = learned(asker.ask, values_of(model.layout), np.random.default_rng(0))
        return [Estimate(asker.labels, one) for one in islice(weights, most)]

    return run_attack(model.layout, model.models, SEEDS, attack)


def counts_behind(problem: Problem, model: Trained, weights: Floats) -> Found | None:
    """From exact weights. An asker knows what the noise is, about how many rows there are, and how many are missing.

    So it knows that the totals of an attribute are off by the noise of its values and of the class count.
    """
    layout, joint = model.layout, problem.joint
    missing = max(int(block[-1].max()) for _, block in layout.blocks(joint))
    noise = ceil(DEVIATIONS * model.deviation * sqrt(max(values_of(layout)) + 1))
    scores = np.rint(weights * 2.0**FRACTION).astype(np.int64)
    return reconstructed(scores, layout, int(layout.class_counts(joint).sum()), missing + noise)


# What they found.


@dataclass(frozen=True, eq=False)
class Seen:
    """One attack on one model."""

    attack: str
    problem: Problem
    model: Trained
    estimates: list[Estimate]
    found: Found | None = None

    def off(self, estimate: Estimate, truth: Floats) -> Floats:
        """The errors of all weights."""
        weights = scaled(estimate.weights, truth) if self.attack == LEGAL else estimate.weights
        return np.abs(weights - truth)

    def off_held(self, estimate: Estimate) -> Floats:
        return self.off(estimate, weights_of(*self.model.models))

    def off_true(self, estimate: Estimate) -> Floats:
        return self.off(estimate, weights_of(fixed_model(self.problem.layout, self.problem.joint)))


def lied(problem: Problem, epsilon: float | None) -> Seen:
    model = trained(problem, epsilon)
    estimates = run_lying(model)
    return Seen(LYING, problem, model, estimates, counts_behind(problem, model, estimates[-1].weights))


def followed(problem: Problem, epsilon: float | None, labels: int) -> Seen:
    model = trained(problem, epsilon)
    return Seen(LEGAL, problem, model, run_legal(model, labels))


def used(layout: Layout, vector: Words) -> Integers:
    """Class counts, then the counts of all values."""
    values = (block[:-1].reshape(-1) for _, block in layout.blocks(vector))
    return np.concatenate([layout.class_counts(vector), *values]).astype(np.int64)


def print_header() -> None:
    print(f"{'':46}{'counts':>9}{'of the held':>22}{'':9}{'of the true':>30}")
    held = f"{'exact':>9}{'median':>10}{'worst':>10}"
    true = f"{'exact':>9}{'mean off':>10}{'median':>10}{'worst':>10}"
    print(f"{'attack':7}{'cells':>6}{'labels':>8}  {'noise':12}{'tables':>16}{held}  {true}", flush=True)


def print_line(seen: Seen, estimate: Estimate) -> None:
    layout, cells = seen.problem.layout, used(seen.problem.layout, seen.problem.joint)
    tables, exact_held, exact_true, mean = "–", "–", "–", "–"
    if seen.found:
        counts = seen.found.vector()
        tables, exact_held = f"{seen.found.fitting}", f"{(counts == used(layout, seen.model.held)).sum()}"
        exact_true, mean = f"{(counts == cells).sum()}", f"{np.abs(counts - cells).mean():.2f}"
    held, true = seen.off_held(estimate), seen.off_true(estimate)
    print(
        f"{seen.attack:7}{cells.size:6}{estimate.labels:8,}  {seen.model.noise:12}{tables:>16}"
        f"{exact_held:>9}{np.median(held):10.4f}{held.max():10.4f}  "
        f"{exact_true:>9}{mean:>10}{np.median(true):10.4f}{true.max():10.4f}",
        flush=True,
    )


def print_lying(seen: Seen) -> None:
    print_line(seen, seen.estimates[-1])


def print_legal(seen: Seen, labels: Sequence[int]) -> None:
    """After so many labels, and after the last one if it ended before."""
    for at in sorted({min(many, len(seen.estimates)) for many in labels}):
        print_line(seen, seen.estimates[at - 1])


def drawn(all_seen: Sequence[Seen], settings: int) -> bytes:
    """An SVG file: how far the weights of the true counts are known, by labels, for each attack with all settings."""
    import matplotlib as mpl  # slow to import
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "mixbayes", "svg.fonttype": "path", "font.size": 9}):
        figure: Any = Figure(figsize=(7, 4), layout="constrained")
        axes = figure.add_subplot()
        for seen in all_seen:
            errors = np.maximum(SMALLEST, [np.median(seen.off_true(one)) for one in seen.estimates])
            style = LINES[len(axes.lines) % settings]
            colour = BLUE if seen.attack == LYING else VERMILLION
            noise = f"ε = {seen.model.epsilon:g}" if seen.model.epsilon else "no noise"
            labels = [one.labels for one in seen.estimates]
            axes.plot(labels, errors, color=colour, ls=style, label=f"{seen.attack} asker, {noise}")
        axes.set(xlabel="labels", ylabel="error of a weight in bits, median", yscale="log")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
        file = BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, nargs="?", help="a CSV file whose last column is the class, of two")
    parser.add_argument("--lying", type=int, nargs="+", default=[6, 30], metavar="ATTRIBUTES")
    parser.add_argument("--legal", type=int, default=8, metavar="ATTRIBUTES")
    parser.add_argument("--labels", type=int, nargs="+", default=[300, 1000, 3000], help="of the legal asker")
    parser.add_argument("--bins", type=int, default=5)
    parser.add_argument("--hospitals", type=int, default=3)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0], help=f"of noise; δ is {DELTA:g}")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg")
    chosen = parser.parse_args()
    columns = read_table(chosen.table) if chosen.table else breast_cancer()
    settings = [None, *chosen.epsilon]

    def problem(attributes: int) -> Problem:
        return Problem.of(columns, attributes, chosen.bins, chosen.hospitals)

    print_header()
    for attributes, epsilon in product(chosen.lying, settings):
        print_lying(lied(problem(attributes), epsilon))
    legal = [followed(problem(chosen.legal), epsilon, max(chosen.labels)) for epsilon in settings]
    for seen in legal:
        print_legal(seen, chosen.labels)
    if chosen.plot:
        lying = [lied(problem(chosen.legal), epsilon) for epsilon in settings]
        chosen.plot.write_bytes(drawn([*lying, *legal], len(settings)))


if __name__ == "__main__":
    with threadpool_limits(1):  # the matrices are small
        main()
