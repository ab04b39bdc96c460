from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import cycle, islice
from math import gcd
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Bits, Numbers, Values, Words, slices
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.errors import OutOfRange
from mixbayes.protocol.paillier import classification as paillier_classification
from mixbayes.protocol.paillier import exact
from mixbayes.protocol.paillier.classification import (
    Holder,
    Line,
    Other,
    Seat,
    run_paillier_classification,
    see,
    show,
    winners,
)
from mixbayes.protocol.paillier.key import (
    SecretKey,
    from_bytes,
    generate,
    inverse,
    obfuscators,
    to_bytes,
    unit,
)
from mixbayes.protocol.paillier.training import ExactModel, Group, _assembled, run_paillier_training
from mixbayes.protocol.randomness import Randomness
from tests.protocol.adversary import TappedEnds, TappedPair
from tests.protocol.paillier import former
from tests.protocol.paillier.test_key import randomness_of, small_key
from tests.protocol.paillier.test_training import Constant
from tests.protocol.pairs import (
    SEEDS,
    both,
    connect_asker,
    converse,
    layout_of,
    opened,
    random_codes,
    random_counts,
    random_for,
    seed,
)

ways = pytest.mark.parametrize("private", [False, True], ids=["public", "private"])
askers = pytest.mark.parametrize("asker", [A, B], ids=["A asks", "B asks"])
Models = tuple[ExactModel, ExactModel]
LAYOUT = layout_of(2, [2, 3], max_rows=60)


def dealt(layout: Layout, key: SecretKey, vector: Words, number: int) -> Models:
    """Both parties' factors, as training would leave them; few different ones, so that large models are quick."""
    group, random = Group.of(layout, key.public), random_for(number)
    cells = exact.cells(layout, vector, 1)
    empty = (layout.class_counts(vector) == 0).astype(np.uint8)
    blocks = [*cells.numerators, *cells.denominators]
    whole = [*(n or 1 for n in cells.prior), *np.concatenate([block.reshape(-1) for block in blocks])]
    units = [unit(random, group.modulus) for _ in range(17)]
    pairs = list(islice(cycle([(u, inverse(u, group.modulus)) for u in units]), len(whole)))
    of_a = [u for u, _ in pairs]
    of_b = [x * v % group.modulus for x, (_, v) in zip(whole, pairs, strict=True)]
    coins = random.bits(layout.classes)
    return _assembled(layout, group, of_a, coins), _assembled(layout, group, of_b, coins ^ empty)


@dataclass
class Problem:
    """A dictionary, joint counts, and rows to classify."""

    layout: Layout
    vector: Words
    codes: Values

    @property
    def expected(self) -> list[int]:
        labels: list[int] = exact.labels(self.layout, self.vector, self.codes).tolist()
        return labels


def with_ties(layout: Layout, vector: Words, rng: np.random.Generator) -> Words:
    """Some classes take over another one's counts, and tie with it for every row."""
    same = np.where(rng.random(layout.classes) < 0.5, rng.integers(layout.classes), np.arange(layout.classes))
    blocks = [layout.block(vector, a)[:, same].reshape(-1) for a in range(len(layout.rows))]
    return np.concatenate([layout.class_counts(vector)[same], *blocks])


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    classes = draw(st.sampled_from([2, 2, 3, 4, 5, 8]))
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    smoothing = draw(st.sampled_from(["1", "1/2", "0.3"]))
    patients = draw(st.sampled_from([0, 3, 10, 50]))
    rng = np.random.default_rng(draw(SEEDS))
    layout = layout_of(classes, sizes, max_rows=50 * classes, smoothing=smoothing)
    vector = random_counts(layout, rng, patients, empty=0.4)
    if draw(st.booleans()):
        vector = with_ties(layout, vector, rng)
    return Problem(layout, vector, random_codes(layout, rng, draw(st.integers(1, 20))))


def seat_of(me: ComputingParty, key: SecretKey, number: int = 1) -> Seat:
    if me.role == A:
        return Holder(key, obfuscators(key, random_for(number)))
    return Other(key.public, obfuscators(key.public, random_for(number + 1)))


def won(key: SecretKey, models: Models, codes: Values, seats: Any = seat_of) -> list[int]:
    """The winners of public rows, on the pair that all examples share."""

    def win(me: ComputingParty) -> Words:
        model = models[me.role]
        return winners(me, seats(me, key), model, paillier_classification._products(model, codes))

    hot = opened(both(win, ()))
    assert all(word.bit_count() == 1 for word in hot)
    return [word.bit_length() - 1 for word in hot]


