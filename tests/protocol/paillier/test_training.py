from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.privacy.coins import Coins
from mixbayes.protocol.arrays import Bits, Numbers, Words
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.noise import clamped_in_clear
from mixbayes.protocol.bayes.recipe import JOINT, read_recipe
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.errors import BadData, DictionaryTooLarge, Unsupported
from mixbayes.protocol.paillier import exact, training
from mixbayes.protocol.paillier.key import SecretKey, big_numbers, generate, size_of, to_bytes, unit
from mixbayes.protocol.paillier.training import ExactModel, Group, run_paillier_training, train_exactly
from mixbayes.protocol.randomness import Randomness
from tests.protocol.adversary import bits_heard
from tests.protocol.paillier import former
from tests.protocol.paillier.test_key import small_key
from tests.protocol.pairs import SEEDS, both, layout_of, random_counts, random_for, seed
from tests.protocol.views import dealt, pairs_seen_by, tells_nothing

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


def trained(key: SecretKey, layout: Layout, vectors: tuple[Words, Words]) -> tuple[Any, Any]:
    """On the pair that all examples share."""
    group = Group.of(layout, key.public)
    return both(lambda me: train_exactly(me, group, layout, vectors[me.role]), ())


def shared(me: ComputingParty, group: Group, bits: int, numbers: Numbers) -> list[int]:
    """Either hospital's share of the numbers of which it has a part."""
    part = training._part_of_counts(numbers, bits)
    return training._offered(me, group, part) if me.role == A else training._taken(me, group, part.bits)


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
    models = trained(small_key(bits), layout, vectors)
    assert models[0].group == models[1].group
    assert models[0].group.small == (bits == PRIME)
    assert joined(models) == sides(layout, vectors[0] + vectors[1])
    none = layout.class_counts(vectors[0] + vectors[1]) == 0
    assert (models[0].empty ^ models[1].empty).tolist() == none.tolist()


def test_all_roles_in_memory_with_a_key_of_2048_bits() -> None:
    rng = np.random.default_rng(1)
    vectors = random_counts(LAYOUT, rng, 20), random_counts(LAYOUT, rng, 20)
    models = run_paillier_training(LAYOUT, vectors, generate(2048).public, (seed(1), seed(2)))
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


@pytest.mark.parametrize("bits", [MODULUS_OF_KEY, PRIME])
@given(values=st.lists(st.tuples(st.integers(0, 15), st.integers(0, 15)), max_size=9), step=st.integers(1, 4))
@settings(max_examples=30)
def test_the_product_of_both_shares_is_the_sum_or_one(bits: int, values: list[tuple[int, int]], step: int) -> None:
    group = Group.of(LAYOUT, small_key(bits).public)

    def share(me: ComputingParty) -> list[int]:
        numbers = np.array([pair[me.role] for pair in values], object)
        parts = [numbers[at : at + step] for at in range(0, len(values), step)]
        return [share for part in parts for share in shared(me, group, 4, part)]

    of_a, of_b = both(share, ())
    assert [x * y % group.modulus for x, y in zip(of_a, of_b, strict=True)] == [max(1, x + y) for x, y in values]


def test_a_large_dictionary_is_trained_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "_PIECE_BYTES", 1000)
    vectors = random_counts(LAYOUT, np.random.default_rng(1), 20), random_counts(LAYOUT, np.random.default_rng(2), 20)
    assert joined(trained(small_key(PRIME), LAYOUT, vectors)) == sides(LAYOUT, vectors[0] + vectors[1])


def test_what_b_gets_of_a_cell_is_uniform() -> None:
    """The same cells, many trainings: B's shares spread over the whole group, and differ for equal cells."""
    key, vector = small_key(PRIME), np.zeros(LAYOUT.size, np.uint64)
    models = [trained(key, LAYOUT, (vector, vector))[1] for _ in range(30)]
    factors = [factor for model in models for factor in [*model.start[:3], *model.tables[1][:3].reshape(-1)]]
    distinct = {factor for factor in factors if factor != 1}
    assert len(distinct) == len(models) * (3 + 9 + 3)  # priors, numerators, and denominators, once for all values
    shares = [factor / models[0].group.modulus for factor in distinct]
    buckets = np.histogram([float(share) for share in shares], 8, (0, 1))[0]
    expected = len(distinct) / 8
    assert ((buckets - expected) ** 2 / expected).sum() < 7 + 6 * 14**0.5


# What one that departs from the protocol learns


