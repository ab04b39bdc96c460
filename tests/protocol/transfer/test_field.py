import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.transfer.extension import column_hashes
from mixbayes.protocol.transfer.field import ONE, block_of, combined, element, element_of_bits, product
from tests.protocol.pairs import SEEDS, random_for

ELEMENTS = st.integers(0, 2**128 - 1)
UNIT_ELEMENT = element(np.array([ONE] + 15 * [0], np.uint8))


def x_to(power: int) -> int:
    """X^power, by its place in the block."""
    bits = np.zeros(128, np.uint8)
    bits[power] = 1
    return element_of_bits(bits)


@given(ELEMENTS)
def test_one_changes_nothing_and_blocks_come_back(value: int) -> None:
    assert product(value, UNIT_ELEMENT) == product(UNIT_ELEMENT, value) == value
    assert element(np.frombuffer(block_of(value), np.uint8)) == value


@given(ELEMENTS, ELEMENTS, ELEMENTS)
def test_it_is_a_field(a: int, b: int, c: int) -> None:
    assert product(a, b) == product(b, a)
    assert product(a, product(b, c)) == product(product(a, b), c)
    assert product(a, b ^ c) == product(a, b) ^ product(a, c)
    assert product(a, b) != 0 or 0 in (a, b)


@given(SEEDS)
def test_it_is_the_field_of_ghash(number: int) -> None:
    """The library's hash of one block is the block times the square of the key, but for a constant."""
    key, block = random_for(number).bytes(16), random_for(number + 1).words(1, 2)
    h = element(np.frombuffer(Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(bytes(16)), np.uint8))
    hashed = element(column_hashes(key, block)) ^ element(column_hashes(key, np.zeros_like(block)))
    assert hashed == product(product(element(block), h), h)


@given(SEEDS)
def test_blocks_are_combined_by_the_powers_of_x(number: int) -> None:
    blocks = random_for(number).words(128, 2)
    total = 0
    for power, block in enumerate(blocks):
        total ^= product(x_to(power), element(block))
    assert combined(blocks) == total


@given(SEEDS, ELEMENTS)
def test_bits_times_an_element_are_its_combination(number: int, value: int) -> None:
    bits = random_for(number).bits(128)
    rows = np.frombuffer(block_of(value), np.uint64) * bits[:, None].astype(np.uint64)
    assert combined(rows) == product(element_of_bits(bits), value)
