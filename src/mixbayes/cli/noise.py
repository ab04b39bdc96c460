"""Options about noise that several commands share, and what is said about it on stderr."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from mixbayes.agreement.agreement import MOST_EPSILON
from mixbayes.agreement.noise import not_covered
from mixbayes.node.log import printable
from mixbayes.protocol.attributes.dictionary import MOST_ROWS, Dictionary
from mixbayes.protocol.errors import Unsupported


class Releases(StrEnum):
    LABELS = "labels"
    MODEL = "model"


Epsilon = Annotated[
    float | None,
    typer.Option(
        metavar="E",
        help=f"Add noise that nobody knows: (ε, δ)-differential privacy of each round; at most {MOST_EPSILON:g}.",
    ),
]
Delta = Annotated[float, typer.Option(metavar="D", help="The delta of every round.")]
TotalEpsilon = Annotated[
    float | None,
    typer.Option(metavar="T", help="The epsilon of all rounds together.", show_default="what the rounds add up to"),
]
TotalDelta = Annotated[
    float | None,
    typer.Option(metavar="U", help="The delta of all rounds together.", show_default="that of all rounds"),
]
ReleaseOption = Annotated[
    Releases,
    typer.Option("--release", help="What hospitals get of noisy counts: labels, or a model to keep."),
]
MinRows = Annotated[
    int, typer.Option(metavar="N", min=1, max=MOST_ROWS, help="Patients that every hospital must contribute.")
]
MaxRowsEach = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        max=MOST_ROWS,
        help="Patients that every hospital may contribute.",
        show_default="that of --max-rows",
    ),
]


def refuse_noise_for_nothing(
    epsilon: float | None, total_epsilon: float | None, total_delta: float | None, release: Releases
) -> None:
    """What speaks of noise needs some."""
    asked = {"--total-epsilon": total_epsilon, "--total-delta": total_delta}
    given = [name for name, value in asked.items() if value is not None]
    if release is Releases.MODEL:
        given.append("--release model")
    if epsilon is None and given:
        raise Unsupported(f"{given[0]} is about noise, and there is none. Add --epsilon E, or leave it out.")


def tell_not_covered(dictionary: Dictionary, source: str) -> None:
    """Print that what was copied from tables is not hidden by noise."""
    bounded = [attribute.name for attribute in dictionary.attributes if attribute.numeric]
    typer.echo(f"mixbayes: warning: {printable(not_covered(bounded, source))}.", err=True)
