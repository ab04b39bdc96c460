import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.randomness import Randomness
from tests.protocol.pairs import SEEDS, random_for, seed

FIRST_BLOCK = "dc95c078a2408989ad48a21492842087"
"""AES-256 of the zero block under the zero key, from NIST's known answers."""


def slow_stream(key: bytes, blocks: int) -> bytes:
    """Counter mode, block by block."""
    block = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update
    return b"".join(block(i.to_bytes(16, "big")) for i in range(blocks))


def test_zero_seed_gives_the_known_answer() -> None:
    assert Randomness(bytes(32)).bytes(16).hex() == FIRST_BLOCK


@given(SEEDS, st.integers(0, 100))
def test_bytes_are_aes_in_counter_mode(number: int, blocks: int) -> None:
    assert random_for(number).bytes(16 * blocks) == slow_stream(seed(number), blocks)


@given(SEEDS, st.lists(st.integers(0, 50), max_size=9))
def test_draws_continue_where_the_last_one_stopped(number: int, sizes: list[int]) -> None:
    random = random_for(number)
    assert b"".join(map(random.bytes, sizes)) == random_for(number).bytes(sum(sizes))


@pytest.mark.parametrize("size", [2**16 - 1, 2**16, 2**16 + 1, 3 * 2**16 + 5])
def test_long_draws_are_the_same_stream(size: int) -> None:
    drawn = random_for(1).bytes(size)
    assert drawn == slow_stream(seed(1), size // 16 + 1)[:size]


@given(SEEDS, st.integers(0, 5), st.integers(0, 5))
def test_words_are_eight_bytes_each_lowest_first(number: int, rows: int, columns: int) -> None:
    words = random_for(number).words(rows, columns)
    assert words.shape == (rows, columns)
    assert words.astype("<u8").tobytes() == random_for(number).bytes(8 * rows * columns)


@given(SEEDS, st.integers(0, 7), st.integers(0, 7))
def test_bits_are_those_of_the_bytes_highest_first(number: int, rows: int, columns: int) -> None:
    count = rows * columns
    text = "".join(f"{byte:08b}" for byte in random_for(number).bytes(-(-count // 8)))
    bits = random_for(number).bits(rows, columns)
    assert bits.shape == (rows, columns)
    assert bits.reshape(-1).tolist() == [int(bit) for bit in text[:count]]


def test_other_seed_gives_other_draws() -> None:
    assert random_for(1).bytes(16) != random_for(2).bytes(16)


def test_system_never_seeds_twice_alike() -> None:
    assert Randomness.from_system().bytes(16) != Randomness.from_system().bytes(16)


@pytest.mark.parametrize("size", [0, 16, 31, 33])
def test_seed_of_another_size_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match=f"32 bytes, not {size}"):
        Randomness(bytes(size))


def test_it_does_not_show_its_seed() -> None:
    assert repr(Randomness(b"secret seed".ljust(32))) == "Randomness(...)"