@ways
@pytest.mark.usefixtures("dealt_base_transfers")
@given(p=problems(), asker=st.sampled_from([A, B]), bits=st.sampled_from([256, 700]), number=SEEDS)
@settings(max_examples=40)
def test_labels_are_those_of_exact_arithmetic(private: bool, p: Problem, asker: int, bits: int, number: int) -> None:
    key = small_key(bits)
    models = dealt(p.layout, key, p.vector, number)
    seeds = seed(2 * number), seed(2 * number + 1)
    labels = run_paillier_classification(p.layout, models, key, p.codes, seeds, private=private, asker=asker)
    assert labels.tolist() == p.expected


@given(problems(), st.sampled_from([256, 700, 2048]), SEEDS)
@settings(max_examples=60)
def test_winners_on_shares_are_those_of_exact_arithmetic(p: Problem, bits: int, number: int) -> None:
    key = small_key(bits)
    assert won(key, dealt(p.layout, key, p.vector, number), p.codes) == p.expected


@lru_cache
def trained(classes: int) -> tuple[Problem, SecretKey, Models]:
    """By the protocol, with a key as two hospitals have it."""
    layout, rng = layout_of(classes, [3, 2, 4], max_rows=1000, smoothing="1/2"), np.random.default_rng(classes)
    vectors = random_counts(layout, rng, 300), random_counts(layout, rng, 200)
    codes, key = random_codes(layout, rng, 12), generate(2048)
    models = run_paillier_training(layout, vectors, key.public, (seed(1), seed(2)))
    return Problem(layout, vectors[0] + vectors[1], codes), key, models


@ways
@askers
@pytest.mark.parametrize("classes", [2, 3])
def test_from_counts_to_labels_with_a_key_of_2048_bits(private: bool, asker: int, classes: int) -> None:
    p, key, models = trained(classes)
    labels = run_paillier_classification(
        p.layout, models, key, p.codes, (seed(3), seed(4)), private=private, asker=asker
    )
    assert labels.tolist() == p.expected


@ways
@pytest.mark.parametrize("count", [0, 1, 5, 11])
def test_rows_in_several_pieces_and_messages(private: bool, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paillier_classification, "_MOST_ROWS", 5)
    monkeypatch.setattr(paillier_classification, "_STRETCH", 2)
    layout, key, rng = layout_of(3, [2, 3], max_rows=60), small_key(700), np.random.default_rng(count)
    p = Problem(layout, random_counts(layout, rng, 50), random_codes(layout, rng, count))
    models = dealt(layout, key, p.vector, 1)
    labels = run_paillier_classification(layout, models, key, p.codes, (seed(1), seed(2)), private=private)
    assert labels.tolist() == p.expected


# No wrap-around


@lru_cache
def extremes() -> Problem:
    """100 attributes of 1,000 values: scores as far apart as they can be, either way, and equal ones."""
    layout, most = layout_of(2, [1000] * 100, max_rows=256), 256
    vector = np.zeros(layout.size, np.uint64)
    layout.class_counts(vector)[:] = [most - 1, 1]
    for a in range(100):
        layout.block(vector, a)[0, 0] = most - 1
        layout.block(vector, a)[1, 1] = 1
    codes = np.zeros((100, 4), np.int32)
    codes[:, 1], codes[:, 2] = 1, 1000
    codes[::2, 3] = 1
    return Problem(layout, vector, codes)


@lru_cache
def extreme_models(bits: int) -> Models:
    """Large: they are made once for each key."""
    return dealt(extremes().layout, small_key(bits), extremes().vector, 1)


@pytest.mark.parametrize("byte", [0, 255])
@pytest.mark.parametrize("bits", [2048, 4096], ids=["modulo N", "modulo a prime"])
def test_nothing_wraps_around_at_the_extremes_of_a_large_dictionary(bits: int, byte: int) -> None:
    p, key, models = extremes(), small_key(bits), extreme_models(bits)
    assert models[0].group.small == (bits == 4096)
    assert models[0].group.comparison_bits > 1800

    def win(me: ComputingParty) -> Words:
        me = replace(me, random=Constant(byte)) if me.role == B else me
        model = models[me.role]
        return winners(me, seat_of(me, key), model, paillier_classification._products(model, p.codes))

    assert [word.bit_length() - 1 for word in opened(both(win, ()))] == p.expected
    assert set(p.expected) == {0, 1}


