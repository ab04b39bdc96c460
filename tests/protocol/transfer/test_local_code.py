import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.randomness import key_stream
from mixbayes.protocol.transfer.local_code import ROWS, LocalCode
from mixbayes.protocol.transfer.lpn import LpnSizes
from tests.protocol.pairs import SEEDS, random_for


def code(number: int, sizes: LpnSizes) -> LocalCode:
    return LocalCode(random_for(number).bytes(16), sizes)


@given(st.integers(1, 300), st.integers(1, 12), st.lists(st.integers(1, 40), min_size=1, max_size=3), SEEDS)
def test_outputs_get_the_elements_that_the_key_stream_names(
    k: int, weight: int, blocks: list[int], number: int
) -> None:
    sizes = LpnSizes(k, 1, 1, weight)
    secret = random_for(number + 1).words(k, 2, 2)
    one, stream = code(number, sizes), key_stream(random_for(number).bytes(16))
    for rows in blocks:
        before = random_for(number + 2).words(rows, 2, 2)
        outputs = before.copy()
        one.add(secret, outputs)
        drawn = np.frombuffer(stream.update(bytes(4 * weight * rows)), "<u4").reshape(weight, rows)
        for row in range(rows):
            places = [int(fraction) * k >> 32 for fraction in drawn[:, row]]
            assert np.array_equal(outputs[row], before[row] ^ np.bitwise_xor.reduce(secret[places], axis=0))


@pytest.mark.parametrize("k", [1000, 40_960])
def test_every_element_is_named_about_equally_often(k: int) -> None:
    sizes, named = LpnSizes(k, 1, 1), np.zeros(k, np.int64)
    one = code(1, sizes)
    for _ in range(20):
        named += np.bincount(one._next(ROWS).reshape(-1), minlength=k)
    mean = named.mean()
    assert abs(((named - mean) ** 2 / mean).sum() - k) < 5 * np.sqrt(2 * k)


@settings(max_examples=10)
@given(SEEDS)
def test_choices_combine_like_rows(number: int) -> None:
    """The code is linear: with t = q ⊕ s·Δ, the combinations differ by the combination of s, times Δ."""
    sizes, random = LpnSizes(50, 1, 1), random_for(number)
    q, delta = random.words(50, 2), random.words(2)
    s = random.bits(50).astype(np.uint64)[:, None]
    of_q, of_t, of_s = np.zeros((30, 2), np.uint64), np.zeros((30, 2), np.uint64), np.zeros((30, 1), np.uint64)
    for secret, outputs in ((q, of_q), (q ^ s * delta, of_t), (s, of_s)):
        code(number, sizes).add(secret, outputs)
    assert np.array_equal(of_q ^ of_t, of_s * delta)
