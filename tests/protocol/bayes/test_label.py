import pytest

from mixbayes.protocol.bayes.label import blinding_for, opened
from mixbayes.protocol.errors import OutOfRange
from tests.protocol.pairs import random_for, words_of, xored


def test_pad_of_a_question_depends_on_nothing_but_the_question_and_the_mixers_common_seed() -> None:
    common = random_for(1).bytes(32)
    first = blinding_for(b"first", common).bytes(16)
    assert blinding_for(b"second", common).bytes(16) != first
    assert blinding_for(b"first", common).bytes(16) == first
    assert blinding_for(b"first", random_for(2).bytes(32)).bytes(16) != first


def test_label_is_the_place_of_the_one_bit() -> None:
    hot = words_of([1 << place for place in range(64)])
    assert opened(*xored(hot, 64, 1), "mixer a or mixer b").tolist() == list(range(64))


@pytest.mark.parametrize("hot", [0, 0b11, 0b111, 1 << 63 | 1], ids=bin)
def test_answer_that_names_no_class_or_several_is_refused(hot: int) -> None:
    first, second = xored(words_of([1, hot, 4]), 64, 1)
    with pytest.raises(OutOfRange, match="mixer a or mixer b, at label: an answer names no class, or several"):
        opened(first, second, "mixer a or mixer b")
