"""What the README and the other documents tell people to type; the operators' pages have a test of their own.

Everything is checked against the commands' help. The README's blocks are run, with small tables, but for what takes
minutes or installs something.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mixbayes.research.reproduction.registry import EXPERIMENTS
from tests.cli.in_process import Command, command
from tests.deploy.helpers import ROOT, Node, stopped
from tests.deploy.test_documentation import by_the_shell, known, typed
from tests.ports import free_port

README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += sorted((ROOT / "docs" / "deviations").glob("*.md"))
PAGES += sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
BLOCK = re.compile(r"^```(\w*)\n((?:.*\n)*?)```$", re.MULTILINE)
SPAN = re.compile(r"`((?:mixbayes|make|python) [^`]+)`")
ELSEWHERE = ("make ", ". .venv/", "mixbayes bench")
"""What installs, what changes the shell, and what takes minutes; it is checked, not run."""
ADDRESSES = ("a.example:8443", "b.example:8443")


def blocks(page: Path, language: str) -> list[str]:
    return [text for found, text in BLOCK.findall(page.read_text(encoding="utf-8")) if found == language]


def lines(page: Path) -> Iterator[list[str]]:
    """The words of every line that is typed, in a block or within a sentence."""
    text = page.read_text(encoding="utf-8")
    typed_lines = [line for _, block in BLOCK.findall(text) for line in block.splitlines()] + SPAN.findall(text)
    for line in typed_lines:
        if re.match(r"\s*(mixbayes|make|python|\S*/python|cp|\.) ", line):
            yield shlex.split(line.replace("…", ""), comments=True)


def makes(words: Sequence[str]) -> bool:
    """Its targets are in the Makefile."""
    targets = [word for word in words[1:] if "=" not in word]
    rules = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return set(targets) <= set(rules)


def runs(words: Sequence[str]) -> bool:
    """What Python is to run is in the repository."""
    return all((ROOT / word).exists() for word in words[1:] if "/" in word)


def possible(words: Sequence[str]) -> bool:
    program = Path(words[0]).name
    if program == "mixbayes":
        return known(list(words[1:])) and (words[1] != "reproduce" or names_experiments(words[2:]))
    return {"make": makes, "python": runs}.get(program, lambda words: True)(words)


def names_experiments(words: Sequence[str]) -> bool:
    names = [word for word in words if word.islower() and not word.startswith("--")]
    return set(names) <= {one.name for one in EXPERIMENTS}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_is_typed_exists(page: Path) -> None:
    assert [words for words in lines(page) if not possible(words)] == []


def test_what_does_not_exist_would_be_found() -> None:
    wrong = ("mixbayes simulat x.csv", "mixbayes simulate --hospital 3", "mixbayes reproduce kim-table-9", "make dem")
    for line in (*wrong, "python tests/docs/run_notebok.py NOTEBOOK"):
        assert not possible(line.split()), line


def test_pages_are_read() -> None:
    assert [len(list(lines(page))) > 9 for page in PAGES[:2]] == [True, True]
    assert sum(words[0] == "mixbayes" for page in PAGES for words in lines(page)) > 40


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tables that the README speaks of, and where its commands are typed."""
    random = np.random.default_rng(0)
    for name in ("north", "south", "west", "patients", "new", "sample"):
        (tmp_path / f"{name}.csv").write_text(table(random))
    monkeypatch.chdir(tmp_path)
    for variable in ("grpc_proxy", "https_proxy", "http_proxy"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def table(random: np.random.Generator) -> str:
    """Eighty patients, half of them ill; the first two have the smallest and the largest value of each column."""
    rows = ["f,20,100,absent", "m,90,400,present"]
    for label, usual in (("absent", 45), ("present", 60)):
        years, chol = random.normal([[usual], [4 * usual]], [[8], [20]], (2, 39))
        drawn = zip(random.choice(["f", "m"], 39), years, chol, strict=True)
        rows += [f"{sex},{age:.1f},{level:.1f},{label}" for sex, age, level in drawn]
    return "\n".join(["sex,age,chol,class", *rows]) + "\n"


def readme_block(about: str) -> list[str]:
    (found,) = [block for block in blocks(README, "sh") if about in block]
    return [line.partition("  #")[0].strip() for line in found.splitlines()]


@pytest.mark.parametrize("about", ["mixbayes bench", "mixbayes protect"])
def test_the_readmes_examples_run(
    folder: Path, about: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for line in readme_block(about):
        if not line.startswith(ELSEWHERE):
            typed(line, monkeypatch, capsys)
    if about == "mixbayes bench":
        assert (folder / "report" / "report.html").is_file()
        assert len((folder / "labels.csv").read_text().splitlines()) == 1 + 80
    else:
        assert (folder / "released.csv").read_text() != (folder / "patients.csv").read_text()


def test_the_slow_protocol_as_the_readme_types_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (line,) = [span for span in SPAN.findall(README.read_text()) if "paillier" in span]
    for name in ("north", "south"):
        head, *rows = (folder / f"{name}.csv").read_text().splitlines()
        (folder / f"{name}.csv").write_text("\n".join([head, *rows[::8]]) + "\n")
    typed(line, monkeypatch, capsys)


def test_what_the_readme_says_of_python() -> None:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    (block,) = blocks(README, "python")
    there: dict[str, Any] = {"X": X[::2], "y": y[::2], "X_new": X[1::2]}
    exec(compile(block, str(README), "exec"), there)
    assert np.mean(there["labels"] == y[1::2]) > 0.85
    assert there["X_released"].shape == X[::2].shape


def test_the_demonstration_prints_what_the_readme_shows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    simulate: Command = command("simulate", monkeypatch, capsys)
    done = simulate()
    (shown,) = [block for block in blocks(README, "") if "alone" in block]
    assert [" ".join(line.split()) for line in shown.splitlines()] == [
        " ".join(line.split()) for line in done.out.splitlines()[: len(shown.splitlines())]
    ]


def everybody(line: str) -> Iterator[str]:
    """What is typed at every node, at each of the hospitals, or once."""
    if line.startswith("mixbayes keys request") or line.startswith("mixbayes keys sign"):
        yield from (line.replace("north", name) for name in ("a", "b", "north", "south"))
    elif line.startswith("mixbayes party"):
        yield from (line.replace("north", name) for name in ("north", "south"))
    else:
        yield line


def test_a_real_federation_as_the_readme_types_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    federation = [line for typed_line in readme_block("mixbayes federation new") for line in everybody(typed_line)]
    for address in ADDRESSES:
        assert any(address in line for line in federation)
        here = f"127.0.0.1:{free_port()}"
        federation = [line.replace(address, here) for line in federation]
    with ExitStack() as stack:
        nodes: list[Node] = []
        for line in federation:
            if line.startswith(("mixbayes mixer", "mixbayes party")):
                log = folder / f"{len(nodes)}.log"
                nodes.append(Node(["sh", "-c", f"cd {shlex.quote(str(folder))} && exec {line}"], {}, log))
                stack.callback(nodes[-1].kill)
            elif line.startswith("mixbayes"):
                if "status" in line:
                    nodes[2].wait_for("serving")
                typed(line, monkeypatch, capsys)
            else:
                by_the_shell(line, folder)
        assert len((folder / "labels.csv").read_text().splitlines()) == 1 + 80
        typed("mixbayes audit show --state state/north", monkeypatch, capsys)
        assert stopped(nodes) == [0] * 4
