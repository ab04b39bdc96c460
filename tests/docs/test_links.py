"""Every document leads where it says: to a file, to a heading in it, and to the files that it names in its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += sorted(
    page for room in ("docs", "deploy") for kind in ("md", "ipynb") for page in ROOT.glob(f"{room}/**/*.{kind}")
)
ROOMS = ("benchmarks", "deploy", "docs", "local_methods", "mixers", "parties", "proto", "protocol", "src", "tests")

BLOCK = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
FUNCTION = re.compile(r"^def (\w+)", re.MULTILINE)
SPAN = re.compile(r"`([^`\s]+)`")
IN_A_ROOM = re.compile(rf"(?:{'|'.join(ROOMS)})/.*")
FILE = re.compile(r"[\w./-]+\.(?:py|md|proto)")


def text_of(page: Path) -> str:
    """Without the blocks of commands and of what they print, where brackets mean something else."""
    return BLOCK.sub("", page.read_text(encoding="utf-8"))


def links(page: Path) -> list[str]:
    return [link for link in LINK.findall(text_of(page)) if "://" not in link]


def anchors(page: Path) -> set[str]:
    """As a forge makes them of headings."""
    headings = HEADING.findall(text_of(page))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def named_in(module: Path) -> set[str]:
    """Its functions: a document links to a test by its name."""
    return set(FUNCTION.findall(module.read_text(encoding="utf-8")))


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    there = named_in if target.suffix == ".py" else anchors
    return target.exists() and (not anchor or anchor in there(target))


@cache
def files() -> str:
    """Every file of the rooms and every document, a line each, after a slash."""
    paths = [*PAGES, *(path for room in ROOMS for path in (ROOT / room).rglob("*.*"))]
    return "".join(f"/{path.relative_to(ROOT).as_posix()}\n" for path in paths)


def is_there(named: str) -> bool:
    """A file or folder that a text names: with its path from the root, or with the end of it."""
    if IN_A_ROOM.fullmatch(named):
        return (ROOT / named).exists()
    return not FILE.fullmatch(named) or f"/{named}\n" in files()


def identity(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=identity)
def test_links_lead_somewhere(page: Path) -> None:
    assert [link for link in links(page) if not leads_somewhere(page, link)] == []


@pytest.mark.parametrize("page", PAGES, ids=identity)
def test_files_that_are_named_are_there(page: Path) -> None:
    assert [named for named in SPAN.findall(text_of(page)) if not is_there(named)] == []


def test_a_wrong_link_is_found() -> None:
    index = DOCS / "README.md"
    assert not leads_somewhere(index, "nowhere.md")
    assert not leads_somewhere(index, "protocol.md#nowhere")
    assert not leads_somewhere(index, "../tests/docs/test_links.py#test_nothing")
    assert leads_somewhere(index, "../tests/docs/test_links.py#test_a_wrong_link_is_found")
    assert not leads_somewhere(index, "#nowhere")
    assert leads_somewhere(index, "protocol.md#what-leaks")


def test_a_file_that_is_not_there_is_found() -> None:
    assert not is_there("protocol/nowhere.py")
    assert not is_there("docs/nowhere.md")
    assert not is_there("nowhere.py")
    assert not is_there("docs/extension.py")
    assert not is_there("circuits/extension.py")
    there = ("protocol/", "docs/protocol.md", "extension.py", "transfer/extension.py", "keys/north.csr", "max_rows")
    assert all(map(is_there, there))


def test_pages_are_read() -> None:
    assert {"README.md", "docs/errors.md", "docs/operations/firewall.md", "deploy/README.md"} <= set(
        map(identity, PAGES)
    )
    assert sum(len(links(page)) for page in PAGES) > 150
    assert sum(bool(IN_A_ROOM.fullmatch(named)) for page in PAGES for named in SPAN.findall(text_of(page))) > 20


def documents_named_in_programs() -> Iterator[tuple[str, str]]:
    for room in ("local_methods", "mixers", "parties", "protocol", "src"):
        for path in sorted((ROOT / room).rglob("*.py")):
            for named in re.findall(r"\bdocs/[\w/-]+\.md\b", path.read_text(encoding="utf-8")):
                yield identity(path), named


def test_documents_that_programs_name_are_there() -> None:
    found = list(documents_named_in_programs())
    assert found
    assert [(path, named) for path, named in found if not (ROOT / named).exists()] == []


def test_the_readme_leads_to_every_notebook() -> None:
    assert {f"docs/notebooks/{path.name}" for path in (DOCS / "notebooks").glob("*.ipynb")} <= set(links(PAGES[0]))


@pytest.mark.parametrize(
    ("index", "folder"),
    [
        ("docs/README.md", "docs"),
        ("docs/operations/README.md", "docs/operations"),
        ("docs/deviations.md", "docs/deviations"),
    ],
)
def test_every_document_is_in_its_index(index: str, folder: str) -> None:
    page = ROOT / index
    listed = {(page.parent / link.partition("#")[0]).resolve() for link in links(page)}
    assert set((ROOT / folder).glob("*.md")) - {page} <= listed
