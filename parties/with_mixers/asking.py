"""A hospital asks both mixers, in one conversation that is kept warm and made anew when it breaks."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from mixbayes.node import questions
from mixbayes.node.ledger import MOST_BROKEN
from mixbayes.node.questions import ID_BYTES, Kind, Question, Verdict, batches
from mixbayes.node.tallies import Counting, uncounted
from mixbayes.parties.asking import Numbering, broken, fresh_id, of_recipe, renewed
from mixbayes.parties.open_question import OpenQuestion
from mixbayes.parties.with_mixers.both_mixers import BothMixers
from mixbayes.privacy.coins import Coins
from mixbayes.protocol.arrays import Values
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.classification import ask_private, fetch, show
from mixbayes.protocol.bayes.evaluation import Integers, Sheet, Totals, announce, receive_totals
from mixbayes.protocol.bayes.joint_test import joint_sheet, receive_figures
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.bayes.question import Form, TableReader
from mixbayes.protocol.bayes.recipe import JOINT, Recipe
from mixbayes.protocol.bayes.repeats import Repeated, as_they_are, with_repeats
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import MixbayesError, OutOfRange, PeerGone
from mixbayes.protocol.randomness import Randomness
from mixbayes.transport.errors import QuestionSpent

Answer = TypeVar("Answer")
_NO_ROWS = np.empty((0, 0), np.int32)
ATTEMPTS = 3
_PAUSE = 1.0
"""Seconds before the second attempt, and twice as many before the third: time for a mixer to start again."""


@dataclass(frozen=True)
class _Lines:
    """An open conversation."""

    held: ExitStack
    channels: tuple[Channel, Channel]
    asker: TableReader
    random: Randomness


class Asking:
    """A hospital's questions, one after the other. Use it from one thread at a time, and close it."""

    def __init__(
        self,
        mixers: BothMixers,
        layout: Layout,
        numbered: Numbering,
        last: OpenQuestion | None = None,
        repeats: int = 0,
        counted: Counting = uncounted,
    ) -> None:
        """`last` is the question that may be open since this hospital's node ran before.

        In every question about labels so many rows are asked about twice, as a check of the mixers.
        """
        self._mixers = mixers
        self._layout = layout
        self._numbered = numbered
        self._open = last or OpenQuestion()
        self._repeats = repeats
        self._counted = counted
        self._lines: _Lines | None = None

    def labels(
        self,
        number: int,
        codes: Values,
        *,
        private: bool,
        id: bytes = b"",
        renew: bool = False,
        recipe: Recipe = JOINT,
        last: bool = False,
    ) -> Iterator[Labels]:
        """The labels of these rows, as codes (columns, n), question by question. `last` says that no others come.

        Under the same `id` the same rows are charged once. A question that broke off before is asked anew if there is
        no id or if `renew` is set. It is charged again; what cannot be known of it is given back.
        """
        kind, form = Kind.PRIVATE if private else Kind.PUBLIC, self._form(recipe)
        parts = list(batches(form, codes.shape[1], self._repeats))
        for at, batch in enumerate(parts):
            rows = self._repeated(of_recipe(id, recipe), at, kind, codes[:, batch])
            question_id = self._numbered(of_recipe(id, recipe), at, kind, rows.codes)
            ends = last and at == len(parts) - 1
            question = Question(kind, number, rows.codes.shape[1], question_id, recipe, ends)
            shown = None if private else rows.codes
            answers = self._one(question, partial(self._answer, form, rows.codes), renew=renew or not id, shown=shown)
            yield rows.labels(answers, "mixer a or mixer b")

    def totals(self, number: int, sheet: Sheet, codes: Values, groups: Integers) -> Totals:
        """The totals of an evaluation. If it breaks off it is given back and asked again."""
        question = Question(Kind.EVALUATION, number, sheet.rows, fresh_id(), sheet.recipe)
        return self._one(question, partial(self._totals, sheet, codes, groups), renew=True)

    def give_aside(self, number: int, sheet: Sheet, codes: Values, classes: Integers) -> None:
        """Have these rows judged for the joint test. Nothing is opened; if both mixers have them, nothing is done."""
        question = Question(Kind.ASIDE, number, sheet.rows, fresh_id())
        self._one(question, partial(self._give_aside, sheet, codes, classes), renew=True)

    def figures(self, number: int, coins: Coins | None) -> Integers:
        """Of the joint test: rows of all hospitals by true class and answer. In a round they are charged once."""
        question = Question(Kind.JOINT_TEST, number, 0, self._numbered(_of_round(number), 0, Kind.JOINT_TEST, _NO_ROWS))
        return self._one(question, partial(self._figures, coins), renew=True)

    def warm(self) -> None:
        """Connect if there is no conversation, and have the mixers make random transfers ahead."""
        lines = self._connected()
        try:
            self._announce_to_both(lines, Question(Kind.TOP_UP))
        except BaseException:
            self._break_off()
            raise

    def close(self) -> None:
        """Say that there are no more questions."""
        if lines := self._lines:
            with suppress(MixbayesError):
                self._announce_to_both(lines, Question(Kind.END))
            self._hang_up()

    def _one(
        self,
        question: Question,
        answer: Callable[[Verdict, Question], Answer],
        *,
        renew: bool,
        shown: Values | None = None,
    ) -> Answer:
        """One question. The rows that are `shown` follow every announcement."""
        with self._counted(question):
            return self._until_answered(question, answer, shown, renew=renew)

    def _until_answered(
        self, question: Question, answer: Callable[[Verdict, Question], Answer], shown: Values | None, *, renew: bool
    ) -> Answer:
        """If its conversation breaks, the same question is asked again: both may have the answer by now."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                asked, verdict = self._unspent(question, shown, renew=renew)
                if verdict is Verdict.SPENT:
                    break
                found = answer(verdict, asked)
                self._open.is_answered()
                if asked.last:
                    self._hang_up()
            except PeerGone:
                self._break_off()
                if attempt == ATTEMPTS:
                    raise
                time.sleep(attempt * _PAUSE)
            except BaseException:
                self._break_off()
                raise
            else:
                return found
        raise QuestionSpent(
            "This question broke off before, or its answer is no longer kept. Ask it again under a new id. What was "
            "answered of it stays charged."
        )

    def _unspent(self, question: Question, shown: Values | None, *, renew: bool) -> tuple[Question, Verdict]:
        """Announce the question; if it is spent, give it back and announce it under the next id, until one is good.

        Every id follows from the one before, so a hospital that was stopped comes to the same ones again.
        """
        if earlier := self._open.earlier(question):
            self._give_back(earlier)
        for _ in range(MOST_BROKEN):
            verdict = self._announce(question, shown)
            if verdict is not Verdict.SPENT or not renew:
                return question, verdict
            self._give_back(broken(question))
            question = replace(question, id=renewed(question.id))
        return question, Verdict.SPENT

    def _give_back(self, broken: Question) -> None:
        """Wait until both mixers have given back what this hospital cannot know of a question that broke off."""
        lines = self._connected()
        self._announce_to_both(lines, broken)
        for channel in lines.channels:
            questions.receive_given(channel)

    def _announce(self, question: Question, shown: Values | None) -> Verdict:
        self._open.begins(question)
        lines = self._connected()
        self._announce_to_both(lines, question)
        if shown is not None:
            show(lines.channels, self._layout, shown)
        verdicts = [questions.receive_verdict(channel) for channel in lines.channels]
        if verdicts[0] is not verdicts[1]:
            raise OutOfRange("mixer a or mixer b", questions.VERDICT, "they contradict each other")
        return verdicts[0]

    def _answer(self, form: Form, codes: Values, verdict: Verdict, question: Question) -> Labels:
        lines, layout, answers = self._connected(), self._layout, question.recipe.answers(self._layout.classes)
        if question.private and verdict is not Verdict.STORED:
            return ask_private(lines.channels, layout, form.width, codes, lines.asker, answers, question.model)
        return fetch(lines.channels, layout, form.width, question.rows, private=question.private, answers=answers)

    def _totals(self, sheet: Sheet, codes: Values, groups: Integers, verdict: Verdict, question: Question) -> Totals:
        lines = self._connected()
        if verdict is not Verdict.STORED:
            announce(lines.channels, sheet, codes, groups, lines.random)
        return receive_totals(lines.channels, sheet, groups)

    def _give_aside(self, sheet: Sheet, codes: Values, classes: Integers, verdict: Verdict, question: Question) -> None:
        if verdict is Verdict.STORED:
            return
        lines = self._connected()
        announce(lines.channels, sheet, codes, classes, lines.random)
        for channel in lines.channels:
            questions.receive_written(channel)

    def _figures(self, coins: Coins | None, verdict: Verdict, question: Question) -> Integers:
        return receive_figures(self._connected().channels, joint_sheet(self._layout, 1, coins), coins)

    def _repeated(self, id: bytes, at: int, kind: Kind, codes: Values) -> Repeated:
        """The rows as they are asked about. Under one `id` they are repeated alike, so that they are charged once."""
        if not self._repeats:
            return as_they_are(codes)
        secret = self._numbered(b"repeats" + id if id else b"", at, kind, codes)  # never sent to anybody
        return with_repeats(codes, self._repeats, Randomness(hashlib.sha256(secret).digest()))

    def _form(self, recipe: Recipe) -> Form:
        return Form.of_recipe(self._layout, recipe)

    def _connected(self) -> _Lines:
        if self._lines is None:
            with ExitStack() as opening:
                channels = opening.enter_context(self._mixers.conversation())
                random = Randomness.from_system()
                self._lines = _Lines(opening.pop_all(), channels, TableReader(channels, random), random)
        return self._lines

    def _announce_to_both(self, lines: _Lines, question: Question) -> None:
        for channel in lines.channels:
            questions.send(channel, question)

    def _hang_up(self) -> None:
        lines, self._lines = self._lines, None
        if lines:
            lines.held.close()

    def _break_off(self) -> None:
        lines, self._lines = self._lines, None
        if lines:
            with suppress(PeerGone), lines.held:
                raise PeerGone("this node", "asking", "it breaks off")


def _of_round(number: int) -> bytes:
    """The id of what is asked once in a round."""
    return number.to_bytes(ID_BYTES, "little")
