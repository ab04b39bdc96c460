"""Whatever is not markup is escaped, and what no page can hold is replaced."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from mixbayes.report.markup import Markup, element, escaped, joined
from tests.report.pages import EVIL


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def read(markup: str) -> Reader:
    reader = Reader()
    reader.feed(markup)
    reader.close()
    return reader


@given(st.text(), st.text())
def test_any_text_stays_text(words: str, value: str) -> None:
    reader = read(element("p", words, title=value))
    assert reader.tags == ["p"]
    assert [name for name, _ in reader.attributes] == ["title"]


def test_text_and_attributes_come_back_as_they_were() -> None:
    reader = read(element("p", EVIL, title=EVIL))
    assert (reader.tags, reader.text, reader.attributes) == (["p"], EVIL, [("title", EVIL)])


def test_markup_is_not_escaped_again() -> None:
    assert element("p", element("b", "<"), ">") == "<p><b>&lt;</b>&gt;</p>"
    assert joined(Markup("<i>"), "<i>") == "<i>&lt;i&gt;"


def test_markup_that_was_added_to_text_is_text() -> None:
    assert element("p", "a" + Markup("<b>")) == "<p>a&lt;b&gt;</p>"


def test_no_control_character_no_half_of_a_pair_and_nothing_that_turns_the_text() -> None:
    assert escaped("a\x00b\ud800c\u202ed\u2066e\n") == "a\ufffdb?c\ufffdd\ufffde\n"


def test_attributes_are_named_as_in_html_and_none_is_left_out() -> None:
    assert (
        element("line", x1=1.50, stroke_width=2, class_="a", id=None) == '<line x1="1.5" stroke-width="2" class="a"/>'
    )
