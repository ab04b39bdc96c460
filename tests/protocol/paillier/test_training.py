from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.circuits.products import gate
from mixbayes.protocol.computing_party import A, ComputingParty
from mixbayes.protocol.errors import BadData, DictionaryTooLarge, OutOfRange, PoolExhausted, Unsupported
from mixbayes.protocol.paillier import exact
from mixbayes.protocol.paillier.key import (
    SecretKey,
    from_bytes,
    generate,
    obfuscators,
    receive_ciphertexts,
    send_ciphertexts,
)
from mixbayes.protocol.paillier.training import (
    ExactModel,
    Group,
    answers,
    in_flight,
    run_paillier_training,
    train_holder,
    train_other,
)
from mixbayes.protocol.randomness import Randomness
from tests.protocol.adversary import Tap, TappedPair
from tests.protocol.paillier.test_key import randomness_of, small_key
from tests.protocol.pairs import SEEDS, both, layout_of, random_counts, random_for, seed

MODULUS_OF_KEY, PRIME = 160, 512
"""Keys that leave room for nothing beyond the numbers compared, and for two products; see `Group`."""
LAYOUT = layout_of(3, [2, 3], max_rows=60)


def sides(layout: Layout, vector: Words) -> tuple[list[int], list[list[list[int]]]]:
    """What the parties' factors must multiply to: in the clear, and written another way than the protocol does."""
    cells, classes = exact.cells(layout, vector, 1), range(layout.classes)
    tables = []
    for numerators, denominators in zip(cells.numerators, cells.denominators, strict=True):
        if layout.classes == 2:
            rows = [[row[0] * denominators[1], row[1] * denominators[0]] for row in numerators]
            tables.append([*rows, [1, 1]])
        else:
            tables.append([*([*row, *denominators] for row in numerators), [1] * (2 * layout.classes)])
    start = [cells.prior[c] or 1 for c in classes]
    return start + [1] * (layout.classes if layout.classes > 2 else 0), tables


def joined(models: tuple[ExactModel, ExactModel]) -> tuple[list[int], list[list[list[int]]]]:
    a, b = models
    tables = [(x * y % a.group.modulus).tolist() for x, y in zip(a.tables, b.tables, strict=True)]
    return (a.start * b.start % a.group.modulus).tolist(), tables


def trained(key: SecretKey, layout: Layout, vectors: tuple[Words, Words], number: int = 1) -> tuple[Any, Any]:
    """On the pair that all examples share."""

    def train(me: ComputingParty) -> ExactModel:
        if me.role == A:
            return train_holder(me, key, layout, vectors[0], obfuscators(key, random_for(number)))
        return train_other(me, key.public, layout, vectors[1], obfuscators(key.public, random_for(number + 1)))

    return both(train, ())


class Constant(Randomness):
    """Every byte the same: the largest mask, or the smallest."""

    def __init__(self, byte: int) -> None:
        super().__init__(seed(0))
        self._byte = byte

    def bytes(self, count: int) -> bytes:
        return bytes([self._byte]) * count


@given(
    st.integers(2, 4),
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
    st.sampled_from(["1", "1/2", "0.3"]),
    st.sampled_from([MODULUS_OF_KEY, PRIME]),
    SEEDS,
)
@settings(max_examples=40)
def test_the_factors_multiply_to_the_joint_cells(
    classes: int, sizes: list[int], smoothing: str, bits: int, number: int
) -> None:
    layout, rng = layout_of(classes, sizes, max_rows=60, smoothing=smoothing), np.random.default_rng(number)
    vectors = random_counts(layout, rng, 20, empty=0.5), random_counts(layout, rng, 20, empty=0.5)
    models = trained(small_key(bits), layout, vectors, number)
    assert models[0].group == models[1].group
    assert models[0].group.small == (bits == PRIME)
    assert joined(models) == sides(layout, vectors[0] + vectors[1])
    none = layout.class_counts(vectors[0] + vectors[1]) == 0
    assert (models[0].empty ^ models[1].empty).tolist() == none.tolist()


def test_all_roles_in_memory_with_a_key_of_2048_bits() -> None:
    rng = np.random.default_rng(1)
    vectors = random_counts(LAYOUT, rng, 20), random_counts(LAYOUT, rng, 20)
    models = run_paillier_training(LAYOUT, vectors, generate(2048), (seed(1), seed(2)))
    assert joined(models) == sides(LAYOUT, vectors[0] + vectors[1])


def test_no_share_of_the_empty_classes_is_the_answer() -> None:
    """Each is a coin; neither says anything."""
    nothing = np.zeros(LAYOUT.size, np.uint64)
    vector = random_counts(LAYOUT, np.random.default_rng(1), 20, empty=0)
    layout, key = LAYOUT, small_key(PRIME)
    shares = [trained(key, layout, vectors) for vectors in [(nothing, nothing), (vector, nothing)] * 15]
    for role in (0, 1):
        for case in (0, 1):
            coins = np.array([pair[role].empty for pair in shares[case::2]])
            assert coins.mean(axis=0).min() > 0
            assert coins.mean(axis=0).max() < 1


