"""Who a node is: its keys, read again when the files change, so that renewing a certificate needs no restart."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from pathlib import Path

from mixbayes.keys.checks import SOON
from mixbayes.keys.folder import NodeKeys, load_keys
from mixbayes.keys.pem import certificates_in, fingerprint, public_key_of
from mixbayes.keys.problems import KeyProblem
from mixbayes.keys.revocation import FILE as REVOKED
from mixbayes.node.disk.sealing import Seal
from mixbayes.node.log import Log, logged
from mixbayes.node.revocations import Revocations
from mixbayes.protocol.errors import MixbayesError
from mixbayes.site_time import rfc_3339
from mixbayes.transport.tls import Credentials

_LOOK_EVERY = 5.0
Stamp = tuple[tuple[int, int] | None, ...]


class Identity:
    """The keys of one node, checked whenever they are read. `agreed` is the fingerprint of its key, where one is."""

    def __init__(self, folder: Path, name: str, log: Log, agreed: str | None = None) -> None:
        self.name = name
        self._agreed = agreed
        self._folder = folder
        self._log = log
        self._lock = threading.Lock()
        self._looked = time.monotonic()
        self._stamp = self._stamped()
        self._keys = self._loaded()
        self._revocations = Revocations(folder, self._keys.authority, log)
        self.seal = Seal(self._keys.state_key)

    @property
    def expires(self) -> datetime:
        return self._keys.expires

    @property
    def authority_expires(self) -> datetime:
        return self._keys.authority_expires

    def credentials(self) -> Credentials:
        """The current credentials. If new files are not valid, the old ones stay, and the log has the reason."""
        with self._lock:
            if time.monotonic() - self._looked > _LOOK_EVERY:
                self._looked = time.monotonic()
                self._look()
            return _credentials(self._keys, self._revocations.serials)

    def revoked(self) -> frozenset[int]:
        """The serial numbers of certificates with which nobody is admitted."""
        self.credentials()
        return self._revocations.serials

    def _look(self) -> None:
        stamp = self._stamped()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        self._renew()
        self._revocations.look(self._keys.authority)

    def tell_soon(self) -> None:
        """Say in the log that the certificate ends soon, if it does."""
        days = (self._keys.expires - datetime.now(UTC)).days
        if days < SOON.days:
            self._log.warning("the certificate ends soon", expires=rfc_3339(self._keys.expires), days=days)

    def _renew(self) -> None:
        try:
            keys = self._loaded()
        except MixbayesError as error:
            logged(self._log, error, "new keys are not used")
            return
        if keys != self._keys:
            self._keys = keys
            self._log.info("keys were renewed", expires=rfc_3339(keys.expires))

    def _loaded(self) -> NodeKeys:
        keys = load_keys(self._folder, self.name, datetime.now(UTC))
        found = fingerprint(public_key_of(certificates_in(keys.certificate)[0]))
        if self._agreed not in (None, found):
            raise KeyProblem(
                f"{self._folder / self.name}.pem is for the key {found}, and the agreement says {self._agreed}",
                "Put the agreed key and its certificate there, or use the federation file to which this key was added",
            )
        return keys

    def _stamped(self) -> Stamp:
        files = (f"{self.name}.key", f"{self.name}.pem", "authority.pem", REVOKED)
        return tuple(_stamp(self._folder / file) for file in files)


def _stamp(file: Path) -> tuple[int, int] | None:
    """None for a file that is missing, e.g. between two commands of an operator."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _credentials(keys: NodeKeys, revoked: frozenset[int]) -> Credentials:
    return Credentials(keys.private_key, keys.certificate, keys.authority, revoked)
