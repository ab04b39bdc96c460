"""Whether a hospital that joins, and takes the recipe that its evaluation gives it, is behind its own classifier.

    python benchmarks/joining.py FOLDER [--choices]

FOLDER holds the public tables as CSV files, and those of four hospitals in `heart4`. Ten times ten folds judge; inside
of each, hospitals evaluate recipes by five folds and choose. Everything is computed in the clear: on shares the labels
are the same. With --choices it prints instead what every rule does on the tables by which the rule was chosen.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from mixbayes.research.joining import printed
from mixbayes.research.joining.chosen import SITUATIONS, judged
from mixbayes.research.joining.compared import RECIPES, Compared, compared
from mixbayes.research.joining.nested import Effort, nested
from mixbayes.research.joining.rules import RULES
from mixbayes.research.joining.tables import CHOSEN_BY, REPORTED, Sites, heart

EFFORT = Effort()

NOISES: Mapping[str, float | None] = {"no noise": None, "ε = 4": 4.0, "ε = 1": 1.0}
FEW = (10, 20, 50)
HEART = {"heart4, Gaussian": True, "heart4": False}


def of(sites: Sites, epsilon: float | None, few: int | None = None) -> list[Compared]:
    """Of every hospital of a table, and of all."""
    return compared(nested(sites.patients, RECIPES, epsilon, few, EFFORT), sites.names, "all")


def print_table(heading: str, text: str) -> None:
    print(f"\n{heading}\n\n{text}", flush=True)


def print_figures(folder: Path) -> None:
    tables = {name: heart(folder, gaussian) for name, gaussian in HEART.items()}
    tables |= {cut.name: cut.sites(folder) for cut in REPORTED}
    found = {name: {noise: of(sites, e) for noise, e in NOISES.items()} for name, sites in tables.items()}
    print_table("In short", printed.in_one_line(found))
    for name, by_noise in found.items():
        for noise, figures in by_noise.items():
            print_table(f"{name}, {noise}", printed.by_hospital(figures))
    for name in HEART:
        print_found(found[name], name)
        for noise, epsilon in NOISES.items():
            begun = {few: of(tables[name], epsilon, few) for few in FEW}
            print_table(f"Hospitals that begin: {name}, {noise}", printed.beginning(begun))


def print_found(by_noise: Mapping[str, Sequence[Compared]], name: str) -> None:
    for noise, figures in by_noise.items():
        print_table(f"Found of every class: {name}, {noise}", printed.found_of_classes(figures))


def print_choices(folder: Path) -> None:
    for cut in CHOSEN_BY:
        print(f"{cut.name}: {', '.join(cut.sites(folder).names)}")
    print_table("Rules", printed.rules(judged(folder, CHOSEN_BY, RULES, SITUATIONS, EFFORT)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--choices", action="store_true")
    given = parser.parse_args()
    (print_choices if given.choices else print_figures)(given.folder)


if __name__ == "__main__":
    main()
