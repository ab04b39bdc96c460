"""The names of steps as they stand in the code, also of those that no run comes to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = "protocol", "mixers", "parties", "src/mixbayes/node"
_OF_A_CHANNEL = {"send", "receive", "swap", "start_swap"}
Names = dict[str, set[str]]


def steps() -> set[str]:
    """Whatever is sent, received or swapped under a name that is written in the code."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    everywhere: Names = {}
    for tree in trees:
        for name, texts in _texts(tree).items():
            everywhere.setdefault(name, set()).update(texts)
    return {step for tree in trees for step in _named(tree, _texts(tree), everywhere)}


def _named(tree: ast.AST, here: Names, everywhere: Names) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _OF_A_CHANNEL:
            match node.args[:1]:
                case [ast.Constant(str(text))]:
                    yield text
                case [ast.Name(name)]:  # of this module, or imported from another one
                    yield from here.get(name) or everywhere.get(name, set())
                case _:
                    continue


def _texts(tree: ast.AST) -> Names:
    """By name, the texts that are assigned to it anywhere in a module."""
    found: Names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                for name, value in _pairs(target, node.value):
                    if isinstance(name, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, str):
                        found.setdefault(name.id, set()).add(value.value)
    return found


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        yield from zip(target.elts, value.elts, strict=False)
    else:
        yield target, value