@ways
def test_a_large_dictionary_from_end_to_end(private: bool) -> None:
    p, key, models = extremes(), small_key(2048), extreme_models(2048)
    codes = p.codes[:, :2]
    labels = run_paillier_classification(p.layout, models, key, codes, (seed(1), seed(2)), private=private)
    assert labels.tolist() == p.expected[:2]


@pytest.mark.parametrize("bits", [160, 700], ids=["modulo N", "modulo a prime"])
@given(random=st.one_of(st.builds(Constant, st.sampled_from([0, 255])), st.builds(random_for, SEEDS)), number=SEEDS)
@settings(max_examples=40)
def test_sides_of_any_size_below_the_bound_are_compared(bits: int, random: Randomness, number: int) -> None:
    """Zero is not a product of factors; everything from 1 to 2^ℓ − 1 is."""
    key = small_key(bits)
    group = Group.of(LAYOUT, key.public)
    top, rng = 1 << group.comparison_bits, random_for(number)
    values = [1, 2, top // 2, top - 2, top - 1, 1 + unit(rng, top - 1)]
    left = np.array([x for x in values for _ in values], object)
    right = np.array([y for _ in values for y in values], object)
    masks = [np.array([unit(rng, group.modulus) for _ in left], object) for _ in "LR"]
    rest = [
        np.array([x * inverse(u, group.modulus) % group.modulus for x, u in zip(side, mask, strict=True)], object)
        for side, mask in zip((left, right), masks, strict=True)
    ]

    def compare(me: ComputingParty) -> Any:
        if me.role == A:
            return seat_of(me, key).less(me, group, *masks)
        return seat_of(me, key).less(replace(me, random=_like(random, me)), group, *rest)

    assert opened(both(compare, ())) == [int(x < y) for x, y in zip(left, right, strict=True)]


def _like(random: Randomness, me: ComputingParty) -> Randomness:
    return random if isinstance(random, Constant) else me.random


def carrying(bits: int) -> tuple[Group, SecretKey, int]:
    key = small_key(bits)
    group = Group.of(LAYOUT, key.public)
    return group, key, 1 << group.comparison_bits


class Masked(Randomness):
    """Draws this one mask, and everything else by a seed."""

    def __init__(self, mask: int) -> None:
        super().__init__(seed(1))
        self._mask = mask

    def bytes(self, count: int) -> bytes:
        return int(self._mask).to_bytes(count, "little")


def compared(bits: int, pairs: list[tuple[int, int]], mask: int) -> list[bool]:
    """Whether what A decrypts of these two sides, at B's factors of one, is 2^ℓ + left − right + B's mask."""
    group, key, top = carrying(bits)
    sides = [[key.public.encrypt(side, key.obfuscator(random_for(1))) for side in pair] for pair in pairs]
    differences = [key.public.weighted(pair, (1, group.modulus - 1)) for pair in sides]
    stock = obfuscators(key, random_for(2))
    answer, masks = paillier_classification.masked(group, key.public, differences, Masked(mask), stock)
    opened = group.elements(key.decrypt(answer), len(pairs))
    return [y == top + x - z + r for y, (x, z), r in zip(opened, pairs, masks, strict=True)]


@pytest.mark.parametrize("bits", [160, 300, 700], ids=["modulo N", "one slot", "slots"])
def test_a_mask_that_carries_is_as_rare_as_it_is_said_to_be(bits: int) -> None:
    """The largest differences: right below each bound nothing carries, and no more masks than said are above it."""
    group, key, top = carrying(bits)
    pairs = [(top - 1, 1)] * group.slots
    assert (group.slots > 1) == (bits == 700)
    edge, most = group.modulus - 2 * top + 1, 2 * group.modulus**2 + top
    below_all = edge + sum(((1 << group.width) - most) // group.modulus * group.modulus << group.width * slot
                           for slot in range(group.slots - 1))  # fmt: skip
    for mask in (0, 1, edge, below_all):
        assert all(compared(bits, pairs, mask)), mask
    assert not compared(bits, pairs, edge + 1)[0]
    assert 2 * top / group.modulus < 2.0**-40
    if group.small:
        assert most / 2**group.width < 2.0**-43
        assert most * 2 ** (group.width * (group.slots - 1)) / key.public.modulus < 2.0**-43


@given(st.lists(st.integers(0, 2**200 - 1), min_size=1, max_size=3), st.integers(0, 2**300))
def test_the_last_slot_takes_all_that_is_above_it(lower: list[int], last: int) -> None:
    group = Group.of(LAYOUT, small_key(700).public)
    digits = [*(digit % (1 << group.width) for digit in lower), last]
    plaintext = sum(digit << group.width * slot for slot, digit in enumerate(digits))
    assert group.elements(plaintext, len(digits)) == [digit % group.modulus for digit in digits]


# What must not show


ENCRYPTED = ["0", "1", "-1", "3 P", "far above", "N / 2", "no randomness", "randomness alone"]


def whatever(key: SecretKey, group: Group, what: str) -> int:
    """A ciphertext that no honest A sends."""
    public, n = key.public, key.public.modulus
    if what == "no randomness":
        return 1 + n
    if what == "randomness alone":
        return unit(random_for(4), public.square)
    plain = {
        "0": 0,
        "1": 1,
        "-1": n - 1,
        "3 P": 3 * group.modulus,
        "far above": 1 << n.bit_length() - 5,
        "N / 2": n // 2,
    }
    return public.encrypt(plain[what], key.obfuscator(random_for(3)))


@pytest.mark.parametrize("what", ENCRYPTED)
@pytest.mark.parametrize("small", [True, False], ids=["modulo a prime", "modulo N"])
def test_an_answer_is_a_uniform_ciphertext_whatever_a_encrypted(what: str, small: bool) -> None:
    """A key so small that every plaintext and every randomness is seen: 143 and 120 of them, at 20 a cell."""
    key, random = SecretKey(11, 13), random_for(1)
    public = key.public
    group = Group(7 if small else public.modulus, 1, public.bits, small)
    sent, stock = whatever(key, group, what), obfuscators(public, random)
    seen = [paillier_classification.masked(group, public, [public.weighted([sent], [5])], random, stock)[0]
            for _ in range(3000)]  # fmt: skip
    for found, cells in ((map(key.decrypt, seen), 143), ((randomness_of(key, one) for one in seen), 120)):
        counts = np.array(list(Counter(map(int, found)).values()))
        assert counts.size == cells
        due = 3000 / cells
        assert ((counts - due) ** 2 / due).sum() < cells + 6 * (2 * cells) ** 0.5


@pytest.mark.parametrize("what", ENCRYPTED)
def test_what_a_decrypts_of_two_slots_is_b_s_mask_away_from_what_it_encrypted(what: str) -> None:
    """So with a uniform mask it is uniform: each number below N comes of one mask, in the real sizes too."""
    key = small_key(700)
    group = Group.of(LAYOUT, key.public)
    sent = [public_side] * 2 if (public_side := whatever(key, group, what)) else []
    for mask in (0, 5, key.public.modulus - 1):
        opened = [
            key.decrypt(paillier_classification.masked(group, key.public, sent, Masked(drawn), stock)[0])
            for drawn, stock in ((0, obfuscators(key, random_for(2))), (mask, obfuscators(key, random_for(3))))
        ]
        assert (opened[1] - opened[0]) % key.public.modulus == mask


def test_a_side_beyond_its_bounds_once_told_the_other_ones_factor() -> None:
    """As B answered formerly: its factor times the side stands above everything."""
    key, random = small_key(3072), random_for(1)
    public, group = key.public, Group.of(layout_of(2, [10] * 13, max_rows=1 << 20), key.public)
    factors = [unit(random, group.modulus) for _ in range(2)]
    assert group.modulus.bit_length() == 584
    sides = [public.encrypt(number, public.obfuscator(random)) for number in (1 << 2422, 0)]
    assert key.decrypt(former.difference(group, public, sides, factors, random)) >> 2422 == factors[0]
    # And as it answers now.
    product = public.weighted(sides, (factors[0], group.modulus - factors[1]))
    stock = obfuscators(key, random)
    opened = [key.decrypt(paillier_classification.masked(group, public, [product], random, stock)[0]) for _ in range(2)]
    assert opened[0] >> 2422 != opened[1] >> 2422
    assert factors[0] not in {number >> 2422 for number in opened}


def test_every_ciphertext_of_a_question_has_randomness_of_its_own() -> None:
    key, layout = small_key(300), layout_of(3, [2, 3], max_rows=60)
    rng = np.random.default_rng(1)
    models = dealt(layout, key, random_counts(layout, rng, 50), 1)
    codes = np.zeros((2, 40), np.int32)  # forty times the same row
    pair = TappedPair(1, 2)

    def job(me: ComputingParty) -> Any:
        seat = seat_of(me, key)
        return show(me, seat, layout, models[A], codes) if me.role == A else see(me, seat, layout, models[B], 40)

    pair.run(job, (), ())
    size = key.public.ciphertext_bytes
    heard = [*pair.talk.second.heard, *pair.talk.first.heard]
    all_sent = [
        c for step, raw in heard if step in ("encrypted sides", "masked differences") for c in from_bytes(raw, size)
    ]
    assert len(all_sent) == 2 * 40 * 3
    assert len({randomness_of(key, c) for c in all_sent}) == len(all_sent)
    assert 1 not in {randomness_of(key, c) for c in all_sent}


def test_answers_do_not_keep_the_randomness_that_a_knows() -> None:
    """What A could work out from a guess of B's factors is multiplied by an obfuscator that A does not know."""
    key, count = small_key(160), 5
    public, group = key.public, Group.of(LAYOUT, key.public)
    factors = np.array([unit(random_for(1), group.modulus) for _ in range(count)], object)
    used: list[int] = []

    def watched() -> Iterator[int]:
        for obfuscator in obfuscators(public, random_for(2)):
            used.append(obfuscator)
            yield obfuscator

    pair = TappedPair(1, 2)

    def compare(me: ComputingParty) -> Bits:
        seat = seat_of(me, key) if me.role == A else Other(public, watched())
        return seat.less(me, group, factors, factors)

    pair.run(compare, (), ())
    size = public.ciphertext_bytes
    sides = [c for step, raw in pair.talk.second.heard if step == "encrypted sides" for c in from_bytes(raw, size)]
    answers = [c for step, raw in pair.talk.first.heard if step == "masked differences" for c in from_bytes(raw, size)]
    for left, right, x, given_back, obfuscator in zip(sides[::2], sides[1::2], factors, answers, used, strict=True):
        guessed = randomness_of(key, public.weighted([left, right], [x, group.modulus - x]))
        assert randomness_of(key, given_back) == guessed * randomness_of(key, obfuscator) % public.modulus
        assert randomness_of(key, given_back) != guessed


def test_the_stock_of_obfuscators_is_used_once_and_in_order() -> None:
    key, used = small_key(300), []

    def watched(role: int) -> Any:
        for obfuscator in obfuscators(key, random_for(role)):
            used.append(obfuscator)
            yield obfuscator

    def seats(me: ComputingParty, key: SecretKey) -> Seat:
        return Holder(key, watched(A)) if me.role == A else Other(key.public, watched(B))

    rng = np.random.default_rng(1)
    models = dealt(LAYOUT, key, random_counts(LAYOUT, rng, 50), 1)
    won(key, models, random_codes(LAYOUT, rng, 30), seats)
    assert len(used) == len(set(used)) == 30 * 3


def test_an_empty_class_stays_hidden() -> None:
    """Messages of the same steps and sizes, whether a class has rows or not, and shares that are coins."""
    layout, key, rng = layout_of(3, [2, 3], max_rows=60), small_key(300), np.random.default_rng(3)
    full = random_counts(layout, rng, 50, empty=0)
    without = full.copy()
    for block in [layout.class_counts(without), layout.block(without, 0), layout.block(without, 1)]:
        block[..., 1] = 0
    codes = random_codes(layout, rng, 9)
    heard = []
    for vector in (full, without):
        pair = TappedPair(1, 2)
        models = dealt(layout, key, vector, 5)

        def job(me: ComputingParty, models: Models = models) -> Any:
            seat = seat_of(me, key)
            return show(me, seat, layout, models[A], codes) if me.role == A else see(me, seat, layout, models[B], 9)

        labels, _ = pair.run(job, (), ())
        assert labels.tolist() == exact.labels(layout, vector, codes).tolist()
        taps = pair.talk.first, pair.talk.second
        heard.append([[(step, raw.size) for step, raw in tap.heard] for tap in taps])
    assert heard[0] == heard[1]


def test_intermediate_winners_are_shared_anew() -> None:
    """The right number comes out, and neither party's factor is one it had."""
    key = small_key(300)
    group, random = Group.of(LAYOUT, key.public), random_for(1)
    count = 50

    def drawn() -> Numbers:
        return np.array([unit(random, group.modulus) for _ in range(2 * count)], object).reshape(2, 1, count)

    earlier, later = (drawn(), drawn()), (drawn(), drawn())
    bits = random.bits(1, count), random.bits(1, count)

    def step(me: ComputingParty) -> Numbers:
        return paillier_classification._reshared(me, group, bits[me.role], earlier[me.role], later[me.role])

    first, second = both(step, ()), both(step, ())
    outcome = bits[0] ^ bits[1]
    expected = np.where(outcome, later[0] * later[1], earlier[0] * earlier[1]) % group.modulus
    for of_a, of_b in (first, second):
        assert (of_a * of_b % group.modulus == expected).all()
    for role in (A, B):
        known = {*first[role].reshape(-1), *second[role].reshape(-1)}
        assert len(known) == 4 * count
        assert not known & {*earlier[role].reshape(-1), *later[role].reshape(-1)}


def test_a_private_row_is_asked_under_fresh_factors() -> None:
    """The same row a hundred times: what the asker receives is different every time, "missing" included."""
    key = small_key(300)
    models = dealt(LAYOUT, key, random_counts(LAYOUT, np.random.default_rng(1), 50), 1)
    codes = np.array([[0, 2], [0, 3]], np.int32).repeat(50, axis=1)
    mine, theirs, ahead = connect_asker(1)
    talk = TappedEnds("hospital one", "hospital two")
    chosen, kept = converse(
        [ahead, talk],
        lambda: paillier_classification._chosen(Line(talk.first, mine), models[A], codes),
        lambda: paillier_classification._offered(Line(talk.second, theirs), models[B], random_for(2), 100),
    )
    modulus = models[A].group.modulus
    assert len({*chosen.reshape(-1)}) == 200
    entries = [models[B].tables[a][codes[a]].T for a in range(2)]
    assert (chosen * kept % modulus == entries[0] * entries[1] % modulus).all()
    # What travels looks like noise, whatever was asked.
    tables = [raw for step, raw in talk.first.heard if step == "tables for the question"]
    assert abs(np.unpackbits(np.concatenate(tables)).mean() - 0.5) < 0.01


# Misbehaviour


def test_sides_that_are_no_ciphertexts_are_refused() -> None:
    key = small_key(300)
    group = Group.of(LAYOUT, key.public)
    ones = np.ones(1, object)

    def compare(me: ComputingParty) -> Any:
        if me.role == B:
            return seat_of(me, key).less(me, group, ones, ones)
        me.channel.send("encrypted sides", to_bytes([0, 1], key.public.ciphertext_bytes))
        return None

    with pytest.raises(OutOfRange, match="party A, at encrypted sides"):
        both(compare, ())


@pytest.mark.parametrize("bits", [160, 300], ids=["modulo N", "modulo a prime"])
@pytest.mark.parametrize("spoilt", [0, 1])
def test_an_entry_that_is_no_factor_does_not_show_whether_it_was_chosen(bits: int, spoilt: int) -> None:
    """Formerly it was an error: the other hospital spoilt the entry of one value, and learned whether a row has it."""
    key = small_key(bits)
    models = dealt(LAYOUT, key, random_counts(LAYOUT, np.random.default_rng(1), 50), 1)
    tables = tuple(table.copy() for table in models[B].tables)
    tables[0][spoilt] = 0 if models[B].group.small else key.primes[0]
    mine, theirs, ahead = connect_asker(1)
    talk = TappedEnds("hospital one", "hospital two")
    chosen, _ = converse(
        [ahead, talk],
        lambda: paillier_classification._chosen(Line(talk.first, mine), models[A], np.zeros((2, 3), np.int32)),
        lambda: paillier_classification._offered(
            Line(talk.second, theirs), replace(models[B], tables=tables), random_for(1), 3
        ),
    )
    assert all(gcd(number, models[A].group.modulus) == 1 for number in chosen.reshape(-1))


def test_what_a_liar_offers_as_a_factor_becomes_one() -> None:
    group = Group.of(LAYOUT, small_key(300).public)

    def read(number: int) -> Any:
        words = to_bytes([number], 8 * paillier_classification._number_words(group)).view(np.uint64)
        return paillier_classification._to_numbers(group, words[None]).tolist()

    for number in (1, group.modulus - 1):
        assert read(number) == [[number]]
    for number in (0, group.modulus, group.modulus + 1):
        assert read(number) == [[1]]


@given(st.integers(0, 99))
def test_answers_come_in_order_and_few_are_awaited(count: int) -> None:
    under_way: list[slice] = []
    most = 0

    def send(part: slice) -> None:
        nonlocal most
        under_way.append(part)
        most = max(most, len(under_way))

    def collect(part: slice) -> list[int]:
        assert under_way.pop(0) == part
        return list(range(part.start, part.stop))

    assert paillier_classification._in_flight(slices(count, 7), send, collect) == list(range(count))
    assert most <= 5
    assert not under_way
