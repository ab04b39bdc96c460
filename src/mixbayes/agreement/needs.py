"""The version of mixbayes that an agreement needs, where its file says one: an older program names it and stops.

`needs = "0.4"` at the top of the file is for programs, and no part of what is agreed: the digest does not hold it.
"""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version

from mixbayes.agreement.agreement import BadFederation

NEEDS = "needs"
_VERSION = r"\d{1,6}(\.\d{1,6}){0,2}"


def refuse_newer(needs: object) -> None:
    """Raise if the file needs a newer version than this one, before anything in it is found wrong that is only new."""
    if needs is None:
        return
    if not isinstance(needs, str) or not re.fullmatch(_VERSION, needs):
        raise BadFederation(f'{NEEDS} says no version. Write {NEEDS} = "0.4", or remove it.')
    here = _here()
    if here and _numbers(here) < _numbers(needs):
        raise BadFederation(f"This agreement needs mixbayes {needs} or newer, and this is {here}. Upgrade this node.")


def _here() -> str:
    """Nothing where the program runs without an installation."""
    try:
        return version("mixbayes")
    except PackageNotFoundError:
        return ""


def _numbers(text: str) -> tuple[int, ...]:
    """Of a version such as 0.4.1; what follows them, such as rc1, does not count."""
    found = re.match(_VERSION, text)
    numbers = [int(part) for part in found[0].split(".")] if found else []
    return (*numbers, 0, 0, 0)[:3]
