"""The releases of a hospital's table that are drawn once, in the node's state folder, under the node's own key.

Whoever begins with an empty folder, or puts back a backup that was made before, draws another release, and the ledger
of the hospital counts that too.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from pathlib import Path

import numpy as np

from mixbayes.cli.output import write_private
from mixbayes.node.disk.sealing import Seal, place
from mixbayes.tables.private_release import PrivateRelease
from mixbayes.tables.tallying import Counted


class KeptReleases:
    """In this folder; the key is the node's state key."""

    def __init__(self, folder: Path, key: bytes) -> None:
        self._folder = folder
        self._seal = Seal(key)

    def recall(self, tag: bytes) -> Counted | None:
        """The counts of the release with this tag, if it was drawn."""
        file = self._file(tag)
        return _decoded(self._seal.open(file.read_bytes(), _place(tag))) if file.is_file() else None

    def keep(self, tag: bytes, counts: Counted) -> None:
        """Write it down before anything of it leaves."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(self._file(tag), self._seal.close(_encoded(counts), _place(tag)))

    def _file(self, tag: bytes) -> Path:
        return self._folder / f"release-{tag.hex()[:16]}"


def _place(tag: bytes) -> str:
    return place("release", "counts", tag.hex())


def _encoded(counts: Counted) -> bytes:
    own = counts.own_release
    said = {
        "vector": b64encode(counts.vector.astype("<u8").tobytes()).decode(),
        "rows": counts.rows,
        "clipped": counts.clipped,
        "unlabelled": counts.unlabelled,
        "protection": counts.protection,
        "guarantee": counts.guarantee,
        "coarsened": counts.coarsened,
        "own_release": [own.id.hex(), own.epsilon, own.delta] if own else None,
    }
    return json.dumps(said).encode()


def _decoded(raw: bytes) -> Counted:
    said = json.loads(raw)
    vector = np.frombuffer(b64decode(said.pop("vector")), "<u8").astype(np.uint64)
    own = said.pop("own_release")
    release = PrivateRelease(bytes.fromhex(own[0]), own[1], own[2]) if own else None
    return Counted(vector=vector, own_release=release, **said)
