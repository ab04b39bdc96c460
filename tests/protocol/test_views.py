"""What a party sees tells nothing of what it may not know, as far as tests can show that.

Its own seed and inputs stay fixed, its peers' seeds vary: over the runs every bit that it hears must be a fair coin, no
two of them bound together, and the frequencies the same whatever the others' secrets are. The seeds are fixed, and the
thresholds so far out that no choice of seeds would come near them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from mixbayes.protocol import addition, comparison, label, leading, pool
from mixbayes.protocol.addition import to_bits
from mixbayes.protocol.argmax import all_pairs, tournament
from mixbayes.protocol.arrays import Bits, Bytes, Values, Words, mask
from mixbayes.protocol.channel import Buffer, Channel
from mixbayes.protocol.choice import Slots, choose_slots
from mixbayes.protocol.classification import answer_private, ask_private, run_classification
from mixbayes.protocol.comparison import carry
from mixbayes.protocol.dictionary import Numeric
from mixbayes.protocol.encoding import NO_NUMBER
from mixbayes.protocol.extension import Received, Sent
from mixbayes.protocol.fixed_key import FixedKeyHash
from mixbayes.protocol.gaussian import FEATURES
from mixbayes.protocol.layout import NUMERIC_BITS, Layout
from mixbayes.protocol.leading import leading_one
from mixbayes.protocol.long_choice import chosen_masks, look_up
from mixbayes.protocol.model import Model
from mixbayes.protocol.packing import pack_words, unpack_words
from mixbayes.protocol.party import A, B, Party
from mixbayes.protocol.pool import PairPool, connect_answerer, connect_asker, connect_pair
from mixbayes.protocol.products import cross, gate, scale
from mixbayes.protocol.question import Form, Line, Question, answer, hand_over, take_over
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.reference import fixed_model
from mixbayes.protocol.training import run_training, train
from tests.protocol.adversary import (
    LAYOUT,
    PLAIN,
    Tap,
    TappedEnds,
    TappedPair,
    bias,
    bits_heard,
    bound_together,
    counts_of,
    dealt_receive,
    dealt_send,
    difference,
    model_shares,
    share_model,
    some_codes,
    tapped_memory,
    varying,
)
from tests.protocol.pairs import converse, layout_of, random_codes, random_for, seed

dealt = pytest.mark.usefixtures("dealt_base")


@pytest.fixture
def dealt_base(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "send_base", dealt_send)
    monkeypatch.setattr(pool, "receive_base", dealt_receive)


RUNS = 64
LIMIT = 8.0
"""Standard deviations of a chi-square."""
N = 16
WIDTH = 40


def uniform(views: Bits) -> None:
    """Every position but the padding is a fair coin, and no two are bound together."""
    coins = views[:, varying(views)]
    assert coins.size
    assert abs(bias(coins)) < LIMIT
    assert bound_together(coins) == 0


def tells_nothing(views: list[Bits], padding: int | None = None) -> None:
    """Uniform for each secret, the same for all, and constant only where bits are padding: zero whatever the secret."""
    constant = ~varying(*views)
    for view in views:
        assert np.array_equal(~varying(view), constant)
        assert not view[:, constant].any()
        uniform(view)
    for one, other in pairwise(views):
        assert abs(difference(one[:, ~constant], other[:, ~constant])) < LIMIT
    assert padding is None or constant.sum() == padding


# Steps between the two parties


@dataclass(frozen=True)
class Step:
    """A step, its least and its greatest input, and how many bits of padding a party hears."""

    run: Callable[..., Any]
    zeros: tuple[Any, ...]
    ones: tuple[Any, ...]
    padding: int


def words(value: int, *shape: int) -> Words:
    return np.full(shape or (N,), value, np.uint64)


def bits(value: int, *shape: int) -> Bits:
    return np.full(shape or (N,), value, np.uint8)


TABLE = random_for(5).words(16, 2) & mask(WIDTH)
TOP = int(mask(WIDTH))

STEPS = {
    # Three levels of a tree over eight digits, 7 gates an instance, two bits of a byte each.
    "carry": Step(lambda me, w: carry(me, w, WIDTH), (words(0),), (words(TOP),), 7 * N * 6),
    "gate": Step(lambda me, b, w: gate(me, b, w, 8), (bits(0), bits(0)), (bits(1), bits(255)), 0),
    "and": Step(lambda me, b, w: gate(me, b, w, 1), (bits(0), bits(0)), (bits(1), bits(1)), 0),
    "cross": Step(lambda me, b, w: cross(me, b, w, WIDTH), (bits(0), words(0)), (bits(1), words(TOP)), 0),
    "wide cross": Step(
        lambda me, b, w: cross(me, b, w, 192), (bits(0), words(0, 3, N)), (bits(1), words(2**64 - 1, 3, N)), 0
    ),
    "scale": Step(lambda me, b, w: scale(me, b, w, WIDTH), (bits(0), words(0)), (bits(1), words(TOP)), 0),
    "look up": Step(lambda me, i: look_up(me, i, TABLE, (WIDTH, WIDTH)), (words(0),), (words(15),), 0),
    "to bits": Step(lambda me, w: to_bits(me, w, WIDTH), (words(0),), (words(TOP),), -1),
    "leading one": Step(lambda me, w: leading_one(me, w, WIDTH), (words(0),), (words(TOP),), -1),
    "tournament": Step(lambda me, s: tournament(me, s, WIDTH), (words(0, 3, N),), (words(TOP, 3, N),), -1),
    "all pairs": Step(lambda me, s: all_pairs(me, s, WIDTH), (words(0, 3, N),), (words(TOP, 3, N),), -1),
}


@lru_cache
def pairs_seen_by(role: int) -> list[TappedPair]:
    """The role's seed is always the same, the other's always another. Later steps use up what is left."""
    return [TappedPair(7, 700 + run) if role == A else TappedPair(700 + run, 7) for run in range(RUNS)]


class Watched(PairPool):
    """A pool that keeps the last transfers it handed out."""

    def __init__(self, plain: PairPool) -> None:
        vars(self).update(vars(plain))
        self.taken: list[tuple[Sent, Received]] = []

    def take(self, count: int) -> tuple[Sent, Received]:
        self.taken.append(super().take(count))
        return self.taken[-1]


def heard_by(role: int, step: Step, own: tuple[Any, ...], other: tuple[Any, ...]) -> Bits:
    """The bits heard by the role, run by run."""
    views = []
    for pair in pairs_seen_by(role):
        tap = pair.talk.first if role == A else pair.talk.second
        tap.forget()
        pair.run(step.run, *((own, other) if role == A else (other, own)))
        views.append(bits_heard(tap.heard))
    return np.stack(views)


@pytest.mark.parametrize("role", [A, B], ids=["A", "B"])
@pytest.mark.parametrize("name", STEPS)
@dealt
def test_what_a_party_hears_in_a_step_is_uniform_whatever_the_other_holds(name: str, role: int) -> None:
    step = STEPS[name]
    views = [heard_by(role, step, step.zeros, other) for other in (step.zeros, step.ones)]
    tells_nothing(views, step.padding if step.padding >= 0 else None)


@pytest.mark.parametrize("name", ["carry", "gate", "cross", "scale", "look up"])
@dealt
def test_what_a_party_hears_is_not_bound_to_the_transfers_it_knows(name: str) -> None:
    """Messages, its own pads and choices, together: a mask that the receiver could compute would show here."""
    step, views = STEPS[name], []
    for run in range(RUNS):
        pair = TappedPair(7, 900 + run)
        pair.with_pools(Watched)
        pair.run(step.run, step.zeros, step.ones)
        watched = pair.a.pool
        assert isinstance(watched, Watched)
        known = [array for sent, received in watched.taken for array in (sent.pads, received.pads)]
        flat = np.concatenate([np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in known])
        heard = bits_heard(pair.talk.first.heard)[:2500]
        views.append(np.concatenate([heard, np.unpackbits(flat)[:3500]]))
    together = np.stack(views)
    assert bound_together(together[:, varying(together)], 6000) == 0


@dealt
@pytest.mark.parametrize(
    ("name", "module"),
    [("carry", comparison), ("to bits", addition), ("leading one", leading)],
    ids=["carry", "to bits", "leading one"],
)
def test_entry_that_a_party_chooses_is_under_the_share_of_whoever_offered_it(
    name: str, module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What A unmasks along the way, and no message shows."""
    step, chosen = STEPS[name], []

    def spy(me: Party, parts: list[Slots]) -> list[Bits]:
        got = choose_slots(me, parts)
        if me.role == A:
            chosen.append(np.unpackbits(np.concatenate(got).reshape(-1)))
        return got

    monkeypatch.setattr(module, "choose_slots", spy)
    for other in (step.zeros, step.ones):
        for pair in pairs_seen_by(A):
            pair.run(step.run, step.zeros, other)
    tells_nothing([np.stack(chosen[:RUNS]), np.stack(chosen[RUNS:])])


