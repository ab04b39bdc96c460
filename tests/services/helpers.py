"""A federation on this machine: its agreement, its keys, and its nodes, started here on free ports of loopback."""

from __future__ import annotations

import io
import json
import signal
import socket
import ssl
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mixbayes.agreement.addresses import host_and_port
from mixbayes.agreement.agreement import Federation, federation_from
from mixbayes.agreement.files import written
from mixbayes.keys.authority import make_authority, make_request, sign
from mixbayes.mixers import node as mixer_node
from mixbayes.node.identity import Identity
from mixbayes.node.log import Log, logger
from mixbayes.node.rounds.state import FAILED, SERVING
from mixbayes.node.rounds.status import Status
from mixbayes.node.serving.dialling import dial
from mixbayes.parties.desk import at_mixers
from mixbayes.parties.settings import RunningHospital
from mixbayes.parties.settings import Settings as PartySettings
from mixbayes.parties.with_mixers import node as party_node
from mixbayes.parties.with_mixers.both_mixers import BothMixers, both_mixers
from mixbayes.parties.with_mixers.contributing import Messages
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model
from mixbayes.protocol.errors import MixbayesError
from mixbayes.protocol.transfer.lots import LOT
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted
from mixbayes.tables.encoding import encode_query
from mixbayes.tables.folding import folded
from mixbayes.transport import probe
from mixbayes.transport.conversation import SUPPLYING
from mixbayes.transport.peer import Peer
from mixbayes.transport.streams import StreamWire
from mixbayes.transport.tls import Credentials
from mixbayes.transport.watch import Watch
from tests.ports import free_port

COMMAND = [sys.executable, str(Path(sysconfig.get_path("scripts"), "mixbayes"))]
HASTE = 1.5
"""The timeout where one must be met: no more than it may have to come about within it."""
CALM = 25.0
"""The agreed timeout elsewhere: a machine that stands still for some seconds meets none."""
PATIENCE = 90.0
"""Within which everything here must have happened."""
DICTIONARY: dict[str, Any] = {
    "class_column": "class",
    "classes": ["ill", "well"],
    "attributes": [
        {"name": "sex", "kind": "nominal", "values": ["f", "m"]},
        {"name": "tumour", "kind": "nominal", "values": ["none", "small", "large"]},
    ],
}
HOSPITALS = ("north", "south", "west")


def table(seed: int, rows: int = 40, ill: str = "large") -> Columns:
    """Patients of whom the ill mostly have a tumour of one size."""
    random = np.random.default_rng(seed)
    label = random.choice(["ill", "well"], rows)
    others = random.choice(["none", "small", "large"], rows)
    tumour = np.where((label == "ill") & (random.random(rows) < 0.9), ill, others)
    return Columns.of(("sex", "tumour", "class"), (random.choice(["f", "m"], rows), tumour, label), rows)


def agreement(**changes: Any) -> dict[str, Any]:
    """Of three hospitals and two mixers; `policy` and `dictionary` are merged, anything else is replaced."""
    content: dict[str, Any] = {
        "name": "tumours",
        "parties": [{"name": name} for name in HOSPITALS],
        "mixers": [{"name": name, "address": f"127.0.0.1:{free_port()}"} for name in ("a", "b")],
        "policy": {"minimum": 2, "timeout": CALM, "budget": 10_000, "ahead": LOT},
        "dictionary": deepcopy(DICTIONARY),
    }
    for key, value in changes.items():
        content[key] = content.get(key, {}) | value if isinstance(value, dict) else value
    return content


def wait_until(holds: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
    """Bounded, and says what did not come."""
    until = time.monotonic() + patience
    while not holds():
        if time.monotonic() > until:
            raise AssertionError(f"after {patience:g} s still not: {what}")
        time.sleep(0.02)


def hurry(patch: pytest.MonkeyPatch, *silent: str, within: float = HASTE) -> None:
    """From now on nobody in this process waits long for these nodes, whatever was agreed; for others as agreed."""
    patch.setattr(probe, "PATIENCE", within)
    _hurry(patch, StreamWire, "_deadline", lambda wire: wire.peer in silent, within)
    _hurry(patch, Peer, "deadline", lambda peer: peer.title in silent, within)


def _hurry(patch: pytest.MonkeyPatch, kind: type, name: str, concerned: Callable[[Any], bool], within: float) -> None:
    def read(one: Any) -> float:
        return within if concerned(one) else one.__dict__[name]

    patch.setattr(kind, name, property(read, lambda one, agreed: one.__dict__.update({name: agreed})), raising=False)


class Journal(io.StringIO):
    """A node's log, kept to be looked at."""

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.getvalue().splitlines()]

    def says(self, *words: str) -> bool:
        """Whether some line has all of these."""
        return any(all(word in line for word in words) for line in self.getvalue().splitlines())


