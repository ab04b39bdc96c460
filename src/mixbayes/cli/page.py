"""`--page` of the nodes, and `mixbayes page`: the page in a browser on the node's own machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from mixbayes.extras import refuse_without
from mixbayes.protocol.errors import BadData

LINK_EXAMPLES = """Examples:

mixbayes page link --state state/north
"""
TEXTS_EXAMPLES = """Examples:

mixbayes page texts > german.toml
"""
Listen = Annotated[
    str,
    typer.Option(
        "--page",
        metavar="127.0.0.1:PORT",
        help="Show this node in a browser on this machine; prints a link that works once.",
        envvar="MIXBAYES_PAGE",
    ),
]
TextsFile = Annotated[
    Path | None,
    typer.Option(
        "--page-texts",
        metavar="FILE",
        help="The page in another language: a translation of what `mixbayes page texts` prints.",
        envvar="MIXBAYES_PAGE_TEXTS",
    ),
]
Node = TypeVar("Node")


def refuse_page(listen: str, texts_file: Path | None) -> None:
    """Before a node starts: a package that the page lacks, an address that it cannot have, texts that do not fit."""
    refuse_without("werkzeug")
    from mixbayes.pages.server import refuse_elsewhere
    from mixbayes.pages.texts import translated

    refuse_elsewhere(listen)
    if texts_file:
        translated(texts_file)


@contextmanager
def with_page(
    node: AbstractContextManager[Node], page: Callable[[Node], AbstractContextManager[object]] | None
) -> Iterator[Node]:
    """The node, and its page as long as the node works."""
    with node as at_work:
        if page is None:
            yield at_work
            return
        with page(at_work):
            yield at_work


def link(
    state: Annotated[Path, typer.Option(metavar="DIR", help="The state folder of a node that runs with --page.")],
) -> None:
    """Print a link to the page, for the data manager.

    It works once; then the node has another one.
    """
    from mixbayes.pages.server import LINK

    try:
        typer.echo((state / LINK).read_text(encoding="utf-8").strip())
    except OSError as error:
        raise BadData(
            f"{state} has no link to a page ({error.strerror}). Start the node with --page, and give its "
            "--state folder, as the user that the node runs as."
        ) from None


def texts() -> None:
    """Print every text of the page, to be translated.

    Start the node with --page-texts FILE to use the translation.
    """
    from mixbayes.pages.texts import english_file

    typer.echo(english_file(), nl=False)