def test_every_ciphertext_has_randomness_of_its_own() -> None:
    """Those of A its own obfuscators; those of B not what A's randomness becomes under B's factors."""
    key, rng = small_key(PRIME), np.random.default_rng(1)
    vectors = random_counts(LAYOUT, rng, 20), random_counts(LAYOUT, rng, 20)
    used: dict[int, list[int]] = {0: [], 1: []}

    def watched(role: int, stream: Iterator[int]) -> Iterator[int]:
        for obfuscator in stream:
            used[role].append(obfuscator)
            yield obfuscator

    def heard(number: int) -> tuple[list[int], list[int]]:
        pair = TappedPair(1, 2)

        def train(me: ComputingParty) -> ExactModel:
            if me.role == A:
                return train_holder(me, key, LAYOUT, vectors[0], watched(0, obfuscators(key, random_for(7))))
            stream = watched(1, obfuscators(key.public, random_for(number)))
            return train_other(me, key.public, LAYOUT, vectors[1], stream)

        pair.run(train, (), ())
        return ciphertexts(pair.talk.second, "encrypted cells"), ciphertexts(pair.talk.first, "masked cells")

    def ciphertexts(tap: Tap, step: str) -> list[int]:
        size = key.public.ciphertext_bytes
        return [c for name, raw in tap.heard if name == step for c in from_bytes(raw, size)]

    cells, answers = heard(8)
    assert cells == [key.public.added(o, key.decrypt(c)) for c, o in zip(cells, used[0], strict=True)]
    assert len(used[1]) == len(answers)
    everything = [randomness_of(key, c) for c in cells + answers]
    assert len(set(everything)) == len(everything)
    # The same run with other obfuscators at B: the same plaintexts, and nothing of the ciphertexts stays.
    first_of_b, used[1] = used[1], []
    _, again = heard(9)
    assert [key.decrypt(c) for c in again] == [key.decrypt(c) for c in answers]
    square = key.public.square
    for one, other, o, p in zip(answers, again, first_of_b, used[1], strict=True):
        assert one != other
        assert one * p % square == other * o % square


