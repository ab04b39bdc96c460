"""Every word of the page stands in one file, and a translation of that file is all that another language needs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from mixbayes import pages
from mixbayes.node.rounds.state import State
from mixbayes.pages.door import Role
from mixbayes.pages.texts import BadTexts, english, english_file, translated

CODE = "\n".join(path.read_text() for path in sorted(Path(pages.__path__[0]).glob("*.py")))
NAMES_IN_CODE = set(re.findall(r'(?:texts|_texts|self)\(\s*"([a-z_]+\.[a-z_0-9]+)"', CODE))
NAMES_IN_CODE |= set(re.findall(r'"([a-z_]+\.[a-z_0-9]+)"(?= (?:if|else))', CODE))
NAMES_IN_CODE |= set(re.findall(r'else "([a-z_]+\.[a-z_0-9]+)"', CODE))
NAMES_IN_CODE |= set(re.findall(r'_again\(texts, session, "([a-z_]+\.[a-z_]+)"', CODE))
OF_MANY = set(re.findall(r'texts\.many\(\s*f?"([a-z_]+\.[a-z_{}]+)"', CODE))
PATTERNS = set(re.findall(r'f"([a-z_]+\.[a-z_]*\{[^}]+\}[a-z_]*)"', CODE))


def matches(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"\{[^}]+\}", pattern)
    return re.compile("[a-z_0-9]+".join(map(re.escape, parts)))


def test_every_text_that_a_page_names_is_there() -> None:
    names = english().names
    assert NAMES_IN_CODE
    assert NAMES_IN_CODE - names == set()
    for many in OF_MANY:
        if "{" not in many:
            assert {f"{many}_one", f"{many}_many"} <= names
    for pattern in PATTERNS:
        assert any(matches(pattern).match(name) for name in names), pattern


def test_every_text_is_shown_somewhere() -> None:
    of_many = [matches(many) for many in OF_MANY]
    patterns = [matches(pattern) for pattern in PATTERNS]

    def shown(name: str) -> bool:
        stem = re.sub("_(one|many)$", "", name)
        return (
            name in NAMES_IN_CODE
            or any(one.fullmatch(stem) for one in of_many)
            or any(one.fullmatch(name) for one in patterns)
        )

    assert [name for name in sorted(english().names) if not shown(name)] == []


@pytest.mark.parametrize("state", State)
def test_every_state_of_a_round_has_its_words(state: State) -> None:
    texts = english()
    assert "7" in texts(f"state.{state}", round=7)
    assert texts.knows(f"overview.{state}")


@pytest.mark.parametrize("role", Role)
def test_every_role_has_its_words(role: Role) -> None:
    assert all(english().knows(f"{name}_{role}") for name in ("enter.as", "links.what", "links.make"))


def test_one_and_many() -> None:
    texts = english()
    assert texts.many("time.minutes", 1) == "1 minute"
    assert texts.many("time.minutes", 2_000) == "2,000 minutes"


def test_a_translation_replaces_what_it_has(tmp_path: Path) -> None:
    file = tmp_path / "german.toml"
    file.write_text('[page]\nlanguage = "de"\n[overview]\nserving = "Runde {round} antwortet"\n')
    texts, lacking = translated(file)
    assert texts.language == "de"
    assert texts("overview.serving", round=3) == "Runde 3 antwortet"
    assert texts("menu.table") == english()("menu.table")
    assert "menu.table" in lacking
    assert "overview.serving" not in lacking


def test_the_english_file_is_a_whole_translation(tmp_path: Path) -> None:
    file = tmp_path / "copy.toml"
    file.write_text(english_file())
    _, lacking = translated(file)
    assert lacking == []
    assert tomllib.loads(english_file())["page"]["language"] == "en"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('[overview]\nserving = "Runde"', "compare round"),
        ('[overview]\nserving = "Runde {round} {extra}"', "compare extra"),
        ('[overview]\nserving = "Runde {round.__class__}"', "plain"),
        ('[overview]\nserving = "Runde {round!r}"', "plain"),
        ('[overview]\nserving = "Runde {round"', "brace"),
        ('[overview]\nweather = "Regen"', "overview.weather: there is no such text"),
        ("[overview]\nserving = 3", "overview.serving: a text is wanted"),
        ("overview", "no file of texts"),
    ],
)
def test_a_translation_that_would_break_a_page_is_refused(tmp_path: Path, content: str, why: str) -> None:
    file = tmp_path / "texts.toml"
    file.write_text(content)
    with pytest.raises(BadTexts, match=re.escape(why)):
        translated(file)


def test_a_translation_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadTexts, match=r"none\.toml cannot be read"):
        translated(tmp_path / "none.toml")
