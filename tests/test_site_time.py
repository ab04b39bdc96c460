"""Times as a site reads them: in its own zone, with the offset, also when summer time begins or ends."""

from __future__ import annotations

import io
import json
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mixbayes.node.disk import audit
from mixbayes.node.disk.audit import Entry, append
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.schema import Schema
from mixbayes.node.disk.sealing import Seal
from mixbayes.node.disk.sqlite import looking
from mixbayes.node.log import logger
from mixbayes.report.page import Page, Run, built
from mixbayes.site_time import day, read, rfc_3339, shown, to_the_minute
from tests.cli.in_process import Command, command

ROOT = Path(__file__).parents[1]
SAO_PAULO, KOLKATA, BERLIN = "America/Sao_Paulo", "Asia/Kolkata", "Europe/Berlin"
MOMENT = datetime(2026, 11, 20, 2, 12, 44, tzinfo=UTC)
FORMATS = re.compile(r"\.(strftime|isoformat|astimezone|ctime)\(|:%[YHmd]")
MAY_FORMAT = {
    "src/mixbayes/site_time.py": "shows times",
    "src/mixbayes/node/disk/audit.py": "writes what is hashed, in UTC",
    "src/mixbayes/node/disk/backup.py": "hands it a moment in UTC",
    "src/mixbayes/tables/spelling.py": "spells cells of tables",
}


@pytest.fixture
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """`TZ` of this process, as a unit or a container sets it."""
    name: str = request.param
    with monkeypatch.context() as patch:
        patch.setenv("TZ", name)
        time.tzset()
        yield name
    time.tzset()


@pytest.mark.parametrize(
    ("zone", "said", "on"),
    [
        (SAO_PAULO, "2026-11-19 23:12:44 -03:00", "2026-11-19"),
        (KOLKATA, "2026-11-20 07:42:44 +05:30", "2026-11-20"),
        ("UTC", "2026-11-20 02:12:44 +00:00", "2026-11-20"),
    ],
    indirect=["zone"],
)
def test_a_moment_is_shown_in_the_zone_of_the_process(zone: str, said: str, on: str) -> None:
    assert shown(MOMENT) == said
    assert to_the_minute(MOMENT) == f"{said[:16]} {said[-6:]}"
    assert day(MOMENT) == on
    assert rfc_3339(MOMENT) == f"{said[:19].replace(' ', 'T')}.000000{said[-6:]}"
    assert datetime.fromisoformat(rfc_3339(MOMENT)) == MOMENT


@pytest.mark.parametrize("zone", [BERLIN], indirect=True)
def test_the_offset_tells_the_two_hours_apart_in_which_summer_time_ends(zone: str) -> None:
    both = [datetime(2026, 10, 25, hour, 30, tzinfo=UTC) for hour in (0, 1)]
    assert [shown(moment) for moment in both] == ["2026-10-25 02:30:00 +02:00", "2026-10-25 02:30:00 +01:00"]
    assert [datetime.fromisoformat(rfc_3339(moment)) for moment in both] == both


@pytest.mark.parametrize("zone", [BERLIN], indirect=True)
def test_the_hour_that_is_left_out_when_summer_time_begins(zone: str) -> None:
    around = [datetime(2026, 3, 29, 0, 59, 59, tzinfo=UTC), datetime(2026, 3, 29, 1, tzinfo=UTC)]
    assert [shown(moment) for moment in around] == ["2026-03-29 01:59:59 +01:00", "2026-03-29 03:00:00 +02:00"]


@pytest.mark.parametrize("zone", [SAO_PAULO], indirect=True)
def test_what_people_write_is_a_time_of_this_site_unless_it_says_otherwise(zone: str) -> None:
    assert read("2026-11-19T23:12:44") == MOMENT
    assert read("2026-11-20T02:12:44+00:00") == MOMENT
    with pytest.raises(ValueError, match="isoformat"):
        read("yesterday")


def test_a_moment_without_an_offset_is_refused() -> None:
    with pytest.raises(ValueError, match="without an offset"):
        shown(MOMENT.replace(tzinfo=None))


def trail(folder: Path) -> Path:
    schema = Schema("mixer", ("CREATE TABLE thing (number INTEGER PRIMARY KEY) STRICT;",))
    entry = Entry(MOMENT, "mixer a", "party north", "asked", "mixer a", {"rows hidden": 2})
    with Database.open(folder, schema, Seal(bytes(32)), "mixer a") as database, database.write() as connection:
        append(connection, entry)
    return folder


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return command("audit", monkeypatch, capsys)


@pytest.mark.parametrize("zone", [KOLKATA], indirect=True)
def test_the_trail_is_shown_in_the_sites_zone(zone: str, typed: Command, tmp_path: Path) -> None:
    folder = trail(tmp_path / "a")
    assert "2026-11-20 07:42:44 +05:30  party north  asked" in typed("show", "--state", folder).out
    (record,) = json.loads(typed("show", "--state", folder, "--json").out)
    assert record["time"] == "2026-11-20T07:42:44.000000+05:30"
    assert typed("show", "--state", folder, "--since", "2026-11-20T07:42:44").out
    assert not typed("show", "--state", folder, "--since", "2026-11-20T07:42:45").out


def heads(folder: Path, zone: str, monkeypatch: pytest.MonkeyPatch) -> str:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", zone)
        time.tzset()
        found = audit.verify(trail(folder)).head
    time.tzset()
    return found


def test_what_is_hashed_is_the_same_in_every_zone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {heads(tmp_path / str(at), zone, monkeypatch) for at, zone in enumerate((SAO_PAULO, KOLKATA, "UTC"))}
    assert len(found) == 1
    with looking(tmp_path / "0") as connection:
        assert '"time":"2026-11-20T02:12:44.000000Z"' in connection.execute("SELECT record FROM audit").fetchone()[0]


@pytest.mark.parametrize("zone", [SAO_PAULO], indirect=True)
@pytest.mark.parametrize("form", ["json", "text"])
def test_a_line_of_the_log_has_the_sites_offset(zone: str, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIXBAYES_LOG", form)
    stream = io.StringIO()
    before = datetime.now(UTC).replace(microsecond=0)
    logger("mixer a", stream).info("ready")
    line = stream.getvalue()
    stamp = json.loads(line)["timestamp"] if form == "json" else line[:26]
    assert stamp.endswith("-03:00")
    assert before <= datetime.fromisoformat(stamp.replace(" -", "-")) <= datetime.now(UTC)


@pytest.mark.parametrize("zone", [KOLKATA], indirect=True)
def test_a_page_names_its_time_in_the_sites_zone(zone: str) -> None:
    text = built(Page("Title", "", (), ()), Run("mixbayes simulate", "1", MOMENT))
    assert '<time datetime="2026-11-20T07:42:44.000000+05:30">2026-11-20 07:42:44 +05:30</time>' in text


def test_times_are_formatted_in_one_place() -> None:
    files = [file for room in ("src", "mixers", "parties") for file in (ROOT / room).rglob("*.py")]
    found = {str(file.relative_to(ROOT)) for file in files if FORMATS.search(file.read_text())}
    assert {file for file in found if not file.startswith(("src/mixbayes/local", "src/mixbayes/protocol"))} == set(
        MAY_FORMAT
    )
