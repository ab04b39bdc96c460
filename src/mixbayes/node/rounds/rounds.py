"""The rounds of a computing party: each change takes the record from disk, applies one event, and saves the result.

`record.py` and `state.py` say what an event does. This file does it in one transaction together with its audit entry,
which is on disk before anybody is answered, and it deletes what a round needs no more.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from mixbayes.agreement.agreement import Federation
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.datastore import JOINT_TEST, About, Clock, Datastore, RoundTables
from mixbayes.node.observed import RoundSeen
from mixbayes.node.own_releases import charge_own
from mixbayes.node.privacy import GivenAway, spent, too_much
from mixbayes.node.rounds.draw_notes import NotesOnDisk
from mixbayes.node.rounds.record import Held, Round
from mixbayes.node.rounds.state import SERVING
from mixbayes.node.rounds.status import Status, status_of
from mixbayes.privacy.loss import Release
from mixbayes.protocol.bayes.agreed_set import set_digest
from mixbayes.protocol.bayes.tossing import Draw
from mixbayes.protocol.bayes.verdicts import MOST_OPENINGS, KeptVerdict
from mixbayes.protocol.errors import DifferentSets, LocalError
from mixbayes.protocol.randomness import SEED_BYTES
from mixbayes.tables.private_release import PrivateRelease
from mixbayes.transport.errors import AlreadyContributed, RefusedByPolicy, RoundFailed, TooEarly

APART = 1000
"""Two parties may be this many rounds apart: each start of one of them under another agreement begins a round there."""
_REPLACED = "another agreement took its place"
Listener = Callable[[int, str], None]
"""Takes a round's number and its new state."""


