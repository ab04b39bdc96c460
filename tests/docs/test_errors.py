"""The page of errors has every code that the program has, with the exit code that the program ends with."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import mixbayes
from mixbayes.protocol.errors import MixbayesError

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"
ROW = re.compile(r"^\| \[(E\d{3})\]\(#(e\d{3})\) \| (.+) \| (\d) \|$", re.MULTILINE)
SECTION = re.compile(r"^## (.+)\n\n\*\*(.+?)\.\*\* ((?:.|\n)*?)(?=^## |\Z)", re.MULTILINE)
PARTS = ("**Whose fault:** ", "**What to do:** ")


def exit_codes() -> dict[str, set[int]]:
    """Of every code, those of its classes."""
    for module in pkgutil.walk_packages(mixbayes.__path__, "mixbayes."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    kinds: list[type[MixbayesError]] = [MixbayesError]
    for kind in kinds:  # grows while it is walked
        kinds += kind.__subclasses__()
    found: dict[str, set[int]] = {}
    for kind in kinds:
        if kind.__module__.startswith("mixbayes."):
            found.setdefault(kind.code, set()).add(kind.exit_code)
    return found


TEXT = PAGE.read_text(encoding="utf-8")
ROWS = ROW.findall(TEXT)
SECTIONS = SECTION.findall(TEXT)


def test_the_table_has_every_code_once_with_its_exit_code() -> None:
    assert [(code, {int(number)}) for code, _, _, number in ROWS] == sorted(exit_codes().items())


def test_every_code_has_a_section_in_the_order_of_the_table() -> None:
    assert re.findall(r"^## (.+)$", TEXT, re.MULTILINE) == [code for code, *_ in ROWS]
    assert [(code, what) for code, what, _ in SECTIONS] == [(code, what) for code, _, what, _ in ROWS]
    assert all(anchor == code.lower() for code, anchor, _, _ in ROWS)


@pytest.mark.parametrize(("code", "rest"), [(code, rest) for code, _, rest in SECTIONS])
def test_a_section_says_what_happened_whose_fault_it_is_and_what_to_do(code: str, rest: str) -> None:
    happened, fault, remedy = re.split("|".join(map(re.escape, PARTS)), rest)
    assert min(len(part.split()) for part in (happened, remedy)) > 3, code
    assert fault.strip()
    assert rest.index(PARTS[0]) < rest.index(PARTS[1])
