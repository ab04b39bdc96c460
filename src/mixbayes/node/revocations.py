"""The certificates that a node takes for revoked, read again when `revoked.pem` changes."""

from __future__ import annotations

from pathlib import Path

from mixbayes.keys.pem import certificates_in
from mixbayes.keys.revocation import FILE, read_revoked
from mixbayes.node.log import Log, logged
from mixbayes.protocol.errors import MixbayesError


class Revocations:
    """While the node runs, what is revoked stays so: neither a damaged list nor an older one lets anybody in again."""

    def __init__(self, folder: Path, authority: bytes, log: Log) -> None:
        self._file = folder / FILE
        self._log = log
        self.serials = self._read(authority)

    def look(self, authority: bytes) -> None:
        """The files have changed. If the list cannot be used, the log has the reason."""
        try:
            new = self._read(authority) - self.serials
        except MixbayesError as error:
            logged(self._log, error, "the new list of revoked certificates is not used")
            return
        if new:
            self.serials |= new
            self._log.info("certificates were revoked", serials=", ".join(sorted(f"{serial:x}" for serial in new)))

    def _read(self, authority: bytes) -> frozenset[int]:
        found = read_revoked(self._file, certificates_in(authority))
        return found.serials if found else frozenset()