@pytest.mark.parametrize("bits", [300, 512, 3072])
@given(hidden=st.integers(1, 90), number=SEEDS)
@settings(max_examples=30)
def test_a_veil_hides_with_40_bits_to_spare_and_fits(bits: int, hidden: int, number: int) -> None:
    group = Group.of(LAYOUT, small_key(bits).public)
    assert group.small
    largest = group.veil(Constant(255), hidden) // group.modulus
    assert largest.bit_length() == hidden + 41
    assert group.veil(Constant(0), hidden) == 0
    # Many draws reach every bit, and the top bit is a coin.
    draws = [group.veil(random_for(number + i), hidden) // group.modulus for i in range(64)]
    assert 10 < sum(draw >> hidden + 40 for draw in draws) < 54
    # The number it is added to: at most the modulus times 2^hidden.
    full = group.modulus * (1 << hidden) - 1 + largest * group.modulus
    assert full < 1 << group.width(hidden)
    if group.slots(hidden):
        assert group.width(hidden) * group.slots(hidden) < bits
        assert group.opened(full, 1, hidden) == [full % group.modulus]


@pytest.mark.parametrize("byte", [0, 255])
def test_full_slots_do_not_spill(byte: int) -> None:
    """The largest numbers and the largest veils, side by side in one plaintext."""
    key = small_key(3072)
    group = Group.of(LAYOUT, key.public)
    hidden = group.product_bits
    count = group.slots(hidden)
    assert count > 5
    number = group.modulus * (1 << hidden) - 1
    zeros = [key.obfuscator(random_for(1))] * count
    stock = obfuscators(key, random_for(2))
    (answer,) = answers(group, key.public, hidden, zeros, [number] * count, Constant(byte), stock)
    assert group.opened(key.decrypt(answer), count, hidden) == [number % group.modulus] * count


def test_what_a_learns_of_a_cell_is_uniform() -> None:
    """The same cells, many trainings: A's factors spread over the whole group, and differ for equal cells."""
    key, vector = small_key(PRIME), np.zeros(LAYOUT.size, np.uint64)
    models = [trained(key, LAYOUT, (vector, vector), number)[0] for number in range(0, 60, 2)]
    factors = [factor for model in models for factor in [*model.start[:3], *model.tables[1][:3].reshape(-1)]]
    distinct = {factor for factor in factors if factor != 1}
    assert len(distinct) == len(models) * (3 + 9 + 3)  # priors, numerators, and denominators, once for all values
    shares = [factor / models[0].group.modulus for factor in distinct]
    buckets = np.histogram([float(share) for share in shares], 8, (0, 1))[0]
    expected = len(distinct) / 8
    assert ((buckets - expected) ** 2 / expected).sum() < 7 + 6 * 14**0.5


def test_nothing_is_sent_where_the_dictionary_does_not_fit() -> None:
    nobody: Any = None
    large = layout_of(2, [50] * 13, max_rows=2**20)
    vector = np.zeros(large.size, np.uint64)
    key = small_key(PRIME)
    needed = exact.comparison_bits(large) + 43
    for train, held in ((train_holder, key), (train_other, key.public)):
        job: Any = train
        with pytest.raises(DictionaryTooLarge, match=f"key of {needed} bits, and this one has 512"):
            job(nobody, held, large, vector, iter(()))


def test_gaussian_attributes_are_refused() -> None:
    attributes = (Gaussian(name="age", low=0.0, high=99.0),)
    layout = Layout(Dictionary(class_column="class", classes=("a", "b"), attributes=attributes))
    nobody: Any = None
    with pytest.raises(Unsupported, match=r"age.*--bins.*shares"):
        train_holder(nobody, small_key(PRIME), layout, np.zeros(layout.size, np.uint64), iter(()))


def test_more_rows_than_agreed_are_refused() -> None:
    vector = random_counts(LAYOUT, np.random.default_rng(1), 61)
    nobody: Any = None
    with pytest.raises(BadData, match="more rows than the 60"):
        train_other(nobody, small_key(PRIME).public, LAYOUT, vector, iter(()))


def test_an_empty_stock_is_said_to_be_empty() -> None:
    key, vector = small_key(PRIME), np.zeros(LAYOUT.size, np.uint64)

    def train(me: ComputingParty) -> ExactModel:
        if me.role == A:
            return train_holder(me, key, LAYOUT, vector, iter(()))
        return train_other(me, key.public, LAYOUT, vector, iter(()))

    with pytest.raises(PoolExhausted):
        both(train, ())


@pytest.mark.parametrize("bits", [MODULUS_OF_KEY, PRIME])
@pytest.mark.parametrize("bad", ["zero", "too long"])
def test_answers_that_no_honest_b_sends_are_refused(bits: int, bad: str) -> None:
    key, vector = small_key(bits), np.zeros(LAYOUT.size, np.uint64)
    if bits == MODULUS_OF_KEY and bad == "too long":
        return  # nothing is too long modulo N

    def train(me: ComputingParty) -> ExactModel | None:
        if me.role == A:
            return train_holder(me, key, LAYOUT, vector, obfuscators(key, random_for(1)))
        gate(me, np.zeros(3, np.uint8), np.zeros(3, np.uint8), 1)
        receive_ciphertexts(me.channel, "encrypted cells", key.public, 6)
        number = 0 if bad == "zero" else key.public.modulus - 1
        answer = key.public.encrypt(number, key.public.obfuscator(random_for(2)))
        slots = Group.of(LAYOUT, key.public).slots(exact.cell_bits(LAYOUT))
        send_ciphertexts(me.channel, "masked cells", key.public, [answer] * -(-3 // slots))
        return None

    with pytest.raises(OutOfRange, match=r"party B, at masked cells"):
        both(train, ())


def test_cells_that_are_no_ciphertexts_are_refused() -> None:
    key, vector = small_key(PRIME), np.zeros(LAYOUT.size, np.uint64)

    def train(me: ComputingParty) -> ExactModel | None:
        if me.role != A:
            return train_other(me, key.public, LAYOUT, vector, obfuscators(key.public, random_for(1)))
        gate(me, np.zeros(3, np.uint8), np.zeros(3, np.uint8), 1)
        send_ciphertexts(me.channel, "encrypted cells", key.public, [0] * 6)
        return None

    with pytest.raises(OutOfRange, match=r"party A, at encrypted cells"):
        both(train, ())


def test_models_do_not_print_their_factors() -> None:
    nothing = np.zeros(LAYOUT.size, np.uint64)
    models = trained(small_key(PRIME), LAYOUT, (nothing, nothing))
    factor = str(models[0].start[0])
    assert factor not in repr(models[0])


@given(st.lists(st.integers(0, 9), max_size=30))
def test_answers_come_in_order_and_few_are_awaited(counts: list[int]) -> None:
    under_way: list[int] = []
    most = 0

    def send(part: int) -> None:
        nonlocal most
        under_way.append(part)
        most = max(most, len(under_way))

    def collect(count: int) -> list[int]:
        return [under_way.pop(0)] * count

    parts = list(enumerate(counts))
    assert in_flight(parts, send, collect) == [part for part, count in parts for _ in range(count)]
    assert most <= 5
    assert not under_way
