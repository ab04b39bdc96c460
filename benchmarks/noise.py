"""Accuracy with noise on the joint counts, beside what hospitals could do otherwise.

    python benchmarks/noise.py FOLDER [--choices] [--diffprivlib PYTHON] [--plot FILE]

FOLDER holds the public tables as CSV files with a column `class`, and those of four hospitals in `heart4`. Everything
is computed in the clear: on shares the labels are the same. With --choices it prints instead by which figures the rule
was chosen that makes models of noisy counts, on other tables. A figure's standard error, over repetitions of the
cross-validation, stands after ±.

diffprivlib does not import beside the scikit-learn that is installed here. Give it an environment of its own:

    python -m venv NEW && NEW/bin/pip install diffprivlib 'scikit-learn<1.6'

and name NEW/bin/python as PYTHON. Without it this column is left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from mixbayes.research.noise import beside, printed
from mixbayes.research.noise.choices import print_best, print_variants
from mixbayes.research.noise.crossing import Effort, Mean
from mixbayes.research.noise.picture import picture
from mixbayes.research.noise.reported import EPSILONS, Figures, measured
from mixbayes.research.noise.tables import ALL_NUMBERS, REPORTED, Form

EFFORT = Effort(repeats=20, draws=10)
VARIANTS, BEST = Effort(repeats=10, draws=5), Effort(repeats=6, draws=5)


def print_figures(all_: Sequence[Figures]) -> None:
    for heading, made in (
        ("Ours", printed.accuracies),
        ("Beside a trusted curator (n: normal noise is his better, g: geometric)", printed.beside_curator),
        ("Beside hospitals that add noise themselves", printed.beside_alone),
        ("Beside them, with as much smoothing as theirs", printed.with_their_smoothing),
        ("How much noise that is", printed.deviations),
    ):
        print(f"\n{heading}\n\n{made(all_)}", flush=True)
    print(f"\n{printed.over_all(all_)}")


def of_diffprivlib(folder: Path, python: Path | None) -> dict[str, list[Mean]]:
    """By table."""
    if not python:
        print("\ndiffprivlib's column is left out: name an interpreter with --diffprivlib.")
        return {}
    forms = [form for form in REPORTED if form.gaussian and form.table in ALL_NUMBERS]
    found = {form.table: beside.measured(python, form.patients(folder), EPSILONS) for form in forms}
    print(f"\n{printed.others(found)}")
    return found


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--choices", action="store_true")
    parser.add_argument("--diffprivlib", type=Path, metavar="PYTHON")
    parser.add_argument("--plot", type=Path, metavar="FILE")
    return parser.parse_args()


def main() -> None:
    given = parsed()
    if given.choices:
        print_variants(given.folder, EPSILONS, VARIANTS)
        print_best(given.folder, EPSILONS, BEST)
        return
    all_ = [_measured(given.folder, form) for form in REPORTED]
    print_figures(all_)
    others = of_diffprivlib(given.folder, given.diffprivlib)
    if given.plot:
        given.plot.write_bytes(picture(all_, others))


def _measured(folder: Path, form: Form) -> Figures:
    return measured(folder, form, EFFORT)


if __name__ == "__main__":
    main()
