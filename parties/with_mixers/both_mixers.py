"""The two mixers, as a hospital works with them: it contributes, asks, and gets counts and cut points."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from mixbayes.agreement.agreement import Federation
from mixbayes.node.counts import STEP as COUNTS
from mixbayes.node.counts import counts_from
from mixbayes.node.cuts import STEP as CUTS
from mixbayes.node.cuts import cuts_from, size_of
from mixbayes.node.identity import Identity
from mixbayes.node.unwitnessed import UNWITNESSED, Unwitnessed
from mixbayes.parties.with_mixers.rounds_at_both import NAMES, RoundsAtBoth, peers_of_both
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.bayes.cuts import Cuts
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import DifferentSets
from mixbayes.transport.conversation import ASKING, NOW, Bound, conversation
from mixbayes.transport.peer import chunks
from mixbayes.transport.traffic import Traffic
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1.node_pb2 import RoundNumber


class BothMixers(RoundsAtBoth):
    """Made by `both_mixers`."""

    def contribute(self, name: str, message: bytes) -> bytes:
        """Send one mixer its message. The mixer answers with the contribution's id once the message is on its disk."""
        return self.peers[name].call(self._stubs[name].Contribute, chunks(message), "contribution").id

    def counts(self, number: int, size: int) -> Words:
        """The noisy counts of a round: the sum of both mixers' shares."""
        of_a, of_b = self._kept(number, size)
        return of_a + of_b

    def cuts(self, number: int, federation: Federation) -> Cuts:
        """The cut points of a round, which both mixers know."""
        of_a, of_b = self._kept(number, size_of(federation))
        if of_a.tolist() != of_b.tolist():
            raise DifferentSets("mixer a and mixer b", CUTS, "they give different cut points")
        return cuts_from(of_a, federation, "mixer a and mixer b")

    def _kept(self, number: int, size: int) -> list[Words]:
        """So many words from each mixer."""
        return [
            counts_from(
                self.peers[name].answers(self._stubs[name].Counts, RoundNumber(round=number), COUNTS), size, name
            )
            for name in NAMES
        ]

    @contextmanager
    def conversation(self) -> Iterator[tuple[Channel, Channel]]:
        """Channels to mixer a and to mixer b, in one conversation of the three."""
        key, bound = secrets.token_hex(16), Bound()
        with ExitStack() as stack:
            (to_a,), (to_b,) = (
                stack.enter_context(conversation(peer, stub.Ask, (NOW,), ASKING, "", key, bound=bound))
                for peer, stub in zip(self.peers.values(), self._stubs.values(), strict=True)
            )
            yield to_a, to_b


@contextmanager
def both_mixers(
    federation: Federation,
    identity: Identity,
    watch: Watch,
    witnessing: Unwitnessed = UNWITNESSED,
    traffic: Traffic | None = None,
) -> Iterator[BothMixers]:
    """Both, dialled when they are first needed."""
    with peers_of_both(federation, identity, watch, traffic) as peers:
        yield BothMixers(peers, witnessing)