# A simulator


class Simulated(Channel):
    """A peer that knows nothing: it says uniform bits, in the places where messages have any."""

    def __init__(self, random: Randomness, coins: list[tuple[str, Bytes]]) -> None:
        self.peer = "nobody"
        self._random = random
        self._coins = iter(coins)
        self.heard: list[tuple[str, Bytes]] = []

    def send(self, step: str, payload: Buffer) -> None:
        """Nobody listens."""

    def receive(self, step: str, size: int) -> Bytes:
        name, places = next(self._coins)
        assert (name, places.size) == (step, size)
        said = np.frombuffer(self._random.bytes(size), np.uint8) & places
        self.heard.append((step, said))
        return said.copy()

    def swap(self, step: str, payload: Buffer, size: int | None = None) -> Bytes:
        sending = payload.nbytes if isinstance(payload, np.ndarray | memoryview) else len(payload)
        return self.receive(step, sending if size is None else size)


class IdealPool(PairPool):
    """Random transfers as one party has them, from nobody."""

    def __init__(self, random: Randomness) -> None:
        self._random = random
        self._hash = FixedKeyHash(bytes(16))

    @property
    def sent_hash(self) -> FixedKeyHash:
        return self._hash

    @property
    def received_hash(self) -> FixedKeyHash:
        return self._hash

    def take(self, count: int) -> tuple[Sent, Received]:
        random = self._random
        return Sent(random.words(2, count, 2)), Received(random.bits(count), random.words(count, 2))


