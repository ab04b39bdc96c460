"""What becomes of a hospital's questions while somebody attacks mixer a at its door: python benchmarks/doors.py

    python benchmarks/doors.py [--seconds 15] [--connections 1100] [--files 1024] [--shared]

Both mixers are processes of `mixbayes mixer` on loopback that may open so many files. Attacks come one after the other,
each from an address of its own: silent connections, handshakes without a certificate, and calls that are begun and
reset, by a hospital and by a certificate of the authority that the agreement does not list. With --shared they come
from the address of the honest hospital, as if all stood behind one. That hospital goes on asking, over new connections
for every question, as a command does. The number behind an attack's name is what it did: connections that it made anew,
handshakes, calls. "slowest" is the longest time of a question, answered or not. Memory is mixer a's resident memory
before the attack, and some seconds after it. "log" is what mixer a wrote meanwhile, "named" the callers and addresses
there.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from attacks.knocking import Door, break_off, fail, hold

from mixbayes.agreement.addresses import host_and_port
from mixbayes.agreement.files import written
from mixbayes.keys.authority import make_request, sign
from mixbayes.node.identity import Identity
from mixbayes.node.log import logger
from mixbayes.node.rounds.state import SERVING
from mixbayes.node.serving.greeting import greeting
from mixbayes.parties.asking import numbering
from mixbayes.parties.with_mixers.asking import Asking
from mixbayes.parties.with_mixers.both_mixers import both_mixers
from mixbayes.parties.with_mixers.contributing import messages
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.errors import MixbayesError
from mixbayes.protocol.randomness import Randomness
from mixbayes.simulation.bench import questions
from mixbayes.simulation.crew import Crew
from mixbayes.simulation.stage import Stage, stage
from mixbayes.transport.watch import Watch

HONEST, ATTACKER, STRANGER = "north", "south", "stranger"
HERE = "127.0.0.1"
TIMEOUT = 20.0
RESETTING = 16
"""Connections of one caller that resets."""
SETTLING = 5.0
_ASK = "/mixbayes.wire.v1.Mixer/Ask"
_HEAD = f"{'attack':32} {'asked':>6} {'answered':>9} {'slowest s':>10} {'MB':>6} {'then':>6} {'log kB':>8}  named"


@dataclass(frozen=True)
class Attack:
    """A role, the certificate that it shows, and what it is told besides the door."""

    role: Callable[..., None]
    shows: str
    about: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Mixers:
    """Two processes, and where they write."""

    set_up: Stage
    processes: Mapping[str, subprocess.Popen[bytes]]

    def log(self, name: str) -> Path:
        return self.set_up.folder / f"{name}.log"

    def memory(self, name: str) -> float:
        """Megabytes."""
        status = Path(f"/proc/{self.processes[name].pid}/status").read_text()
        return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS"))


@dataclass
class Asked:
    """What became of the questions of an honest hospital."""

    asked: int = 0
    answered: int = 0
    slowest: float = 0.0


def main(seconds: float, connections: int, files: int, *, shared: bool = False) -> None:
    agreed = stage([HONEST, ATTACKER], _dictionary(), "shares", two_party=False, timeout=TIMEOUT)
    with agreed as set_up, Crew(preload="attacks.knocking") as crew:
        _certify_stranger(set_up)
        with _serving(set_up, files) as mixers:
            print(_HEAD)
            _measure(mixers, "none", lambda: _ask(set_up, seconds))
            for number, (name, attack) in enumerate(_attacks(set_up, connections).items(), start=2):
                door = _door(set_up, HERE if shared else f"127.0.0.{number}", attack.shows)
                under = _Attacked(crew, name, attack, door)
                _measure(mixers, name, lambda: _ask(set_up, seconds), under)


def _certify_stranger(set_up: Stage) -> None:
    keys = set_up.keys(STRANGER)
    make_request(STRANGER, keys)
    sign(keys / f"{STRANGER}.csr", set_up.folder / "authority", keys / f"{STRANGER}.pem")


def _attacks(set_up: Stage, connections: int) -> dict[str, Attack]:
    calls = _ASK, greeting(set_up.federation), RESETTING
    return {
        f"{connections} silent connections": Attack(hold, "", (connections,)),
        "failed handshakes": Attack(fail, ""),
        "resets by a hospital": Attack(break_off, ATTACKER, calls),
        "resets by a stranger": Attack(break_off, STRANGER, calls),
    }


def _door(set_up: Stage, source: str, name: str) -> Door:
    port = host_and_port(set_up.federation.mixer("a").address)[1]
    authority, keys = (set_up.folder / "authority" / "authority.pem").read_bytes(), set_up.keys(name)
    return Door(port, source, authority, str(keys / f"{name}.pem"), str(keys / f"{name}.key"))


@dataclass(frozen=True)
class _Attacked:
    """One attack, from its beginning to its end."""

    crew: Crew
    name: str
    attack: Attack
    door: Door

    def begin(self) -> None:
        self.crew.start(self.name, self.attack.role, self.door, *self.attack.about)
        self.crew.hear(self.name)

    def end(self) -> str:
        """What it did."""
        self.crew.tell(self.name, "enough")
        return f", {self.crew.hear(self.name):,}"


def _measure(mixers: Mixers, name: str, ask: Callable[[], Asked], under: _Attacked | None = None) -> None:
    before, said = mixers.memory("a"), mixers.log("a").stat().st_size
    if under:
        under.begin()
    asked = ask()
    if under:
        name += under.end()
    time.sleep(SETTLING)
    log = mixers.log("a").read_bytes()[said:]
    figures = f"{asked.asked:6} {asked.answered:9} {asked.slowest:10.1f} {before:6.0f} {mixers.memory('a'):6.0f}"
    print(f"{name:32} {figures} {len(log) / 1e3:8.1f}  {_named(log)}", flush=True)


def _ask(set_up: Stage, seconds: float) -> Asked:
    done, until = Asked(), time.monotonic() + seconds
    while time.monotonic() < until:
        begun = time.monotonic()
        done.asked += 1
        try:
            _question(set_up)
            done.answered += 1
        except MixbayesError:
            time.sleep(0.1)
        done.slowest = max(done.slowest, time.monotonic() - begun)
    return done


def _question(set_up: Stage) -> None:
    own, layout = _identity(set_up, HONEST), set_up.federation.layout
    with both_mixers(set_up.federation, own, Watch()) as mixers:
        asking = Asking(mixers, layout, numbering(own.seal))
        list(asking.labels(1, questions(layout, 1), private=True))
        asking.close()


def _named(log: bytes) -> str:
    """Whom the lines of a log name, and how many lines do."""
    lines = [json.loads(line) for line in log.splitlines() if line.startswith(b"{")]
    named = [str(line.get("caller") or line.get("address")) for line in lines if "caller" in line or "address" in line]
    return ", ".join(f"{name}: {named.count(name)} lines" for name in dict.fromkeys(named)) or "nobody"


@contextmanager
def _serving(set_up: Stage, files: int) -> Iterator[Mixers]:
    """Two mixers that have trained."""
    agreement = set_up.folder / "federation.toml"
    agreement.write_text(written(set_up.federation))
    with ExitStack() as stack:
        names = [mixer.name for mixer in set_up.federation.mixers]
        mixers = Mixers(set_up, {name: stack.enter_context(_started(set_up, name, agreement)) for name in names})
        for process in mixers.processes.values():
            stack.callback(process.terminate)
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (files, files))
        for name in set_up.federation.names:
            _contribute(set_up, name)
        with both_mixers(set_up.federation, _identity(set_up, HONEST), Watch()) as both:
            while both.status().state != SERVING:
                time.sleep(0.05)
        yield mixers


def _started(set_up: Stage, name: str, agreement: Path) -> subprocess.Popen[bytes]:
    options = ["--federation", str(agreement), "--name", name]
    folders = ["--keys", str(set_up.keys(name)), "--state", str(set_up.state(name))]
    command = [sys.executable, "-m", "mixbayes", "mixer", *options, *folders]
    with Mixers(set_up, {}).log(name).open("wb") as log:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=log)


def _contribute(set_up: Stage, name: str) -> None:
    federation = set_up.federation
    layout = federation.layout
    rows = Codes(questions(layout, 100), questions(layout, 100)[0] % layout.classes)
    made = messages(name, federation.digest(), 1, count(layout, rows), Randomness.from_system())
    with both_mixers(federation, _identity(set_up, name), Watch()) as mixers:
        _until_there(partial(mixers.contribute, "a", made.to_a))
        _until_there(partial(mixers.contribute, "b", made.to_b))


def _until_there(act: Callable[[], object]) -> None:
    """The mixers may still be starting."""
    until = time.monotonic() + TIMEOUT
    while True:
        try:
            act()
            return
        except MixbayesError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def _identity(set_up: Stage, name: str) -> Identity:
    return Identity(set_up.keys(name), name, logger("benchmark"))


def _dictionary() -> Dictionary:
    attribute = Nominal(name="tumour", values=("none", "small", "large"))
    return Dictionary(class_column="class", classes=("ill", "well"), attributes=(attribute,))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--connections", type=int, default=1100)
    parser.add_argument("--files", type=int, default=1024)
    parser.add_argument("--shared", action="store_true")
    chosen = parser.parse_args()
    main(chosen.seconds, chosen.connections, chosen.files, shared=chosen.shared)
