"""The ledger of questions at a computing party: ids, budgets, and answers that can be fetched again.

A computing party asks its ledger before it answers a question, and writes down each piece of the answer before it sends
it. A question has an id, which is charged once. A hospital may ask it again after a broken conversation: if the whole
answer is on disk it is sent again, and otherwise the id is spent.

What nobody can have learned of a spent question is given back when the hospital says that it broke off. A mixer keeps
its share of a piece on disk, waits until the other one says that it has done so too, writes down that the piece is
released, and only then sends it. So where both follow the protocol, nothing is released that only one has kept. On the
word of the hospital each first freezes the question, in the transaction in which it counts what it has kept of it. From
then on it keeps and releases no piece, so it sends none, and its count is final. They compare their counts, and each
charges the smaller one, but never less than it has itself released: this bounds what can be known, whatever the other
mixer says and whomever it helps. A crash between these writes leaves a question charged too high, never too low. The
hospital says again that the question broke off, finds the same two counts, and the missing writes follow. An id that
was never charged is frozen too, and can never be charged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from mixbayes.agreement.agreement import Federation
from mixbayes.node.disk.asked import Charged
from mixbayes.node.disk.datastore import About, RoundTables
from mixbayes.node.questions import FOR_LABELS, Kind, Question, Verdict
from mixbayes.node.rounds.record import COUNTED
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.node.rounds.state import SERVING
from mixbayes.protocol.arrays import Bytes
from mixbayes.protocol.bayes.evaluation import Sheet
from mixbayes.protocol.bayes.recipe import JOINT
from mixbayes.protocol.errors import MixbayesError
from mixbayes.transport.errors import OverBudget, QuestionSpent, RefusedByPolicy, RoundOver

LEAST_FOLDS = 2
ANSWERS_KEPT = 256
"""The answers to this many of a hospital's latest questions are kept. The ids of all its questions are."""
MOST_BROKEN = 1000
"""So many questions a hospital may have that broke off in one round, and as many again that were never charged. Further
ones stay charged.

A question that breaks off costs nothing, and leaves its id on the disk.
"""
ALL = (1 << 64) - 1
"""What a node answers, which has not frozen a question, when it is asked how many rows of it may be known."""

Model = TypeVar("Model")
AnyModel = TypeVar("AnyModel", covariant=True)


class Ledger(Protocol, Generic[AnyModel]):
    """What a computing party asks and writes while it answers one hospital."""

    def verdict(self, question: Question) -> Verdict:
        """Whether this node answers the question. Nothing is written."""
        ...

    def charge(self, question: Question) -> None:
        """Write down that the question was asked, and take its rows from the budget."""
        ...

    def keep(self, question: Question, piece: int, share: Bytes) -> None:
        """Write down a piece of this node's answer."""
        ...

    def release(self, question: Question, piece: int) -> None:
        """Write down that this piece, and those before it, leave now."""
        ...

    def begin(self, question: Question) -> None:
        """Write down that the whole answer may be known from here on, where no share of it is kept."""
        ...

    def kept(self, question: Question) -> list[bytes]:
        """The pieces that were kept."""
        ...

    def freeze(self, question: Question) -> int:
        """Write no further piece of this question, for ever. Returns how many rows of it were written, or `ALL`."""
        ...

    def give_back(self, question: Question, known: int) -> None:
        """Of this question charge only the rows that may be known, and those that were released here."""
        ...

    def trained(self, number: int) -> tuple[bytes, AnyModel]:
        """Which training this round's model comes from, and the model."""
        ...


