"""What `make release` makes: the same bytes everywhere, a true list of packages, and sums that can be checked."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tests.deploy.helpers import ROOT
from tests.deploy.releasing import COMMITTED, committed, tree, umask

FOLDER = ROOT / "deploy" / "release"
VERIFY = re.compile(r"```sh elsewhere\n(openssl dgst .*\n(?:.*\n)*?)```")


@pytest.fixture(scope="module")
def tools() -> Iterator[Any]:
    """The modules of the release by their names."""
    sys.path.insert(0, str(FOLDER))
    yield import_module
    sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, tools: Any) -> list[Path]:
    """Two folders with archives of the same files, made under other circumstances."""
    folders = []
    for name, mode, modified in (("here", 0o022, 1_700_000_000), ("elsewhere", 0o077, 1_795_000_000)):
        copied = tree(tmp_path_factory.mktemp(name) / "mixbayes", mode, modified)
        with umask(mode):
            tools("archives").build(copied, copied.parent / "out", COMMITTED)
        folders.append(copied.parent / "out")
    return folders


def test_the_archives_are_the_same_bytes_wherever_they_are_built(built: list[Path]) -> None:
    here, elsewhere = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in built)
    assert sorted(name.rpartition("-")[2] for name in here) == ["0.2.0.tar.gz", "any.whl"]
    assert here == elsewhere


def test_the_archives_are_as_old_as_the_commit(built: list[Path]) -> None:
    with tarfile.open(next(built[0].glob("*.tar.gz"))) as tar:
        assert {entry.mtime for entry in tar} == {COMMITTED}
    with zipfile.ZipFile(next(built[0].glob("*.whl"))) as wheel:
        assert {entry.date_time[:2] for entry in wheel.infolist()} == {(2026, 9)}


def test_a_folder_is_packed_into_the_same_bytes(tmp_path: Path, tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    archives, listed = [], Path.iterdir
    for name, mode, modified, files in (("one", 0o022, 1, "ab"), ("other", 0o077, 9, "ba")):
        folder = tmp_path / name / "packed"
        with umask(mode):
            folder.mkdir(parents=True)
            for file in files:
                (folder / file).write_text(file)
            (folder / "b").chmod(0o777 & ~mode)
            (folder / "link").symlink_to("a")
        os.utime(folder / "a", (modified, modified))
        order = -1 if name == "other" else 1
        monkeypatch.setattr(Path, "iterdir", lambda folder, order=order: iter(sorted(listed(folder))[::order]))
        tools("packing").pack(folder, tmp_path / f"{name}.tar.gz", COMMITTED)
        archives.append((tmp_path / f"{name}.tar.gz").read_bytes())
    assert archives[0] == archives[1]
    with tarfile.open(tmp_path / "one.tar.gz") as tar:
        assert {entry.name: entry.mode for entry in tar} == {
            "packed": 0o755,
            "packed/a": 0o644,
            "packed/b": 0o755,
            "packed/link": 0o777,
        }


# The list of packages.


@pytest.fixture(scope="module")
def packages(built: list[Path], tools: Any) -> dict[str, Any]:
    """What the wheel needs with all extras, in this environment."""
    found: dict[str, Any] = tools("packages").installed(next(built[0].glob("*.whl")), ["all"])
    return found


def test_the_list_is_what_the_lock_pins_and_no_tool_is_in_it(packages: dict[str, Any], tools: Any) -> None:
    locked = tools("packages").pins((ROOT / "requirements.lock").read_text())
    assert {name: one.version for name, one in packages.items() if name != "mixbayes"} == {
        name: locked[name].version for name in packages if name != "mixbayes"
    }
    assert {"numpy", "grpcio", "scikit-learn", "duckdb", "waitress", "distributed"} <= set(packages)
    assert not {"pytest", "ruff", "mypy", "pyinstaller", "cyclonedx-bom", "grpcio-tools", "pyspark"} & set(packages)
    tools("packages").refuse_unpinned(packages, locked)


def test_a_package_that_is_not_pinned_is_refused(packages: dict[str, Any], tools: Any) -> None:
    module = tools("packages")
    locked = module.pins((ROOT / "requirements.lock").read_text())
    without = {name: pin for name, pin in locked.items() if name != "numpy"}
    older = locked | {"numpy": module.Pin("1.0", locked["numpy"].hashes)}
    for lock, said in ((without, "the lock has none"), (older, "the lock has 1.0")):
        with pytest.raises(module.NotPinned, match=f"numpy .* is there, and {said}"):
            module.refuse_unpinned(packages, lock)


def test_the_list_is_valid_and_names_what_needs_what(packages: dict[str, Any], tools: Any) -> None:
    text = tools("sbom").document(packages, COMMITTED)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    said = json.loads(text)
    assert said["metadata"]["component"]["version"] == "0.2.0"
    assert said["metadata"]["timestamp"].startswith("2026-09-21T")
    assert len(said["components"]) == len(packages) - 1
    licences = {one["name"]: one.get("licenses", []) for one in said["components"]}
    assert licences["scikit-learn"] == [{"expression": "BSD-3-Clause"}]
    assert licences["waitress"] == [{"license": {"name": "ZPL 2.1"}}]
    needs = {one["ref"].partition("@")[0]: one.get("dependsOn", []) for one in said["dependencies"]}
    assert f"pkg:pypi/joblib@{packages['joblib'].version}" in needs["pkg:pypi/scikit-learn"]


def test_the_list_is_the_same_text_in_another_process(built: list[Path], tools: Any, packages: dict[str, Any]) -> None:
    lines = "import sys; from pathlib import Path; import packages, sbom\n"
    lines += f"print(sbom.document(packages.installed(Path(sys.argv[1]), ['all']), {COMMITTED}), end='')"
    wheel = next(built[1].glob("*.whl"))
    for seed in ("1", "2"):
        told = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(FOLDER)}
        command = [sys.executable, "-c", lines, str(wheel)]
        done = subprocess.run(command, env=told, capture_output=True, text=True, timeout=60, check=True)
        assert done.stdout == tools("sbom").document(packages, COMMITTED)


def wheel_of(folder: Path, name: str, *needs: str) -> None:
    metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0", *(f"Requires-Dist: {need}" for need in needs)]
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}-1.0.dist-info/METADATA", "\n".join(metadata) + "\n")


def test_wheels_are_listed_with_their_own_hashes(tmp_path: Path, tools: Any) -> None:
    module = tools("packages")
    wheel_of(tmp_path, "mixbayes", "first", "second; extra == 'more'", "third; extra == 'other'")
    wheel_of(tmp_path, "first", "fourth; python_version < '3'")
    wheel_of(tmp_path, "second")
    found = module.in_wheels(tmp_path, ["more"])
    assert {name: set(one.needs) for name, one in found.items()} == {
        "mixbayes": {"first", "second"},
        "first": set(),
        "second": set(),
    }
    hashes = {name: frozenset({one.sha256}) for name, one in found.items()}
    right = {name: module.Pin("1.0", hashes[name]) for name in found}
    module.refuse_unpinned(found, right)
    with pytest.raises(module.NotPinned, match=r"the wheel of first 1\.0 has none of the hashes"):
        module.refuse_unpinned(found, right | {"first": module.Pin("1.0", hashes["second"])})
    with pytest.raises(module.NotPinned, match="nobody needs second"):
        module.in_wheels(tmp_path, [])


def test_the_c_library_that_is_needed_is_the_newest_of_all(tmp_path: Path, tools: Any) -> None:
    for name in (
        "a-1-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64",
        "b-1-py3-none-any",
    ):
        (tmp_path / f"{name}.whl").touch()
    assert tools("glibc").of_wheels(tmp_path) == "2.17"
    (tmp_path / "c-1-cp38-abi3-manylinux_2_34_x86_64.whl").touch()
    assert tools("glibc").of_wheels(tmp_path) == "2.34"
    (tmp_path / "text").write_text("GLIBC_2.99")
    (tmp_path / "library").write_bytes(b"\x7fELF GLIBC_2.4 GLIBC_2.17 GLIBC_2.9")
    assert tools("glibc").of_programs(tmp_path) == "2.17"


# The sums and their signature, checked as the pages say.


def pages_that_verify() -> dict[str, str]:
    """By page, the commands with which a site checks what it got."""
    page = (ROOT / "docs" / "operations" / "installing.md").read_text()
    [found] = VERIFY.findall(page)
    texts = {"installing.md": found}
    for about in sorted(FOLDER.glob("INSTALL-*.txt")):
        lines = [line.strip() for line in about.read_text().splitlines() if line.startswith("       ")]
        texts[about.name] = "\n".join(line for line in lines if re.match(r"openssl dgst|sha256sum", line))
    return texts


def openssl(*words: str | Path) -> None:
    subprocess.run(["openssl", *words], check=True, capture_output=True, timeout=60)


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A releaser's, made as the page for releasers says."""
    page = (ROOT / "docs" / "operations" / "releasing.md").read_text()
    folder = tmp_path_factory.mktemp("key")
    [make, show] = re.findall(r"^(openssl genpkey .*|openssl pkey -in .* -pubout .*)$", page, re.MULTILINE)
    for line in (make.replace(" -aes-256-cbc", ""), show):  # it would ask for a password
        subprocess.run(line, shell=True, cwd=folder, check=True, capture_output=True, timeout=60)
    return folder / "release.key"


