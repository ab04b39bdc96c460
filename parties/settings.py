"""The settings of a hospital's node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Thread

from mixbayes.agreement.agreement import Federation
from mixbayes.node.disk.audit import LONGEST_TEXT
from mixbayes.node.observed import Observed
from mixbayes.node.rounds.status import Status
from mixbayes.parties.own_patients import OwnPatients
from mixbayes.protocol.arrays import Words
from mixbayes.tables.folding import Patients
from mixbayes.tables.private_release import PrivateRelease
from mixbayes.transport.meter import Meter

ANYWHERE = "127.0.0.1:0"


@dataclass(frozen=True)
class Settings:
    """What the operator decides. `vector` holds the hospital's counts, fold after fold."""

    federation: Federation
    name: str
    keys: Path
    state: Path
    vector: Words = field(repr=False)
    rows: int = 0
    listen: str = ANYWHERE
    listen_partner: str = ""
    """Where the listening hospital of two listens, if not at the agreed address."""
    reflection: bool = False
    protection: str = ""
    """What was done to the table before it was counted."""
    guarantee: str = ""
    """What was verified of the protected table."""
    changed: str = ""
    """What protecting changed of the counts, and who has which promise."""
    own_release: PrivateRelease | None = None
    """What was counted, where that is a release with a promise of its own."""
    unprotected: Words | None = field(default=None, repr=False)
    """Where a release was counted, the counts of the table as it is, for the hospital's own classifier. They stay in
    this node's memory."""
    patients: Patients | None = field(default=None, repr=False)
    """Rows of the table, by which classifiers are judged."""
    aside: Patients | None = field(default=None, repr=False)
    """Rows that are not counted, by which the joint classifier is judged."""

    @cached_property
    def own_patients(self) -> OwnPatients:
        """What the hospital has without asking anybody: the same for all who ask for it, with what it has computed."""
        private = self.own_release is not None
        return OwnPatients(
            self.federation.layout, self.vector, self.patients, self.aside, self.unprotected, hides_rows=private
        )

    @property
    def protection_text(self) -> str:
        """The protection, the guarantee and what they change, for the hospital's own applications."""
        said = f"{self.protection}: {self.guarantee}" if self.protection else ""
        return f"{said}. {self.changed}" if said and self.changed else said

    @property
    def audited_protection(self) -> dict[str, int | str]:
        """The protection and the guarantee, for the audit trail."""
        return {"method": self.protection[:LONGEST_TEXT], "guarantee": self.guarantee[:LONGEST_TEXT]}


@dataclass(frozen=True)
class RunningHospital:
    """A hospital at work. The meters count what goes between it and those it dials."""

    port: int
    observed: Observed
    status: Callable[[], Status]
    """How the round stands, asked of all who report it."""
    meters: tuple[Meter, ...] = ()
    threads: tuple[Thread, ...] = ()
    """If one of them ends, the node is of no use."""
