"""The systemd units: hardened, known to systemd, and their command lines work as an ordinary user."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

from mixbayes.cli import bounded
from mixbayes.keys.problems import BadKeys
from mixbayes.node.disk import audit
from mixbayes.node.serving import own_call, server
from mixbayes.node.supervision import EVERY
from mixbayes.protocol.errors import BadData, Unsupported
from mixbayes.transport.errors import BadState, RefusedByPolicy, Unreachable
from tests.deploy.helpers import COMMAND, ROOT, Node, World, run, stopped

FOLDER = ROOT / "deploy" / "systemd"
MIXER, PARTY = FOLDER / "mixbayes-mixer@.service", FOLDER / "mixbayes-party@.service"
BACKUP, NIGHTLY = FOLDER / "mixbayes-backup@.service", FOLDER / "mixbayes-backup@.timer"
UNITS = pytest.mark.parametrize("unit", [MIXER, PARTY], ids=["mixer", "party"])
SERVICES = pytest.mark.parametrize("unit", [MIXER, PARTY, BACKUP], ids=["mixer", "party", "backup"])
INSTALLED = "/opt/mixbayes/bin/mixbayes"


def directives(unit: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in unit.read_text().splitlines():
        if line and line[0] not in "#[":
            key, _, value = line.partition("=")
            found.setdefault(key, []).append(value)
    return found


def only(unit: Path, directive: str) -> str:
    [value] = directives(unit)[directive]
    return value


@SERVICES
def test_a_unit_runs_without_privileges(unit: Path) -> None:
    assert only(unit, "User") == only(unit, "Group") == "mixbayes"
    users = (FOLDER / "mixbayes.sysusers.conf").read_text().splitlines()
    assert any(line.split()[:2] == ["u", "mixbayes"] for line in users)
    due = {
        "NoNewPrivileges": "yes",
        "ProtectSystem": "strict",
        "ProtectHome": "yes",
        "PrivateTmp": "yes",
        "PrivateDevices": "yes",
        "CapabilityBoundingSet": "",
        "UMask": "0077",
        "StateDirectoryMode": "0700",
        "SystemCallFilter": "@system-service",
        "LimitCORE": "0",
    }
    assert {directive: only(unit, directive) for directive in due} == due


@UNITS
def test_a_unit_ends_and_starts_again_in_bounds(unit: Path) -> None:
    assert (only(unit, "Type"), only(unit, "NotifyAccess")) == ("notify", "main")
    assert int(only(unit, "WatchdogSec")) > 3 * (EVERY + own_call.PATIENCE)
    assert only(unit, "KillSignal") == "SIGTERM"
    assert int(only(unit, "TimeoutStopSec")) > 2 * server._GRACE
    assert only(unit, "Restart") == "on-failure"
    assert int(only(unit, "StartLimitBurst")) * int(only(unit, "RestartSec")) < int(only(unit, "StartLimitIntervalSec"))
    final = set(map(int, only(unit, "RestartPreventExitStatus").split()))
    assert final == {kind.exit_code for kind in (Unsupported, RefusedByPolicy, BadData)}
    assert not final & {kind.exit_code for kind in (Unreachable, BadState, BadKeys)}


def test_a_start_is_given_the_time_that_it_takes() -> None:
    """To read a table may take hours. A mixer ends by itself if it takes too long."""
    assert only(PARTY, "TimeoutStartSec") == "infinity"
    assert int(only(MIXER, "TimeoutStartSec")) > bounded.TO_START


@SERVICES
def test_state_lies_where_the_unit_makes_room_for_it(unit: Path) -> None:
    words = shlex.split(only(unit, "ExecStart"))
    assert words[words.index("--state") + 1] == f"/var/lib/{only(unit, 'StateDirectory')}"
    assert words[0] == INSTALLED


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
@pytest.mark.parametrize("unit", [MIXER, PARTY, BACKUP, NIGHTLY], ids=["mixer", "party", "backup", "nightly"])
def test_systemd_knows_every_directive(unit: Path, tmp_path: Path) -> None:
    """With a user and a command that exist here; the drop-in lies beside the copy, and the service beside its timer."""
    copy = tmp_path / unit.name.replace("@", "@north")
    if unit == NIGHTLY:
        service = BACKUP.read_text().replace(INSTALLED, "/bin/true").replace("=mixbayes\n", "=root\n")
        (tmp_path / BACKUP.name.replace("@", "@north")).write_text(service)
    copy.write_text(unit.read_text().replace(INSTALLED, "/bin/true").replace("=mixbayes\n", "=root\n"))
    if unit == PARTY:
        (tmp_path / f"{copy.name}.d").mkdir()
        shutil.copy(FOLDER / "two-hospitals.conf", tmp_path / f"{copy.name}.d")
    done = subprocess.run(["systemd-analyze", "verify", copy], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def moved(text: str, world: World, name: str) -> str:
    """A text of the unit, for this instance and with its paths in the scratch folder."""
    for installed, here in (
        ("/etc/mixbayes/federation.toml", world.agreement),
        ("/etc/mixbayes/keys/%i", world.keys(name)),
        ("/var/lib/mixbayes/%i", world.state(name)),
        ("/srv/mixbayes/patients.csv", world.table(name)),
        ("127.0.0.1:7443", "127.0.0.1:0"),
        (INSTALLED, COMMAND),
        ("%i", name),
    ):
        text = text.replace(installed, str(here))
    return text


def environment(unit: Path, world: World, name: str) -> dict[str, str]:
    """As systemd would set it, with the example as environment file."""
    example = (FOLDER / f"{'mixer' if unit == MIXER else 'party'}.env.example").read_text()
    lines = [*directives(unit)["Environment"], *(line for line in example.splitlines() if line and line[0] != "#")]
    pairs = (moved(line, world, name).partition("=") for line in lines)
    return {key: value for key, _, value in pairs}


def started(stack: ExitStack, unit: Path, world: World, name: str) -> Node:
    command = shlex.split(moved(only(unit, "ExecStart"), world, name))
    node = Node(command, environment(unit, world, name), world.folder / f"{name}.log")
    stack.callback(node.kill)
    return node


def test_every_unit_gets_ready_and_stops(tmp_path: Path) -> None:
    world = World.new(tmp_path)
    try:
        with ExitStack() as stack:
            instances = ((MIXER, "a"), (MIXER, "b"), (PARTY, "north"))
            for _, name in instances:
                world.keys(name).chmod(0o555)  # ProtectSystem=strict
            nodes = [started(stack, unit, world, name) for unit, name in instances]
            for node in nodes:
                node.wait_for("ready")
            nodes[2].wait_for("collecting")
            assert stopped(nodes) == [0, 0, 0]
    finally:
        for folder in (tmp_path / "keys").iterdir():
            folder.chmod(0o755)


def test_the_nightly_backup_is_written_beside_a_node_at_work(tmp_path: Path) -> None:
    world, out = World.new(tmp_path), tmp_path / "backups"
    out.mkdir()
    command = moved(only(BACKUP, "ExecStart"), world, "b").replace("/var/backups/mixbayes", str(out))
    with ExitStack() as stack:
        node = started(stack, MIXER, world, "b")
        node.wait_for("ready")
        for _ in range(2):  # tonight, and tomorrow night
            assert run(shlex.split(command), {}).returncode == 0
        assert stopped([node]) == [0]
    verdict = audit.verify(out / "b.backup")
    assert verdict.sound
    assert verdict.count > 0
    assert only(BACKUP, "ReadWritePaths") == "/var/backups/mixbayes"


def test_a_table_that_does_not_fit_is_not_tried_again(tmp_path: Path) -> None:
    world = World.new(tmp_path)
    world.table("north").write_text("sex,age,chol,class\nx,40,210,absent\n")
    command = shlex.split(moved(only(PARTY, "ExecStart"), world, "north"))
    done = run(command, environment(PARTY, world, "north"))
    assert str(done.returncode) in only(PARTY, "RestartPreventExitStatus").split()


@pytest.mark.parametrize("example", ["mixer", "party"])
def test_examples_name_variables_that_are_read(example: str) -> None:
    text = (FOLDER / f"{example}.env.example").read_text()
    named = {line.lstrip("#").partition("=")[0] for line in text.splitlines() if "=" in line and line[:2] != "# "}
    help_text = run([COMMAND, example, "--help"], {"COLUMNS": "300", "TERM": "dumb"}).stdout
    of_the_log = {"MIXBAYES_LOG", "MIXBAYES_LOG_LEVEL"}
    read_by_libraries = {"https_proxy", "no_proxy", "PGPASSFILE", "TZ"}
    assert named
    for variable in named - of_the_log - read_by_libraries:
        assert variable in help_text