def places_of_coins(heard: list[list[tuple[str, Bytes]]]) -> list[tuple[str, Bytes]]:
    """For every message of some runs, which bits ever are set."""
    return [
        (messages[0][0], np.bitwise_or.reduce([message for _, message in messages]))
        for messages in zip(*heard, strict=True)
    ]


@pytest.mark.parametrize("name", ["carry", "gate", "scale", "look up"])
@dealt
def test_a_view_can_be_simulated_without_the_other_party(name: str) -> None:
    """A's code, run against a peer that knows no input, hears the same steps, lengths and distribution as in truth.

    The output is part of the view: it too must be distributed as in truth.
    """
    step, real, outputs, heard = STEPS[name], [], [], []
    for pair in pairs_seen_by(A):
        pair.talk.first.forget()
        output, _ = pair.run(step.run, step.zeros, step.ones)
        heard.append(list(pair.talk.first.heard))
        real.append(bits_heard(heard[-1]))
        outputs.append(as_bits(output))
    simulated, simulated_outputs = [], []
    for run in range(RUNS):
        nobody = Simulated(random_for(8000 + run), places_of_coins(heard))
        output = step.run(Party(A, nobody, IdealPool(random_for(9000 + run)), random_for(7)), *step.zeros)
        simulated.append(bits_heard(nobody.heard))
        simulated_outputs.append(as_bits(output))
    views = np.stack(real), np.stack(simulated)
    places = varying(*views)
    assert abs(difference(views[0][:, places], views[1][:, places])) < LIMIT
    ends = np.stack(outputs), np.stack(simulated_outputs)
    places = varying(ends[0])  # the rest is A's own draws
    assert np.array_equal(places, varying(ends[1]))
    assert abs(difference(ends[0][:, places], ends[1][:, places])) < LIMIT


