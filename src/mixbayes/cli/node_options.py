"""Options that say which node it is, and where its files are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Agreed = Annotated[
    Path, typer.Option("--federation", metavar="FILE", help="The agreement.", envvar="MIXBAYES_FEDERATION")
]
Name = Annotated[str, typer.Option(metavar="NAME", help="This node's name in the agreement.", envvar="MIXBAYES_NAME")]
Keys = Annotated[
    Path, typer.Option(metavar="DIR", help="Holds NAME.key, NAME.pem and authority.pem.", envvar="MIXBAYES_KEYS")
]
State = Annotated[
    Path, typer.Option(metavar="DIR", help="What the node keeps; made if need be.", envvar="MIXBAYES_STATE")
]
Node = Annotated[
    str,
    typer.Option(
        "--node",
        metavar="HOST:PORT",
        envvar="MIXBAYES_NODE",
        help="Without mixers: where the hospital's own node listens, if its key folder cannot say.",
    ),
]
