"""The joint test: how often the joint classifier is right over all hospitals, by rows that count nowhere.

Every hospital asks about the rows that it keeps aside as in an evaluation, once. Nothing is opened then: each mixer
writes its share of the totals down. When all have done so, the mixers add their shares up, add noise where it is
agreed, and open the sums to whoever asks: how many rows of each true class got each answer, over all hospitals.

| | |
|---|---|
| hospital → mixers | the classes of its rows, as XOR shares; then masked sums as in a question |
| mixer ↔ mixer | comparison; products of the answers with the classes |
| mixer ↔ mixer, once all have given theirs | coins, where noise is agreed |
| mixer → the hospital that asks | its blinded share of the sums |

**What noise hides.** A row kept aside is one row of one class with one answer, and the joint counts do not depend on
it. So one row more or less changes one of the sums by one, and the noise is that of one number. This is why the joint
test uses separate rows, and not the folds: given N~, one row more in a fold changes N~ − fold, and perhaps every label
of that fold. For the same reason the sums must not say whether a hospital's own classifier is right. That classifier is
made of exact counts, and one row more can change each of its labels.

A hospital asks about a limited number of rows. If it keeps more aside, some are not asked about, and an additional row
can replace another one: then two of the sums change by one (`changed`).

Nobody checks the classes that a hospital gives. A hospital that lies adds what it likes to the sums, and learns no more
than the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from mixbayes.privacy.coins import Coins
from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes import label
from mixbayes.protocol.bayes.aside import MOST_ASIDE
from mixbayes.protocol.bayes.evaluation import (
    Integers,
    Sheet,
    announce,
    blinded,
    judge,
    packed,
    receive_words,
    send_totals,
    totals_in_clear,
    totals_of,
)
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.recipe import JOINT
from mixbayes.protocol.bayes.tossing import Draw, toss, toss_in_clear
from mixbayes.protocol.bayes.training import train
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.errors import OutOfRange
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pool import connect_pair

FEWEST = 3
"""Hospitals of which sums without noise are opened: of two, each would read the other's by subtraction."""
_FIGURES = "figures of the joint test"


def joint_sheet(layout: Layout, rows: int, coins: Coins | None) -> Sheet:
    """What is public about the rows aside of one hospital. Whatever their number, totals have the same places."""
    largest = layout.terms.hospitals * MOST_ASIDE + (2 * coins.bound if coins else 0)
    return Sheet(layout, JOINT, rows, split=1, scored=False, kept_aside=True, largest=largest)


def summed(me: ComputingParty, sheet: Sheet, given: Iterable[Words], noise: tuple[Coins, Draw] | None) -> Words:
    """A mixer's share of the sums, from its shares of what hospitals gave, and from its part in drawing the noise."""
    total = np.zeros(sheet.size, np.uint64)
    for share in given:
        total += share
    if noise is None:
        return total
    coins, draw = noise
    tossed = toss(me, coins, _numbers(sheet), Randomness(draw.seed), draw)
    return total + packed(sheet, _in_places(sheet, tossed))


def receive_figures(mixers: tuple[Channel, Channel], sheet: Sheet, coins: Coins | None) -> Integers:
    """(classes, answers): rows of all hospitals by true class and answer. With noise they may be negative."""
    words, senders = receive_words(mixers, sheet), f"{mixers[0].peer} or {mixers[1].peer}"
    found = totals_of(sheet, words).answers
    if (packed(sheet, found.astype(np.uint64)) != words).any() or (found > sheet.largest).any():
        raise OutOfRange(senders, _FIGURES, "they are no sums of that many rows")
    return found - (coins.bound if coins else 0)


def _numbers(sheet: Sheet) -> int:
    return sheet.groups * sheet.answers


def _in_places(sheet: Sheet, sums: Words) -> Words:
    return sums.reshape(sheet.groups, sheet.answers)


def figures_in_clear(
    layout: Layout, model: Model, rows: Sequence[tuple[Values, Integers]], coins: Coins | None, *halves: Randomness
) -> Integers:
    """The same figures from a model and rows that one knows, with noise of both halves of the coins."""
    sheets = [joint_sheet(layout, codes.shape[1], coins) for codes, _ in rows]
    parts = [
        totals_in_clear(sheet, [model], codes, classes).answers
        for sheet, (codes, classes) in zip(sheets, rows, strict=True)
    ]
    total = np.sum(parts, axis=0)
    if not coins:
        return total
    of_a, of_b = halves
    sums = toss_in_clear(coins, _numbers(sheets[0]), of_a, of_b)
    return total + _in_places(sheets[0], sums).astype(np.int64) - coins.bound


def run_joint_test(
    layout: Layout,
    counts: tuple[Words, Words],
    rows: Sequence[tuple[Values, Integers]],
    coins: Coins | None,
    halves: tuple[bytes, bytes],
    seeds: tuple[bytes, bytes, bytes],
) -> Integers:
    """All hospitals and the two mixers, all in memory. Seeds: of the hospitals, of A and of B.

    Each mixer has a share of the joint counts, and its half of the coins. `rows` has for each hospital its rows aside
    (columns, n) and their classes. The last hospital is the one that asks for the figures.
    """
    a_to_b, b_to_a = memory.channels("mixer a", "mixer b")
    a_ahead, b_ahead = memory.channels("mixer a", "mixer b")
    # Every hospital has a channel to each mixer.
    to_a = [memory.channels("party", "mixer a") for _ in rows]
    to_b = [memory.channels("party", "mixer b") for _ in rows]
    sheets = [joint_sheet(layout, codes.shape[1], coins) for codes, _ in rows]

    def mixer(role: int, other: Channel, ahead: Channel, hospitals: list[tuple[Channel, Channel]]) -> None:
        random = Randomness(seeds[1 + role])
        me = ComputingParty(role, other, connect_pair(role, ahead, random), random)
        blinding = label.blinding_for(b"the only question", label.common_blinding(me))
        # The mixers train one model, in which none of these rows counts.
        model, given = train(me, layout, counts[role]), []
        # Hospital after hospital gives its rows, and nothing is opened.
        for sheet, (_, asker) in zip(sheets, hospitals, strict=True):
            given.append(judge(me, asker, sheet, [model]))
        # They add up the stored shares and the noise, and open the sums to a hospital that asks.
        sums = summed(me, sheets[-1], given, (coins, Draw(halves[role])) if coins else None)
        send_totals(hospitals[-1][1], blinded(me, sums, blinding))

    def hospital(at: int, random: Randomness) -> tuple[Channel, Channel]:
        mixers = to_a[at][0], to_b[at][0]
        announce(mixers, sheets[at], *rows[at], random)
        return mixers

    def hospitals() -> Integers:
        random = Randomness(seeds[0])
        channels = [hospital(at, random) for at in range(len(rows))]
        return receive_figures(channels[-1], sheets[-1], coins)

    figures, _, _ = memory.together(
        hospitals,
        lambda: mixer(A, a_to_b, a_ahead, to_a),
        lambda: mixer(B, b_to_a, b_ahead, to_b),
    )
    return figures
