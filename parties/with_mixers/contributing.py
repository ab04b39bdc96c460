"""A hospital contributes: its counts in two shares, kept on disk until both mixers have them, once to every round.

`messages` makes the two messages of a contribution, `Outbox` keeps them so that a restart sends the same bytes again,
and `Contributor` brings them to the mixers whenever a round collects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mixbayes.agreement.agreement import Privacy
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.datastore import JOINT_TEST, About, Clock, ContributionTables, Datastore
from mixbayes.node.log import Log, logged
from mixbayes.node.own_releases import charge_own, own_in_words
from mixbayes.node.pauses import HOPELESS
from mixbayes.node.privacy import GivenAway, spent, too_much
from mixbayes.node.recipes import best_recipe, remember_best
from mixbayes.node.repeated import Repeated
from mixbayes.node.rounds.state import COLLECTING, OVER
from mixbayes.node.rounds.status import Status, combined
from mixbayes.parties.open_question import NoteOfNode, OpenQuestion
from mixbayes.parties.own_patients import other_counts
from mixbayes.parties.with_mixers.both_mixers import BothMixers
from mixbayes.parties.with_mixers.rounds_at_both import NAMES
from mixbayes.privacy.loss import Release
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.bayes.evaluation import Sheet
from mixbayes.protocol.bayes.recipe import JOINT, Recipe
from mixbayes.protocol.errors import MixbayesError, OutOfRange
from mixbayes.protocol.randomness import SEED_BYTES, Randomness
from mixbayes.protocol.shares import split
from mixbayes.tables.private_release import PrivateRelease
from mixbayes.transport.contribution import ID_BYTES, Contribution, encode
from mixbayes.transport.errors import AlreadyContributed, RefusedByPolicy

_WHATEVER_SET = ""
"""A hospital does not know with whom its contribution is counted; there is one set for a round."""
_WITHOUT_THIS_NODE = "drawn without this node"
"""What the ledger says of noise of which only the mixers know, before a number."""


@dataclass(frozen=True)
class Messages:
    """One contribution, as it goes to mixer a and to mixer b."""

    id: bytes
    to_a: bytes = field(repr=False)
    to_b: bytes = field(repr=False)
    counts: bytes = field(default=b"", repr=False)
    """What is shared between them; it is not sent."""


def messages(hospital: str, agreement: str, number: int, vector: Words, random: Randomness) -> Messages:
    """For mixer a a new seed, for mixer b the counts masked by it; both under one new id."""
    share, contribution = split(vector, random.bytes(SEED_BYTES)), random.bytes(ID_BYTES)
    to_a, to_b = (
        encode(Contribution(bytes.fromhex(agreement), number, hospital, contribution, part))
        for part in (share.seed, share.masked)
    )
    return Messages(contribution, to_a, to_b, vector.tobytes())


class Outbox:
    """A hospital's contributions on disk. `me` is its title."""

    def __init__(
        self,
        database: Database,
        me: str,
        agreement: str,
        clock: Clock,
        most: int,
        privacy: Privacy | None = None,
        release: Release | None = None,
        test_release: Release | None = None,
        own: PrivateRelease | None = None,
    ) -> None:
        """The hospital contributes to at most `most` sealed rounds under this agreement, whatever mixers ask for.

        Where noise is agreed, `release` is what the counts of a round give away of a patient, and `test_release` what
        its joint test does. `own` is what the hospital's counts are made of, where they are those of an own release.
        """
        self._datastore = Datastore(database, ContributionTables, me, clock)
        self._me = me
        self._agreement = agreement
        self._most = most
        self._privacy = privacy
        self._release = release
        self._test_release = test_release
        self._own = own
        self._said: dict[str, int] = {}
        """By mixer, how often it last said that it has charged noise."""

    def open_question(self) -> OpenQuestion:
        """The last question of this node, which may be open since it ran before."""
        return OpenQuestion(NoteOfNode(self._datastore))

    def refuse_other_counts(self, number: int, vector: Words) -> None:
        """Raise if these are not the counts that were contributed to the round: the table has changed since."""
        with self._datastore.read() as tables:
            if tables.same_counted(self._agreement, number, vector.tobytes()):
                return
        raise other_counts(self._me, number)

    def remember_best(self, recipe: Recipe) -> None:
        remember_best(self._datastore, self._agreement, self._me, recipe)

    def best(self) -> Recipe | None:
        return best_recipe(self._datastore, self._agreement)

    def evaluated(self, number: int, sheet: Sheet) -> None:
        """This hospital has had a classifier judged on its own patients."""
        about: About = {"round": number, "recipe": str(sheet.recipe), "opened": sheet.opened}
        self.note("evaluated", "both mixers", about)

    def give_aside(self, number: int, rows: int) -> None:
        """The rows kept aside are about to be judged. They may get their noise as soon as they are: it is charged."""
        with self._datastore.write() as tables:
            release, privacy = self._test_release, self._privacy
            if release and privacy and not tables.noise_charged(self._agreement, number, JOINT_TEST):
                if why := too_much(tables.given_away(), release, privacy):
                    raise RefusedByPolicy(
                        f"{self._me} gives no rows for the joint test: {why}. Agree on a larger total."
                    )
                tables.charge_noise(self._agreement, number, JOINT_TEST, release, None)
            tables.note(self._me, "gives rows kept aside", "both mixers", {"round": number, "rows hidden": rows})

    def had_joint_test(self, number: int, opened: int) -> None:
        """This hospital has asked for the figures of the joint test."""
        self.note("asked for the joint test", "both mixers", {"round": number, "opened": opened})

    def noise_drawn(self, number: int, charges: Mapping[str, int]) -> None:
        """By mixer, how often it says that it has charged noise under this agreement. It may have lost its ledger.

        What both have charged counts in this hospital's ledger too, even if it knows nothing of it: it may have begun
        with an empty state folder, or with an old backup. One mixer alone can make nobody charge anything.
        """
        if not self._release or charges == self._said:
            return
        with self._datastore.write() as tables:
            for mixer, times in charges.items():
                tables.put_drawn(self._agreement, mixer, min(times, self._most))
            drawn = tables.drawn(self._agreement)
            if set(charges) == set(NAMES):
                self._catch_up(tables, number, min(drawn.values()), self._release)
        self._said = dict(charges)

    def due(self, number: int, make: Callable[[], Messages]) -> dict[str, bytes]:
        """The messages that are not acknowledged, by mixer. They are made once for a round, and lie on disk first."""
        with self._datastore.write() as tables:
            if not tables.has_contribution(self._agreement, number):
                self._refuse_too_many(tables)
                self._charge_noise(tables, number)
                made = make()
                self._refuse_changed(tables, made.counts)
                tables.put_counted(self._agreement, number, made.counts)
                for mixer, message in (("a", made.to_a), ("b", made.to_b)):
                    tables.add_message(self._agreement, number, mixer, made.id, message)
            return tables.due_messages(self._agreement, number)

    def acknowledged(self, number: int, mixer: str, receipt: bytes, size: int) -> None:
        """A mixer has its message on disk. Once both have theirs, both messages are deleted here."""
        with self._datastore.write() as tables:
            if not tables.acknowledge(self._agreement, number, mixer, receipt):
                raise OutOfRange(f"mixer {mixer}", "contribution", "it acknowledged something else")
            done = tables.all_acknowledged(self._agreement, number)
            if done:
                tables.delete_messages(self._agreement, number)
            about: About = {"round": number, "bytes": size, "contribution": receipt.hex()}
            tables.note(self._me, "contributed", f"mixer {mixer}", about)
        if done:
            self._datastore.empty_log()

    def sealed(self, number: int) -> None:
        """The mixers have fixed the set of this round: it counts among the rounds that the agreement allows."""
        with self._datastore.write() as tables:
            tables.count_as_sealed(self._agreement, number)
            tables.delete_messages(self._agreement, number)

    def last_sealed(self) -> int:
        """The number of the last sealed round to which this hospital has a contribution, or 0."""
        with self._datastore.read() as tables:
            return tables.last_sealed()

    def asked(self, number: int, rows: int, recipe: Recipe = JOINT, *, shown: bool, applications: int = 1) -> None:
        """So many applications of this hospital have had rows classified together."""
        about: dict[str, int | str] = {"round": number, "rows shown" if shown else "rows hidden": rows}
        about |= {"applications": applications} if applications > 1 else {}
        self.note("asked", "both mixers", about | ({"recipe": str(recipe)} if recipe != JOINT else {}))

    def note(self, verb: str, subject: str, about: About) -> None:
        """An audit entry of something that this hospital has done."""
        with self._datastore.write() as tables:
            tables.note(self._me, verb, subject, about)

    def given_away(self) -> GivenAway:
        """All that was ever charged here."""
        with self._datastore.read() as tables:
            return tables.given_away()

    def own_releases(self) -> str:
        """In words, what the own releases of this hospital's table promise together, where there are several."""
        return own_in_words(self.given_away())

    def noise_spent(self) -> float:
        """The ε of all noise on this hospital's contributions; nothing where no noise is agreed."""
        if not (privacy := self._privacy):
            return 0.0
        with self._datastore.read() as tables:
            return spent(tables.given_away(), privacy)

    def _catch_up(self, tables: ContributionTables, number: int, drawn: int, release: Release) -> None:
        own = tables.noise_charges(self._agreement)
        if own >= drawn:
            return
        for at in range(own, drawn):
            tables.charge_noise(self._agreement, number, f"{_WITHOUT_THIS_NODE} {at}", release, None)
        about: About = {"round": number, "releases": drawn - own, "why": _WITHOUT_THIS_NODE}
        tables.note(self._me, "charged noise", "both mixers", about)

    def _charge_noise(self, tables: ContributionTables, number: int) -> None:
        """A contribution may get its noise as soon as it has left: that is charged before.

        A round that ended before anything was drawn leaves its charge to the next one. Else whoever closes rounds
        could use up everybody's ledger. Of an own release the noise hides nothing: that is charged by itself, once.
        """
        if self._own:
            charge_own(tables, self._me, self._own, self._privacy)
            if self._release:
                tables.charge_noise(self._agreement, number, _WHATEVER_SET, None, None)
            return
        drawn = max(tables.drawn(self._agreement).values(), default=0)
        if not self._release or not self._privacy:
            return
        if tables.noise_charges(self._agreement) > drawn and not tables.noise_for_nothing(self._agreement):
            return
        if why := too_much(tables.given_away(), self._release, self._privacy):
            raise RefusedByPolicy(f"{self._me} does not contribute: {why}. Agree on a larger total.")
        tables.charge_noise(self._agreement, number, _WHATEVER_SET, self._release, None)

    def _refuse_changed(self, tables: ContributionTables, counts: bytes) -> None:
        """Refuse a changed table where noise hides which rows are kept aside.

        They are kept aside by their places in the table. If a row goes, all behind it get other places, so that two
        rounds would tell of many rows what the ledger charges for one.
        """
        if self._test_release and tables.counted_otherwise(self._agreement, counts):
            raise RefusedByPolicy(
                f"{self._me} does not contribute: its table has changed since an earlier round, and some of its rows "
                "are kept aside (test_share). With noise a changed table needs a new agreement, under which all rows "
                "are dealt anew: another name for the federation makes one."
            )

    def _refuse_too_many(self, tables: ContributionTables) -> None:
        sealed = tables.sealed_rounds(self._agreement)
        if sealed >= self._most:
            raise RefusedByPolicy(
                f"{self._me} has contributed to {sealed} rounds, as many as the agreement allows. Agree on more "
                "(policy, rounds)."
            )


