"""`mixbayes keys`: an authority, requests, and certificates, by hand and without a network."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from mixbayes.keys.authority import AUTHORITY_NAME, Signed, make_authority, make_request
from mixbayes.keys.authority import sign as sign_request
from mixbayes.keys.certificates import AUTHORITY_DAYS, LONGEST_DAYS, NODE_DAYS
from mixbayes.keys.public import public_key_in, public_key_of_node
from mixbayes.keys.revocation import FILE, LIST_DAYS, revoke
from mixbayes.protocol.errors import Unsupported
from mixbayes.site_time import day

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

FINGERPRINT_EXAMPLES = """Examples:

mixbayes keys fingerprint a.pem b.csr

mixbayes keys fingerprint --keys keys --name a --json
"""
REVOKE_EXAMPLES = """Examples:

mixbayes keys revoke north.pem --authority authority

mixbayes keys revoke --serial 4f1c9b --authority authority

mixbayes keys revoke --authority authority
"""


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


def show_fingerprint(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE...", help="Certificates and requests.", show_default=False)
    ] = None,
    keys: Annotated[Path | None, typer.Option(metavar="DIR", help="A node's keys; needs --name too.")] = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="The node whose key is in --keys.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Print fingerprints of keys, to be compared by telephone.

    A key has the same one in its request, in every certificate for it, and in the agreement.
    """
    if (keys is None) != (name is None) or not (files or keys):
        raise Unsupported("Give certificates or requests, or both --keys DIR and --name NAME.")
    found = [public_key_in(file) for file in files or []]
    if keys and name:
        found.append(public_key_of_node(keys, name))
    if as_json:
        shown = [{"file": str(one.file), "name": one.name, "fingerprint": one.fingerprint} for one in found]
        typer.echo(json.dumps(shown, indent=2))
        return
    for one in found:
        typer.echo(f"{one.fingerprint}  {one.name}  {one.file}")


def revoke_certificates(
    authority: Annotated[Path, typer.Option(metavar="DIR", help="The folder that `mixbayes keys authority` made.")],
    certificates: Annotated[
        list[Path] | None,
        typer.Argument(metavar="CERTIFICATE...", help="Nobody is to be admitted with these.", show_default=False),
    ] = None,
    serial: Annotated[
        list[str] | None, typer.Option(metavar="HEX", help="Of one whose file is not at hand. Can be repeated.")
    ] = None,
    days: Annotated[
        int, typer.Option(metavar="DAYS", min=1, max=LONGEST_DAYS, help="When the next list is due at the latest.")
    ] = LIST_DAYS,
) -> None:
    """Sign the list of revoked certificates, and add these.

    DIR/revoked.pem is for the --keys folder of every node. Without certificates the same list gets a new date.
    """
    listed = revoke(certificates or [], map(_serial, serial or []), authority, datetime.now(UTC), days)
    _say(f"{authority / FILE} is for the --keys folder of every node, which notices it within seconds.")
    _say(f"revoked:      {len(listed.serials)} certificates")
    _say(f"next list:    {day(listed.next_update)} at the latest")


def _serial(text: str) -> int:
    try:
        return int(text.replace(":", ""), 16)
    except ValueError:
        raise Unsupported(f"--serial {text}: a serial number is written in hexadecimal digits.") from None


def _say_what_to_compare(signed: Signed) -> None:
    _say(f"name:         {signed.name}")
    _say(f"fingerprint:  {signed.fingerprint}")
    _say(f"valid:        {day(signed.begins)} to {day(signed.ends)}")


def _say(line: str) -> None:
    typer.echo(line, err=True)
