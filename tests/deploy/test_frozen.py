"""A whole release, and what a site does with it: a federation from the folder where there is no Python, and an
installation from the bundle where there is no network.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
import venv
import zipfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pyarrow.csv
import pyarrow.parquet
import pytest

from tests.cli.test_help import COMMANDS
from tests.deploy.helpers import PATIENCE, ROOT, TABLE
from tests.deploy.releasing import committed
from tests.ports import free_port

pytestmark = [
    pytest.mark.skipif("CI" not in os.environ, reason="it takes minutes, and only `make ci` must wait for it"),
    pytest.mark.timeout(1800),
]
MANY = TABLE + "".join(TABLE.splitlines(keepends=True)[1:]) * 5
ROWS = [line.split(",") for line in TABLE.splitlines()]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the files as they are now, which may not be committed yet."""
    folder = tmp_path_factory.mktemp("release")
    repository = committed(folder / "repository")
    subprocess.run([sys.executable, "deploy/release/release.py", "--out", folder / "dist"], cwd=repository, check=True)
    return folder / "dist"


@pytest.fixture(scope="module")
def unpacked(release: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folder and the bundle."""
    where = tmp_path_factory.mktemp("site")
    found = {}
    for kind in ("folder", "bundle"):
        [archive] = release.glob(f"*-{kind}-*.tar.gz")
        subprocess.run(["tar", "-xzf", archive, "-C", where], check=True, timeout=PATIENCE)
        found[kind] = where / archive.name.removesuffix(".tar.gz")
    return found


@pytest.fixture(scope="module")
def program(unpacked: dict[str, Path]) -> Path:
    return unpacked["folder"] / "mixbayes"


class Site:
    """Commands of the program where no other program is."""

    def __init__(self, program: Path, folder: Path) -> None:
        self.program = program
        self.folder = folder
        self.environment = {"PATH": str(folder / "nothing"), "HOME": str(folder), "TMPDIR": str(folder)}

    def __call__(self, *words: object) -> subprocess.CompletedProcess[str]:
        command = [str(self.program), *map(str, words)]
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=2 * PATIENCE
        )

    def node(self, stack: ExitStack, *words: object) -> Path:
        """A node that runs until the stack unwinds, and its log."""
        log = self.folder / f"{words[words.index('--name') + 1]}.log"
        with log.open("w") as said:
            command = [str(self.program), *map(str, words)]
            process = subprocess.Popen(command, cwd=self.folder, env=self.environment, stderr=said)
        stack.callback(process.wait, PATIENCE)
        stack.callback(process.terminate)
        until = time.monotonic() + PATIENCE
        while '"event": "ready"' not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.05)
        return log


@pytest.fixture
def site(program: Path, tmp_path: Path) -> Site:
    return Site(program, tmp_path)


def done(finished: subprocess.CompletedProcess[str]) -> str:
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


def test_no_python_is_in_reach(site: Site) -> None:
    assert [shutil.which(name, path=site.environment["PATH"]) for name in ("python", "python3", "sh")] == [None] * 3
    assert done(site("--version")) == "0.2.0\n"


def test_every_command_has_help(site: Site) -> None:
    for command in COMMANDS:
        assert "Usage: mixbayes" in done(site(*command.split()[1:], "--help"))


def test_it_simulates_with_every_node_in_a_process(site: Site) -> None:
    (site.folder / "table.csv").write_text(MANY)
    for more in ([], ["--two-party"], ["--two-party", "--protocol", "paillier", "--bins", "2"], ["--epsilon", "2"]):
        found = json.loads(done(site("simulate", "table.csv", "--hospitals", 2, "--json", *more)))
        assert found


def test_a_federation_from_its_keys_to_its_labels(site: Site) -> None:
    folder = site.folder
    addresses = {name: f"127.0.0.1:{free_port()}" for name in "ab"}
    (folder / "sample.csv").write_text(MANY)
    mixers = [word for name, address in addresses.items() for word in ("--mixer", f"{name}={address}")]
    parties = ["--party", "north", "--party", "south"]
    done(
        site("federation", "new", ".", "--name", "heart", *parties, *mixers, "--like", "sample.csv", "--without-noise")
    )
    done(site("keys", "authority", "authority"))
    for name in ("a", "b", "north", "south"):
        done(site("keys", "request", name, "--out", "keys"))
        done(site("keys", "sign", f"keys/{name}.csr", "--authority", "authority", "--out", f"keys/{name}.pem"))
    shutil.copy(folder / "authority" / "authority.pem", folder / "keys")
    (folder / "new.csv").write_text("sex,age,chol\nf,33,190\nm,70,310\n")
    agreed = ["--federation", "federation.toml", "--keys", "keys"]
    ports = [free_port(), free_port()]
    shown = {"north": ["--metrics", f"127.0.0.1:{ports[0]}", "--page", f"127.0.0.1:{ports[1]}"], "south": []}
    with ExitStack() as stack:
        logs = [site.node(stack, "mixer", *agreed, "--name", name, "--state", f"state/{name}") for name in "ba"]
        for name in ("north", "south"):
            (folder / f"{name}.csv").write_text(MANY)
            at = ["--name", name, "--state", f"state/{name}", "--data", f"{name}.csv", *shown[name]]
            logs.append(site.node(stack, "party", *agreed, *at))
        until = time.monotonic() + PATIENCE
        while json.loads(done(site("status", *agreed, "--name", "north", "--json")))["state"] != "serving":
            assert time.monotonic() < until, "".join(log.read_text() for log in logs)
            time.sleep(0.2)
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
            f"http://127.0.0.1:{ports[0]}/metrics", timeout=PATIENCE
        ) as metrics:
            assert b"mixbayes" in metrics.read()
        assert f"http://127.0.0.1:{ports[1]}/" in done(site("page", "link", "--state", "state/north"))
        done(site("doctor", *agreed, "--name", "north", "--state", "state/north", "--data", "north.csv"))
        done(site("classify", *agreed, "--name", "north", "new.csv", "-o", "labels.csv"))
    assert (folder / "labels.csv").read_text().splitlines() == ["label", "absent", "present"]
    assert "Traceback" not in "".join(log.read_text() for log in logs)


def excel(path: Path) -> str:
    book = openpyxl.Workbook()
    for row in ROWS:
        book.active.append(row)  # type: ignore[union-attr]
    book.save(path.with_suffix(".xlsx"))
    return f"{path}.xlsx"


def parquet(path: Path) -> str:
    path.with_suffix(".csv").write_text(TABLE)
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(path.with_suffix(".csv")), f"{path}.parquet")
    return f"{path}.parquet"


def in_duckdb(path: Path) -> str:
    path.with_suffix(".csv").write_text(TABLE)
    with duckdb.connect(f"{path}.duckdb") as database:
        database.execute(f"CREATE TABLE patients AS FROM '{path}.csv'")
    return f"duckdb:{path}.duckdb"


@pytest.mark.parametrize("write", [excel, parquet, in_duckdb])
def test_it_reads_the_table(site: Site, write: Any) -> None:
    found = done(site("inspect", write(site.folder / "patients")))
    assert all(name in found for name in ROWS[0])


@pytest.mark.parametrize("database", ["postgresql", "mysql", "mssql", "oracle"])
def test_it_has_the_driver_of_the_database(site: Site, database: str) -> None:
    """Nothing listens there; without the driver it would say which package is missing (E111)."""
    site.environment["MIXBAYES_DATABASE_PASSWORD"] = "not needed"
    finished = site("inspect", f"{database}://reader@127.0.0.1:{free_port()}/hospital", "--table", "patients")
    assert finished.returncode != 0
    assert "[E111]" not in finished.stderr
    assert "Traceback" not in finished.stderr
    assert "127.0.0.1" in finished.stderr
    assert "refused" in finished.stderr.lower() or "connect" in finished.stderr.lower()


def test_it_has_the_texts_of_the_page(site: Site) -> None:
    assert " = " in done(site("page", "texts"))


def test_a_table_is_protected_and_measured(site: Site) -> None:
    (site.folder / "p.csv").write_text(MANY)
    done(site("protect", "p.csv", "r.csv", "--method", "microaggregation", "--set", "k=3"))
    done(site("measure", "p.csv", "r.csv"))


def test_the_folder_has_the_files_of_the_wheel_that_are_no_modules(release: Path, unpacked: dict[str, Path]) -> None:
    [wheel] = release.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith("mixbayes/")]
    data = [name for name in names if not name.endswith((".py", ".pyi", "py.typed"))]
    assert [name for name in data if not (unpacked["folder"] / "_internal" / name).exists()] == []
    assert data


def test_nothing_in_the_folder_tells_where_it_was_made(release: Path, unpacked: dict[str, Path]) -> None:
    files = [path for path in unpacked["folder"].rglob("*") if path.is_file() and not path.is_symlink()]
    places = [str(ROOT).encode(), str(release.parent).encode()]
    assert [path.name for path in files if any(place in path.read_bytes() for place in places)] == []


def test_the_bundle_installs_without_a_network(unpacked: dict[str, Path], tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    pip = [tmp_path / "venv" / "bin" / "pip", "--isolated", "--disable-pip-version-check", "install", "--quiet"]
    wheels = ["--no-index", "--find-links", unpacked["bundle"], "mixbayes[all]"]
    subprocess.run([*pip, *wheels], check=True, timeout=600)
    finished = subprocess.run([tmp_path / "venv" / "bin" / "mixbayes", "--version"], capture_output=True, text=True)
    assert finished.stdout == "0.2.0\n"


def test_the_bundle_has_the_wheel_of_the_release(release: Path, unpacked: dict[str, Path]) -> None:
    [wheel] = release.glob("*.whl")
    assert (unpacked["bundle"] / wheel.name).read_bytes() == wheel.read_bytes()


@pytest.mark.parametrize("kind", ["folder", "bundle"])
def test_what_is_in_it_is_summed_up_and_listed(unpacked: dict[str, Path], kind: str) -> None:
    where = unpacked[kind]
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=where, check=True, timeout=600)
    summed = {line.partition("  ./")[2] for line in (where / "SHA256SUMS").read_text().splitlines()}
    there = {path.relative_to(where).as_posix() for path in where.rglob("*") if path.is_file()}
    assert there - summed == {"SHA256SUMS"}
    listed = {one["name"] for one in json.loads((where / "sbom.cdx.json").read_text())["components"]}
    assert {"numpy", "waitress"} <= listed
    assert not {"pytest", "pyinstaller"} & listed
