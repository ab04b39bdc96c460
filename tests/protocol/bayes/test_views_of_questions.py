"""What the asking hospital and the mixers hear of a question, each alone and a hospital with one of the mixers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from mixbayes.protocol.arrays import Bytes, Values, mask
from mixbayes.protocol.attributes.gaussian_density import FEATURES
from mixbayes.protocol.attributes.gaussian_moments import ABSENT_CODE
from mixbayes.protocol.bayes import label, question
from mixbayes.protocol.bayes.classification import answer_private, ask_private, run_classification
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.question import Form, Offered, TableHolder, TableReader, receive_masks
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.lattice.polynomials import to_bytes
from mixbayes.protocol.packing import pack_words, unpack_words
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pool import connect_pair
from tests.protocol.adversary import (
    LAYOUT,
    PLAIN,
    Tap,
    TappedEnds,
    bias,
    bound_together,
    difference,
    model_shares,
    some_codes,
    tapped_memory,
    varying,
)
from tests.protocol.pairs import converse, random_for, seed
from tests.protocol.views import LIMIT, RUNS, TOP, WIDTH, dealt, some_bits, tells_nothing, words

QUESTION = Form.of(LAYOUT, WIDTH)
MISSING = np.array([[2] * 4, [3] * 4, [ABSENT_CODE] * 4], np.int32)
FIRST = np.zeros((3, 4), np.int32)
EXTREMES = (0, TOP)


def flat_model(value: int) -> Model:
    """A share of a model in which every entry is the same, but for `missing`."""
    tables = [np.append(words(value, rows - 1, 2), words(0, 1, 2), axis=0) for rows in PLAIN.rows]
    return Model(WIDTH, words(value, 2), (*tables, words(value, FEATURES, 2)))


@dataclass(frozen=True)
class Asked:
    """One question to one mixer: what each end heard, and what the mixer finds when it decrypts (L, classes · rows)."""

    to_asker: list[tuple[str, Bytes]]
    to_mixer: list[tuple[str, Bytes]]
    decrypted: Bytes


def ask(codes: Values, mixer: Model, asker_seed: int, mixer_seed: int) -> Asked:
    """The other mixer has the same table; it matters to nobody here."""
    a, b, rows = TappedEnds("party va", "mixer a"), TappedEnds("party va", "mixer b"), codes.shape[1]

    def answering(ends: TappedEnds, number: int) -> Bytes:
        (offered,) = TableHolder(ends.second, random_for(number)).offered(QUESTION, [(mixer, rows)])
        receive_masks(ends.second, offered)
        return opened(ends.second, offered)

    reader = TableReader([a.first, b.first], random_for(asker_seed))
    _, decrypted, _ = converse(
        [a, b], lambda: reader.ask_both(QUESTION, codes), lambda: answering(a, mixer_seed), lambda: answering(b, 49)
    )
    return Asked(a.first.heard, a.second.heard, decrypted)


def opened(asker: Any, offered: Offered) -> Bytes:
    """c0 + c1·s: all that the key shows of masked sums, and not only their highest bits."""
    layout, rows = offered.layout, offered.rows
    assert rows <= layout.rows_together
    c1, c0 = question._sums_from(layout, rows, asker.receive("masked sums", layout.sum_bytes(rows)))
    return to_bytes(offered.key.opened(c1, c0, layout.places(rows)))


@lru_cache
def tables_of(value: int) -> list[Asked]:
    """One hospital, many mixers with the same share of the model."""
    return [ask(FIRST, flat_model(value), 50, 5000 + 100 * EXTREMES.index(value) + run) for run in range(RUNS)]


@lru_cache
def sums_of(at: int) -> list[Asked]:
    """One mixer, many hospitals with the same rows."""
    return [ask((FIRST, MISSING)[at], flat_model(TOP), 6000 + 100 * at + run, 51) for run in range(RUNS)]


def test_what_the_hospital_hears_is_uniform_whatever_the_model() -> None:
    tells_nothing([np.stack([some_bits(asked.to_asker) for asked in tables_of(value)]) for value in EXTREMES], 0)


def test_what_a_mixer_hears_is_uniform_whatever_is_asked() -> None:
    """The seed of the masks of the other one's sums, and both parts of every masked sum."""
    assert [step for step, _ in sums_of(0)[0].to_mixer] == ["masks of the other sums", "masked sums"]
    tells_nothing([np.stack([some_bits(asked.to_mixer) for asked in sums_of(at)]) for at in (0, 1)], 0)


