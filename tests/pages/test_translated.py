"""In a made-up language, in which every word of the page is marked, nothing English is left on it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from html import unescape

import pytest

from mixbayes.pages.door import Role
from mixbayes.pages.frame import OF_HOSPITAL
from mixbayes.pages.texts import english_file
from tests.pages.test_hospital_pages import once
from tests.pages.visitor import Reply, Visitor
from tests.pages.ward import DICTIONARY, Ward, ward

MARK = "¤"
_DATA = re.compile(
    r"[\d.,:;+%()\[\]{}\s/–-]*|party \w+(?:, Heart study)?|mixer [ab]|Heart study|[0-9a-f]{6,}|mixbayes .*|ssh .*|E\d+"
    r"|\d+ years"
)
_WORDS = {
    *(str(value) for one in DICTIONARY["attributes"] for value in (one["name"], one["title"], one.get("unit", ""))),
    *(str(value) for one in DICTIONARY["attributes"] for value in (*one.get("values", ()), *one.get("meanings", ()))),
    *map(
        str, (*DICTIONARY["classes"], *DICTIONARY["class_meanings"], DICTIONARY["class_title"], "num", "own", "joint")
    ),
}


def marked(content: Mapping[str, object]) -> str:
    lines = []
    for section, texts in content.items():
        lines.append(f"[{section}]")
        assert isinstance(texts, dict)
        lines += [f"{name} = '''{MARK}{text}{MARK}'''" for name, text in texts.items() if name != "language"]
    return "\n".join(lines)


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ward]:
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "texts.toml").write_text(marked(tomllib.loads(english_file())), encoding="utf-8")
    with ward(folder, folder / "texts.toml") as made:
        yield made


def english_words(reply: Reply) -> list[str]:
    """What is neither marked nor data of the federation."""
    body = re.sub(r"<style.*?</style>|<time.*?</time>|<code.*?</code>", "", reply.body, flags=re.DOTALL)
    shown = re.findall(r">([^<]+)<", body) + re.findall(r' (?:aria-label|title|alt)="([^"]*)"', body)
    found = []
    for text in map(unescape, shown):
        rest = re.sub(f"{MARK}.*{MARK}", "", text, flags=re.DOTALL).strip()
        if not _DATA.fullmatch(rest) and rest not in _WORDS:
            found.append(rest)
    return found


def test_no_word_is_left_in_english(elsewhere: Ward) -> None:
    visitor = Visitor(elsewhere.port)
    path = "/enter/" + elsewhere.link().rpartition("/")[2]
    assert english_words(visitor.open(path)) == []
    visitor.enter(elsewhere.link())
    for page in OF_HOSPITAL[Role.MANAGER]:
        if page != "/trail":  # its records are those of the log
            assert english_words(visitor.open(page)) == [], page
    visitor.send("/table")
    once(visitor, "/table", lambda reply: "<table>" in reply.body)
    said = visitor.send("/classify", ("a0", "61"), ("a4", "E11"), ("recipe", "own"), ("question", "q"))
    assert english_words(said) == []
    wrong = visitor.send("/classify", ("a0", "x"), ("a3", "999"), ("recipe", "own"), ("question", "q"))
    assert english_words(wrong) == []
    assert english_words(visitor.open("/classify/table")) == []
