"""What commands say of folds, of rows kept aside, and of recipes that may be asked for."""

from __future__ import annotations

from typing import Annotated

import typer

from mixbayes.agreement.agreement import MOST_ASIDE, MOST_FOLDS
from mixbayes.agreement.noise import JointTest, usual_test_epsilon
from mixbayes.cli.options import Protocol
from mixbayes.protocol.bayes.aside import changed
from mixbayes.protocol.errors import Unsupported

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
TestEpsilon = Annotated[
    float | None,
    typer.Option(
        metavar="E",
        help="With noise: the epsilon of what the joint test reveals, in every round.",
        show_default="half of --epsilon",
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


def agreed_test(epsilon: float, test_epsilon: float | None, test_share: float, most_rows: int) -> JointTest | None:
    """The joint test of every round, where patients are kept aside for it."""
    if test_share:
        return JointTest(test_epsilon or usual_test_epsilon(epsilon), changed(most_rows, test_share))
    if test_epsilon is not None:
        raise Unsupported("--test-epsilon is about patients kept aside with mixers. Add --test-share, or leave it out.")
    return None
