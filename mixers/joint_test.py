"""A mixer's part in the joint test: it writes down its share of each hospital's totals, and opens only their sum.

The totals of one hospital are on disk under the id of the question in which it gave its rows. If that question broke
off, one mixer may have them and the other not, or those of another attempt: then both have to have them anew. Once both
have those of one question, the hospital gives no others in this round. The sums are added up when somebody asks.
"""

from __future__ import annotations

import numpy as np

from mixbayes.node.questions import ID_BYTES, Question, send_written
from mixbayes.node.rounds.record import COUNTED
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.privacy.coins import Coins
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.agreed_set import set_digest
from mixbayes.protocol.bayes.evaluation import judge
from mixbayes.protocol.bayes.joint_test import FEWEST, joint_sheet, summed
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.tossing import Draw
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.errors import DifferentSets
from mixbayes.transport.errors import RefusedByPolicy, TooEarly

_NONE = bytes(ID_BYTES)
_GIVEN, _COMPLETE, _CHARGED = "rows kept aside", "whose rows kept aside are there", "noise of the joint test is charged"


class JointTest:
    """In a conversation with one hospital."""

    def __init__(self, rounds: Rounds, layout: Layout, hospital: str) -> None:
        self._rounds = rounds
        self._layout = layout
        self._hospital = hospital

    def given_to_both(self, me: ComputingParty, question: Question) -> bool:
        """Whether both mixers have this hospital's totals, of one question."""
        mine = self._rounds.aside_ids(question.round).get(self._hospital, _NONE)
        theirs = me.channel.swap(_GIVEN, mine).tobytes()
        return mine == theirs != _NONE

    def give(self, me: ComputingParty, asker: Channel, question: Question, model: Model) -> None:
        """Judge the rows that the hospital asks about, and write this mixer's share of the totals down."""
        coins = self._rounds.federation.test_coins
        found = judge(me, asker, joint_sheet(self._layout, question.rows, coins), [model])
        share = found.astype("<u8").tobytes()
        self._rounds.keep_aside(question.round, self._hospital, question.id, share, question.rows)
        send_written(asker)

    def prepare(self, me: ComputingParty, question: Question) -> tuple[Coins, Draw] | None:
        """Refuse unless both mixers have the totals of all; with noise charge it, before anything is drawn.

        Returns the coins and this mixer's part in tossing them: for the same totals the same, whenever somebody asks.
        """
        given = self._complete(me, question.round)
        if (coins := self._rounds.federation.test_coins) is None:
            return None
        draw = self._rounds.charge_test_noise(question.round, given)
        mine = bytes.fromhex(set_digest(question.round, given))
        if me.channel.swap(_CHARGED, mine).tobytes() != mine:
            raise DifferentSets(me.channel.peer, _CHARGED, "it adds up other totals than this mixer")
        return coins, draw

    def figures(self, me: ComputingParty, question: Question, noise: tuple[Coins, Draw] | None) -> Words:
        """This mixer's share of the sums, once they are prepared."""
        coins, given = self._rounds.federation.test_coins, self._rounds.aside(question.round)
        shares = (np.frombuffer(given[name], "<u8").astype(np.uint64) for name in self._counted())
        return summed(me, joint_sheet(self._layout, 1, coins), shares, noise)

    def _counted(self) -> list[str]:
        """The hospitals that the round's model counts: the same at both mixers, as the model is."""
        held = self._rounds.current().contributions
        return sorted(name for name, one in held.items() if one.verdict is COUNTED)

    def _complete(self, me: ComputingParty, number: int) -> dict[str, bytes]:
        """By hospital the question in which it gave its rows to both mixers. Refuses if one is missing."""
        counted, given = self._counted(), self._rounds.aside_ids(number)
        self._refuse_few(len(counted))
        mine = b"".join(given.get(name, _NONE) for name in counted)
        theirs = me.channel.swap(_COMPLETE, mine).tobytes()
        at = {name: slice(place * ID_BYTES, (place + 1) * ID_BYTES) for place, name in enumerate(counted)}
        missing = [name for name in counted if mine[at[name]] == _NONE or mine[at[name]] != theirs[at[name]]]
        if missing:
            who = ", ".join(map(self._rounds.federation.title, missing))
            raise TooEarly(
                f"There is no joint test of round {number} yet: the patients that {who} "
                f"{'keeps' if len(missing) == 1 else 'keep'} aside are not judged. Every hospital's node has them "
                "judged by itself, while it runs and the round serves. Try again later."
            )
        return {name: given[name] for name in counted}

    def _refuse_few(self, hospitals: int) -> None:
        if self._rounds.federation.privacy is None and hospitals < FEWEST:
            raise RefusedByPolicy(
                f"Without noise there is no joint test of fewer than {FEWEST} hospitals, and this round counts "
                f"{hospitals}: each would read the other's figures by subtraction. Agree on noise, or evaluate your "
                "own patients without --joint."
            )