@dataclass
class Site:
    """Everything that the nodes of one federation have on disk."""

    folder: Path
    federation: Federation
    tables: dict[str, Columns] = field(default_factory=dict)
    journals: dict[str, Journal] = field(default_factory=dict)
    listens: dict[str, str] = field(default_factory=dict)
    """Where a mixer listens, if not where the agreement says that it is dialled."""
    elsewhere: Path | None = None

    @property
    def keys(self) -> Path:
        return self.folder / "keys"

    @property
    def authority(self) -> Path:
        return self.elsewhere or self.folder / "authority"

    def at(self, authority: Path) -> Site:
        return replace(self, elsewhere=authority)

    def state(self, name: str) -> Path:
        return self.folder / f"state-{name}"

    @property
    def file(self) -> Path:
        path = self.folder / "federation.toml"
        if not path.exists():
            path.write_text(written(self.federation))
        return path

    def log(self, name: str) -> Log:
        return logger(self.federation.title(name), self.journals.setdefault(name, Journal()))

    def certify(self, name: str, by: Path | None = None) -> None:
        """A key, a state key and a certificate."""
        made = make_request(name, self.keys)
        sign(made.file, by or self.authority, self.keys / f"{name}.pem")
        (self.keys / "authority.pem").write_bytes((self.authority / "authority.pem").read_bytes())

    def identity(self, name: str) -> Identity:
        return Identity(self.keys, name, self.log(name))

    def credentials(self, name: str) -> Credentials:
        return self.identity(name).credentials()

    def other(self, **changes: Any) -> Site:
        """The same keys, another agreement."""
        content = self.federation.model_dump(mode="json")
        for key, value in changes.items():
            content[key] = content.get(key, {}) | value if isinstance(value, dict) else value
        folder = self.folder / f"other-{len(list(self.folder.iterdir()))}"
        folder.mkdir()
        (folder / "keys").symlink_to(self.keys)
        (folder / "authority").symlink_to(self.authority)
        return replace(self, folder=folder, federation=federation_from(content), journals={})

    @contextmanager
    def mixer(self, name: str, **settings: Any) -> Iterator[mixer_node.Mixer]:
        settings = {"listen": self.listens.get(name)} | settings
        chosen = mixer_node.Settings(self.federation, name, self.keys, self.state(name), **settings)
        with mixer_node.running(chosen, self.log(name)) as server:
            yield server

    def settings(self, name: str, **settings: Any) -> PartySettings:
        share = self.federation.policy.test_share
        found = folded(self.federation.layout, self.tables[name], test_share=share, secret=name.encode())
        rows: dict[str, Any] = {"patients": found.patients, "aside": found.aside}
        about = {"vector": found.counted.vector, "rows": found.counted.rows} | rows | settings
        return PartySettings(self.federation, name, self.keys, self.state(name), **about)

    @contextmanager
    def hospital(self, name: str, **settings: Any) -> Iterator[RunningHospital]:
        with party_node.running(self.settings(name, **settings), self.log(name)) as server:
            yield server

    @contextmanager
    def mixers(self) -> Iterator[None]:
        with self.mixer("b"), self.mixer("a"):
            yield

    @contextmanager
    def dialled(self, caller: str, called: str, address: str = "") -> Iterator[Peer]:
        """One node as another one dials it."""
        with dial(self.federation, self.identity(caller), called, Watch(), address) as peer:
            yield peer

    @contextmanager
    def both(self, caller: str) -> Iterator[BothMixers]:
        with both_mixers(self.federation, self.identity(caller), Watch()) as mixers:
            yield mixers

    def certificates_shown(self, mixer: str, hospital: str) -> bytes:
        """What a mixer shows to a hospital that dials it anew."""
        own = self.credentials(hospital)
        made = ssl.create_default_context(cadata=own.authority.decode())
        made.set_alpn_protocols(["h2"])
        made.load_cert_chain(self.keys / f"{hospital}.pem", self.keys / f"{hospital}.key")
        host, port = host_and_port(self.federation.mixer(mixer).address)
        with socket.create_connection((host, port), PATIENCE) as raw, made.wrap_socket(raw, server_hostname=mixer) as s:
            return s.getpeercert(binary_form=True) or b""

    def status(self, name: str) -> Status:
        with self.both(name) as mixers:
            return mixers.status()

    def message(self, hospital: str, number: int = 1) -> Messages:
        """A contribution, made anew."""
        return party_node._made(self.settings(hospital), number)

    def hand_in(self, hospital: str, mixer: str, message: bytes | None = None) -> bytes:
        """To one mixer alone."""
        made = self.message(hospital)
        with self.both(hospital) as both:
            due = made.to_a if mixer == "a" else made.to_b
            return both.contribute(mixer, due if message is None else message)

    def contribute(self, *names: str) -> None:
        """As the hospitals' nodes do it, which then stop again."""
        for name in names:
            with self.hospital(name), self.both(name) as both:
                wait_until(partial(_has_contributed, both, name), f"{name} contributed to both")

    def serve(self) -> None:
        """All have contributed, and the model is there."""
        self.contribute(*self.federation.names)
        self.wait_for(SERVING)

    def wait_for(self, state: str) -> None:
        with self.both(self.federation.names[0]) as mixers:

            def there() -> bool:
                status = mixers.status()
                assert status.state != FAILED or state == FAILED, status.reason
                return status.state == state

            wait_until(there, f"the round is {state}")

    def wait_for_through_failures(self, state: str) -> None:
        """However often the mixers do not answer meanwhile."""

        def there() -> bool:
            try:
                status = self.status(self.federation.names[0])
            except MixbayesError:
                return False
            return status.state == state and not status.unreachable

        wait_until(there, f"the round is {state}")

    def expected(self, rows: Columns) -> list[str]:
        """What the pooled table makes of them."""
        dictionary = self.federation.dictionary
        layout = Layout(dictionary)
        vector = np.stack([counted(layout, table).vector for table in self.tables.values()]).sum(
            axis=0, dtype=np.uint64
        )
        found = fixed_labels(layout, fixed_model(layout, vector), encode_query(dictionary, rows).codes)
        return [dictionary.classes[label] for label in found]

    def asks(self, name: str) -> bool:
        """Whether both mixers answer it again."""
        with self.both(name) as mixers:
            return not mixers.reports()[1]

    def labels(self, name: str, rows: Columns, *, private: bool = True) -> list[str]:
        """As `mixbayes classify` asks."""
        dictionary = self.federation.dictionary
        codes = encode_query(dictionary, rows).codes
        with at_mixers(self.federation, self.identity(name), self.keys) as desk:
            found = desk.labels(codes, rows, private=private, progress=lambda done: None)
        return [dictionary.classes[label] for label in found]


