"""What commands say of folds, of rows kept aside, and of recipes that may be asked for."""

from __future__ import annotations

from typing import Annotated

import typer

from mixbayes.agreement.agreement import MOST_ASIDE, MOST_FOLDS
from mixbayes.cli.options import Protocol

USUAL_FOLDS = 5

Folds = Annotated[
    int | None,
    typer.Option(
        metavar="K",
        min=1,
        max=MOST_FOLDS,
        help="Parts into which hospitals divide their patients, so that `mixbayes evaluate` can judge; 1 for none.",
        show_default=f"{USUAL_FOLDS}; with paillier 1",
    ),
]
TestShare = Annotated[
    float,
    typer.Option(
        metavar="SHARE",
        min=0.0,
        max=MOST_ASIDE,
        help="Patients that every hospital keeps out of the counts, to judge the joint classifier by.",
    ),
]
Recipes = Annotated[
    list[str] | None,
    typer.Option(
        "--recipe",
        metavar="RECIPE",
        help="A classifier that hospitals may ask for besides the plain joint one; repeatable. With noise only those "
        "with costs or a margin need be listed.",
    ),
]


def usual_folds(protocol: Protocol) -> int:
    """With Paillier nobody can evaluate."""
    return 1 if protocol is Protocol.PAILLIER else USUAL_FOLDS
