"""Make a release of the present commit: `make release`, described in docs/operations/releasing.md.

Left in the folder: the wheel, the source archive, the bundle of wheels, the folder that needs no Python, for both of
them the list of packages (SBOM), and the checksums of all with their signature, if there is a key.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from archives import build, bundle
from frozen import freeze
from glibc import of_programs, of_wheels
from packages import NotPinned, Package, in_wheels, installed, pins, refuse_unpinned
from packing import pack
from sbom import document
from source import NotCommitted, epoch_of, export, refuse_changes
from sums import SIGNATURE, SUMS, NotSigned, sign, write_sums

REPOSITORY = Path(__file__).parents[2]
IN_THE_BUNDLE = ("all",)
IN_THE_FOLDER = ("hospital", "sql", "excel", "page", "metrics")
HERE = f"{sys.platform}-{platform.machine()}"
PYTHON = f"cp{sys.version_info.major}{sys.version_info.minor}"
UNSIGNED = f"""This release is not signed: nobody can tell whether somebody has changed it. To sign it:

    openssl dgst -sha256 -sign KEY -out {SIGNATURE} {SUMS}

in its folder, or make it with `make release KEY=...`. docs/operations/releasing.md says how to make the key."""


@dataclass(frozen=True)
class Making:
    """A release that is being made."""

    tree: Path
    """The files of the commit."""
    work: Path
    out: Path
    epoch: int
    key: str

    def finished(self, folder: Path, packages: dict[str, Package], about: str, glibc: str) -> None:
        """Add what a site needs beside the program, and pack the folder."""
        refuse_unpinned(packages, pins((self.tree / "requirements.lock").read_text()))
        sbom = document(packages, self.epoch)
        (folder / "sbom.cdx.json").write_text(sbom)
        (self.out / f"{folder.name}.cdx.json").write_text(sbom)
        text = (self.tree / "deploy" / "release" / about).read_text()
        (folder / "INSTALL").write_text(text.replace("GLIBC", f"glibc {glibc}"))
        shutil.copyfile(self.tree / "LICENSE", folder / "LICENSE")
        self.sealed(folder)
        unpacked = sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_symlink())
        print(f"{unpacked / 1e6:8.1f} MB  {folder.name}, unpacked; it needs glibc {glibc}")
        pack(folder, self.out / f"{folder.name}.tar.gz", self.epoch)

    def sealed(self, folder: Path) -> None:
        write_sums(folder)
        if self.key:
            sign(folder, self.key)


def main(out: Path, key: str, parts: Collection[str]) -> None:
    refuse_changes(REPOSITORY)
    if out.exists() and any(out.iterdir()):
        sys.exit(f"No release: {out} is not empty. Name another folder, or remove it.")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        making = Making(Path(scratch) / "tree", Path(scratch), out.resolve(), epoch_of(REPOSITORY), key)
        export(REPOSITORY, making.tree)
        wheel = build(making.tree, making.out, making.epoch)
        for part, make in PARTS.items():
            if part in parts:
                make(making, wheel)
        making.sealed(making.out)
    for path in sorted(out.iterdir()):
        print(f"{path.stat().st_size / 1e6:8.1f} MB  {path.name}")
    if not key:
        print(f"\n{UNSIGNED}", file=sys.stderr)


def _bundle(making: Making, wheel: Path) -> None:
    folder = making.work / f"{_name(wheel)}-bundle-{PYTHON}-{HERE}"
    bundle(making.tree, folder, IN_THE_BUNDLE, making.epoch)
    making.finished(folder, in_wheels(folder, IN_THE_BUNDLE), "INSTALL-bundle.txt", of_wheels(folder))


def _folder(making: Making, wheel: Path) -> None:
    folder = making.work / f"{_name(wheel)}-folder-{HERE}"
    packages = installed(wheel, IN_THE_FOLDER)
    freeze(wheel, packages, folder, making.work / "freezing", making.epoch)
    making.finished(folder, packages, "INSTALL-folder.txt", of_programs(folder))


def _name(wheel: Path) -> str:
    """Such as mixbayes-0.2.0."""
    return "-".join(wheel.name.split("-")[:2])


PARTS: dict[str, Callable[[Making, Path], None]] = {"bundle": _bundle, "folder": _folder}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make a release of the present commit.")
    parser.add_argument("--out", type=Path, default=REPOSITORY / "dist")
    parser.add_argument("--key", default="", help="the releaser's private key, as `openssl dgst -sign` takes it")
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=list(PARTS), help="besides both archives")
    given = parser.parse_args()
    try:
        main(given.out, given.key, given.parts)
    except (NotCommitted, NotPinned, NotSigned) as error:
        sys.exit(f"No release: {error}.")
