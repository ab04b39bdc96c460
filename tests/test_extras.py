"""What an installation without extras can do, and what it says of the rest."""

import os
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from mixbayes.extras import MODULES, NotInstalled, naming_extras, refuse_without

ROOT = Path(__file__).parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
TABLE = "sex,smokes,class\n" + "f,yes,ill\nm,no,well\nf,no,well\nm,yes,ill\n" * 5

# Python runs a module of this name at its start, in every process that the command starts too.
REFUSING = f"""
import sys

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted({"pandas", *(one for modules in MODULES.values() for one in modules)})}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refusing())
"""


def without_extras(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """The command as an installation without extras runs it."""
    (folder / "sitecustomize.py").write_text(REFUSING)
    (folder / "patients.csv").write_text(TABLE)
    command = (sys.executable, "-m", "mixbayes", *command)
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=100)


def test_every_package_of_an_extra_is_known_by_its_modules() -> None:
    modules: dict[str, set[str]] = {}
    for module, distributions in packages_distributions().items():
        for distribution in distributions:
            modules.setdefault(canonicalize_name(distribution), set()).add(module)
    for extra in ("hospital", "sql", "excel", "distributed", "research", "page", "metrics"):
        named = {canonicalize_name(Requirement(line).name) for line in EXTRAS[extra]} - {"mixbayes"}
        assert all(modules[name] & set(MODULES[extra]) for name in named), extra
        assert len(named) == len(MODULES[extra])


@pytest.mark.parametrize(
    "command",
    [
        "mixer -h",
        "party -h",
        "federation new . --name heart --party n=n.example:8443 --party s --like patients.csv --without-noise",
    ],
)
def test_starts_without_extras(command: str, tmp_path: Path) -> None:
    done = without_extras(tmp_path, *command.split())
    assert done.returncode == 0, done.stderr


def test_runs_mixers_and_hospitals_with_csv_without_extras(tmp_path: Path) -> None:
    words = ("patients.csv", "--hospitals", "2", "--holdout", "0.2", "--report", "page", "--json")
    done = without_extras(tmp_path, "simulate", *words)
    assert done.returncode == 0, done.stderr
    assert '"accuracy"' in done.stdout


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        ("measure patients.csv patients.csv", "scipy"),
        ("simulate patients.csv --protect condensation:k=2", "sklearn"),
        (
            "federation new . --name heart --party n=n.example:8443 --party s --like patients.parquet --without-noise",
            "pyarrow",
        ),
    ],
)
def test_names_the_extra(command: str, missing: str, tmp_path: Path) -> None:
    (tmp_path / "patients.parquet").write_bytes(b"PAR1")
    done = without_extras(tmp_path, *command.split())
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        f"mixbayes: This needs {missing}, which is not installed: pip install 'mixbayes[hospital]'. [E111]"
    )
    assert "Traceback" not in done.stderr


def test_metrics_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    words = "mixer --federation none.toml --name a --keys none --state none --metrics 127.0.0.1:9464"
    done = without_extras(tmp_path, *words.split())
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "mixbayes: This needs prometheus_client, which is not installed: pip install 'mixbayes[metrics]'. [E111]"
    )


def test_a_picture_is_refused_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_without("matplotlib")
    monkeypatch.setattr("mixbayes.extras.find_spec", lambda module: None)
    with pytest.raises(NotInstalled, match=r"needs matplotlib.*'mixbayes\[research\]'"):
        refuse_without("matplotlib")


def test_says_which_extra_brings_a_module() -> None:
    with pytest.raises(NotInstalled, match=r"needs duckdb.*'mixbayes\[sql\]'"), naming_extras():
        raise ModuleNotFoundError("No module named 'duckdb.extra'", name="duckdb.extra")


def test_leaves_other_missing_modules_alone() -> None:
    with pytest.raises(ModuleNotFoundError, match="mixbayes"), naming_extras():
        raise ModuleNotFoundError("No module named 'mixbayes.gone'", name="mixbayes.gone")
