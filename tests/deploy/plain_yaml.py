"""As much of YAML as our own files use: maps, lists, quoted text, anchors of maps and their merging."""

from __future__ import annotations

import re
from typing import Any

Line = tuple[int, str]


def read(text: str) -> dict[str, Any]:
    """The document, whose outermost thing is a map."""
    lines = [
        (len(line) - len(line.lstrip()), line.strip())
        for line in map(_without_comment, text.splitlines())
        if line.strip()
    ]
    value, rest = _block(lines, {})
    assert not rest, f"not understood: {rest[0]}"
    assert isinstance(value, dict)
    return value


def _without_comment(line: str) -> str:
    assert "\t" not in line
    return "" if line.lstrip().startswith("#") else re.sub(r"\s#.*", "", line)


def _block(lines: list[Line], anchors: dict[str, Any]) -> tuple[Any, list[Line]]:
    indent = lines[0][0]
    if lines[0][1].startswith("- "):
        items = []
        while lines and lines[0][0] == indent and lines[0][1].startswith("- "):
            items.append(_inline(lines[0][1][2:].strip(), anchors))
            lines = lines[1:]
        return items, lines
    found: dict[str, Any] = {}
    own: set[str] = set()
    while lines and lines[0][0] == indent:
        (_, line), lines = lines[0], lines[1:]
        key, separator, value = line.partition(":")
        assert separator, f"not understood: {line}"
        assert key not in own, f"twice: {key}"
        own.add(key)
        anchor, value = _anchored(value.strip())
        nested = bool(lines) and lines[0][0] > indent
        if nested and not value:
            thing, lines = _block(lines, anchors)
        else:
            thing = _inline(value, anchors)
        if anchor:
            anchors[anchor] = thing
        found = {**thing, **found} if key == "<<" else {**found, key: thing}
    return found, lines


def _anchored(value: str) -> tuple[str, str]:
    match = re.match(r"&(\w+)\s*(.*)", value)
    return (match[1], match[2]) if match else ("", value)


def _inline(value: str, anchors: dict[str, Any]) -> Any:
    if value.startswith("*"):
        return anchors[value[1:]]
    if value.startswith("["):
        return [_scalar(part) for part in _parts(value)]
    if value.startswith("{"):
        pairs = (part.partition(":") for part in _parts(value))
        return {key.strip(): _scalar(rest) for key, _, rest in pairs}
    return _scalar(value)


def _parts(value: str) -> list[str]:
    assert value[-1] in "]}", f"not closed: {value}"
    inside = value[1:-1]
    parts, current, quoted = [], "", False
    for character in inside:
        quoted ^= character == '"'
        if character == "," and not quoted:
            parts.append(current)
            current = ""
        else:
            current += character
    return [part for part in (*parts, current) if part.strip()]


def _scalar(text: str) -> Any:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.isdigit() else text
