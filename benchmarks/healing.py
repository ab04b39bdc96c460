"""How long a hospital waits for an answer once a network is healed that had lost all that was sent to both mixers.

python benchmarks/healing.py [--lost SECONDS [SECONDS ...]]

Two mixers and two hospitals run on this machine. Everybody dials the mixers through an `Outage`: while it is lost it
passes nothing on and closes nothing, and what was connected stays dead afterwards.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import numpy as np

from mixbayes.mixers.node import Settings as MixerSettings
from mixbayes.node.identity import Identity
from mixbayes.node.log import logger
from mixbayes.node.rounds.state import SERVING
from mixbayes.parties.desk import AtOwnNode, at_own_node
from mixbayes.parties.settings import Settings as PartySettings
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.errors import MixbayesError
from mixbayes.simulation import roles
from mixbayes.simulation.bench import Task, dictionary, questions
from mixbayes.simulation.crew import Crew
from mixbayes.simulation.outage import Outage
from mixbayes.simulation.stage import Stage, free_ports, stage
from mixbayes.tables.columns import Columns

HOSPITALS = "north", "south"
LOST = (8.0, 30.0)
ROWS = 200
PATIENCE = 120.0
"""Seconds after which a network is called not healed."""
_PAUSE = 0.1


@dataclass
class Played:
    """A federation at work, a hospital's application that asks, and the networks to both mixers."""

    desk: AtOwnNode
    rows: Columns
    outages: list[Outage] = field(default_factory=list)

    def asked(self) -> MixbayesError | None:
        """Have one row classified. Returns why there is no answer."""
        codes = np.zeros((len(self.rows.names), 1), np.int32)  # which the own node does not look at
        try:
            self.desk.labels(codes, self.rows, private=True, progress=lambda done: None)
        except MixbayesError as error:
            return error
        return None


def main(lost: Sequence[float] = LOST) -> None:
    print(f"{'lost, s':>8} {'asked meanwhile':>16} {'answered after, s':>18} {'failed after':>13}")
    with playing() as played:
        for seconds in lost:
            for asks in (True, False):
                waited, failed = healed(played, seconds, asks=asks)
                print(
                    f"{seconds:8g} {'again and again' if asks else 'nothing':>16} {waited:18.1f} {failed:13}",
                    flush=True,
                )


def healed(played: Played, seconds: float, *, asks: bool) -> tuple[float, int]:
    """Seconds from the end of an outage to the first answer, and how many questions that began later had failed."""
    if error := played.asked():
        raise error
    for outage in played.outages:
        outage.lose()
    end = time.monotonic() + seconds
    healing = threading.Timer(seconds, lambda: [outage.heal() for outage in played.outages])
    healing.start()
    if not asks:
        healing.join()
    failed = 0
    while time.monotonic() < end + PATIENCE:
        began = time.monotonic()
        if played.asked() is None and time.monotonic() > end:
            return time.monotonic() - end, failed
        failed += began > end
        time.sleep(_PAUSE)
    raise SystemExit(f"{PATIENCE:g} s after {seconds:g} s there was still no answer.")


@contextmanager
def playing() -> Iterator[Played]:
    """Both mixers serve, and both hospitals' nodes run."""
    agreed = dictionary(Task("private", 1))
    with ExitStack() as stack:
        set_up = stack.enter_context(stage(HOSPITALS, agreed, "shares", two_party=False, timeout=60.0))
        crew = stack.enter_context(Crew(preload=roles.__name__))
        outages = list(_mixers(stack, crew, set_up))
        _hospitals(crew, set_up)
        name = set_up.federation.names[0]
        identity = Identity(set_up.keys(name), name, logger("benchmark"))
        desk = stack.enter_context(at_own_node(set_up.federation, identity, set_up.keys(name)))
        until = time.monotonic() + PATIENCE
        while desk.status().state != SERVING and time.monotonic() < until:
            time.sleep(0.05)
        missing = tuple(np.array([""]) for _ in agreed.names)
        yield Played(desk, Columns.of(agreed.names, missing, 1), outages)


def _mixers(stack: ExitStack, crew: Crew, set_up: Stage) -> Iterator[Outage]:
    federation = set_up.federation
    for mixer, port in zip(federation.mixers, free_ports(len(federation.mixers)), strict=True):
        yield stack.enter_context(Outage(port, int(mixer.address.rpartition(":")[2])))
        title, keys, state = federation.title(mixer.name), set_up.keys(mixer.name), set_up.state(mixer.name)
        crew.start(title, roles.mixer, MixerSettings(federation, mixer.name, keys, state, f"127.0.0.1:{port}"))
        crew.hear(title)


def _hospitals(crew: Crew, set_up: Stage) -> None:
    federation, layout, random = set_up.federation, set_up.federation.layout, np.random.default_rng(3)
    for name in federation.names:
        rows = Codes(questions(layout, ROWS), random.integers(0, layout.classes, ROWS).astype(np.int32))
        settings = PartySettings(federation, name, set_up.keys(name), set_up.state(name), count(layout, rows))
        crew.start(name, roles.hospital, settings)
        crew.hear(name)
        crew.tell(name, "contribute")
    for name in federation.names:
        crew.hear(name)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lost", type=float, nargs="+", default=list(LOST), metavar="SECONDS")
    main(parser.parse_args().lost)
