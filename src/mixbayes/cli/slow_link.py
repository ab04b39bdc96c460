"""The options for a link between nodes that are far from each other."""

from __future__ import annotations

from typing import Annotated

import typer

from mixbayes.protocol.errors import Unsupported
from mixbayes.simulation.slow_link import SlowLink

USUAL_RATE = 100.0

Delay = Annotated[
    float | None,
    typer.Option(metavar="MS", min=0.0, help="Milliseconds one way between nodes that are far from each other."),
]
Rate = Annotated[
    float | None,
    typer.Option(
        metavar="MBIT",
        min=0.001,
        help="With --delay: Mbit/s in each direction of a link between nodes.",
        show_default=f"{USUAL_RATE:g}",
    ),
]


def slow_link(delay: float | None, rate: float | None) -> SlowLink | None:
    """The link, if one is given."""
    if delay is None and rate is not None:
        raise Unsupported("--rate is of a link that has a delay: add --delay MS; 0 is none.")
    return None if delay is None else SlowLink.of(delay, rate or USUAL_RATE)
