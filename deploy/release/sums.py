"""Checksums of a folder, and their signature: what every Linux can check with sha256sum and openssl."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

SUMS, SIGNATURE = "SHA256SUMS", "SHA256SUMS.sig"


class NotSigned(Exception):
    """openssl did not sign."""


def write_sums(folder: Path) -> None:
    """One line for every file in the folder, in the form of sha256sum."""
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    lines = [f"{_sha256(folder / file)}  ./{file}\n" for file in files if file not in (SUMS, SIGNATURE)]
    (folder / SUMS).write_text("".join(lines))


def sign(folder: Path, key: str) -> None:
    """Sign the sums with the releaser's key: a file, or whatever else `openssl dgst -sign` takes."""
    command = ["openssl", "dgst", "-sha256", "-sign", key, "-out", str(folder / SIGNATURE), str(folder / SUMS)]
    done = subprocess.run(command, check=False)
    if done.returncode != 0:
        raise NotSigned(f"openssl could not sign {SUMS} with {key}; what it said stands above")


def _sha256(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
