"""Where there is no terminal, progress is a line now and then, with an estimate."""

from __future__ import annotations

import pytest

from mixbayes.cli.progress import Talk, in_words


def lines(capsys: pytest.CaptureFixture[str], moments: list[tuple[float, int]]) -> list[str]:
    """What is said of work of which so much was done at these seconds."""
    now = [0.0]
    with Talk(lambda: now[0]) as talk:
        for seconds, done in moments:
            now[0] = seconds
            talk("reading t.csv", done, 1000)
    said = capsys.readouterr()
    assert said.out == ""
    return said.err.splitlines()


def test_short_work_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert lines(capsys, [(0.0, 0), (1.0, 500), (1.9, 1000)]) == []


def test_long_work_has_a_line_every_five_seconds_at_most(capsys: pytest.CaptureFixture[str]) -> None:
    assert lines(capsys, [(0.1 * step, step) for step in range(200)]) == [
        "reading t.csv (20 of 1,000), about 98 s left",
        "reading t.csv (70 of 1,000), about 93 s left",
        "reading t.csv (120 of 1,000), about 88 s left",
        "reading t.csv (170 of 1,000), about 83 s left",
    ]


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "1 s"), (89.6, "90 s"), (119, "119 s"), (600, "10 min"), (5400, "1.5 h")]
)
def test_times_are_in_the_usual_unit(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
