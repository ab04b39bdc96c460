"""Every word of the page, in one file of texts that a site can replace by a translation."""

from __future__ import annotations

import string
import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path

from mixbayes.protocol.errors import BadData

ENGLISH = "texts.toml"


class BadTexts(BadData):
    """A site's file of texts cannot be used."""

    code = "E150"


class Texts:
    """The texts by their names, such as `overview.serving`."""

    def __init__(self, content: Mapping[str, str]) -> None:
        self._content = content

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._content)

    @property
    def language(self) -> str:
        """As HTML names it, e.g. `pt-BR`: a screen reader chooses its voice by this."""
        return self("page.language")

    def __call__(self, name: str, /, **values: object) -> str:
        return self._content[name].format_map({key: str(value) for key, value in values.items()})

    def many(self, name: str, number: int, /, **values: object) -> str:
        """The text for one, or the text for several; both may show the number."""
        return self(f"{name}_{'one' if number == 1 else 'many'}", number=f"{number:,}", **values)

    def knows(self, name: str) -> bool:
        return name in self._content


def english_file() -> str:
    """The English texts, as a translator gets them."""
    return files("mixbayes.pages").joinpath(ENGLISH).read_text(encoding="utf-8")


def english() -> Texts:
    return Texts(dict(_flat(tomllib.loads(english_file()))))


def translated(path: Path) -> tuple[Texts, list[str]]:
    """A site's texts, and the names of those that it lacks, which stay English."""
    ours = dict(_flat(tomllib.loads(english_file())))
    try:
        theirs = dict(_flat(tomllib.loads(path.read_text(encoding="utf-8"))))
    except OSError as error:
        raise BadTexts(f"{path} cannot be read: {error.strerror}. Name the file of texts.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadTexts(f"{path} is no file of texts: {error}. `mixbayes page texts` prints one.") from None
    problems = list(_problems(ours, theirs))
    if problems:
        raise BadTexts("\n  ".join([f"{path} does not fit the page:", *problems]))
    return Texts(ours | theirs), sorted(ours.keys() - theirs.keys())


def _problems(ours: Mapping[str, str], theirs: Mapping[str, str]) -> Iterator[str]:
    for name, text in theirs.items():
        if name not in ours:
            yield f"{name}: there is no such text. Remove it"
            continue
        missing = _places(ours[name]) ^ _places(text)
        if missing:
            yield f"{name}: it must have exactly the places of the English text; compare {', '.join(sorted(missing))}"


def _places(text: str) -> frozenset[str]:
    """The names between braces, of which every one must be plain: `{rows}`."""
    try:
        found = [(name, form, how) for _, name, form, how in string.Formatter().parse(text) if name is not None]
    except ValueError:
        return frozenset({"a brace without its other half"})
    plain = all(name.isidentifier() and not form and not how for name, form, how in found)
    return frozenset(name for name, _, _ in found) if plain else frozenset({"a place that is not a plain {name}"})


def _flat(content: Mapping[str, object], before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in content.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        elif isinstance(value, str):
            yield f"{before}{name}", value
        else:
            raise BadTexts(f"{before}{name}: a text is wanted. Write it in quotes.")
