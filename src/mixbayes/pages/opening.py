"""A page for a node at work: the hospital's, or a mixer's."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from mixbayes.agreement.agreement import Federation
from mixbayes.mixers.node import Mixer
from mixbayes.node.identity import Identity
from mixbayes.node.log import Log
from mixbayes.node.rounds.status import Status
from mixbayes.pages.at_hospital import AtHospital
from mixbayes.pages.at_mixer import AtMixer
from mixbayes.pages.job import Job
from mixbayes.pages.known import Known
from mixbayes.pages.node import others_of
from mixbayes.pages.server import PageSettings, page_at
from mixbayes.pages.watching import Watching
from mixbayes.parties.examination import Patient
from mixbayes.parties.settings import RunningHospital
from mixbayes.protocol.errors import LocalError

__all__ = ["PageSettings", "hospital_page", "mixer_page"]


@contextmanager
def hospital_page(
    settings: PageSettings, patient: Patient, federation: Federation, log: Log, running: RunningHospital
) -> Iterator[int]:
    """The page of a hospital's node; its port."""
    if patient.data is None or patient.state is None:
        raise LocalError("A hospital's page was opened without its table or its state folder.")
    node = AtHospital(
        federation,
        patient.name,
        patient.keys,
        patient.state,
        patient,
        _watching(federation, patient.name, running.status, log),
        identity=Identity(patient.keys, patient.name, log, federation.key_of(patient.name)),
        data=patient.data,
        how=patient.how,
        known=Known(patient.state, federation.digest()),
        looking=Job("looking at the table", time.time, log),
        evaluating=Job("evaluating", time.time, log),
    )
    with page_at(settings, node, log) as port:
        yield port


@contextmanager
def mixer_page(
    settings: PageSettings, patient: Patient, federation: Federation, log: Log, mixer: Mixer
) -> Iterator[int]:
    """The page of a mixer; its port."""
    if patient.state is None:
        raise LocalError("A mixer's page was opened without its state folder.")
    look = partial(mixer.status, federation.names[0])
    node = AtMixer(
        federation,
        patient.name,
        patient.keys,
        patient.state,
        patient,
        _watching(federation, patient.name, look, log),
        status_of=mixer.status,
    )
    with page_at(settings, node, log) as port:
        yield port


def _watching(federation: Federation, name: str, look: Callable[[], Status], log: Log) -> Watching:
    return Watching(look, others_of(federation, name), time.time, log)
