"""What the asking hospital and the mixers hear of a question, each alone and a hospital with one of the mixers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from mixbayes.protocol.arrays import Bytes, Values, Words, mask
from mixbayes.protocol.attributes.gaussian_density import FEATURES
from mixbayes.protocol.attributes.gaussian_moments import ABSENT_CODE
from mixbayes.protocol.bayes import label
from mixbayes.protocol.bayes.classification import answer_private, ask_private, run_classification
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.question import Form, Line, Selection, answer, hand_over, take_over
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.packing import pack_words, unpack_words
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pads import FixedKeyHash, chosen_masks
from mixbayes.protocol.transfer.pool import connect_answerer, connect_asker, connect_pair
from tests.protocol.adversary import (
    LAYOUT,
    PLAIN,
    Tap,
    TappedEnds,
    bias,
    bits_heard,
    bound_together,
    difference,
    model_shares,
    some_codes,
    tapped_memory,
    varying,
)
from tests.protocol.pairs import converse, random_for, seed
from tests.protocol.views import LIMIT, RUNS, TOP, WIDTH, as_bits, dealt, tells_nothing, words

QUESTION = Form.of(LAYOUT, WIDTH)
MISSING = np.array([[2] * 4, [3] * 4, [ABSENT_CODE] * 4], np.int32)
FIRST = np.zeros((3, 4), np.int32)


def flat_model(value: int) -> Model:
    """A share of a model in which every entry is the same, but for `missing`."""
    tables = [np.append(words(value, rows - 1, 2), words(0, 1, 2), axis=0) for rows in PLAIN.rows]
    return Model(WIDTH, words(value, 2), (*tables, words(value, FEATURES, 2)))


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
        question = Selection(QUESTION, Line(ends.first, transfers), codes)
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
        me = ComputingParty(role, talk, connect_pair(role, making, random), random)
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