@pytest.fixture
def signed(tmp_path: Path, key: Path, tools: Any) -> Path:
    folder = tmp_path / "signed"
    folder.mkdir()
    (folder / "mixbayes-0.2.0-py3-none-any.whl").write_bytes(b"wheel")
    (folder / "within").mkdir()
    (folder / "within" / "part").write_bytes(b"part")
    tools("sums").write_sums(folder)
    tools("sums").sign(folder, str(key))
    shutil.copy(key.with_name("mixbayes-release.pem"), folder)
    return folder


def verified(folder: Path, commands: str) -> bool:
    """Whether every command succeeds, as in a shell that stops at the first failure."""
    done = subprocess.run(["sh", "-e", "-c", commands], cwd=folder, capture_output=True, text=True, timeout=60)
    return done.returncode == 0


@pytest.mark.parametrize("page", ["installing.md", "INSTALL-bundle.txt", "INSTALL-folder.txt"])
def test_what_was_not_touched_is_verified(signed: Path, page: str) -> None:
    assert verified(signed, pages_that_verify()[page])


def altered(folder: Path) -> None:
    (folder / "within" / "part").write_bytes(b"port")


def altered_with_its_sum(folder: Path) -> None:
    altered(folder)
    sums = subprocess.run(["sha256sum", "./within/part"], cwd=folder, capture_output=True, text=True, check=True)
    lines = [line for line in (folder / "SHA256SUMS").read_text().splitlines() if "within/part" not in line]
    (folder / "SHA256SUMS").write_text("\n".join([*lines, sums.stdout]))