class Contributor:
    """Contributes once to every round that collects: to both mixers, and the same bytes however often it is tried."""

    def __init__(
        self, name: str, mixers: BothMixers, outbox: Outbox, make: Callable[[int], Messages], log: Log
    ) -> None:
        self._name = name
        self._mixers = mixers
        self._outbox = outbox
        self._make = make
        self._log = log
        self._last_line: tuple[object, ...] = ()
        self._repeated = Repeated()
        self.round = 0
        """The last round of which both mixers reported."""
        self._sealed = self._sent = self._lost = 0
        """The last round that was seen sealed, that has this contribution, and of which a mixer lost it."""

    def step(self) -> str:
        """Send both mixers what is due. Returns the state of the round, or nothing if a mixer does not answer."""
        answered, silent = self._mixers.reports()
        for error in silent.values():
            if isinstance(error, HOPELESS):
                raise error
        if answered:
            charges = {mixer: one.noise_charges for mixer, one in answered.items()}
            self._outbox.noise_drawn(max(one.round for one in answered.values()), charges)
        for mixer, status in answered.items():
            self._contribute(mixer, status)
        if len(answered) < 2:
            why = "; ".join(str(error) for error in silent.values())
            self._repeated.say(why, self._log.info, "waiting", why=why)
            return ""
        status = combined(list(answered.values()), silent)
        self.round = status.round
        self._log_once(status.state, round=status.round, missing=", ".join(status.missing), reason=status.reason)
        self._notice_sealing(status)
        return status.state

    def begin(self) -> None:
        """The first step. Only an error that waiting cannot mend ends the node."""
        try:
            self.step()
        except HOPELESS:
            raise
        except MixbayesError as error:
            logged(self._log, error, "tried in vain")

    def _contribute(self, mixer: str, status: Status) -> None:
        """Send this mixer its message, if its round collects and it has none."""
        if status.state == COLLECTING and self._name not in status.contributed:
            self._send(mixer, status.round)
        elif self._name in status.contributed and self._sent != status.round:
            self._sent = status.round
            self._log.info("counted already", round=status.round, why="what was sent before counts in this round")

    def _notice_sealing(self, status: Status) -> None:
        """Count each sealed round once. One that was sealed without this hospital counts too: it may ask there."""
        if status.state in (COLLECTING, *OVER) or self._sealed == status.round:
            return
        self._sealed = status.round
        self._outbox.sealed(status.round)
        if self._name not in status.missing:
            return
        why = "its contribution was not at both mixers when the round was sealed; the next round counts it again"
        self._log.warning("left out of the round", round=status.round, why=why)

    def _send(self, mixer: str, number: int) -> None:
        due = self._outbox.due(number, lambda: self._make(number))
        if mixer not in due:
            self._warn_of_loss(mixer, number)
            return
        try:
            receipt = self._mixers.contribute(mixer, due[mixer])
        except AlreadyContributed as error:
            logged(self._log, error, "not contributed", round=number)
            return
        self._sent = number
        self._outbox.acknowledged(number, mixer, receipt, len(due[mixer]))
        self._log.info("contributed", round=number, to=f"mixer {mixer}", bytes=len(due[mixer]))

    def _warn_of_loss(self, mixer: str, number: int) -> None:
        if self._lost != number:
            self._lost = number
            why = f"mixer {mixer} had acknowledged a contribution and has none; the next round will count this hospital"
            self._log.warning("lost", round=number, why=why, remedy="mixbayes round close, then mixbayes round new")

    def _log_once(self, event: str, **about: str | int) -> None:
        """A line in the log, unless the last one said the same."""
        if self._last_line != (line := (event, *about.values())):
            self._last_line = line
            self._log.info(event, **about)