class Page(Generic[Model]):
    """The ledger for one asking hospital, on disk.

    `pieces` gives the rows of each message in the answer to a question for labels, `trained` the model.
    """

    def __init__(
        self,
        rounds: Rounds,
        hospital: str,
        pieces: Callable[[Question], Sequence[int]],
        trained: Callable[[int], tuple[bytes, Model]],
    ) -> None:
        self._rounds = rounds
        self._hospital = hospital
        self._pieces = pieces
        self._trained = trained

    def verdict(self, question: Question) -> Verdict:
        now = self._rounds.last_state()
        if now.number != question.round or now.state is not SERVING or self._rounds.federation.cuts:
            return Verdict.NOT_SERVING
        if why_not(self._rounds.federation, question):
            return Verdict.NOT_AGREED
        with self._rounds.datastore.read() as tables:
            if of_own_counts(question) and tables.inclusion(question.round, self._hospital) is not COUNTED:
                return Verdict.NOT_COUNTED
            charged, pieces = tables.asked.question(question.id), tables.asked.answer_pieces(question.id)
            _, rows = tables.asked.spent(question.round, self._hospital)
        if charged and question.kind is Kind.ASIDE:
            return Verdict.SPENT
        if charged:
            stored = self._is_of(charged, question) and pieces == charged.pieces
            return Verdict.STORED if stored else Verdict.SPENT
        enough = rows + self._cost(question) <= self._rounds.federation.policy.budget
        return Verdict.GO if enough else Verdict.OVER_BUDGET

    def charge(self, question: Question) -> None:
        with self._rounds.datastore.write() as tables:
            tables.last_state().answer(question.round)
            ordinal, spent = tables.asked.spent(question.round, self._hospital)
            self._refuse_charge(tables, question, spent)
            pieces = len(self._rows_of_pieces(question))
            charged = Charged(self._hospital, question.round, question.kind, self._cost(question), pieces)
            tables.asked.add_question(question.id, ordinal, charged)
            tables.asked.put_spent(question.round, self._hospital, ordinal + 1, spent + self._cost(question))
            tables.asked.delete_answer(question.round, self._hospital, ordinal - ANSWERS_KEPT)
            self._note(tables, question)

    def keep(self, question: Question, piece: int, share: Bytes) -> None:
        with self._rounds.datastore.write() as tables:
            self._write(tables, question, piece)
            tables.asked.add_answer(question.id, piece, share.tobytes())

    def release(self, question: Question, piece: int) -> None:
        with self._rounds.datastore.write() as tables:
            tables.last_state().answer(question.round)
            self._refuse_frozen(tables, question)
            tables.asked.put_released(question.id, sum(self._rows_of_pieces(question)[: piece + 1]))

    def begin(self, question: Question) -> None:
        with self._rounds.datastore.write() as tables:
            self._write(tables, question, len(self._rows_of_pieces(question)) - 1)

    def kept(self, question: Question) -> list[bytes]:
        with self._rounds.datastore.read() as tables:
            return tables.asked.answers(question.id)

    def freeze(self, question: Question) -> int:
        with self._rounds.datastore.write() as tables:
            tables.last_state().answer(question.round)
            found = tables.asked.question(question.id)
            if found and not self._owns(found, question):
                return ALL
            if not found or not _is_final(found):
                if tables.asked.frozen(question.round, self._hospital, charged=bool(found)) >= MOST_BROKEN:
                    return ALL
                self._freeze(tables, question, found)
            return found.written if found else 0

    def give_back(self, question: Question, known: int) -> None:
        with self._rounds.datastore.write() as tables:
            found = tables.asked.question(question.id)
            if not found or not self._owns(found, question) or not _is_final(found):
                return
            if (back := found.rows - max(known, found.released)) <= 0:
                return
            ordinal, spent = tables.asked.spent(question.round, self._hospital)
            tables.asked.freeze(question.id)  # it may have been kept whole, and be about to leave
            tables.asked.put_rows(question.id, found.rows - back)
            tables.asked.put_spent(question.round, self._hospital, ordinal, spent - back)
            about: About = {"round": question.round, "rows": back, "question": question.id.hex()}
            tables.note(self._rounds.federation.title(self._hospital), "was given back", self._rounds.me, about)

    def trained(self, number: int) -> tuple[bytes, Model]:
        return self._trained(number)

    def _rows_of_pieces(self, question: Question) -> Sequence[int]:
        """What each message of the answer takes from the budget."""
        if question.kind in FOR_LABELS:
            return self._pieces(question)
        return [] if question.kind is Kind.ASIDE else [self._cost(question)]

    def _write(self, tables: RoundTables, question: Question, piece: int) -> None:
        """Count the pieces up to this one as written."""
        tables.last_state().answer(question.round)
        self._refuse_frozen(tables, question)
        tables.asked.put_written(question.id, sum(self._rows_of_pieces(question)[: piece + 1]))

    def _refuse_frozen(self, tables: RoundTables, question: Question) -> None:
        """Another conversation may have frozen the question."""
        found = tables.asked.question(question.id)
        if not found or found.frozen:
            raise QuestionSpent("This question was given up in another conversation, and is answered no more.")

    def _freeze(self, tables: RoundTables, question: Question, found: Charged | None) -> None:
        if found:
            tables.asked.freeze(question.id)
            return
        ordinal, spent = tables.asked.spent(question.round, self._hospital)
        never = Charged(self._hospital, question.round, question.kind, rows=0, pieces=0, frozen=True)
        tables.asked.add_question(question.id, ordinal, never)
        tables.asked.put_spent(question.round, self._hospital, ordinal + 1, spent)
        tables.asked.delete_answer(question.round, self._hospital, ordinal - ANSWERS_KEPT)

    def _owns(self, charged: Charged, question: Question) -> bool:
        return (charged.hospital, charged.round) == (self._hospital, question.round)

    def _is_of(self, charged: Charged, question: Question) -> bool:
        """Whether this question was charged, and nothing of it was given back."""
        whole = charged.kind == question.kind and charged.rows == self._cost(question) and not charged.frozen
        return whole and self._owns(charged, question)

    def _cost(self, question: Question) -> int:
        return cost(self._rounds.federation, question)

    def _refuse_charge(self, tables: RoundTables, question: Question, spent: int) -> None:
        """Another conversation may have charged this question, or used up the budget, since the verdict."""
        if spent + self._cost(question) > self._rounds.federation.policy.budget:
            raise over_budget(self._rounds.federation.title(self._hospital), question)
        if tables.asked.question(question.id):
            raise QuestionSpent("The same question was asked in two conversations at once.")

    def _note(self, tables: RoundTables, question: Question) -> None:
        how = "rows shown" if question.kind is Kind.PUBLIC else "rows hidden"
        asker, recipe = self._rounds.federation.title(self._hospital), str(question.recipe)
        about: dict[str, int | str] = {"round": question.round, how: question.rows, "question": question.id.hex()}
        if question.kind is Kind.EVALUATION:
            tables.note(asker, "evaluated", self._rounds.me, about | {"recipe": recipe, "opened": self._cost(question)})
        elif question.kind is Kind.JOINT_TEST:
            opened: About = {"round": question.round, "question": question.id.hex(), "opened": self._cost(question)}
            tables.note(asker, "had the joint test opened", self._rounds.me, opened)
        elif question.kind is not Kind.ASIDE:  # which is noted once its totals are written down
            named = {"recipe": recipe} if question.recipe != JOINT else {}
            tables.note(asker, "asked", self._rounds.me, about | named)


