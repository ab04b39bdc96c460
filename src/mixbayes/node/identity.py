"""Who a node is: its keys, read again when the files change, so that renewing a certificate needs no restart."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from pathlib import Path

from mixbayes.keys.folder import NodeKeys, load_keys
from mixbayes.node.disk.sealing import Seal
from mixbayes.node.log import Log, logged
from mixbayes.protocol.errors import MixbayesError
from mixbayes.transport.tls import Credentials

_LOOK_EVERY = 5.0
Stamp = tuple[tuple[int, int] | None, ...]


class Identity:
    """The keys of one node, checked whenever they are read."""

    def __init__(self, folder: Path, name: str, log: Log) -> None:
        self.name = name
        self._folder = folder
        self._log = log
        self._lock = threading.Lock()
        self._looked = time.monotonic()
        self._stamp = self._stamped()
        self._keys = load_keys(folder, name, datetime.now(UTC))
        self.seal = Seal(self._keys.state_key)

    @property
    def expires(self) -> datetime:
        return self._keys.expires

    def credentials(self) -> Credentials:
        """The current credentials. If new files are not valid, the old ones stay, and the log has the reason."""
        with self._lock:
            if time.monotonic() - self._looked > _LOOK_EVERY:
                self._looked = time.monotonic()
                self._look()
            return _credentials(self._keys)

    def _look(self) -> None:
        stamp = self._stamped()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._keys = load_keys(self._folder, self.name, datetime.now(UTC))
            self._log.info("keys were renewed", expires=self._keys.expires.isoformat())
        except MixbayesError as error:
            logged(self._log, error, "new keys are not used")

    def _stamped(self) -> Stamp:
        files = (f"{self.name}.key", f"{self.name}.pem", "authority.pem")
        return tuple(_stamp(self._folder / file) for file in files)


def _stamp(file: Path) -> tuple[int, int] | None:
    """None for a file that is missing, e.g. between two commands of an operator."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _credentials(keys: NodeKeys) -> Credentials:
    return Credentials(keys.private_key, keys.certificate, keys.authority)
