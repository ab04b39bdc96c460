"""`mixbayes federation pin` and `rotate-key`: the members' keys in an agreement."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated

import typer

from mixbayes.agreement.agreement import Federation
from mixbayes.agreement.files import read_federation
from mixbayes.agreement.pinning import pinned, text_with_change, text_with_keys, with_change
from mixbayes.agreement.pins import checked_fingerprint
from mixbayes.cli.node_options import Keys, Name
from mixbayes.cli.output import write_whole
from mixbayes.keys.public import public_key_in
from mixbayes.keys.rotation import signed_change
from mixbayes.protocol.errors import Unsupported

PIN_EXAMPLES = """Examples:

mixbayes federation pin federation.toml --key a=a.csr --key b=b.csr

mixbayes federation pin federation.toml --key a=a.pem --key b=b.pem --key north=north.csr
"""
ROTATE_EXAMPLES = """Examples:

mixbayes federation rotate-key federation.toml --name a --keys keys --to next/a.csr
"""
_WAYS = "FINGERPRINT|FILE"
MemberKeys = Annotated[
    list[str] | None,
    typer.Option(
        "--key",
        metavar=f"NAME={_WAYS}",
        help="The key by which all know this member: its fingerprint, certificate or request. Repeat it.",
    ),
]


def pin(
    federation: Annotated[Path, typer.Argument(metavar="FEDERATION", help="A federation.toml, which is changed.")],
    key: MemberKeys = None,
) -> None:
    """Write members' keys into an agreement not yet in use.

    Its digest changes. Compare the fingerprints with the operators by telephone first.
    """
    before = read_federation(federation)
    keys = keys_in(key or [])
    if not keys:
        raise Unsupported(f"Say whose key is to be written, with --key NAME={_WAYS}.")
    after = pinned(before, keys)
    write_whole(federation, text_with_keys(_text(federation), after, keys))
    for line in _about_pinned(before, after, keys):
        typer.echo(line, err=True)


def rotate_key(
    federation: Annotated[Path, typer.Argument(metavar="FEDERATION", help="The agreement, which gets the change.")],
    name: Name,
    keys: Keys,
    to: Annotated[str, typer.Option(metavar=_WAYS, help="The new key: its fingerprint, certificate or request.")],
) -> None:
    """Change a member's key in an agreement. Its present key signs the change.

    --keys holds the present key. The digest of the agreement stays, and with it rounds, budgets and noise. All nodes
    need the new file.
    """
    before = read_federation(federation)
    if before.key_of(name) is None:
        if before.role_of(name) is None:
            before.party(name)  # it says who is listed
        raise Unsupported(f"No key of {before.title(name)} is agreed, so it can be replaced without a signature.")
    after = with_change(before, signed_change(before, name, given_key(name, to), keys / f"{name}.key"))
    write_whole(federation, text_with_change(_text(federation), after))
    for line in _about_rotated(federation, before, after, name):
        typer.echo(line, err=True)


def keys_in(given: Collection[str]) -> dict[str, str]:
    """Fingerprints by the members' names, out of what --key was given."""
    found: dict[str, str] = {}
    for text in given:
        name, sign, key = text.partition("=")
        if not sign or name in found:
            raise Unsupported(f"--key {text}: say NAME={_WAYS}, each name once.")
        found[name] = given_key(name, key)
    return found


def given_key(name: str, text: str) -> str:
    """The fingerprint that is given, or that of the certificate or request in this file, which must name the member."""
    try:
        return checked_fingerprint(text)
    except ValueError as error:
        if not (file := Path(text)).is_file():
            raise Unsupported(f"{error}, and there is no such file.") from None
    found = public_key_in(file)
    if found.name != name:
        raise Unsupported(f"{file} is for {found.name!r}, not for {name!r}.")
    return found.fingerprint


def _text(file: Path) -> str:
    return file.read_bytes().decode("utf-8-sig")


def _about_pinned(before: Federation, after: Federation, names: Collection[str]) -> Iterator[str]:
    for name in names:
        yield f"key of {after.title(name)}: {after.key_of(name)}"
    yield f"digest before: {before.digest()}"
    yield f"digest now:    {after.digest()}"
    yield "To nodes this is another agreement."
    yield "Give every node this file before any of them starts. A round under the former agreement does not go on."


def _about_rotated(file: Path, before: Federation, after: Federation, name: str) -> Iterator[str]:
    yield f"key of {after.title(name)}: {after.key_of(name)}"
    yield f"before:       {before.key_of(name)}"
    yield f"The digest is still {after.digest()}."
    yield f"Give every node {file}, and restart them with it, the mixers first."
    yield "Nodes with this file no longer accept the old key, and nodes with the former file do not accept the new one."