def make_site(folder: Path, **changes: Any) -> Site:
    """An authority, keys for everybody, and a table at every hospital."""
    federation = federation_from(agreement(**changes))
    site = Site(folder, federation)
    make_authority(site.authority)
    for name in (*federation.names, "a", "b"):
        site.certify(name)
    site.tables |= {name: table(seed) for seed, name in enumerate(federation.names)}
    return site


def left_over(before: set[threading.Thread]) -> list[str]:
    """Threads that were not there before, the pool of gRPC's own aside."""
    return sorted(thread.name for thread in threading.enumerate() if thread not in before)


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _has_contributed(both: BothMixers, name: str) -> bool:
    return all(name in both.report(mixer).contributed for mixer in ("a", "b"))


class Relay:
    """Stands between callers and one address; it can stop to pass anything on, or cut all connections."""

    def __init__(self, port: int) -> None:
        self.port = port
        """What lies behind it."""
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._server.getsockname()[1]}"
        self._passing = threading.Event()
        self._passing.set()
        self._stopped = threading.Event()
        self._left: int | None = None
        self._lock = threading.Lock()
        self._ends: list[socket.socket] = []
        self._all: list[socket.socket] = []
        self._threads: list[threading.Thread] = []

    @property
    def frozen(self) -> bool:
        return not self._passing.is_set()

    def freeze_after(self, size: int) -> None:
        """Once so many bytes have gone through from now on."""
        with self._lock:
            self._left = size

    def thaw(self) -> None:
        self._left = None
        self._passing.set()

    def cut(self) -> None:
        """Break all connections; new ones go through."""
        with self._lock:
            ends, self._ends = self._ends, []
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Relay:
        self._server.settimeout(0.05)
        self._start(self._accept)
        return self

    def __exit__(self, *ended: object) -> None:
        self._stopped.set()
        self._passing.set()
        self.cut()
        for thread in self._threads:
            thread.join(PATIENCE)
        for end in [*self._all, self._server]:
            end.close()

    def _start(self, work: Callable[..., None], *about: object) -> None:
        thread = threading.Thread(target=work, args=about, name="relay")
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._stopped.is_set():
            with suppress(OSError):
                near, _ = self._server.accept()
                try:
                    far = socket.create_connection(("127.0.0.1", self.port))
                except OSError:
                    near.close()
                    continue
                with self._lock:
                    self._ends += [near, far]
                    self._all += [near, far]
                self._start(self._pass, near, far)
                self._start(self._pass, far, near)

    def _pass(self, start: socket.socket, end: socket.socket) -> None:
        start.settimeout(None)
        with suppress(OSError):
            while data := start.recv(1 << 16):
                self._count(len(data))
                self._passing.wait()
                end.sendall(data)
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        with suppress(OSError):
            start.shutdown(socket.SHUT_RDWR)

    def _count(self, size: int) -> None:
        with self._lock:
            if self._left is not None:
                self._left -= size
                if self._left < 0:
                    self._passing.clear()


