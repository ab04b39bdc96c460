"""The whole Paillier protocol of a round, from two hospitals' counts to labels, both in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.agreed_set import agree_on_set
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.bayes.whole import ROUND, Question, within
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.paillier.classification import run_paillier_classification
from mixbayes.protocol.paillier.key import SecretKey
from mixbayes.protocol.paillier.modulus import receive_key, send_key
from mixbayes.protocol.paillier.training import ExactModel, Group, train_exactly
from mixbayes.protocol.randomness import SEED_BYTES, Randomness
from mixbayes.protocol.transfer.pool import connect_pair


@dataclass(frozen=True, slots=True, repr=False)
class ExactOutcome:
    """What came of a round: the labels of every question, and what A and B have."""

    labels: tuple[Labels | None, ...]
    """None where the question was refused, because it asked for more rows than its hospital had left."""
    models: tuple[ExactModel, ExactModel]


def run_paillier(
    layout: Layout,
    tables: Mapping[str, Words],
    known: tuple[Mapping[str, bytes], Mapping[str, bytes]],
    key: SecretKey,
    questions: Sequence[Question],
    budget: int,
    seeds: tuple[bytes, bytes],
) -> ExactOutcome:
    """Hospitals A, which holds the key, and B, in the order of their tables.

    The tables are their counts, or their shares of N~ where the layout has noise. `known` has the ids of both
    contributions, as A and as B know them. Seeds: of A and of B.
    """
    names, (of_a, of_b) = list(tables), (Randomness(seed) for seed in seeds)
    to_b, to_a = memory.channels("party A", "party B")
    # Random transfers, for the few steps on bits, are made on a channel of their own.
    ahead_b, ahead_a = memory.channels("party A", "party B")

    def begin(role: int, other: Channel, ahead: Channel, random: Randomness) -> ComputingParty:
        me = ComputingParty(role, other, connect_pair(role, ahead, random), random)
        # Both mean the same two contributions, or nothing is computed.
        agree_on_set(other, ROUND, known[role].items())
        return me

    def holder() -> ExactModel:
        me = begin(A, to_b, ahead_b, of_a.branch())
        # B gets the modulus and a proof that it fits. Then A offers every cell times a factor that B does not know, by
        # what each bit of B's part counts, and B takes its bits.
        send_key(to_b, key)
        return train_exactly(me, Group.of(layout, key.public), layout, tables[names[A]])

    def other() -> ExactModel:
        me = begin(B, to_a, ahead_a, of_b.branch())
        public = receive_key(to_a, key.public.bits)
        return train_exactly(me, Group.of(layout, public), layout, tables[names[B]])

    model_a, model_b = memory.together(holder, other)
    models = model_a, model_b

    def asked(question: Question) -> Labels:
        seeds, asker = (of_a.bytes(SEED_BYTES), of_b.bytes(SEED_BYTES)), names.index(question.asker)
        return run_paillier_classification(
            layout, models, key, question.codes, seeds, private=question.private, asker=asker
        )

    # The hospital that answers charges the question to the one that asks.
    return ExactOutcome(within(budget, questions, asked), models)