def as_bits(output: Any) -> Bits:
    return np.unpackbits(np.ascontiguousarray(output).reshape(-1).view(np.uint8))


# Training


def training_views(role: int, layout: Layout, counts: Words, runs: int = RUNS) -> Bits:
    """What a mixer hears while it trains, its own share fixed."""
    own = random_for(40).words(layout.size)
    shares = (own, counts - own) if role == A else (counts - own, own)
    views = []
    for pair in pairs_seen_by(role)[:runs]:
        tap = pair.talk.first if role == A else pair.talk.second
        tap.forget()
        pair.run(lambda me, share: train(me, layout, share), (shares[0],), (shares[1],))
        heard = bits_heard(tap.heard)
        views.append(heard[:: max(1, heard.size // 200_000)])
    return np.stack(views)


@dealt
@pytest.mark.parametrize("role", [A, B], ids=["A", "B"])
def test_what_a_mixer_hears_in_training_is_uniform_whatever_was_counted(role: int) -> None:
    counts = np.zeros(PLAIN.size, np.uint64), counts_of(PLAIN, 200, 8)
    tells_nothing([training_views(role, PLAIN, each) for each in counts])


@dealt
@pytest.mark.parametrize("role", [A, B], ids=["A", "B"])
def test_so_it_is_where_numbers_are_counted(role: int) -> None:
    """Few runs of a long training, so that some coins fall the same way in all of them."""
    counts = np.zeros(LAYOUT.size, np.uint64), counts_of(LAYOUT, 200, 9)
    views = [training_views(role, LAYOUT, each, runs=16) for each in counts]
    coins = varying(*views)
    assert coins.sum() > 100_000
    assert all(abs(bias(view[:, coins])) < LIMIT for view in views)
    assert abs(difference(views[0][:, coins], views[1][:, coins])) < LIMIT


# Questions

QUESTION = Form.of(LAYOUT, WIDTH)
MISSING = np.array([[2] * 4, [3] * 4, [-1] * 4], np.int32)
FIRST = np.zeros((3, 4), np.int32)


def flat_model(value: int) -> Model:
    """A share of a model in which every entry is the same, but for `missing`."""
    tables = [np.append(words(value, rows - 1, 2), words(0, 1, 2), axis=0) for rows in PLAIN.rows]
    return Model(WIDTH, words(value, 2), (*tables, words(value, FEATURES, 2)), (2,))


@dataclass(frozen=True)
class Asked:
    """One question to one mixer: what each end heard, and the asker's transfers and sums."""

    to_asker: list[tuple[str, Bytes]]
    to_mixer: list[tuple[str, Bytes]]
    pads: Words
    hashing: FixedKeyHash
    sums: Words


def ask(codes: Values, mixer: Model, asker_seed: int, mixer_seed: int) -> Asked:
    ends, ahead = TappedEnds("party va", "mixer a"), TappedEnds("party va", "mixer a")
    kept: list[tuple[Words, FixedKeyHash, Words]] = []

    def hospital() -> None:
        transfers = connect_asker(ahead.first, random_for(asker_seed))
        question = Question(QUESTION, Line(ends.first, transfers), codes)
        announced = question.announce()
        sums = announced.receive_and_add_up()
        hand_over(ends.first, sums, WIDTH)
        kept.append((announced._received.pads, transfers.hash, sums))

    def answering() -> None:
        random = random_for(mixer_seed)
        line = Line(ends.second, connect_answerer(ahead.second, random))
        hidden = answer(QUESTION, line, mixer, random, codes.shape[1])
        take_over(ends.second, QUESTION, mixer, hidden)

    converse([ends, ahead], hospital, answering)
    pads, hashing, sums = kept[0]
    return Asked(ends.first.heard, ends.second.heard, pads, hashing, sums)


@lru_cache
def asked_of(value: int) -> list[Asked]:
    """One hospital, many mixers with the same share of the model."""
    return [ask(FIRST, flat_model(value), 50, 5000 + 100 * EXTREMES.index(value) + run) for run in range(RUNS)]


EXTREMES = (0, TOP)


@dealt
def test_what_the_hospital_hears_is_uniform_whatever_the_model() -> None:
    tells_nothing([np.stack([bits_heard(asked.to_asker) for asked in asked_of(value)]) for value in EXTREMES], 0)


@dealt
def test_what_the_hospital_can_unmask_is_uniform_whatever_the_model() -> None:
    """Each entry that it chose, under ρ alone."""
    tells_nothing([np.stack([as_bits(taken(asked)) for asked in asked_of(value)]) for value in EXTREMES], 0)


def taken(asked: Asked) -> Bytes:
    """The chosen entries (2, rows) of the nominal attributes, and the sums of features, packed."""
    parts, at = [], 0
    for (_, raw), rows in zip(asked.to_asker, PLAIN.rows, strict=False):
        table = unpack_words(raw, rows * 2 * 4, WIDTH, "mixer a", "test").reshape(rows, 2, 4)
        pads = asked.pads[at : at + 8].reshape(2, 4, 2)  # two bits of a choice, four rows
        parts.append((table[0] - chosen_masks(asked.hashing, pads, words(0, 4), 2).T) & mask(WIDTH))
        at += 8
    parts.append((asked.sums - parts[0] - parts[1]) & mask(WIDTH))
    return pack_words(np.stack(parts), WIDTH)


@dealt
def test_what_a_mixer_hears_is_uniform_whatever_is_asked() -> None:
    """The announcement; the sums it hears are another mixer's, here its own with its ρ, which it can take away."""
    views = [
        np.stack([bits_heard(ask(codes, flat_model(1), start + run, 51).to_mixer[:1]) for run in range(RUNS)])
        for codes, start in ((FIRST, 6000), (MISSING, 6100))
    ]
    tells_nothing(views, 4)  # 57 bits a row


@dealt
def test_sums_that_are_handed_over_are_uniform_whatever_is_asked_and_whatever_the_model() -> None:
    asked = [asked_of(value) for value in EXTREMES]
    asked.append([ask(MISSING, flat_model(TOP), 50, 5200 + run) for run in range(RUNS)])
    tells_nothing([np.stack([as_bits(pack_words(one.sums, WIDTH)) for one in many]) for many in asked], 0)


# A hospital and mixer A against mixer B


@dataclass(frozen=True)
class Collusion:
    """What the hospital and mixer A hear that mixer B has a part in."""

    from_b: list[tuple[str, Bytes]]
    between_mixers: list[tuple[str, Bytes]]
    sums_of_b: list[tuple[str, Bytes]]


def classify_privately(of_a: Model, of_b: Model, codes: Values, seed_of_b: int) -> Collusion:
    """A whole private classification in which only mixer B's seed is another each time."""
    names = {"pair": ("mixer a", "mixer b"), "to a": ("party va", "mixer a"), "to b": ("party va", "mixer b")}
    ends = {name: TappedEnds(*who) for name, who in names.items()}
    ahead = {name: TappedEnds(*who) for name, who in names.items()}

    def mixer(role: int, number: int, line: str) -> None:
        random = random_for(number)
        talk, making = (
            (ends["pair"].first, ahead["pair"].first) if role == A else (ends["pair"].second, ahead["pair"].second)
        )
        me = Party(role, talk, connect_pair(role, making, random), random)
        blinding = label.blinding_for(b"a question", label.common_blinding(me))
        asker = Line(ends[line].second, connect_answerer(ahead[line].second, random))
        answer_private(me, asker, LAYOUT, (of_a, of_b)[role], codes.shape[1], blinding)

    def hospital() -> None:
        random = random_for(60)
        to_a = Line(ends["to a"].first, connect_asker(ahead["to a"].first, random))
        to_b = Line(ends["to b"].first, connect_asker(ahead["to b"].first, random))
        ask_private((to_a, to_b), LAYOUT, of_a.width, codes)

    converse(
        [*ends.values(), *ahead.values()],
        hospital,
        lambda: mixer(A, 61, "to a"),
        lambda: mixer(B, seed_of_b, "to b"),
    )
    sums = [(step, raw) for step, raw in ends["to a"].second.heard if step == "sums of the question"]
    return Collusion(ends["to b"].first.heard, ends["pair"].first.heard, sums)


@lru_cache
def collusions(value: int) -> list[Collusion]:
    start = 7000 + 100 * EXTREMES.index(value)
    return [classify_privately(flat_model(0), flat_model(value), FIRST, start + run) for run in range(RUNS)]


@pytest.mark.parametrize("part", ["from_b", "between_mixers", "sums_of_b"])
@dealt
def test_hospital_and_one_mixer_together_hear_nothing_of_the_others_share(part: str) -> None:
    tells_nothing([np.stack([bits_heard(getattr(one, part)) for one in collusions(value)]) for value in EXTREMES])


@dealt
def test_hospital_and_one_mixer_together_hear_nothing_twice() -> None:
    """All of it at once: no bit of one conversation is bound to one of another."""
    views = np.stack(
        [
            np.concatenate(
                [bits_heard(part) for part in (one.sums_of_b, one.from_b[-1:], one.from_b, one.between_mixers)]
            )
            for one in collusions(TOP)
        ]
    )
    sums, labels = 2 * 4 * WIDTH, 4 * 8
    once = np.concatenate([views[:, :sums], views[:, sums + labels :]], axis=1)
    assert bound_together(once[:, varying(once)], 6000) == 0


# The asker's view of a public classification


@dealt
def test_asker_hears_its_labels_under_a_pad_and_nothing_else() -> None:
    """A simulator has the same from the labels alone: a uniform word, and the same word with one bit flipped."""
    real, simulated = [], []
    for run in range(RUNS):
        labels, first, second = classify_publicly(run)
        real.append(np.stack([first, second]))
        simulated.append(simulate_asker(labels, random_for(9500 + run)))
        hot = unpack_words(first ^ second, 3, 3, "", "")
        assert hot.tolist() == [1 << int(one) for one in labels]
        assert np.array_equal(simulated[-1][0] ^ simulated[-1][1], first ^ second)
    views = [np.unpackbits(np.stack(each).reshape(RUNS, -1), axis=1) for each in (real, simulated)]
    assert np.array_equal(varying(views[0]), varying(views[1]))
    coins = varying(*views)
    assert abs(difference(views[0][:, coins], views[1][:, coins])) < LIMIT
    assert abs(bias(np.unpackbits(np.stack(real)[:, 0], axis=1)[:, coins[:24]])) < LIMIT


def classify_publicly(run: int) -> tuple[Any, Bytes, Bytes]:
    taps: list[Tap] = []
    with tapped_memory(taps):
        seeds = seed(1), seed(9600 + run), seed(9800 + run)
        labels = run_classification(LAYOUT, model_shares(), some_codes(), seeds, private=False)
    (first,), (second,) = ([raw for step, raw in tap.heard] for tap in taps if tap.heard and tap.heard[0][0] == "label")
    return labels, first, second


def simulate_asker(labels: Any, random: Randomness) -> Bytes:
    first = random.words(labels.size) & mask(3)
    hot = np.uint64(1) << labels.astype(np.uint64)
    return np.stack([pack_words(first, 3), pack_words(first ^ hot, 3)])


# Sizes


def sizes(taps: list[Tap]) -> list[tuple[list[tuple[str, int]], list[tuple[str, int]], int]]:
    """Per end of every conversation: what was said and heard, step by step with its length, and the rounds."""
    return [
        (
            [(step, raw.size) for step, raw in tap.said],
            [(step, raw.size) for step, raw in tap.heard],
            tap.traffic.rounds,
        )
        for tap in taps
    ]


SHAPES = {
    "two classes": layout_of(2, [2, 5], 1000),
    "five classes": layout_of(5, [1, 4, 3], 10**6, "1/2"),
    "with numbers": LAYOUT,
}


def tables_of(layout: Layout) -> dict[str, list[Words]]:
    """Different data under one dictionary: what hospitals could have counted."""
    nobody = np.zeros(layout.size, np.uint64)
    one_class = nobody.copy()
    layout.class_counts(one_class)[0] = 7
    same = nobody.copy()
    layout.class_counts(same)[:] = 12
    for a in range(len(layout.rows)):
        layout.block(one_class, a)[-1, 0] = 7  # all missing
        layout.block(same, a)[-1] = 12
    return {
        "some": [counts_of(layout, 50, 1), counts_of(layout, 20, 2)],
        "others": [counts_of(layout, 200, 3), nobody],
        "nobody": [nobody, nobody],
        "one class, all missing": [one_class, nobody],
        "ties": [same, same],
    }


def questions_of(layout: Layout) -> dict[str, Values]:
    numeric = [isinstance(attribute, Numeric) for attribute in layout.dictionary.attributes]
    cells = np.where(numeric, 1 << NUMERIC_BITS, layout.rows)[:, None]
    missing = np.where(numeric, NO_NUMBER, np.array(layout.rows) - 1)[:, None]
    some, others = (np.random.default_rng(number).integers(0, cells, (len(cells), 9)) for number in (4, 5))
    questions = {
        "some": some,
        "others": others,
        "all missing": np.repeat(missing, 9, axis=1),
        "all the same": np.zeros((len(cells), 9)),
    }
    return {name: codes.astype(np.int32) for name, codes in questions.items()}


def different(found: list[Any]) -> int:
    return sum(one != found[0] for one in found)


@pytest.mark.parametrize("shape", SHAPES)
def test_messages_and_rounds_of_training_depend_on_the_dictionary_alone(shape: str) -> None:
    layout, found = SHAPES[shape], []
    for number, tables in enumerate(tables_of(layout).values()):
        taps: list[Tap] = []
        with tapped_memory(taps):
            run_training(layout, tables, (seed(number), seed(number + 10), seed(number + 20)))
        found.append(sizes(taps))
    assert len(found[0]) == 4
    assert all(said or heard for said, heard, _ in found[0])
    assert different(found) == 0


@pytest.mark.parametrize("private", [False, True], ids=["public", "private"])
@pytest.mark.parametrize("shape", SHAPES)
def test_messages_and_rounds_of_classification_depend_on_public_sizes_alone(shape: str, private: bool) -> None:
    layout, found = SHAPES[shape], []
    for number, tables in enumerate(tables_of(layout).values()):
        whole = fixed_model(layout, sum(tables, np.zeros(layout.size, np.uint64)))
        models = share_model(whole, number)
        for codes in questions_of(layout).values():
            taps: list[Tap] = []
            with tapped_memory(taps):
                seeds = seed(number), seed(number + 10), seed(number + 20)
                run_classification(layout, models, codes, seeds, private=private)
            found.append(sizes(taps))
    assert len(found) == 20
    assert different(found) == 0


def test_sizes_do_depend_on_the_dictionary_and_on_the_number_of_rows() -> None:
    """So that the tests above could fail."""
    found = []
    for shape, rows in (("two classes", 3), ("two classes", 40), ("five classes", 3)):
        layout = SHAPES[shape]
        models = share_model(fixed_model(layout, tables_of(layout)["some"][0]), 1)
        taps: list[Tap] = []
        with tapped_memory(taps):
            codes = random_codes(layout, np.random.default_rng(1), rows)
            run_classification(layout, models, codes, (seed(1), seed(2), seed(3)))
        found.append(sizes(taps))
    assert different(found) == 2
    assert found[1] != found[2]


# The statistics themselves


def coins(number: int, positions: int = 400) -> Bits:
    return np.random.default_rng(number).integers(0, 2, (RUNS, positions)).astype(np.uint8)


def test_statistics_let_coins_pass_and_notice_what_is_none() -> None:
    fair = coins(1)
    loaded, bound = coins(2), fair.copy()
    loaded[:, :60] |= coins(3)[:, :60]
    bound[:, 7] = 1 - bound[:, 311]
    assert abs(bias(fair)) < 4
    assert bias(loaded) > LIMIT
    assert bound_together(fair) == 0
    assert bound_together(bound) == 1
    assert abs(difference(fair, coins(4))) < 4
    assert difference(fair, loaded) > LIMIT
    with pytest.raises(AssertionError):
        tells_nothing([fair, loaded])
