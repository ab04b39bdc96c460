"""How the rule was chosen, and each mechanism's own best rule: on tables that are not among the reported ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

from mixbayes.research.noise.crossing import Effort, Make, Mean, Split, Way, crossed
from mixbayes.research.noise.mechanisms import geometric, geometric_of_each, normal, normal_of_each, of_coins
from mixbayes.research.noise.rules import PLAIN, PROTOCOL, Rule
from mixbayes.research.noise.tables import CHOSEN_BY

MECHANISMS: Mapping[str, Make] = {
    "coins": of_coins,
    "normal": normal,
    "geometric": geometric,
    "normal, of each": normal_of_each,
    "geometric, of each": geometric_of_each,
}
KINDS = {"binned": False, "Gaussian": True}
CELLS, CLASSES, EVENLY = (0.0, 0.25, 0.5, 1.0), (0.0, 1.0, 2.0, 4.0), (4.0, 6.0, 8.0, 12.0)
HEAD = "the protocol's rule"


def variants() -> dict[str, dict[str, Way]]:
    """By kind of table what stands beside the protocol's rule, each with one thing changed."""
    both = {HEAD: PROTOCOL, "clamped only": PLAIN}
    both |= {f"class counts + {f:g} s": replace(PROTOCOL, classes=f) for f in (0, 1, 2, 4, 8)}
    cells = {f"smoothing {f:g} s": replace(PROTOCOL, cells=f) for f in (0, 0.125, 0.25, 0.5, 1, 2)}
    cells |= {f"cells less {f:g} s": replace(PROTOCOL, below=f) for f in (0.5, 1)}
    cells |= {
        "denominators: sums of cells not clamped": replace(PROTOCOL, denominators="unclamped"),
        "denominators: class counts": replace(PROTOCOL, denominators="class counts"),
    }
    evenly = {f"{f:g} s patients more": replace(PROTOCOL, evenly=f) for f in (0, 2, 4, 6, 8, 12)}
    split = {f"normal noise, {name}": Way(normal, PROTOCOL, one) for name, one in _splits()}
    number = {f"normal noise, {name}": Way(normal, PROTOCOL, one) for name, one in _splits_of_numbers()}
    return {
        "binned": {**_of_coins(both | cells), **split},
        "Gaussian": {**_of_coins(both | evenly), **split, **number},
    }


def _of_coins(rules: Mapping[str, Rule]) -> dict[str, Way]:
    return {name: Way(of_coins, rule) for name, rule in rules.items()}


def _splits() -> Iterator[tuple[str, Split]]:
    yield "equal", Split()
    yield from ((f"{f:g} times as much on class counts", Split(classes=f)) for f in (0.5, 2, 4))


def _splits_of_numbers() -> Iterator[tuple[str, Split]]:
    yield from ((f"{f:g} times as much on n", Split(n=f)) for f in (1.4, 2))
    yield from ((f"{f:g} times as much on squares", Split(squares=f)) for f in (0.5, 0.7, 1.4))
    yield "2 times as much on n, 0.7 times on squares", Split(n=2, squares=0.7)


def grid(kind: str) -> list[Rule]:
    """Among which each mechanism finds its own."""
    if KINDS[kind]:
        return [Rule(0.25, classes, evenly) for classes, evenly in product(CLASSES, EVENLY)]
    return [Rule(cells, classes, 6.0) for cells, classes in product(CELLS, CLASSES)]


@dataclass(frozen=True, eq=False)
class Line:
    """Of one way: its accuracy in the mean over tables, for every ε, and less the first line's."""

    name: str
    means: Sequence[Mean]
    gain: Mean


def lines(folder: Path, kind: str, ways: Mapping[str, Way], epsilons: Sequence[float], effort: Effort) -> list[Line]:
    """In the mean over all tables of this kind."""
    forms = [form for form in CHOSEN_BY if form.gaussian == KINDS[kind]]
    each = [crossed(form.patients(folder), ways, epsilons, effort)[1] for form in forms]
    means = {name: [_mean([found[name, e] for found in each]) for e in epsilons] for name in ways}
    first = _mean(means[next(iter(ways))])
    return [Line(name, own, _mean(own) - first) for name, own in means.items()]


def _mean(means: Sequence[Mean]) -> Mean:
    return Mean(np.mean([one.by_repeat for one in means], axis=0))


def print_variants(folder: Path, epsilons: Sequence[float], effort: Effort) -> None:
    """Every variant beside the protocol's rule."""
    for kind, ways in variants().items():
        print(f"\n{kind + ' tables':45}", *(f"{f'ε {e:g}':>6}" for e in epsilons), "  gain ± s.e.")
        for line in lines(folder, kind, ways, epsilons, effort):
            figures = (f"{mean.value:6.2f}" for mean in line.means)
            print(f"{line.name:45}", *figures, f"{line.gain.value:+6.2f} ± {line.gain.error:.2f}", flush=True)


def print_best(folder: Path, epsilons: Sequence[float], effort: Effort) -> None:
    """Of every mechanism the best rule of the grid."""
    print("\nbest of the grid, with its gain over the protocol's rule")
    for kind, (name, make) in product(KINDS, MECHANISMS.items()):
        rules = {HEAD: PROTOCOL, **{str(rule): rule for rule in grid(kind)}}
        ways = {what: Way(make, rule) for what, rule in rules.items()}
        best = max(lines(folder, kind, ways, epsilons, effort), key=lambda line: line.gain.value)
        print(f"{kind:8} {name:20} {best.gain.value:+6.2f} ± {best.gain.error:.2f}  {best.name}", flush=True)
