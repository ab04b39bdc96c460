"""What every call carries: the caller's agreement, protocol and software, so that a difference is named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version

from mixbayes.agreement.agreement import Federation
from mixbayes.node.serving.protocols import OURS, Numbers, numbers_from
from mixbayes.transport.errors import Disagreement
from mixbayes.transport.peer import Metadata


def _version() -> str:
    try:
        return version("mixbayes")
    except PackageNotFoundError:  # src on the path without an installation
        return "unknown"


SOFTWARE = _version()

_PROTOCOL, _OLDEST, _SOFTWARE = "mixbayes-protocol", "mixbayes-protocol-oldest", "mixbayes-software"
_DIGEST, _SECTIONS = "mixbayes-federation", "mixbayes-sections"
_STEP = "greeting"
_LONGEST = 20
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
        (_PROTOCOL, str(OURS.newest)),
        (_OLDEST, str(OURS.oldest)),
        (_SOFTWARE, SOFTWARE),
        (_DIGEST, federation.digest()),
        (_SECTIONS, sections),
    )


def refuse_difference(
    me: str, caller: str, federation: Federation, metadata: Iterable[tuple[str, str | bytes]]
) -> None:
    """Raise what differs between the two nodes, and which node has what."""
    theirs = _texts(metadata)
    if in_common(theirs.items()) is None:
        raise _no_common_protocol(me, caller, _numbers(theirs), theirs.get(_SOFTWARE, "unknown")[:_LONGEST])
    digest = theirs.get(_DIGEST, "")
    if digest != federation.digest():
        raise Disagreement(
            me,
            _STEP,
            f"its agreement is {federation.digest()[:16]} and that of {caller} is {digest[:16]}: "
            f"they differ in the {_differing(federation, theirs.get(_SECTIONS, ''))}",
        )


def in_common(metadata: Iterable[tuple[str, str | bytes]]) -> int | None:
    """The number of the protocol that this node and the caller use with each other; None if there is none."""
    numbers = _numbers(_texts(metadata))
    return OURS.in_common(numbers) if numbers else None


def _texts(metadata: Iterable[tuple[str, str | bytes]]) -> dict[str, str]:
    return {key: value for key, value in metadata if isinstance(value, str)}


def _numbers(theirs: Mapping[str, str]) -> Numbers | None:
    return numbers_from(theirs.get(_PROTOCOL, ""), theirs.get(_OLDEST, ""))


def _no_common_protocol(me: str, caller: str, numbers: Numbers | None, software: str) -> Disagreement:
    """Says which of the two is older, because that one has to be upgraded."""
    both = f"it speaks {OURS} (mixbayes {SOFTWARE}), and {caller} speaks {numbers or 'none'} (mixbayes {software})"
    if numbers is None:
        return Disagreement(me, _STEP, both, f"Ask what calls as {caller}: it is no node of mixbayes")
    older = me if numbers.newest > OURS.newest else caller
    remedy = f"Upgrade {older}, which is the older one. Mixers are upgraded before hospitals"
    return Disagreement(me, _STEP, both, remedy)


def _differing(federation: Federation, sections: str) -> str:
    theirs = dict(part.split("=", 1) for part in sections.split(",") if "=" in part)
    parts = [_PARTS[part] for part, digest in federation.sections().items() if theirs.get(part) != digest]
    return ", the ".join(parts) or "form of the file"
