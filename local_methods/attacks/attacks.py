"""What an attacker gets from a release: patients given back, who was in the table, and what is told of them."""

from __future__ import annotations

from dataclasses import dataclass

from mixbayes.local_methods.attacks.people import FEWEST, Estimate, People
from mixbayes.local_methods.attacks.reconstruction import Reconstruction, of_pair
from mixbayes.local_methods.attacks.rehearsal import OfPeople
from mixbayes.local_methods.measures.asked import Asked, Undefined
from mixbayes.local_methods.measures.pair import Pair
from mixbayes.local_methods.tables import Table

NO_HOLDOUT = "it needs people of the same kind who were not in the original: name a table of them as holdout"


@dataclass(frozen=True)
class Attacks:
    """The three measures, None where these tables do not have one."""

    reconstruction: Reconstruction | None
    membership: Estimate | None
    attribute_inference: Estimate | None
    anybody: float | None
    """The share of attributes that the release tells of people who were not in the table."""

    @staticmethod
    def of(pair: Pair, tables: tuple[Table, Table], holdout: Table | None, seed: int, asked: Asked) -> Attacks:
        """On a release; `tables` are the original and the release as they are, with their classes."""
        people = asked("membership", lambda: _of_people(tables, holdout, seed))
        if people is None:
            asked.why_not["attribute_inference"] = asked.why_not["membership"]
        return Attacks.found(asked("reconstruction", lambda: _reconstructed(pair, seed)), people)

    @staticmethod
    def found(reconstruction: Reconstruction | None, people: OfPeople | None) -> Attacks:
        """From what was measured: None where nothing was."""
        if people is None:
            return Attacks(reconstruction, None, None, None)
        return Attacks(reconstruction, people.membership, people.attribute_inference, people.anybody.value)


def _reconstructed(pair: Pair, seed: int) -> Reconstruction:
    if not pair.released.rows:
        raise Undefined("the release has no row")
    return of_pair(pair, None, seed)


def _of_people(tables: tuple[Table, Table], holdout: Table | None, seed: int) -> OfPeople:
    if holdout is None:
        raise Undefined(NO_HOLDOUT)
    people = People.of(tables[0], holdout, tables[1], seed)
    if not people.enough:
        raise Undefined(f"the original and the holdout need {FEWEST} people each, and the release a row")
    return OfPeople.of(people)
