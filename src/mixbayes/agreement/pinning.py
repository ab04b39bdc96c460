"""Writing keys into an agreement: first keys, which change its digest, and signed changes, which do not.

A file that people have edited keeps everything else that is in it, their remarks too.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence

from mixbayes.agreement.agreement import BadFederation, Federation, federation_from
from mixbayes.agreement.files import change_lines, key_line
from mixbayes.agreement.pins import KeyChange, checked_fingerprint
from mixbayes.protocol.errors import Unsupported

_TABLES = {"parties", "mixers"}
_HEADER = re.compile(r"\s*\[\[?\s*([\w.]+)\s*\]\]?")
_NAME = re.compile(r"""\s*name\s*=\s*["']([^"']*)["']""")


def pinned(federation: Federation, keys: Mapping[str, str]) -> Federation:
    """The agreement in which these members have these first keys."""
    for name in keys:
        if federation.role_of(name) is None:
            federation.party(name)  # it says who is listed
        if federation.first_keys[name] is not None:
            title = federation.title(name)
            raise Unsupported(f"The key of {title} is agreed. `mixbayes federation rotate-key` gives it another.")
    content = federation.model_dump(mode="json")
    for member in (*content["parties"], *content["mixers"]):
        if member["name"] in keys:
            member["key"] = checked_fingerprint(keys[member["name"]])
    return federation_from(content)


def with_change(federation: Federation, change: KeyChange) -> Federation:
    """The same agreement, in which one member has another key."""
    content = federation.model_dump(mode="json")
    return federation_from(content | {"changes": [*content["changes"], change.model_dump(mode="json")]})


def begun_anew(federation: Federation) -> Federation:
    """The members' present keys are their first ones. A change was signed for the agreement that it stands in."""
    content = federation.model_dump(mode="json", exclude={"changes"})
    for member in (*content["parties"], *content["mixers"]):
        if key := federation.key_of(member["name"]):
            member["key"] = key
    return federation_from(content)


def not_pinned(federation: Federation) -> str:
    """What is weaker where the keys of computing nodes are not agreed; nothing where they are."""
    if not federation.unpinned:
        return ""
    whose = "mixers" if federation.mixers else "the two hospitals"
    return f"keys of {whose} are not pinned: whoever holds the authority's key can pose as both"


def text_with_keys(text: str, federation: Federation, names: Collection[str]) -> str:
    """The file of an agreement, with the first keys that these members have in this one below their names."""
    lines = _with_keys(text.split("\n"), {name: federation.first_keys[name] for name in names})
    return _confirmed("\n".join(lines), federation)


def text_with_change(text: str, federation: Federation) -> str:
    """The file of an agreement, with the last change of this one at its end."""
    return _confirmed(text.rstrip("\n") + "\n" + "\n".join(change_lines(federation.changes[-1:])) + "\n", federation)


def _with_keys(lines: Sequence[str], keys: Mapping[str, str | None]) -> Iterator[str]:
    table = ""
    for line in lines:
        yield line
        if header := _HEADER.match(line):
            table = header[1]
        elif table in _TABLES and (name := _NAME.match(line)) and (key := keys.get(name[1])):
            yield key_line(key)


def _confirmed(text: str, federation: Federation) -> str:
    """The text, if it reads as this agreement. Files that people laid out in another way are theirs to edit."""
    try:
        if federation_from(tomllib.loads(text)) == federation:
            return text
    except (tomllib.TOMLDecodeError, BadFederation):
        pass
    raise BadFederation(
        "This file is laid out in another way than `mixbayes federation new` writes it, so nothing was written. "
        'Write the keys into it by hand: key = "FINGERPRINT" below the name of a member.'
    )
