"""What holds for the repository as a whole."""

import re
import subprocess
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]

# Written so that this file does not contain what it looks for.
REGISTRY = r"pypi[.]org|python[h]osted|registry[.]npmjs|deb[.]debian"
SQL = r"\b(?:SELECT\s|INSERT\s|UPDATE\s+\w+\s+SET\b|DELETE\s+FROM\b|PRAGMA\b|CREATE\s+TABLE\b)|\bsqlite3\b"
MACHINE_PATH = r"(?:^|[^A-Za-z])/(?:home|root|Users|work|farm)/"


def shipped_files() -> list[Path]:
    """What a clone holds; in an unpacked archive, where git knows nothing, all but hidden folders."""
    if (ROOT / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        paths = [ROOT / name for name in listed.split("\0")]
    else:
        paths = [path for path in ROOT.rglob("*") if "/." not in f"/{path.relative_to(ROOT)}"]
    return [path for path in paths if path.is_file() and "__pycache__" not in path.parts]


@pytest.mark.parametrize("forbidden", [REGISTRY, MACHINE_PATH], ids=["registry", "machine_path"])
def test_files_name_no(forbidden: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in shipped_files()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1)
        if re.search(forbidden, line)
    ]
    assert found == []


LOCK, SPARK_LOCK = "requirements.lock", "requirements-spark.lock"


def locked(name: str) -> dict[str, list[str]]:
    """The lock as requirement and options, e.g. numpy==2.4.6 and its hashes."""
    lines = (ROOT / name).read_text().replace("\\\n", " ").splitlines()
    words = [line.split() for line in lines if line and not line.startswith("#")]
    return {requirement: options for requirement, *options in words}


def pinned(name: str) -> dict[str, str]:
    return dict(requirement.split("==") for requirement in locked(name))


@pytest.mark.parametrize("name", [LOCK, SPARK_LOCK, "requirements-kubernetes.lock"])
def test_lock_pins_everything_by_hash(name: str) -> None:
    for requirement, options in locked(name).items():
        assert re.fullmatch(r"[a-z0-9-]+==[\w.]+", requirement)
        assert options
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", option) for option in options), requirement


def test_locks_satisfy_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    base, extras = project["dependencies"], project["optional-dependencies"]
    spark = extras.pop("spark")
    for name, lines in [(LOCK, chain(base, *extras.values())), (SPARK_LOCK, chain(base, spark))]:
        versions = pinned(name) | {project["name"]: project["version"]}
        for wanted in map(Requirement, lines):
            assert versions.get(canonicalize_name(wanted.name), "missing") in wanted.specifier, wanted


def test_both_locks_agree() -> None:
    general, spark = pinned(LOCK), pinned(SPARK_LOCK)
    assert {name: version for name, version in spark.items() if general.get(name, version) != version} == {}
    assert spark.keys() - general.keys() == {"py4j", "pyspark", "zstandard"}


@pytest.mark.parametrize("room", ["protocol", "parties", "mixers", "local_methods"])
def test_room_is_linked_relatively(room: str) -> None:
    assert (ROOT / "src" / "mixbayes" / room).readlink() == Path("..", "..", room)


def test_proto_holds_no_python() -> None:
    """With a module in it, the folder would hide the installed package of the same name."""
    assert [path for path in (ROOT / "proto").rglob("*") if path.is_file() and path.suffix != ".proto"] == []


def test_sql_stands_in_one_folder() -> None:
    """Every query has a name there, and nobody else knows which database a node has."""
    rooms = ("protocol", "local_methods", "parties", "mixers", "src")
    modules = [path for room in rooms for path in (ROOT / room).rglob("*.py") if "mixbayes/wire" not in path.as_posix()]
    disk = ROOT / "src" / "mixbayes" / "node" / "disk"
    found = {path for path in modules if re.search(SQL, path.read_text())}
    assert disk / "datastore.py" in found
    assert {path for path in found if path.parent != disk} == set()
