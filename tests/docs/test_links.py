"""The README, the index and the threat model lead where they say: to a file, and to a heading in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [DOCS / name for name in ("README.md", "threat-model.md", "four-hospitals.md", "../README.md")]
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """As a forge makes them of headings."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(page.read_text())}


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    return target.exists() and (not anchor or anchor in anchors(target))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    links = LINK.findall(page.read_text())
    assert links
    assert [link for link in links if "://" not in link and not leads_somewhere(page, link)] == []


def test_a_wrong_link_is_found() -> None:
    assert not leads_somewhere(PAGES[0], "nowhere.md")
    assert not leads_somewhere(PAGES[0], "protocol.md#nowhere")
    assert leads_somewhere(PAGES[0], "protocol.md#what-leaks")


def test_the_readme_leads_to_every_notebook() -> None:
    links = LINK.findall(PAGES[-1].read_text())
    assert {f"docs/notebooks/{path.name}" for path in (DOCS / "notebooks").glob("*.ipynb")} <= set(links)


def test_every_document_is_in_the_index() -> None:
    listed = {link.partition("#")[0] for link in LINK.findall((DOCS / "README.md").read_text())}
    pages = {path.name for path in DOCS.glob("*.md")} - {"README.md"}
    assert pages <= listed
