"""Names of nodes. A name is also a file's name, a name in a certificate and a word on a command line.

There are no capitals in it: TLS takes `North` for `north`, so a certificate for one would speak for the other.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?")
_LIKE_AN_ADDRESS = re.compile(r"[0-9]+(\.[0-9]+)+")  # TLS would compare it with addresses, not with names
_OF_THE_AUTHORITY = "authority"  # its files stand in the same folder

RULE = "1 to 63 small letters (a-z), digits, '.', '_' and '-', with a letter or digit first and last"


def checked_name(name: str) -> str:
    """The name itself, or a ValueError that says why a node cannot be called so."""
    if not _NAME.fullmatch(name) or ".." in name:
        raise ValueError(f"{name!r} cannot be a node's name, which is {RULE}")
    if _LIKE_AN_ADDRESS.fullmatch(name):
        raise ValueError(f"{name!r} cannot be a node's name: it looks like an address")
    if name == _OF_THE_AUTHORITY:
        raise ValueError(f"{name!r} cannot be a node's name: the authority's files are called so")
    return name


Name = Annotated[str, Field(strict=True), AfterValidator(checked_name)]
