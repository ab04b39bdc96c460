"""Pictures: what is drawn for which value, words that fit, and what is said instead of them."""

from __future__ import annotations

import re
from math import ceil, floor
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.report.bars import Bar, bars
from mixbayes.report.confusion import confusion
from mixbayes.report.drawing import NARROW, WIDE, Picture, fitting, length, lines
from mixbayes.report.lanes import Lane, lanes
from mixbayes.report.pairs import LEFT, MARGIN, Two, pairs
from mixbayes.report.palette import BLACK, BLUE, FILLS, VERMILLION, ink_on, patterns, shade
from mixbayes.report.panels import Panel, Spot, against_each_other, against_setting
from mixbayes.report.quartile_chart import Stroke, Strokes, quartile_chart
from mixbayes.report.scale import Scale, around
from tests.report.pages import EVIL

LONG = "no evidence of disease, follow-up within 12 months"


def drawn(picture: Picture, width: float = NARROW) -> ElementTree.Element:
    """The picture, which is well-formed and has words for who cannot see it."""
    root = ElementTree.fromstring(picture.at(width))
    assert (root.tag, root.get("role")) == ("svg", "img")
    assert root.get("aria-label")
    return root


def words(picture: Picture, width: float = NARROW) -> list[str]:
    """What is written; of words that go over the end of a line, the parts one after the other."""
    return ["".join(text.itertext()) for text in drawn(picture, width).iter("text")]


def unbroken(name: str) -> str:
    """Without what is lost where a line ends."""
    return "".join(name.split())


def lengths(picture: Picture) -> list[float]:
    return [float(box.get("width", 0)) for box in drawn(picture).iter("rect")]


def test_bars_are_as_long_as_their_values() -> None:
    one, half, none = lengths(bars([Bar("a", 8, "8"), Bar("b", 4, "4"), Bar("c", 0, "0")], "alt"))
    assert one == pytest.approx(2 * half, abs=0.02)
    assert none == 0


def test_a_bar_without_a_value_is_only_written() -> None:
    picture = bars([Bar("a", None, "unknown")], "alt", most=1)
    assert lengths(picture) == []
    assert words(picture) == ["a", "unknown"]


def test_bars_begin_at_nothing_and_end_at_the_most() -> None:
    picture = bars([Bar("a", 0.93, "93%")], "alt", most=1.0, tick="{:.0%}".format)
    assert [word for word in words(picture) if word.endswith("0%")] == ["0%", "20%", "40%", "60%", "80%", "100%"]


def test_confusion_frames_what_is_right() -> None:
    picture = confusion(["no", "yes"], [[5, 1], [0, 7]], "alt")
    assert [word for word in words(picture) if word.isdigit()] == ["5", "1", "0", "7"]
    assert len([box for box in drawn(picture).iter("rect") if box.get("fill") == "none"]) == 2


def test_many_classes_have_a_bar_each() -> None:
    classes = [f"class {i}" for i in range(20)]
    counts = [[3 if i == j else int(j == 0) for j in range(20)] for i in range(20)]
    counts[4] = [0] * 20
    told = words(confusion(classes, counts, "alt"))
    assert "75.00% (3 of 4)" in told
    assert told.count("no row") == 1


def test_an_arrow_has_a_head_where_something_arrives() -> None:
    one = drawn(lanes([Lane("a", "b", "seed", 100, False)], "alt"))
    both = drawn(lanes([Lane("a", "b", "talk", 10**6, True)], "alt"))
    assert (len(list(one.iter("path"))), len(list(both.iter("path")))) == (1, 2)
    thin, thick = (float(next(picture.iter("line")).get("stroke-width", 0)) for picture in (one, both))
    assert (thin, thick) == (3, 7)


def test_pairs_have_a_ring_and_a_disc() -> None:
    both = drawn(pairs([Two("a", 0.25, 0.75)], "alt"))
    lone = drawn(pairs([Two("a", None, 0.75)], "alt"))
    none = drawn(pairs([Two("a", None, None)], "alt"))
    legend = 2
    assert [len(list(one.iter("circle"))) - legend for one in (both, lone, none)] == [2, 1, 0]


def test_quartiles_are_strokes_with_their_median() -> None:
    one, other = Stroke(0.25, 0.5, 0.75), Stroke(0.5, 0.5, 1.0)
    picture = quartile_chart(
        [Strokes("pd", one, other, "no different (p = 0.5)"), Strokes("pf", None, None, "")], "alt"
    )
    assert {"pd", "pf", "no different (p = 0.5)", "original", "released"} <= set(words(picture))
    thick = [line for line in drawn(picture).iter("line") if line.get("stroke-width") == "3"]
    before, after = (float(line.get("x2", 0)) - float(line.get("x1", 0)) for line in thick)
    assert before == pytest.approx(after, abs=0.02)
    assert before == pytest.approx((NARROW - MARGIN - LEFT) / 2, abs=0.02)
    legend = 2
    assert len(list(drawn(picture).iter("circle"))) == 2 + legend


def test_the_chosen_spot_is_a_diamond_with_its_name() -> None:
    spots = [Spot(1, 0.5, "one"), Spot(2, 0.7, "two", chosen=True), Spot(3, 0.1, "three")]
    picture = against_each_other(Panel("accuracy", spots), "privacy", "alt")
    assert {"one", "two", "three"} <= set(words(picture))
    assert len(list(drawn(picture).iter("circle"))) == 2
    assert len(list(drawn(picture).iter("path"))) == 1


