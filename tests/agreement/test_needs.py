"""A file says which version it needs: an older program names it, and a program that is new enough reads the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from mixbayes.agreement import needs
from mixbayes.agreement.agreement import BadFederation, federation_from
from mixbayes.agreement.files import read_federation, written
from tests.keys.helpers import HEART


def agreement(folder: Path, first_line: str) -> Path:
    path = folder / "federation.toml"
    path.write_text(f"{first_line}\n{written(federation_from(HEART))}")
    return path


def test_a_newer_file_names_its_version_before_its_unknown_fields(tmp_path: Path) -> None:
    path = agreement(tmp_path, 'needs = "900.1"\nweather = "rain"')
    with pytest.raises(BadFederation, match=r"needs mixbayes 900\.1 or newer, and this is \d") as error:
        read_federation(path)
    assert "weather" not in str(error.value)
    assert str(path) in str(error.value)


def test_an_unknown_field_alone_may_be_of_another_version(tmp_path: Path) -> None:
    with pytest.raises(BadFederation, match=r"weather: there is no such field; .* a newer version may have it"):
        read_federation(agreement(tmp_path, 'weather = "rain"'))


@pytest.mark.parametrize("line", ['needs = "0.0.1"', 'needs = "0"', ""])
def test_a_program_that_is_new_enough_reads_the_same_agreement(tmp_path: Path, line: str) -> None:
    assert read_federation(agreement(tmp_path, line)).digest() == federation_from(HEART).digest()


@pytest.mark.parametrize("line", ["needs = 2", 'needs = "soon"', 'needs = ""', "needs = [1]"])
def test_what_is_no_version_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(BadFederation, match="says no version"):
        read_federation(agreement(tmp_path, line))


@pytest.mark.parametrize(
    ("here", "asked", "refused"),
    [("0.4", "0.4.0", False), ("0.4.0rc1", "0.4", False), ("0.4.9", "0.5", True), ("0.10", "0.9", False)],
)
def test_versions_are_compared_by_their_numbers(
    monkeypatch: pytest.MonkeyPatch, here: str, asked: str, refused: bool
) -> None:
    monkeypatch.setattr(needs, "version", lambda name: here)
    try:
        needs.refuse_newer(asked)
    except BadFederation:
        assert refused
    else:
        assert not refused
