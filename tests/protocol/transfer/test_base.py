import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from nacl import bindings as group

from mixbayes.protocol.errors import BadGroupElement
from mixbayes.protocol.transfer.base import COUNT, BaseReceived, BaseSent, receive_base, send_base
from tests.protocol.pairs import SEEDS, Ends, converse, random_for


def base(number: int) -> tuple[BaseSent, BaseReceived, Ends]:
    ends = Ends()
    sent, received = converse(
        [ends],
        lambda: send_base(ends.first, random_for(2 * number)),
        lambda: receive_base(ends.second, random_for(2 * number + 1)),
    )
    return sent, received, ends


@given(SEEDS)
@settings(max_examples=10)
def test_receiver_has_the_key_of_its_choice_and_not_the_other(number: int) -> None:
    sent, received, _ = base(number)
    every = np.arange(COUNT)
    chosen, other = sent.keys[received.choices, every], sent.keys[1 - received.choices, every]
    assert received.keys.tolist() == chosen.tolist()
    assert (received.keys != other).any(axis=1).all()


@given(SEEDS)
@settings(max_examples=5)
def test_no_key_comes_twice(number: int) -> None:
    sent, _, _ = base(number)
    assert len(np.unique(sent.keys.reshape(-1, 2), axis=0)) == 2 * COUNT


def test_choices_are_both_made() -> None:
    _, received, _ = base(1)
    assert 32 < received.choices.sum() < 96


def test_same_randomness_gives_the_same_keys_and_other_randomness_others() -> None:
    (one, _, _), (again, _, _), (other, _, _) = base(1), base(1), base(2)
    assert one.keys.tolist() == again.keys.tolist()
    assert not np.isin(one.keys, other.keys).any()


def test_one_point_there_and_128_back() -> None:
    _, _, ends = base(1)
    assert ends.first.traffic.sent == 16 + 32
    assert ends.first.traffic.received == 16 + 32 * COUNT
    assert ends.first.traffic.rounds == 2


@pytest.mark.parametrize("index", [0, 1, COUNT - 1])
def test_keys_are_hashes_of_the_exchange(index: int) -> None:
    """The sender's two keys by the paper's formulas, from its secret and the answers it received."""
    ends = Ends()
    secret = group.crypto_core_ed25519_scalar_reduce(random_for(2).bytes(64))
    offer = group.crypto_scalarmult_ed25519_base_noclamp(secret)
    answers: list[bytes] = []

    def receiver() -> BaseReceived:
        ends.second.receive("base OT: offer", 32)
        for i in range(COUNT):
            own = group.crypto_core_ed25519_scalar_reduce(bytes([i + 1]) * 64)
            answers.append(group.crypto_scalarmult_ed25519_base_noclamp(own))
        ends.second.send("base OT: answers", b"".join(answers))
        return BaseReceived(np.empty(0, np.uint8), np.empty(0, np.uint64))

    sent, _ = converse([ends], lambda: send_base(ends.first, random_for(2)), receiver)
    answer = answers[index]
    for choice, point in enumerate([answer, group.crypto_core_ed25519_sub(answer, offer)]):
        shared = group.crypto_scalarmult_ed25519_noclamp(secret, point)
        key = hashlib.blake2b(
            offer + answer + shared,
            digest_size=16,
            person=b"mixbayes base OT",
            salt=index.to_bytes(16, "little"),
        )
        assert sent.keys[choice, index].tobytes() == key.digest()


GOOD = group.crypto_scalarmult_ed25519_base_noclamp((1).to_bytes(32, "little"))
bad_points = pytest.mark.parametrize(
    "bad", [(2).to_bytes(32, "little"), (2**255 - 20).to_bytes(32, "little")], ids=["off the curve", "order two"]
)


@bad_points
def test_offer_outside_the_group_is_refused(bad: bytes) -> None:
    ends = Ends()
    ends.first.send("base OT: offer", bad)
    with pytest.raises(BadGroupElement, match="party A, at base OT: offer"):
        receive_base(ends.second, random_for(1))


@bad_points
def test_one_answer_outside_the_group_is_refused(bad: bytes) -> None:
    ends = Ends()
    ends.second.send("base OT: answers", GOOD * (COUNT - 1) + bad)
    with pytest.raises(BadGroupElement, match="party B, at base OT: answers"):
        send_base(ends.first, random_for(1))


def test_keys_are_not_shown() -> None:
    sent, received, _ = base(1)
    assert str(sent.keys[0, 0, 0]) not in repr(sent)
    assert str(received.keys[0, 0]) not in repr(received)