@pytest.mark.parametrize("spots", [[Spot(5, 1.0)], [Spot(5, 0.0), Spot(5, 0.0)]])
def test_one_setting_alone_can_be_drawn(spots: list[Spot]) -> None:
    drawn(against_setting([Panel("accuracy", spots), Panel("privacy", spots)], "size", "alt"))
    drawn(against_each_other(Panel("accuracy", spots), "privacy", "alt"))


@pytest.mark.parametrize("name", [EVIL, "W" * 500, "医" * 200, ""])
def test_any_name_can_be_drawn(name: str) -> None:
    drawn(bars([Bar(name, 1, name)], name + "alt"))
    drawn(confusion([name, name], [[1, 2], [3, 4]], name + "alt"))
    drawn(lanes([Lane(name, name, "seed", 0, False)], name + "alt"))
    drawn(pairs([Two(name, 1, 0)], name + "alt"))
    drawn(quartile_chart([Strokes(name, Stroke(0, 0, 1), None, name)], name + "alt"))
    drawn(against_each_other(Panel(name, [Spot(1, 1, name, True)]), name, name + "alt"))


@pytest.mark.parametrize("width", [NARROW, WIDE])
@pytest.mark.parametrize("name", [LONG, EVIL, "W" * 500, "医" * 200])
def test_long_names_are_whole(name: str, width: float) -> None:
    drawings = (
        bars([Bar(name, 1, "1")], "alt"),
        confusion([name, "b"], [[1, 2], [3, 4]], "alt"),
        confusion([name, *(f"class {at}" for at in range(9))], [[1] * 10] * 10, "alt"),
        lanes([Lane(name, "b", "seed", 0, False)], "alt"),
        pairs([Two(name, 1, 0)], "alt"),
        quartile_chart([Strokes(name, Stroke(0, 0, 1), None, "no different")], "alt"),
        against_setting([Panel(name, [Spot(1, 1)])], name, "alt"),
    )
    for picture in drawings:
        assert unbroken(name) in [unbroken(one).removeprefix("1:") for one in words(picture, width)]


@given(st.text(), st.floats(10, 400))
def test_lines_have_all_words_and_fit(name: str, room: float) -> None:
    found = lines(name, room)
    assert unbroken("".join(found)) == unbroken(name)
    assert all(length(line) <= room or len(line) == 1 for line in found)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=5))
def test_counts_have_whole_numbers_on_their_axis(counts: list[int]) -> None:
    picture = bars([Bar("a", count, "b") for count in counts], "alt", tick="{:g}".format, whole=True)
    settings = [Spot(2.0 + at, count) for at, count in enumerate(counts)]
    panels = against_setting([Panel("size", settings, "{:g}".format, whole=True)], "size", "alt", whole=True)
    each_other = against_each_other(Panel("size", settings, "{:g}".format, whole=True), "size", "alt", whole=True)
    for one in (picture, panels, each_other):
        ticks = [word for word in words(one) if word not in ("a", "b", "size")]
        assert len(ticks) >= 2
        assert all(re.fullmatch(r"-?\d+", tick) for tick in ticks)


def test_ink_is_read_on_every_shade() -> None:
    for colour in (BLUE, VERMILLION):
        inks = [ink_on(shade(colour, amount / 100)) for amount in range(101)]
        assert inks[0] == BLACK
        assert sorted(inks) == inks  # dark on pale, and white from some shade on


def test_words_are_cut_to_their_room() -> None:
    assert fitting("short", NARROW) == "short"
    assert fitting("a name that is longer than its room", 60) == "a name…"
    assert fitting("long", 0) == "…"


def test_a_scale_has_room_for_all_and_round_values() -> None:
    scale = around([10, 45], 0, 100)
    assert 0 < scale.at(10) < scale.at(45) < 100
    assert scale.ticks() == [10, 20, 30, 40]
    assert Scale(0, 3, 0, 1).ticks(whole=True) == [0, 1, 2, 3]


def test_every_fill_differs_and_patterns_are_there() -> None:
    assert len({fill.colour for fill in FILLS}) == len({fill.drawn for fill in FILLS}) == len(FILLS)
    made = {one.get("id") for one in ElementTree.fromstring(patterns()).iter("pattern")}
    assert {fill.paint for fill in FILLS if fill.drawn} == {f"url(#{name})" for name in made}


def test_shades_go_from_white_to_the_colour() -> None:
    assert (shade("#0072B2", 0), shade("#0072B2", 1)) == ("#FFFFFF", "#0072B2")


@given(
    low=st.floats(-100, 100).map(lambda value: round(value, 2)),
    width=st.floats(-3, 5).map(lambda power: float(f"{10**power:.3g}")),
    most=st.integers(3, 8),
)
def test_round_values_are_few_and_at_one_round_distance(low: float, width: float, most: int) -> None:
    values = Scale(low, low + width, 0, 1).ticks(most)
    assert 2 <= len(values) <= most + 1
    step = (values[-1] - values[0]) / (len(values) - 1)
    assert values == pytest.approx([values[0] + at * step for at in range(len(values))], abs=1e-3 * step)
    assert min(abs(values[0] / step - whole) for whole in (floor(values[0] / step), ceil(values[0] / step))) < 1e-3
    assert f"{step:.3e}".partition("e")[0] in ("1.000", "2.000", "2.500", "5.000")
    assert values[0] - step < low + 1e-3 * step
    assert values[-1] + step > low + width - 1e-3 * step
