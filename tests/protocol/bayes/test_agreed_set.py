"""Both parties count the same contributions to the same round, or nothing is computed."""

from __future__ import annotations

import pytest

from mixbayes.protocol.bayes.agreed_set import agree_on_set, set_digest
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.errors import DifferentSets
from tests.protocol.pairs import both

Members = dict[str, bytes]
HERE: Members = {"north": b"n" * 16, "south": b"s" * 16}
OTHERS: dict[str, tuple[int, Members]] = {
    "another round": (2, HERE),
    "another hospital": (1, {"north": b"n" * 16, "west": b"s" * 16}),
    "another contribution": (1, HERE | {"south": b"t" * 16}),
    "one more": (1, HERE | {"west": b"w" * 16}),
    "exchanged": (1, {"north": b"s" * 16, "south": b"n" * 16}),
}


def agree(me: ComputingParty, number: int, members: Members) -> None:
    agree_on_set(me.channel, number, members.items())


def test_the_same_set_is_agreed_in_whatever_order_it_came() -> None:
    both(agree, (1, HERE), (1, dict(reversed(HERE.items()))))


@pytest.mark.parametrize("what", OTHERS)
def test_another_set_is_refused_by_both_digests(what: str) -> None:
    with pytest.raises(DifferentSets, match="hold different contributions"):
        both(agree, (1, HERE), OTHERS[what])
    assert set_digest(*OTHERS[what]) != set_digest(1, HERE)