def at_work() -> list[str]:
    """The conversations at nodes in this process that are complete, without that about the supply of transfers."""
    names = (thread.name for thread in threading.enumerate())
    return [name for name in names if name.startswith("conversation") and name != f"conversation {SUPPLYING}"]


class Running:
    """A node as a process of its own."""

    def __init__(self, site: Site, *words: str) -> None:
        self.said: list[str] = []
        self.process = subprocess.Popen(
            [*COMMAND, *words, "--federation", str(site.file), "--keys", str(site.keys)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._listen)
        self._reader.start()

    @classmethod
    def mixer(cls, site: Site, name: str) -> Running:
        return cls(site, "mixer", "--name", name, "--state", str(site.state(name)))

    @classmethod
    def party(cls, site: Site, name: str) -> Running:
        data = site.folder / f"{name}.csv"
        write_csv(data, site.tables[name])
        return cls(site, "party", "--name", name, "--state", str(site.state(name)), "--data", str(data))

    def ready(self) -> Running:
        self.says('"ready"')
        return self

    def says(self, *words: str) -> None:
        def there() -> bool:
            assert self.process.poll() is None or self._has(words), self.all_said
            return self._has(words)

        wait_until(there, f"the process says {words}; it said {self.all_said}")

    @property
    def all_said(self) -> str:
        return "".join(self.said)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Its exit code."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self, patience: float = PATIENCE) -> int:
        code = self.process.wait(patience)
        self._reader.join(patience)
        return code

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *ended: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.wait()
        assert self.process.stderr
        self.process.stderr.close()

    def _has(self, words: tuple[str, ...]) -> bool:
        return any(all(word in line for word in words) for line in list(self.said))

    def _listen(self) -> None:
        assert self.process.stderr
        self.said.extend(iter(self.process.stderr.readline, ""))


def write_csv(path: Path, table: Columns) -> None:
    lines = [",".join(table.names), *(",".join(row) for row in zip(*map(table.texts, table.names), strict=True))]
    path.write_text("\n".join(lines) + "\n")


def command(site: Site, name: str, *words: str, timeout: float = PATIENCE) -> subprocess.CompletedProcess[str]:
    """One of a hospital's commands, to its end."""
    return subprocess.run(
        [*COMMAND, *words, "--federation", str(site.file), "--keys", str(site.keys), "--name", name],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
