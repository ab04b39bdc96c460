"""`mixbayes keys`: an authority, requests, and certificates, by hand and without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mixbayes.cli.help import Command
from mixbayes.keys.authority import AUTHORITY_NAME, Signed, make_authority, make_request
from mixbayes.keys.authority import sign as sign_request
from mixbayes.keys.certificates import AUTHORITY_DAYS, LONGEST_DAYS, NODE_DAYS

AUTHORITY_EXAMPLES = """Examples:

mixbayes keys authority authority

mixbayes keys authority authority --name "heart federation 2026"
"""
REQUEST_EXAMPLES = """Examples:

mixbayes keys request north --out keys
"""
SIGN_EXAMPLES = """Examples:

mixbayes keys sign north.csr --authority authority --out north.pem

mixbayes keys sign north.csr --authority authority --out north.pem --days 90
"""

app = typer.Typer(no_args_is_help=True, help="The keys by which nodes know each other.")


@app.command(cls=Command, epilog=AUTHORITY_EXAMPLES)
def authority(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="It is made if it is not there.")],
    name: Annotated[str, typer.Option(metavar="NAME", help="What its certificate is called.")] = AUTHORITY_NAME,
    days: Annotated[
        int, typer.Option(metavar="DAYS", min=1, max=LONGEST_DAYS, help="How long it is valid.")
    ] = AUTHORITY_DAYS,
) -> None:
    """Make the authority of a federation.

    authority.key stays in its folder; authority.pem is for every node.
    """
    made = make_authority(folder, name, days)
    _say(f"{made.file} is for the --keys folder of every node. authority.key stays here; keep a copy under lock.")
    _say_what_to_compare(made)


@app.command(cls=Command, epilog=REQUEST_EXAMPLES)
def request(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The node's name in the federation file: a, b, or a hospital's.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The node's --keys folder, made if it is not there.")],
) -> None:
    """Make a node's keys, and a request for a certificate.

    Do it where the node will run. To renew a certificate, do it again. NAME.key and NAME.state never leave that
    machine and are never replaced. Only NAME.csr is to be sent.
    """
    made = make_request(name, out)
    _say(f"Send {made.file} to whoever signs for the federation. {name}.key and {name}.state stay here.")
    _say("The state cannot be read without its key: keep a copy of both files under lock.")
    _say(f"name:         {made.name}")
    _say(f"fingerprint:  {made.fingerprint}")
    _say("Read the fingerprint to them by telephone, and compare it with what `mixbayes keys sign` shows them.")


@app.command(cls=Command, epilog=SIGN_EXAMPLES)
def sign(
    request: Annotated[Path, typer.Argument(metavar="NAME.csr", help="The request, as the node's operator sent it.")],
    authority: Annotated[Path, typer.Option(metavar="DIR", help="The folder that `mixbayes keys authority` made.")],
    out: Annotated[Path, typer.Option(metavar="NAME.pem", help="The certificate; an older one is replaced.")],
    days: Annotated[
        int, typer.Option(metavar="DAYS", min=1, max=LONGEST_DAYS, help="How long it is valid.")
    ] = NODE_DAYS,
) -> None:
    """Sign a request. Whoever holds the certificate speaks for that name: compare the fingerprint before sending it."""
    signed = sign_request(request, authority, out, days)
    _say(f"{signed.file} goes back to whoever sent the request, with authority.pem. Before that, compare by telephone:")
    _say_what_to_compare(signed)


def _say_what_to_compare(signed: Signed) -> None:
    _say(f"name:         {signed.name}")
    _say(f"fingerprint:  {signed.fingerprint}")
    _say(f"valid:        {signed.begins:%Y-%m-%d} to {signed.ends:%Y-%m-%d}")


def _say(line: str) -> None:
    typer.echo(line, err=True)
