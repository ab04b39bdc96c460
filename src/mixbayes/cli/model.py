"""`mixbayes model`: the model that an agreement gives to every hospital, as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mixbayes.cli.desks import desk
from mixbayes.cli.node_options import Agreed, Keys, Name, Node
from mixbayes.cli.output import write_whole
from mixbayes.model.document import ReleasedModel
from mixbayes.protocol.errors import Unsupported

EXAMPLES = """Examples:

mixbayes model --federation federation.toml --name north --keys keys -o model.json
"""


def model(
    federation: Agreed,
    name: Name,
    keys: Keys,
    out: Annotated[Path, typer.Option("-o", "--output", metavar="MODEL.json", help="Where the model is written.")],
    node: Node = "",
) -> None:
    """Get the model of the current round, if the agreement gives it to hospitals.

    It holds the joint counts with noise. `mixbayes.load_model` makes a scikit-learn classifier of it.
    """
    with desk(federation, name, keys, node) as (agreed, behind):
        if not agreed.gives_model:
            raise Unsupported(
                f"The agreement {agreed.name!r} gives labels alone. A model to keep needs noise and release = "
                '"model" in the agreement.'
            )
        number, counts = behind.counts()
    write_whole(out, ReleasedModel.of(agreed, number, counts).text())
    typer.echo(f"{out}: the model of round {number}", err=True)
