"""`mixbayes federation add-party`, `remove-party`, `replace-party`, `replace-mixer`: agreements with other members."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from mixbayes.agreement.agreement import BadFederation, Federation
from mixbayes.agreement.files import read_federation, written
from mixbayes.agreement.succession import with_other_key, with_other_mixer, with_party, without_party
from mixbayes.cli.federation import refuse_what_cannot_run
from mixbayes.cli.output import write_whole
from mixbayes.cli.pinning import given_key
from mixbayes.protocol.errors import BadData, Unsupported

ADD_EXAMPLES = """Examples:

mixbayes federation add-party federation.toml west -o next.toml

mixbayes federation add-party federation.toml west -o next.toml --minimum 3
"""
REMOVE_EXAMPLES = """Examples:

mixbayes federation remove-party federation.toml west -o next.toml

mixbayes federation remove-party federation.toml west -o next.toml --minimum 2
"""
REPLACE_PARTY_EXAMPLES = """Examples:

mixbayes federation replace-party federation.toml north --key north.csr -o next.toml
"""
REPLACE_MIXER_EXAMPLES = """Examples:

mixbayes federation replace-mixer federation.toml b --address mixer-b.example.net:8443 -o next.toml

mixbayes federation replace-mixer federation.toml b --key b.csr -o next.toml
"""

File = Annotated[Path, typer.Argument(metavar="FILE", help="The agreement in force.")]
Out = Annotated[Path, typer.Option("-o", "--output", metavar="NEXT.toml", help="Where the next agreement is written.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace NEXT.toml, even if it is FILE itself.")]
_KEY = "The key by which all know it: its fingerprint, certificate or request."
Key = Annotated[str | None, typer.Option(metavar="FINGERPRINT|FILE", help=_KEY, show_default="none is agreed")]
Minimum = Annotated[
    int | None,
    typer.Option(metavar="N", min=2, help="Hospitals that a round needs from then on.", show_default="as agreed"),
]


def add_party(
    file: File,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The hospital that joins.")],
    out: Out,
    key: Key = None,
    minimum: Minimum = None,
    overwrite: Overwrite = False,
) -> None:
    """Write an agreement with one more hospital."""
    known = given_key(name, key) if key else None
    agreed, following = _made(file, lambda agreed: with_party(agreed, name, known, minimum))
    _write(out, following, overwrite=overwrite)
    _tell(agreed, following, out, [f"party {name} makes its keys, and has its certificate signed."], name)


def remove_party(
    file: File,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The hospital that leaves.")],
    out: Out,
    minimum: Minimum = None,
    overwrite: Overwrite = False,
) -> None:
    """Write an agreement without a hospital."""
    agreed, following = _made(file, lambda agreed: without_party(agreed, name, minimum))
    _write(out, following, overwrite=overwrite)
    _tell(agreed, following, out, [f"party {name} stops its node."], name)


def replace_party(
    file: File,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The hospital.")],
    key: Annotated[str, typer.Option(metavar="FINGERPRINT|FILE", help=_KEY)],
    out: Out,
    overwrite: Overwrite = False,
) -> None:
    """Write an agreement with a hospital's new key.

    It is for a key that is lost. While a hospital has its former key, `mixbayes federation rotate-key` changes it
    within the same agreement.
    """
    known = given_key(name, key)
    agreed, following = _made(file, lambda agreed: with_other_key(agreed, name, known))
    _write(out, following, overwrite=overwrite)
    _tell(agreed, following, out, [f"party {name} has its new certificate signed."])


def replace_mixer(
    file: File,
    name: Annotated[str, typer.Argument(metavar="a|b", help="The mixer that moves, or changes hands.")],
    out: Out,
    address: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Where all nodes reach it.", show_default="as agreed")
    ] = None,
    key: Annotated[str | None, typer.Option(metavar="FINGERPRINT|FILE", help=_KEY, show_default="as agreed")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write an agreement with a mixer's new address, new key, or both."""
    known = given_key(name, key) if key else None
    agreed, following = _made(file, lambda agreed: with_other_mixer(agreed, name, address, known))
    _write(out, following, overwrite=overwrite)
    _tell(agreed, following, out, [f"mixer {name} stops where it has run so far."])


def _made(file: Path, make: Callable[[Federation], Federation]) -> tuple[Federation, Federation]:
    """The agreement in this file, and the next one; what is wrong with it is a matter of the options."""
    agreed = read_federation(file)
    try:
        following = make(agreed)
    except BadFederation as error:
        raise Unsupported(f"{error}\nCorrect the options; -h has examples.") from None
    if following.digest() == agreed.digest():
        raise Unsupported(f"{file} says that already; nothing is written.")
    refuse_what_cannot_run(following)
    return agreed, following


def _write(out: Path, following: Federation, *, overwrite: bool) -> None:
    if out.exists() and not overwrite:
        raise BadData(f"{out} is there already and stays as it is. Name another file, or say --overwrite.")
    write_whole(out, written(following))


def _tell(agreed: Federation, following: Federation, out: Path, first: list[str], changed: str = "") -> None:
    for line in _lines(agreed, following, out, first, changed):
        typer.echo(line, err=True)


def _lines(agreed: Federation, following: Federation, out: Path, first: list[str], changed: str) -> Iterator[str]:
    policy = following.policy
    yield f"Written: {out}. Nothing is agreed yet; comments of the former file are not in it."
    yield f"former digest:  {agreed.digest()}"
    yield f"new digest:     {following.digest()}"
    yield f"minimum:        {policy.minimum} of {len(following.parties)} hospitals"
    yield ""
    yield from _what_follows(following, changed)
    yield ""
    yield "Next:"
    steps = [
        *first,
        f"Give every node {out}, and compare the new digest by telephone.",
        "Restart the mixers with the new file, then the hospitals' nodes. Keep keys and state folders.",
    ]
    for number, step in enumerate(steps, start=1):
        yield f"{number}. {step}"


def _what_follows(following: Federation, changed: str) -> Iterator[str]:
    yield "It is another agreement: the round ends, another begins, and every hospital has its whole budget again."
    yield f"It allows {following.policy.rounds} rounds; rounds under other agreements do not count towards them."
    if following.privacy:
        yield "Noise that was drawn stays charged: the ledgers in the state folders count it against the agreed total."
    if changed:
        yield f"The rounds before and after differ by the patients of party {changed}: whoever asks the same questions"
        yield "in both learns about them in particular."
