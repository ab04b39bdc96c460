"""The packages that mixbayes needs, with some extras: in a folder of wheels, or in this environment."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = "mixbayes"
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)
_LONGEST_NAME = 40
"""What is longer is the text of a licence."""
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


@dataclass(frozen=True)
class Package:
    """One of them, and what it needs of the others."""

    name: str
    version: str
    licence: str
    by_expression: bool
    """Whether its licence is an SPDX expression, and not just a name."""
    needs: frozenset[str]
    sha256: str = ""
    """Of its wheel, where there is one."""


@dataclass(frozen=True)
class Pin:
    """What the lock says of a package."""

    version: str
    hashes: frozenset[str]


class NotPinned(Exception):
    """A package that the lock does not name, or names with another version or another hash."""


def in_wheels(folder: Path, extras: Collection[str]) -> dict[str, Package]:
    """Every package of which a wheel lies there."""
    wheels: dict[str, tuple[Distribution, Path]] = {
        canonicalize_name(found.name): (found, wheel) for wheel, found in _wheels(folder)
    }
    chosen = _closure(extras, lambda name: wheels[name][0])
    if left := set(wheels) - set(chosen):
        raise NotPinned(f"nobody needs {', '.join(sorted(left))} of {folder}")
    hashes = {name: hashlib.sha256(wheel.read_bytes()).hexdigest() for name, (_, wheel) in wheels.items()}
    return {name: _package(found, needs, hashes[name]) for name, (found, needs) in chosen.items()}


def installed(wheel: Path, extras: Collection[str]) -> dict[str, Package]:
    """The packages of this environment that this wheel of mixbayes needs with these extras."""
    [root] = distributions(path=[str(wheel)])
    chosen = _closure(extras, lambda name: root if name == ROOT else distribution(name))
    return {name: _package(found, needs) for name, (found, needs) in chosen.items()}


def pins(lock: str) -> dict[str, Pin]:
    """The pins of a lock file."""
    starts = list(_PIN.finditer(lock))
    ends = [start.start() for start in starts[1:]] + [len(lock)]
    return {
        canonicalize_name(start[1]): Pin(start[2], frozenset(_HASH.findall(lock[start.start() : end])))
        for start, end in zip(starts, ends, strict=True)
    }


def refuse_unpinned(packages: dict[str, Package], locked: dict[str, Pin]) -> None:
    """Raise for the first package that is not exactly what the lock says."""
    for name, package in sorted(packages.items()):
        if name == ROOT:
            continue
        pin = locked.get(name)
        if pin is None or pin.version != package.version:
            raise NotPinned(f"{name} {package.version} is there, and the lock has {pin.version if pin else 'none'}")
        if package.sha256 and package.sha256 not in pin.hashes:
            raise NotPinned(f"the wheel of {name} {package.version} has none of the hashes of the lock")


def _wheels(folder: Path) -> Iterator[tuple[Path, Distribution]]:
    for wheel in sorted(folder.glob("*.whl")):
        [found] = distributions(path=[str(wheel)])
        yield wheel, found


_Chosen = dict[str, tuple[Distribution, frozenset[str]]]


def _closure(extras: Collection[str], find: Callable[[str], Distribution]) -> _Chosen:
    """What mixbayes needs with these extras, and what that needs, and so on, on this machine."""
    chosen: _Chosen = {}
    with_extras: dict[str, set[str]] = {}
    waiting = [(ROOT, frozenset(extras))]
    while waiting:
        name, wanted = waiting.pop()
        before = with_extras.setdefault(name, set())
        if name in chosen and wanted <= before:
            continue
        before |= wanted
        found = find(name)
        needs = list(_needs(found, before))
        chosen[name] = (found, frozenset(need for need, _ in needs) - {name})
        waiting += needs
    return chosen


def _needs(found: Distribution, extras: Collection[str]) -> Iterator[tuple[str, frozenset[str]]]:
    for text in found.requires or []:
        need = Requirement(text)
        if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in ["", *sorted(extras)]):
            yield canonicalize_name(need.name), frozenset(need.extras)


def _package(found: Distribution, needs: frozenset[str], sha256: str = "") -> Package:
    expression = _first(found, "License-Expression")
    licence = expression or _named_licence(found)
    return Package(canonicalize_name(found.name), found.version, licence, bool(expression), needs, sha256)


def _named_licence(found: Distribution) -> str:
    """As its metadata name it: by a short name, or by classifiers."""
    short = _first(found, "License").strip()
    if short and "\n" not in short and len(short) <= _LONGEST_NAME:
        return short
    classifiers = found.metadata.get_all("Classifier", [])
    return " AND ".join(one.rpartition(" :: ")[2] for one in classifiers if one.startswith("License :: "))


def _first(found: Distribution, field: str) -> str:
    """The field of its metadata, or nothing."""
    return next(iter(found.metadata.get_all(field, [])), "")
