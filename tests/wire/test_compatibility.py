"""Nobody changes the form of a message that other versions of the program read."""

from __future__ import annotations

from tests.wire.recorded import forms, oldest_line, recorded


def test_what_is_recorded_has_not_changed() -> None:
    first, lines = recorded()
    if first == oldest_line():
        assert sorted(set(lines) - set(forms())) == [], "nodes of the version before read these"


def test_everything_is_recorded() -> None:
    """After a new field or a new oldest protocol: `python -m tests.wire.recorded`."""
    first, lines = recorded()
    assert first == oldest_line()
    assert sorted(set(forms()) - set(lines)) == []
