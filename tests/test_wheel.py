"""The wheel holds every module, and every module imports where nothing of the repository is in reach."""

import json
import os
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ["protocol", "parties", "mixers", "local_methods"]

IMPORT_ALL = """
import importlib, json, pkgutil, mixbayes
names = [module.name for module in pkgutil.walk_packages(mixbayes.__path__, "mixbayes.")]
modules = [mixbayes, *(importlib.import_module(name) for name in names if not name.endswith(".__main__"))]
print(json.dumps([module.__file__ for module in modules]))
"""

pytestmark = pytest.mark.timeout(300)


def run(*command: str | Path, cwd: Path) -> str:
    """What the command prints; if it fails, the test says what it said."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def modules_of_the_repository() -> set[str]:
    """Every source and stub of the real folders, by the name that it has in a wheel."""
    face = ROOT / "src" / "mixbayes"  # rglob does not enter its links
    folders = {"mixbayes": face} | {f"mixbayes/{room}": ROOT / room for room in ROOMS}
    return {
        f"{name}/{path.relative_to(folder).as_posix()}"
        for name, folder in folders.items()
        for path in folder.rglob("*")
        if path.suffix in (".py", ".pyi", ".typed")
    }


@pytest.fixture(scope="module", params=["tree", "sdist"])
def wheel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the tree itself, or from a source archive of it."""
    out = tmp_path_factory.mktemp(request.param)
    only = ["--wheel"] if request.param == "tree" else []
    run(sys.executable, "-m", "build", "--no-isolation", *only, "--outdir", out, ROOT, cwd=out)
    return next(out.glob("*.whl"))


def test_holds_every_module_once(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
    assert len(names) == len(set(names))
    assert modules_of_the_repository() <= set(names)
    assert {name.split("/")[0] for name in names} == {"mixbayes"}


def test_imports_from_a_clean_environment(wheel: Path, tmp_path: Path) -> None:
    clean = tmp_path / "clean"
    venv.create(clean, with_pip=False)
    python = clean / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python]
    run(*pip, "install", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(clean)}))
    # A folder named in a .pth is searched without its own .pth, so the editable install stays out of reach.
    dependencies = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (packages / "dependencies.pth").write_text("\n".join(dependencies))

    files = json.loads(run(python, "-I", "-c", IMPORT_ALL, cwd=tmp_path))
    imported = {Path(file).relative_to(packages).as_posix() for file in files}
    modules = {name for name in modules_of_the_repository() if name.endswith(".py")}
    assert imported == {name for name in modules if not name.endswith("/__main__.py")}

    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert run(clean / "bin" / "mixbayes", "--version", cwd=tmp_path).strip() == version
