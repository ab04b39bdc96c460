"""What the operators' pages tell people to type: run where one machine can, else checked against the command's help.

A block ```sh is run, page by page in a folder of its own beside a federation that is at work. A block ```sh elsewhere
needs other machines or their administrator.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mixbayes.agreement.agreement import federation_from
from mixbayes.agreement.files import read_federation, written
from mixbayes.cli import main
from mixbayes.cli.app import app
from mixbayes.keys.certificates import AUTHORITY_DAYS, NODE_DAYS
from mixbayes.keys.checks import SOON, checks
from tests.deploy.helpers import COMMAND, PATIENCE, ROOT, TABLE, Node, environment, stopped
from tests.keys.helpers import HEART, with_keys
from tests.ports import free_port

PAGES = sorted((ROOT / "docs" / "operations").glob("*.md"))
BLOCK = re.compile(r"^( *)```sh(.*)\n((?:.*\n)*?) *```$", re.MULTILINE)
SPAN = re.compile(r"`((?:sudo -u mixbayes )?mixbayes [^`]+)`")
FOREIGN = {
    "/opt/mixbayes/bin/pip",
    "deploy/bundle.sh",
    "diff",
    "kubectl",
    "openssl",
    "podman",
    "python3",
    "sha256sum",
    "ssh",
    "sudo",
    "tar",
}
AS_THE_NODE = "sudo -u mixbayes "
STORIES = {"backing-up", "changing-mixers", "membership", "removing-a-site", "rotating-keys", "upgrading"}
PAGES_WITH_DAYS = "certificates", "rotating-keys"
SIMPLE = re.compile(r"mixbayes [^$|<>&;]+")
"""A line that needs no shell, and so no process of its own."""


def blocks(page: Path, *, elsewhere: bool) -> list[str]:
    found = BLOCK.findall(page.read_text())
    assert {about.strip() for _, about, _ in found} <= {"", "elsewhere"}
    return [text for _, about, text in found if (about.strip() == "elsewhere") == elsewhere]


def commands(page: Path) -> list[list[str]]:
    """Of mixbayes, wherever they stand on the page."""
    text = page.read_text()
    lines = [line for _, _, block in BLOCK.findall(text) for line in block.splitlines()] + SPAN.findall(text)
    words = (shlex.split(line.strip().removeprefix(AS_THE_NODE), comments=True) for line in lines)
    return [line[1:] for line in words if line and Path(line[0]).name == "mixbayes"]


RUN_HERE = [page for page in PAGES if blocks(page, elsewhere=False) and page.stem not in STORIES]
"""The others are stories, which test_stories.py plays."""


@cache
def help_of(*words: str) -> str | None:
    done = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "300", "TERM": "dumb", "NO_COLOR": "1"})
    return done.stdout if done.exit_code == 0 else None


def known(words: list[str]) -> bool:
    """The subcommand exists and has all of these options."""
    names = [word for word in words if not word.startswith("-")]
    grouped = names[:2] if names and names[0] in ("federation", "keys", "audit", "page", "round") else names[:1]
    text = help_of(*grouped)
    options = [word.partition("=")[0] for word in words if re.fullmatch("--?[a-z][a-z-]*(=.*)?", word)]
    return text is not None and all(re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text) for option in options)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_are_the_ones_there_are(page: Path) -> None:
    assert [words for words in commands(page) if not known(words)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_is_typed_elsewhere_is_nothing_else(page: Path) -> None:
    for line in "".join(blocks(page, elsewhere=True)).splitlines():
        words = shlex.split(line.strip())
        assert words[0] in {"mixbayes", "/opt/mixbayes/bin/mixbayes", *FOREIGN}, line
        for path in (word for word in words if word.startswith("deploy/") and word != "deploy/container/keys"):
            assert (ROOT / path).exists(), path


def test_days_are_the_programs() -> None:
    text, rotating = ((ROOT / "docs" / "operations" / f"{page}.md").read_text() for page in PAGES_WITH_DAYS)
    assert f"holds for {NODE_DAYS} days" in text
    assert f"warns in its last {SOON.days}." in text
    assert ("ten years" in rotating, AUTHORITY_DAYS // 365) == (True, 10)


def test_an_option_that_does_not_exist_would_be_found() -> None:
    assert known(["status", "--json"])
    assert not known(["status", "--jsn"])
    assert not known(["statsu"])
    assert not known(["audit", "sohw"])


@pytest.fixture(scope="module")
def federation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two mixers and two hospitals at work, everybody's keys in one folder."""
    folder = tmp_path_factory.mktemp("federation")
    mixers = [{"name": name, "address": f"127.0.0.1:{free_port()}"} for name in "ab"]
    content = HEART | {"parties": [{"name": "north"}, {"name": "south"}], "mixers": mixers}
    (folder / "federation.toml").write_text(written(federation_from(content)))
    head, *rows = TABLE.splitlines(keepends=True)
    (folder / "patients.csv").write_text("".join([head, *rows, *rows, *rows]))  # as many as agreements usually ask for
    (folder / "new.csv").write_text("sex,age,chol\nf,35,200\nm,66,300\n")
    for name in ("a", "b", "north", "south"):
        with_keys(folder / "keys", name, folder / "authority")
    with ExitStack() as stack:
        nodes = [started(stack, folder, name) for name in ("a", "b", "north", "south")]
        nodes[2].wait_for("serving")
        yield folder
        assert stopped(nodes) == [0, 0, 0, 0]


