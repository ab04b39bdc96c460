import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.arrays import mask
from mixbayes.protocol.errors import OutOfRange
from mixbayes.protocol.packing import bits_bytes, pack_bits, pack_words, unpack_bits, unpack_words, words_bytes
from tests.protocol.pairs import WIDTHS, bits_of, random_for, words_and_width, words_of

EVERY_WIDTH = range(1, 65)


@given(st.lists(st.integers(0, 1), max_size=70))
def test_bits_come_back(bits: list[int]) -> None:
    packed = pack_bits(bits_of(bits))
    assert packed.nbytes == bits_bytes(len(bits)) == (len(bits) + 7) // 8
    assert unpack_bits(packed, len(bits), "mixer b", "step").tolist() == bits


@given(words_and_width(WIDTHS))
def test_words_come_back(example: tuple[int, list[list[int]]]) -> None:
    width, (words,) = example
    packed = pack_words(words_of(words), width)
    assert packed.nbytes == words_bytes(len(words), width)
    assert unpack_words(packed, len(words), width, "mixer b", "step").tolist() == words


@pytest.mark.parametrize("count", [0, 1, 7, 100])
def test_every_width_comes_back(count: int) -> None:
    for width in EVERY_WIDTH:
        words = random_for(width).words(count) & mask(width)
        packed = pack_words(words, width)
        assert packed.nbytes == words_bytes(count, width)
        assert unpack_words(packed, count, width, "mixer b", "step").tolist() == words.tolist()


def test_words_take_no_more_bits_than_they_need() -> None:
    assert [words_bytes(9, width) for width in (1, 2, 8, 9, 16, 17, 64)] == [2, 3, 9, 11, 18, 20, 72]
    assert [words_bytes(8, width) for width in EVERY_WIDTH] == list(EVERY_WIDTH)


def test_words_of_one_bit_travel_as_bits() -> None:
    bits = [1, 0, 1, 1, 0, 0, 0, 0, 1]
    assert pack_words(words_of(bits), 1).tolist() == pack_bits(bits_of(bits)).tolist()
    with pytest.raises(OutOfRange, match=r"mixer b, at step: .*padding"):
        unpack_words(pack_bits(bits_of(bits)), 8, 1, "mixer b", "step")


def test_words_of_every_shape_are_packed_flat() -> None:
    words = random_for(1).words(3, 5) & mask(40)
    assert pack_words(words, 40).tolist() == pack_words(words.reshape(-1), 40).tolist()


def test_layout_on_the_wire() -> None:
    """Planes of whole bytes, lowest byte first; then the bits above them, all lowest ones before the next ones."""
    words = words_of([0x07060504030201, 0x17161514131211])
    planes = "01020304 11121314 0506 1516 07 17"
    assert pack_words(words, 56).tobytes() == bytes.fromhex(planes)
    assert pack_words(words, 53).tobytes() == bytes.fromhex(planes.removesuffix("07 17") + "fc40")
    assert pack_bits(bits_of([1, 0, 0, 0, 0, 0, 0, 0, 1])).tobytes() == bytes.fromhex("8080")


@pytest.mark.parametrize("width", EVERY_WIDTH)
def test_no_message_holds_a_word_beyond_its_width(width: int) -> None:
    """Every message of the right length is one of words: all bits set are the greatest words, or padding is."""
    ones = np.full(words_bytes(5, width), 255, np.uint8)
    if 5 * width % 8:
        with pytest.raises(OutOfRange, match=r"mixer b, at step: .*padding"):
            unpack_words(ones, 5, width, "mixer b", "step")
    else:
        assert unpack_words(ones, 5, width, "mixer b", "step").tolist() == [2**width - 1] * 5


@pytest.mark.parametrize("width", [2, 3, 13, 41, 63])
def test_set_padding_of_words_is_refused(width: int) -> None:
    for count in range(1, 8):
        packed = pack_words(random_for(count).words(count) & mask(width), width)
        for bit in range(count * (width % 8) % 8 or 8, 8):
            changed = packed.copy()
            changed[-1] |= np.uint8(128 >> bit)
            with pytest.raises(OutOfRange, match=r"mixer b, at step: .*padding"):
                unpack_words(changed, count, width, "mixer b", "step")


@pytest.mark.parametrize("count", range(1, 18))
def test_set_padding_is_refused(count: int) -> None:
    for bit in range(count, 8 * bits_bytes(count)):
        padded = np.zeros(8 * bits_bytes(count), np.uint8)
        padded[bit] = 1
        with pytest.raises(OutOfRange, match=r"mixer b, at step: .*padding"):
            unpack_bits(np.packbits(padded), count, "mixer b", "step")