def missing(folder: Path) -> None:
    (folder / "within" / "part").unlink()


def signed_by_another(folder: Path) -> None:
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", folder / "other.key")
    sums, signature = folder / "SHA256SUMS", folder / "SHA256SUMS.sig"
    openssl("dgst", "-sha256", "-sign", folder / "other.key", "-out", signature, sums)


def unsigned(folder: Path) -> None:
    (folder / "SHA256SUMS.sig").unlink()


PAGES = ["installing.md", "INSTALL-bundle.txt", "INSTALL-folder.txt"]
TAMPERING = [altered, altered_with_its_sum, missing, signed_by_another, unsigned]


@pytest.mark.parametrize(
    ("page", "tamper"),
    # A site need not have every file of a release, but it has every file of a bundle.
    [(page, tamper) for page in PAGES for tamper in TAMPERING if (page, tamper) != ("installing.md", missing)],
)
def test_what_was_touched_is_not(signed: Path, page: str, tamper: Any) -> None:
    tamper(signed)
    assert not verified(signed, pages_that_verify()[page])


def test_a_key_that_cannot_sign_is_said(signed: Path, tools: Any, tmp_path: Path) -> None:
    with pytest.raises(tools("sums").NotSigned, match="could not sign"):
        tools("sums").sign(signed, str(tmp_path / "no.key"))


# The whole, without the parts that fetch and freeze.


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return committed(tmp_path / "repository")


def release(repository: Path, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "deploy/release/release.py", "--out", str(out), "--parts", *more]
    return subprocess.run(command, cwd=repository, capture_output=True, text=True, timeout=120)


def test_a_release_is_of_the_commit_and_signed(repository: Path, tmp_path: Path, key: Path, built: list[Path]) -> None:
    done = release(repository, tmp_path / "dist", "--key", str(key))
    assert (done.returncode, "not signed" in done.stderr) == (0, False), done.stderr
    made = {path.name: path for path in (tmp_path / "dist").iterdir()}
    archives = {path.name for path in built[0].iterdir()}
    assert set(made) == {*archives, "SHA256SUMS", "SHA256SUMS.sig"}
    assert {name: made[name].read_bytes() for name in archives} == {
        path.name: path.read_bytes() for path in built[0].iterdir()
    }
    shutil.copy(key.with_name("mixbayes-release.pem"), tmp_path / "dist")
    assert verified(tmp_path / "dist", pages_that_verify()["installing.md"])


def test_without_a_key_a_release_says_how_to_sign(repository: Path, tmp_path: Path, key: Path) -> None:
    done = release(repository, tmp_path / "dist")
    assert (done.returncode, (tmp_path / "dist" / "SHA256SUMS.sig").exists()) == (0, False)
    [command] = re.findall(r"^ +(openssl dgst .*)$", done.stderr, re.MULTILINE)
    subprocess.run(command.replace("KEY", str(key)), shell=True, cwd=tmp_path / "dist", check=True, timeout=60)
    shutil.copy(key.with_name("mixbayes-release.pem"), tmp_path / "dist")
    assert verified(tmp_path / "dist", pages_that_verify()["installing.md"])


def test_changes_without_a_commit_and_a_folder_in_use_are_refused(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "old.whl").touch()
    done = release(repository, tmp_path / "dist")
    assert (done.returncode, "is not empty" in done.stderr) == (1, True)
    (repository / "LICENSE").write_text("mine")
    done = release(repository, tmp_path / "other")
    assert (done.returncode, "commit or undo these changes first" in done.stderr) == (1, True)
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "other").exists()