class Rounds:
    """What one computing party has on disk about its rounds. `me` is its title."""

    def __init__(self, database: Database, federation: Federation, me: str, clock: Clock) -> None:
        self.datastore = Datastore(database, RoundTables, me, clock)
        self.federation = federation
        self.me = me
        self.clock = clock
        self._listener: Listener = lambda number, state: None
        self._changes: list[Round] = []
        self._deleted = False
        self._drawing = threading.Lock()
        self.replaced: int | None = None
        """The round that was begun under another agreement, and that ended when this one took its place."""
        self._begin()

    def when_changed(self, listener: Listener) -> None:
        """Call this after every change of a round's state or model, once the change is on disk."""
        self._listener = listener

    def current(self) -> Round:
        """The last round."""
        with self.datastore.read() as tables:
            return tables.last_round()

    def last_state(self) -> Round:
        """The last round without its contributions."""
        with self.datastore.read() as tables:
            return tables.last_state()

    def last_sealed(self) -> int:
        """The number of the last round that was sealed, or 0."""
        with self.datastore.read() as tables:
            return tables.last_sealed()

    def contributions(self, number: int) -> dict[str, Held]:
        """By hospital."""
        with self.datastore.read() as tables:
            return tables.contributions(number)

    def messages(self, number: int) -> dict[str, bytes]:
        """What the hospitals of the sealed set sent, by hospital, for a training of it.

        It is kept until the round's model serves; if recipes or evaluations need it, until the round ends.
        """
        with self.datastore.read() as tables:
            tables.last_state().train(number)
            return tables.messages(number)

    def counted_message(self, number: int, hospital: str) -> bytes:
        """What this hospital sent that the model of the round counts, where the agreement has it kept so long."""
        with self.datastore.read() as tables:
            tables.last_state().answer(number)
            return tables.messages(number)[hospital]

    def recipe_model(self, number: int, hospital: str, recipe: str) -> tuple[bytes, bytes] | None:
        """Which training this hospital's model of a recipe comes from, and the model, if there is one."""
        with self.datastore.read() as tables:
            return tables.recipe_model(number, hospital, recipe)

    def keep_recipe_model(self, number: int, hospital: str, recipe: str, run: bytes, model: bytes) -> None:
        """Write down this party's share of a hospital's own model, which answers as long as the round serves."""
        with self._change() as tables:
            tables.last_state().answer(number)
            tables.put_recipe_model(number, hospital, recipe, run, model)
            about: About = {"round": number, "recipe": recipe, "bytes": len(model), "run": run.hex()}
            tables.note(self.federation.title(hospital), "trained a recipe", self.me, about)

    def model(self, number: int) -> tuple[bytes, bytes]:
        """The training and its model."""
        with self.datastore.read() as tables:
            found = tables.model(number)
        if found is None:
            raise TooEarly(f"{self.me} has no model of round {number}.")
        return found

    def budget_of(self, number: int, hospital: str) -> tuple[int, int]:
        """A hospital's budget of rows in this round, and what is left of it."""
        with self.datastore.read() as tables:
            _, rows = tables.asked.spent(number, hospital)
        return self.federation.policy.budget, self.federation.policy.budget - rows

    def status(self, hospital: str, waiting: str = "") -> Status:
        """How the current round stands, for one hospital. `waiting` says what the round waits for."""
        now = self.current()
        found = status_of(now, self.federation.names, *self.budget_of(now.number, hospital), waiting)
        return replace(found, epsilon_spent=self.noise_spent(), noise_charges=self._noise_charges())

    def charge_own(self, release: PrivateRelease) -> None:
        """At a hospital: charge a release of its own table before it counts."""
        with self._change() as tables:
            charge_own(tables, self.me, release, self.federation.privacy)

    def seen(self, hospital: str | None = None, waiting: str = "") -> RoundSeen:
        """The current round, without what only the hospital that asks is told. At a hospital, with its own budget."""
        with self.datastore.read() as tables:
            now = tables.last_round()
            questions, rows = tables.asked.spent_by_all(now.number)
            _, own = tables.asked.spent(now.number, hospital) if hospital else (0, 0)
        budget = self.federation.policy.budget if hospital else 0
        status = status_of(now, self.federation.names, budget, budget - own, waiting)
        return RoundSeen(status, now.opened, rows, questions)

    def given_away(self) -> GivenAway:
        """All that was ever charged here."""
        with self.datastore.read() as tables:
            return tables.given_away()

    def hold(self, number: int, hospital: str, id: bytes, message: bytes) -> None:
        """Write down a contribution, or recognise it. A hospital's second, different one to a round is refused."""
        with self._change() as tables:
            earlier = tables.message_tag(number, hospital)
            if earlier == tables.tag_of(message):
                return
            title = self.federation.title(hospital)
            if earlier:
                raise AlreadyContributed(
                    f"{title} has contributed to round {number} before, and with other bytes. A changed table counts "
                    "in the next round."
                )
            if tables.was_contributed(hospital, id):
                raise AlreadyContributed(
                    f"{title} has sent a contribution with this id to an earlier round. Each one gets a new id."
                )
            after = tables.last_state().contribute(number, hospital, id)
            tables.add_contribution(number, hospital, after.contributions[hospital], message)
            about: About = {"round": number, "bytes": len(message), "contribution": id.hex()}
            tables.note(title, "contributed", self.me, about)

    def seal(self, number: int, chosen: Mapping[str, bytes]) -> None:
        """Fix the set. Sealing the same one again changes nothing; another one is refused."""
        with self._change() as tables:
            self._refuse_difference(tables.contributions(number), chosen)
            now = tables.last_round()
            after = now.seal(number, chosen)
            if after == now:
                return
            self._save(tables, now, after)
            tables.count_as_sealed(number)
            about: About = {"round": number, "hospitals": len(chosen), "set": set_digest(number, chosen)}
            tables.note(self.me, "sealed", f"round {number}", about)
            self._note_each(tables, "left out", set(self.federation.names) - set(chosen), number)

    def begin_training(self, number: int, most: int) -> None:
        """One more training of this round, which may have `most` of them."""
        with self._change() as tables:
            if tables.trainings(number) >= most:
                raise RoundFailed(f"its training was begun {most} times and never came to an end.")
            tables.count_training(number)
            tables.note(self.me, "trains", f"round {number}", {"round": number})

    def verdicts(self, number: int) -> dict[str, KeptVerdict]:
        """By hospital, what is written down of the verdict on its contribution."""
        with self.datastore.read() as tables:
            return tables.verdicts(number)

    def note_openings(self, number: int, hospitals: Collection[str]) -> None:
        """The verdicts on these contributions are about to be opened, and none more often than may be."""
        with self._change() as tables:
            tables.last_state().train(number)
            for name in hospitals:
                if not tables.count_opening(number, name, MOST_OPENINGS):
                    why = f"The verdict on a contribution is opened {MOST_OPENINGS} times at most."
                    raise RefusedByPolicy(f"{why} {self.me} opens that of {self.federation.title(name)} no more.")
            about: About = {"round": number, "contributions": len(hospitals)}
            tables.note(self.me, "opens verdicts", f"round {number}", about)

    def keep_verdicts(self, number: int, verdicts: Mapping[str, bool]) -> None:
        """Write down verdicts that were opened, by hospital. Another one than is kept is refused."""
        with self._change() as tables:
            tables.last_state().train(number)
            for name, holds in verdicts.items():
                if not tables.keep_verdict(number, name, holds):
                    title = self.federation.title(name)
                    raise RefusedByPolicy(f"Two trainings at once came to different verdicts on what {title} sent.")
            about: About = {"round": number, "hold": sum(verdicts.values()), "contributions": len(verdicts)}
            tables.note(self.me, "keeps verdicts", f"round {number}", about)

    def charge_noise(self, number: int, counted: Mapping[str, bytes], *, for_nothing: bool = False) -> Draw:
        """This party's part in drawing the noise on these contributions, by hospital their ids.

        It is charged and on disk before anything is drawn. The same set has the same noise for ever. It is noted and
        not charged, `for_nothing`, where this node is a hospital that contributed an own release of its table.
        """
        with self._change() as tables:
            tables.last_state().train(number)
            if (release := self.federation.release) is None:
                raise LocalError("Noise was to be charged that is not agreed.")
            if why := self._charge(tables, number, set_digest(number, counted), release, for_nothing=for_nothing):
                raise RoundFailed(f"at {self.me} {why}. Agree on a larger total, or keep the model that serves")
            return self._draw(tables, number, set_digest(number, counted))

    def keep_aside(self, number: int, hospital: str, id: bytes, share: bytes, rows: int) -> None:
        """Write down this party's share of the totals of a hospital's rows kept aside, of this question."""
        with self._change() as tables:
            tables.last_state().answer(number)
            tables.put_aside(number, hospital, id, share)
            about: About = {"round": number, "rows hidden": rows, "question": id.hex()}
            tables.note(self.federation.title(hospital), "gave rows kept aside", self.me, about)

    def aside_ids(self, number: int) -> dict[str, bytes]:
        """By hospital the question in which it gave its rows kept aside."""
        with self.datastore.read() as tables:
            return tables.aside_ids(number)

    def aside(self, number: int) -> dict[str, bytes]:
        """By hospital this party's share of the totals of its rows kept aside."""
        with self.datastore.read() as tables:
            return tables.aside(number)

    def charge_test_noise(self, number: int, given: Mapping[str, bytes]) -> Draw:
        """This party's part in drawing the noise of the joint test of what these hospitals gave.

        It is charged and on disk before anything is drawn, and stays as long as the round answers: the figures are
        added up whenever somebody asks, and they are always the same.
        """
        chosen = f"{JOINT_TEST} {set_digest(number, given)}"
        with self._change() as tables:
            tables.last_state().answer(number)
            if (release := self.federation.test_release) is None:
                raise LocalError("Noise was to be charged that is not agreed.")
            if why := self._charge(tables, number, chosen, release):
                raise RefusedByPolicy(f"There is no joint test: at {self.me} {why}. Agree on a larger total.")
            return self._draw(tables, number, chosen)

    def _charge(
        self, tables: RoundTables, number: int, chosen: str, release: Release, *, for_nothing: bool = False
    ) -> str:
        """Charge this release and draw a seed for it, if there is none. Returns why it is too much, if it is."""
        agreement, privacy = self.federation.digest(), self.federation.privacy
        if privacy is None:
            raise LocalError("Noise was to be charged that is not agreed.")
        if tables.noise_charged(agreement, number, chosen):
            return ""
        if not for_nothing and (why := too_much(tables.given_away(), release, privacy)):
            return why
        charged = None if for_nothing else release
        tables.charge_noise(agreement, number, chosen, charged, secrets.token_bytes(SEED_BYTES))
        about: About = {"round": number, "set": chosen, "coins": json.dumps(release.coins.counts)}
        tables.note(self.me, "charged noise", f"round {number}", about)
        return ""

    def _draw(self, tables: RoundTables, number: int, chosen: str) -> Draw:
        agreement = self.federation.digest()
        seed = tables.coin_seed(agreement, number, chosen)
        if seed is None:
            raise LocalError("Noise was charged without a seed.")
        return Draw(seed, NotesOnDisk(self.datastore, agreement, number, chosen), self._drawing)

    def noise_spent(self) -> float:
        """The ε of all noise that was ever charged here; nothing where no noise is agreed."""
        if not (privacy := self.federation.privacy):
            return 0.0
        with self.datastore.read() as tables:
            return spent(tables.given_away(), privacy)

    def _noise_charges(self) -> int:
        with self.datastore.read() as tables:
            return tables.noise_charges(self.federation.digest())

    def counts(self, number: int) -> bytes:
        """What this party keeps of the round's noisy counts."""
        with self.datastore.read() as tables:
            found = tables.counts(number)
        if found is None:
            raise TooEarly(f"{self.me} has no noisy counts of round {number}.")
        return found

    def keep_model(self, number: int, run: bytes, model: bytes, refused: Iterable[str], counts: bytes = b"") -> None:
        """Write down this party's share of a trained model, and whose contributions are not in it.

        `counts` is what this party keeps of the noisy counts, where there are any.
        """
        refused = set(refused)
        with self._change() as tables:
            now = tables.last_round()
            self._save(tables, now, now.keep_model(number, run, refused))
            tables.put_model(number, model)
            if counts:
                tables.put_counts(number, counts)
            about: About = {"round": number, "bytes": len(model), "refused": len(refused), "run": run.hex()}
            tables.note(self.me, "trained", f"round {number}", about)
            self._note_each(tables, "refused", refused, number)

    def serve(self, number: int, run: bytes) -> bool:
        """The other party has the model of this training on disk. False if this party does not have it."""
        with self._change() as tables:
            now = tables.last_round()
            after = now.confirm(number, run)
            if after != now:
                if not self.federation.asked_anew:
                    self._delete_messages(tables, number)  # both have the model: nobody trains this round again
                tables.delete_seeds()
                self._save(tables, now, after)
                tables.note(self.me, "serves", f"round {number}", {"round": number})
            return after.state is SERVING and after.run == run

    def forget_model(self, number: int) -> None:
        """The other party does not have the model: train again."""
        with self._change() as tables:
            now = tables.last_round()
            after = now.forget_model(number)
            if after != now:
                self._save(tables, now, after)
                tables.delete_model(number)
                tables.note(self.me, "trains again", f"round {number}", {"round": number})

    def fail(self, number: int, reason: str) -> None:
        """End the round without a model, for a reason that everybody may read."""
        with self._change() as tables:
            now = tables.last_round()
            after = now.fail(number, reason)
            if after != now:
                self._end(tables, now, after)
                tables.note(self.me, "failed", f"round {number}", {"round": number, "why": after.reason})

    def close(self, number: int, actor: str) -> None:
        """End the round for good, and any round before it. Its answers are deleted, the ids of its questions stay."""
        with self._change() as tables:
            now = tables.last_round()
            self._close(tables, now, now.close(number), actor)

    def open(self, number: int, actor: str) -> None:
        """A new round of the same parties, once the last one is over.

        The round may be there already, and further: another hospital may have opened it a moment before.
        """
        with self._change() as tables:
            now = tables.last_round()
            if now.number == number and not now.over:
                return
            if now.is_left_behind_by(number):
                now = self._close(tables, now, now.leave_behind(), actor)
            self._open(tables, now.open_next(number, self.furthest(now.number), self.clock()), actor)

    def furthest(self, number: int) -> int:
        """The last round that may follow this one: the other party may have had some without this one."""
        return number + max(self.federation.policy.rounds, APART)

    def write_down(self, actor: str, verb: str, subject: str, about: About) -> None:
        """An audit entry that belongs to no other change."""
        with self._change() as tables:
            tables.note(actor, verb, subject, about)

    def _begin(self) -> None:
        """The first round opens by itself. So does one under a new agreement, which ends the round before it."""
        digest = self.federation.digest()
        with self._change() as tables:
            earlier = tables.last_agreement()
            if earlier is None:
                self._open(tables, Round(1, opened=self.clock(), at=self.me), self.me)
            elif earlier != digest:
                now = self._replace(tables, tables.last_round(), earlier)
                self._open(tables, now.open_next(now.number + 1, now.number + 1, self.clock()), self.me)

    def _replace(self, tables: RoundTables, now: Round, agreement: str) -> Round:
        """End the round of an earlier agreement, if it is not over."""
        if now.over:
            return now
        after = now.leave_behind(_REPLACED)
        self._end(tables, now, after)
        why: About = {"round": now.number, "why": _REPLACED, "agreement": agreement}
        tables.note(self.me, "closed", f"round {now.number}", why)
        self.replaced = now.number
        return after

    def _open(self, tables: RoundTables, new: Round, actor: str) -> None:
        digest = self.federation.digest()
        sealed = tables.sealed_rounds(digest)
        if sealed >= self.federation.policy.rounds:
            raise RefusedByPolicy(
                f"The agreement allows {sealed} rounds that are trained, and all of them have been. Agree on more "
                "(policy, rounds)."
            )
        tables.add_round(new, digest)
        tables.note(actor, "opened", f"round {new.number}", {"round": new.number, "agreement": digest})

    def _close(self, tables: RoundTables, now: Round, after: Round, actor: str) -> Round:
        if after != now:
            self._end(tables, now, after)
            tables.note(actor, "closed", f"round {now.number}", {"round": now.number})
        return after

    def _end(self, tables: RoundTables, now: Round, after: Round) -> None:
        """Save the end of a round, and delete what it needs no more: shares of counts, model and answers."""
        tables.asked.delete_answers()
        tables.delete_model(now.number)
        tables.delete_aside(now.number)
        tables.delete_seeds()
        self._delete_messages(tables, now.number)
        self._save(tables, now, after)

    def _delete_messages(self, tables: RoundTables, number: int) -> None:
        tables.delete_messages(number)
        self._deleted = True

    def _save(self, tables: RoundTables, before: Round, after: Round) -> None:
        tables.save_round(before, after)
        self._changes.append(after)

    def _note_each(self, tables: RoundTables, verb: str, hospitals: Iterable[str], number: int) -> None:
        for name in sorted(hospitals):
            tables.note(self.me, verb, self.federation.title(name), {"round": number})

    def _refuse_difference(self, held: Mapping[str, Held], chosen: Mapping[str, bytes]) -> None:
        """Only contributions that this party holds can be sealed."""
        title = self.federation.title
        different = [name for name, id in chosen.items() if name in held and held[name].id != id]
        missing = [name for name in chosen if name not in held]
        parts = [f"{title(name)} sent the two of them different contributions" for name in different]
        parts += [f"only the other one has that of {title(name)}" for name in missing]
        if parts:
            raise DifferentSets(self.me, "set of contributions", "; ".join(parts))

    @contextmanager
    def _change(self) -> Iterator[RoundTables]:
        """One transaction. Once it is on disk, what was deleted leaves the log, and the listener is called."""
        with self.datastore.write() as tables:
            self._changes.clear()
            self._deleted = False
            yield tables
            changes, deleted = list(self._changes), self._deleted
        if deleted:
            self.datastore.empty_log()
        for after in changes:
            self._listener(after.number, after.state)