def test_an_encrypted_part_beyond_its_bounds_once_told_the_other_ones_cell() -> None:
    """As B answered formerly: r times the part stands above everything, and r is what hid B's own part below it."""
    key, random = small_key(PRIME), random_for(1)
    public, group, hidden, own = key.public, Group.of(LAYOUT, key.public), exact.cell_bits(LAYOUT), 17
    far = former.slot_width(group, hidden)
    part = public.encrypt(1 << far, public.obfuscator(random))
    opened = key.decrypt(former.cell(group, public, hidden, part, own, unit(random, group.modulus), random))
    factor, rest = opened >> far, opened % (1 << far)
    assert rest * pow(factor, -1, group.modulus) % group.modulus == own


def test_an_encrypted_part_once_told_whether_the_other_ones_cell_is_a_guess() -> None:
    key, random = small_key(PRIME), random_for(1)
    public, group, hidden, own = key.public, Group.of(LAYOUT, key.public), exact.cell_bits(LAYOUT), 17

    def is_it(guess: int) -> bool:
        part = public.encrypt(-guess, public.obfuscator(random))
        factor = unit(random, group.modulus)
        return key.decrypt(former.cell(group, public, hidden, part, own, factor, random)) % group.modulus == 0

    assert [guess for guess in range(60) if is_it(guess)] == [own]


@pytest.mark.parametrize("bits", [MODULUS_OF_KEY, PRIME])
@given(own=st.integers(0, 15), entered=st.integers(0, 31), number=SEEDS)
@settings(max_examples=60)
def test_whatever_bits_b_enters_its_share_is_a_cell_within_bounds_times_the_factor(
    bits: int, own: int, entered: int, number: int
) -> None:
    """Every combination of bits, also one that no number has: at least 1, so that the factor hides it."""
    group = Group.of(LAYOUT, small_key(bits).public)

    def share(me: ComputingParty) -> list[int]:
        if me.role == A:
            return shared(me, group, 4, np.array([own], object))
        return training._taken(me, group, np.array([[entered >> place & 1] for place in range(5)], np.uint8))

    (of_a,), (of_b,) = both(share, ())
    cell = of_a * of_b % group.modulus
    assert cell == (own + (entered & 15) + 1 - (entered >> 4) if own else (entered & 15) + 1)
    assert 1 <= cell <= 32


@dealt
@pytest.mark.parametrize("entered", [0, 5])
def test_what_b_hears_in_training_is_uniform_whatever_it_enters_and_whatever_a_has(entered: int) -> None:
    group = Group.of(LAYOUT, small_key(300).public)

    def views(own: int) -> Bits:
        def step(me: ComputingParty) -> None:
            numbers = big_numbers([own if me.role == A else entered] * 4)
            shared(me, group, 6, numbers)

        heard = []
        for pair in pairs_seen_by(B):
            pair.talk.second.forget()
            pair.run(step, (), ())
            heard.append(elements_heard(pair.talk.second.heard, group))
        return np.stack(heard)

    tells_nothing([views(0), views(1), views(60)])


def elements_heard(heard: list[tuple[str, Any]], group: Group) -> Bits:
    """All bits of the elements but the highest ones: the modulus is no power of two."""
    size = size_of(group.modulus)
    ((_, raw),) = [one for one in heard if one[0] == "masked cells"]
    return bits_heard([("masked cells", raw.reshape(-1, size)[:, : size - 2].reshape(-1))])


@dealt
def test_what_a_hears_in_training_is_uniform_whatever_b_has() -> None:
    group = Group.of(LAYOUT, small_key(300).public)

    def views(own: int) -> Bits:
        def step(me: ComputingParty) -> None:
            numbers = big_numbers([1 if me.role == A else own] * 4)
            shared(me, group, 6, numbers)

        heard = []
        for pair in pairs_seen_by(A):
            pair.talk.first.forget()
            pair.run(step, (), ())
            heard.append(bits_heard(pair.talk.first.heard))
        return np.stack(heard)

    tells_nothing([views(0), views(60)])


@pytest.mark.parametrize("number", [0, 1, 2])
def test_an_offer_that_makes_a_cell_zero_shows_nowhere(number: int) -> None:
    """Formerly it was an error, and told the other hospital whether a combination of this one's numbers is zero."""
    group = Group.of(LAYOUT, small_key(300).public)

    def share(me: ComputingParty) -> list[int] | None:
        if me.role == B:
            return shared(me, group, 4, big_numbers([number]))
        sent, _ = me.pool.take(5)
        flips = np.unpackbits(me.channel.receive("bits of counts", 1), count=5)
        masks = [training._masks(group, me.pool.sent_hash, pads) for pads in sent.pads]
        zeros, ones = np.where(flips, masks[1], masks[0]), np.where(flips, masks[0], masks[1])
        # Only the lowest bit of max(0, b − 1) counts: the share is zero for b = 0 and b = 1, and one for b = 2.
        offered = [*(big_numbers([1, 0, 0, 0, 0]) + zeros - ones), -zeros.sum()]
        size = size_of(group.modulus)
        me.channel.send("masked cells", to_bytes([x % group.modulus for x in offered], size))
        return None

    assert both(share, ())[1] == [1]


