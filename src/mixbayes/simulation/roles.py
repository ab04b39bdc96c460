"""What each process of a simulation is: a node as a mixer or a hospital runs it, told by its parent when to begin."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import AbstractContextManager
from multiprocessing.connection import Connection

from mixbayes.mixers import node as mixer_node
from mixbayes.node.log import Log, logger
from mixbayes.parties.alone import node as partner_node
from mixbayes.parties.settings import RunningHospital
from mixbayes.parties.settings import Settings as PartySettings
from mixbayes.parties.with_mixers import node as party_node
from mixbayes.simulation.crew import tidy_up_undisturbed
from mixbayes.transport.conversation import ASKING, TRAINING
from mixbayes.transport.meter import Meter, Moved

READY = "ready"
FIRST_ROUND = 1
PURPOSES = TRAINING, ASKING


def mixer(report: Connection, settings: mixer_node.Settings) -> None:
    """A mixer. It is ready once it listens."""
    with mixer_node.running(settings, _quiet(settings.name)) as running:
        report.send(READY)
        _tell_what_was_seen(report, [running.meter])


def hospital(report: Connection, settings: PartySettings) -> None:
    """A hospital. It is ready before it begins, so that its parent can time the contribution."""
    report.send(READY)
    report.recv()
    begin = partner_node.running if settings.federation.two_party else party_node.running
    node: AbstractContextManager[RunningHospital] = begin(settings, _quiet(settings.name))
    with node as running:
        report.send(READY)
        _tell_what_was_seen(report, running.meters)


def _tell_what_was_seen(report: Connection, meters: Sequence[Meter]) -> None:
    """By purpose, over the conversations that this node opened; whenever the parent asks, until it has hung up."""
    while True:
        try:
            report.recv()
        except EOFError:
            tidy_up_undisturbed()
            return
        report.send({purpose: sum((meter.total(purpose) for meter in meters), Moved()) for purpose in PURPOSES})


def _quiet(name: str) -> Log:
    """A simulation talks through its parent."""
    return logger(name, io.StringIO())