def test_what_a_mixer_decrypts_is_uniform_whatever_is_asked() -> None:
    views = [np.stack([np.unpackbits(asked.decrypted) for asked in sums_of(at)]) for at in (0, 1)]
    tells_nothing(views, 0)


def test_what_a_mixer_decrypts_is_not_bound_to_what_it_hears() -> None:
    views = [np.concatenate([np.unpackbits(one.decrypted), some_bits(one.to_mixer[:1])]) for one in sums_of(0)]
    assert bound_together(np.stack(views)) == 0


Lie = Callable[[Bytes], Bytes]
LIES: dict[str, Lie] = {
    "a table of zeros": lambda raw: np.concatenate([raw[:32], np.zeros_like(raw[32:])]),
    "the seed zero": lambda raw: np.concatenate([np.zeros_like(raw[:32]), raw[32:]]),
}


@pytest.mark.parametrize("lie", LIES)
def test_so_it_is_for_a_mixer_that_sends_what_is_no_encryption(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    send = Tap.send

    def lying(tap: Tap, step: str, payload: Any) -> None:
        raw = np.frombuffer(bytes(payload), np.uint8)
        send(tap, step, LIES[lie](raw) if step == "encrypted table" else raw)

    monkeypatch.setattr(Tap, "send", lying)
    views = [
        np.stack([some_bits(ask(codes, flat_model(TOP), start + run, 51).to_mixer) for run in range(RUNS)])
        for codes, start in ((FIRST, 6200), (MISSING, 6300))
    ]
    tells_nothing(views, 0)


@dataclass(frozen=True)
class Collusion:
    """What the hospital and mixer A hear that mixer B has a part in."""

    from_b: list[tuple[str, Bytes]]
    between_mixers: list[tuple[str, Bytes]]


def classify_privately(of_a: Model, of_b: Model, codes: Values, seed_of_b: int) -> Collusion:
    """A whole private classification in which only mixer B's seed is another each time."""
    names = {"pair": ("mixer a", "mixer b"), "to a": ("party va", "mixer a"), "to b": ("party va", "mixer b")}
    ends = {name: TappedEnds(*who) for name, who in names.items()}
    ahead = TappedEnds("mixer a", "mixer b")

    def mixer(role: int, number: int, line: str) -> None:
        random = random_for(number)
        talk, making = (ends["pair"].first, ahead.first) if role == A else (ends["pair"].second, ahead.second)
        me = ComputingParty(role, talk, connect_pair(role, making, random), random)
        blinding = label.blinding_for(b"a question", label.common_blinding(me))
        holder = TableHolder(ends[line].second, random)
        answer_private(me, holder, LAYOUT, (of_a, of_b)[role], codes.shape[1], blinding)

    def hospital() -> None:
        mixers = ends["to a"].first, ends["to b"].first
        ask_private(mixers, LAYOUT, of_a.width, codes, TableReader(mixers, random_for(60)))

    converse(
        [*ends.values(), ahead],
        hospital,
        lambda: mixer(A, 61, "to a"),
        lambda: mixer(B, seed_of_b, "to b"),
    )
    return Collusion(ends["to b"].first.heard, ends["pair"].first.heard)


@lru_cache
def collusions(value: int) -> list[Collusion]:
    start = 7000 + 100 * EXTREMES.index(value)
    return [classify_privately(flat_model(0), flat_model(value), FIRST, start + run) for run in range(RUNS)]


@pytest.mark.parametrize("part", ["from_b", "between_mixers"])
@dealt
def test_hospital_and_one_mixer_together_hear_nothing_of_the_others_share(part: str) -> None:
    tells_nothing([np.stack([some_bits(getattr(one, part)) for one in collusions(value)]) for value in EXTREMES])


@dealt
def test_hospital_and_one_mixer_together_hear_nothing_twice() -> None:
    """All of it at once: no bit of one conversation is bound to one of another."""
    views = np.stack(
        [np.concatenate([some_bits(one.from_b), some_bits(one.between_mixers)]) for one in collusions(TOP)]
    )
    assert bound_together(views[:, varying(views)], 6000) == 0


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
    first = np.unpackbits(np.stack(real)[:, 0], axis=1)
    assert abs(bias(first[:, coins[: first.shape[1]]])) < LIMIT


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