def started(stack: ExitStack, folder: Path, name: str) -> Node:
    agreed = ["--federation", folder / "federation.toml", "--name", name, "--keys", folder / "keys"]
    table = ["--data", folder / "patients.csv"] if len(name) > 1 else []
    command = [COMMAND, "party" if table else "mixer", *agreed, *table, "--state", folder / "state" / name]
    node = Node(command, {}, folder / f"{name}.log")
    stack.callback(node.kill)
    return node


def scratch(federation: Path, folder: Path, page: str) -> Path:
    """Where a page's commands find what it speaks of; the page about keys begins without any."""
    there = ["federation.toml", "patients.csv", "new.csv", *([] if page == "certificates" else ["keys", "state"])]
    for name in there:
        (folder / name).symlink_to(federation / name)
    return folder


def typed(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One command of ours, in this process."""
    monkeypatch.setattr(sys, "argv", shlex.split(line))
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code, f"{line}\n{capsys.readouterr()}"


def by_the_shell(block: str, folder: Path) -> None:
    done = subprocess.run(
        ["sh", "-eu"], input=block, cwd=folder, env=environment({}), capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("page", RUN_HERE, ids=lambda page: page.stem)
def test_what_one_machine_can_run_works(
    federation: Path, tmp_path: Path, page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = scratch(federation, tmp_path, page.stem)
    monkeypatch.chdir(folder)
    for name in ("grpc_proxy", "https_proxy", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    free = f"127.0.0.1:{free_port()}"
    for block in (block.replace("127.0.0.1:8443", free) for block in blocks(page, elsewhere=False)):
        lines = [line.strip() for line in block.splitlines()]
        if all(SIMPLE.fullmatch(line) for line in lines):
            for line in lines:
                typed(line, monkeypatch, capsys)
        else:
            by_the_shell(block, folder)
    LEFT.get(page.stem, lambda folder: None)(folder)


def labels_are_there(folder: Path) -> None:
    assert (folder / "labels.csv").read_text().splitlines() == ["label", "absent", "present"]


def two_hospitals_have_agreed(folder: Path) -> None:
    assert read_federation(folder / "pair" / "federation.toml").two_party


def keys_are_in_order(folder: Path) -> None:
    """After all that the page says."""
    trusted, made = (folder / where / "authority.pem" for where in ("keys", "authority"))
    assert trusted.read_bytes() == made.read_bytes()
    assert [check for check in checks(folder / "keys", "north", datetime.now(UTC)) if check.problem] == []


LEFT = {
    "running-a-hospital": labels_are_there,
    "two-hospitals": two_hospitals_have_agreed,
    "certificates": keys_are_in_order,
}
