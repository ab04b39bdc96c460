"""What every call carries: the caller's agreement, protocol and software, so that a difference is named."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version

from mixbayes.agreement.agreement import Federation
from mixbayes.transport.errors import Disagreement
from mixbayes.transport.peer import Metadata

PROTOCOL = 1
"""The number of the protocol: of its messages and their order. Nodes with different numbers cannot work together."""


def _version() -> str:
    try:
        return version("mixbayes")
    except PackageNotFoundError:  # src on the path without an installation
        return "unknown"


SOFTWARE = _version()

_PROTOCOL, _SOFTWARE = "mixbayes-protocol", "mixbayes-software"
_DIGEST, _SECTIONS = "mixbayes-federation", "mixbayes-sections"
_STEP = "greeting"
_PARTS = {
    "name": "name",
    "protocol": "protocol",
    "members": "list of members",
    "keys": "keys of the members",
    "policy": "policy",
    "privacy": "promise",
    "recipes": "list of recipes",
    "cuts": "bins of the cut points",
    "dictionary": "dictionary",
}


def greeting(federation: Federation) -> Metadata:
    """This node's header."""
    sections = ",".join(f"{part}={digest}" for part, digest in federation.sections().items())
    return (
        (_PROTOCOL, str(PROTOCOL)),
        (_SOFTWARE, SOFTWARE),
        (_DIGEST, federation.digest()),
        (_SECTIONS, sections),
    )


def refuse_difference(
    me: str, caller: str, federation: Federation, metadata: Iterable[tuple[str, str | bytes]]
) -> None:
    """Raise what differs between the two nodes, and which node has what."""
    theirs = {key: value for key, value in metadata if isinstance(value, str)}
    number, software = theirs.get(_PROTOCOL, "none"), theirs.get(_SOFTWARE, "unknown")
    if number != str(PROTOCOL):
        raise Disagreement(
            me,
            _STEP,
            f"it speaks protocol {PROTOCOL} (mixbayes {SOFTWARE}), and {caller} speaks protocol "
            f"{number[:20]} (mixbayes {software[:20]})",
            "Install the same version at both",
        )
    digest = theirs.get(_DIGEST, "")
    if digest != federation.digest():
        raise Disagreement(
            me,
            _STEP,
            f"its agreement is {federation.digest()[:16]} and that of {caller} is {digest[:16]}: "
            f"they differ in the {_differing(federation, theirs.get(_SECTIONS, ''))}",
        )


def _differing(federation: Federation, sections: str) -> str:
    theirs = dict(part.split("=", 1) for part in sections.split(",") if "=" in part)
    parts = [_PARTS[part] for part, digest in federation.sections().items() if theirs.get(part) != digest]
    return ", the ".join(parts) or "form of the file"
