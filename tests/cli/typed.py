"""What one hospital types where its federation is."""

from __future__ import annotations

import pytest

from tests.cli.in_process import Done, command
from tests.services.helpers import Site


class Prompt:
    """Commands in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, name: str, *words: object) -> Done:
        self._capsys.readouterr()
        return command(name, self._monkeypatch, self._capsys)(*words)

    def at(self, site: Site, name: str, *words: object) -> Done:
        """With the options that all of a node's commands have."""
        first, *rest = words
        return self(str(first), *rest, "--federation", site.file, "--name", name, "--keys", site.keys)