def _is_final(charged: Charged) -> bool:
    """Whether no further row of the question can be written down."""
    return charged.frozen or charged.written >= charged.rows


def cost(federation: Federation, question: Question) -> int:
    """What a question takes from the budget: its rows, or the numbers that it opens."""
    if question.kind is Kind.EVALUATION:
        return _sheet(federation, question).opened
    if question.kind is Kind.JOINT_TEST:
        return federation.layout.classes**2
    return 0 if question.kind is Kind.ASIDE else question.rows


def _sheet(federation: Federation, question: Question) -> Sheet:
    return Sheet(federation.layout, question.recipe, question.rows)


def of_own_counts(question: Question) -> bool:
    """Whether the answer depends on what the asking hospital has contributed."""
    return question.kind in (Kind.EVALUATION, Kind.ASIDE) or question.recipe.personal


def why_not(federation: Federation, question: Question) -> str:
    """Why the agreement does not allow this question, or nothing if it does."""
    if question.kind is Kind.EVALUATION and federation.policy.folds < LEAST_FOLDS:
        return f"an evaluation needs {LEAST_FOLDS} folds at least (policy, folds)"
    if question.kind is Kind.EVALUATION and question.rows > (most := _sheet(federation, question).most_rows):
        return f"a fold has at most {most} rows"
    if question.kind in (Kind.ASIDE, Kind.JOINT_TEST):
        return why_no_joint_test(federation, question)
    return federation.why_not(question.recipe)


def why_no_joint_test(federation: Federation, question: Question) -> str:
    """Why there is no such question for the joint test, or nothing if there is."""
    if not federation.joint_test:
        return "no patients are kept aside for a joint test (policy, test_share)"
    if question.recipe != JOINT:
        return "the joint test is one of the plain joint classifier"
    if question.kind is Kind.ASIDE and question.rows not in federation.rows_asked_aside:
        return "it is about another number of rows than the agreement makes it"
    return ""


def over_budget(asker: str, question: Question) -> OverBudget:
    if question.kind is Kind.EVALUATION:
        return OverBudget(
            f"Of the budget of {asker} in round {question.round} less is left than the evaluation of {question.recipe} "
            "takes: a row for each number that it opens. `mixbayes status` says how many; a new round has a new budget."
        )
    return OverBudget(
        f"{asker} has used up the rows it may ask about in round {question.round}, or asks about more than are left. "
        "`mixbayes status` says how many; a new round has a new budget."
    )


def not_agreed(question: Question, why: str) -> RefusedByPolicy:
    if question.kind in (Kind.ASIDE, Kind.JOINT_TEST):
        return RefusedByPolicy(f"There is no such joint test: {why}.")
    about = "evaluate" if question.kind is Kind.EVALUATION else "ask for"
    return RefusedByPolicy(f"Nobody may {about} the recipe {question.recipe}: {why}.")


def refusal(verdict: Verdict, asker: str, question: Question) -> MixbayesError | None:
    """The error that a verdict is, if it is one."""
    if verdict is Verdict.OVER_BUDGET:
        return over_budget(asker, question)
    if verdict is Verdict.NOT_SERVING:
        return RoundOver(f"Round {question.round} answers no questions. `mixbayes status` says why.")
    if verdict is Verdict.NOT_COUNTED:
        return not_agreed(question, f"round {question.round} does not count the patients of {asker}")
    if verdict is Verdict.NOT_AGREED:
        return not_agreed(question, "the agreement does not allow it")
    return None