def test_nothing_is_sent_where_the_dictionary_does_not_fit() -> None:
    large = layout_of(2, [50] * 13, max_rows=2**20)
    needed = exact.comparison_bits(large) + 43
    with pytest.raises(DictionaryTooLarge, match=f"key of {needed} bits, and this one has 512"):
        Group.of(large, small_key(PRIME).public)


def test_gaussian_attributes_are_refused() -> None:
    attributes = (Gaussian(name="age", low=0.0, high=99.0),)
    layout = Layout(Dictionary(class_column="class", classes=("a", "b"), attributes=attributes))
    with pytest.raises(Unsupported, match=r"age.*--bins.*shares"):
        Group.of(layout, small_key(PRIME).public)


def test_more_rows_than_agreed_are_refused() -> None:
    vector = random_counts(LAYOUT, np.random.default_rng(1), 61)
    nobody: Any = None
    with pytest.raises(BadData, match="more rows than the 60"):
        train_exactly(nobody, Group.of(LAYOUT, small_key(PRIME).public), LAYOUT, vector)


def test_models_do_not_print_their_factors() -> None:
    nothing = np.zeros(LAYOUT.size, np.uint64)
    models = trained(small_key(PRIME), LAYOUT, (nothing, nothing))
    factor = str(models[0].start[0])
    assert factor not in repr(models[0])


# Noise


NOISY = Layout(layout_of(3, [2, 3], max_rows=60, smoothing="1/2").dictionary, Terms(hospitals=2, coins=Coins((6, 4))))


@given(SEEDS, st.sampled_from(["joint", "personal:weight=3:prior=own", "personal:weight=3:prior=mixed"]))
@settings(max_examples=20)
def test_shares_of_noisy_counts_multiply_to_the_clamped_cells(number: int, text: str) -> None:
    """Noisy counts of which some are below zero, as shares of any size, and an asking hospital's own counts beside."""
    rng, key, recipe = np.random.default_rng(number), small_key(700), read_recipe(text)
    own = random_counts(NOISY, rng, 20, empty=0.5)
    noisy = own + rng.integers(-NOISY.noise, NOISY.noise + 1, NOISY.size).astype(np.uint64)
    of_a = rng.integers(0, 2**64, NOISY.size, np.uint64, endpoint=False)
    shares, group = (of_a, noisy - of_a), Group.of(NOISY, key.public, recipe)
    asking = own if recipe.personal else None

    def train(me: ComputingParty) -> ExactModel:
        return train_exactly(me, group, NOISY, shares[me.role], recipe, asking if me.role == A else None)

    models = both(train, ())
    cells = exact.cells(NOISY, clamped_in_clear(NOISY, noisy), 1, recipe, asking)
    assert joined(models)[0][:3] == cells.prior.tolist()
    rows = [[*row, *den] for num, den in zip(cells.numerators, cells.denominators, strict=True) for row in num]
    assert [row for table in joined(models)[1] for row in table[:-1]] == [list(map(int, row)) for row in rows]
    assert not (models[0].empty | models[1].empty).any()


def test_numbers_with_noise_stay_within_what_is_compared() -> None:
    """Everybody alike, the largest noise on every count, and in the class counts those that are imagined."""
    dictionary = layout_of(2, [2, 3], max_rows=4).dictionary
    layout = Layout(dictionary, Terms(hospitals=2, coins=Coins((10, 400))))
    assert layout.noise > 20 * layout.rows_together
    most = np.full(layout.size, layout.noise, np.uint64)
    for counts in (layout.class_counts(most), *(block[0] for _, block in layout.blocks(most))):
        counts += np.uint64(layout.rows_together)
    cells = exact.cells(layout, clamped_in_clear(layout, most), 1)
    largest = int(max(cells.prior)) * prod(
        int(numerators.max()) * int(max(denominators))
        for numerators, denominators in zip(cells.numerators, cells.denominators, strict=True)
    )
    assert 0 <= exact.comparison_bits(layout) - largest.bit_length() <= 1
    everything = [cells.prior, *cells.numerators, *cells.denominators]
    assert 0 <= exact.cell_bits(layout) - max(int(part.max()) for part in everything).bit_length() <= 1


def test_costs_that_shares_of_words_cannot_hold_are_refused() -> None:
    dictionary = NOISY.dictionary
    recipe = replace(JOINT, costs=((dictionary.classes[0], Fraction(1, 10**20)),))
    with pytest.raises(Unsupported, match="smaller costs"):
        Group.of(NOISY, small_key(3072).public, recipe)
    Group.of(Layout(dictionary), small_key(3072).public, recipe)
