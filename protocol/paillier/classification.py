"""Classification of the Paillier protocol: from multiplicative shares to labels, by exact comparison of integers.

To compare the scores of the classes c and d, num_c·den_d is compared with num_d·den_c. Each side is a product of cells,
so each party multiplies its own shares alone, and only the difference of the two products needs the key. A tournament
finds the winner of more than two classes. Its intermediate winners stay secret, because one oblivious transfer each way
makes new shares of the winner's numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Bits, Numbers, Values, Words, slices
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes import label
from mixbayes.protocol.bayes import public_rows as rows
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.comparison import carry
from mixbayes.protocol.circuits.products import gate
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.packing import bits_bytes, pack_bits, unpack_bits
from mixbayes.protocol.paillier.key import (
    Obfuscators,
    PublicKey,
    SecretKey,
    below,
    fresh,
    from_bytes,
    inverse,
    obfuscators,
    receive_ciphertexts,
    send_ciphertexts,
    to_bytes,
    unit,
    unit_or_one,
)
from mixbayes.protocol.paillier.training import ExactModel, Group
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pads import all_masks, chosen_masks
from mixbayes.protocol.transfer.pool import ReceivedPool, SentPool, connect_answerer, connect_asker, connect_pair

_SIDES, _DIFFERENCES = "encrypted sides", "masked differences"
_ANNOUNCE, _TABLES = "announce question", "tables for the question"
_ANNOUNCE_WINNER, _WINNER = "announce winner", "winner shared anew"
_MOST_ROWS = 256
_PIECE_BYTES = 1 << 23
_STRETCH = 16
"""Comparisons in a message. With several messages, A decrypts one while B computes the next."""
_AHEAD = 4
"""Messages that A sends ahead of the answers."""


Pool = TypeVar("Pool", ReceivedPool, SentPool)


@dataclass(frozen=True, slots=True)
class Line(Generic[Pool]):
    """Between the hospital that asks and the other one: where they talk, and the random transfers they share.

    Transfers are made on a channel of the pool's own, so that making them ahead never meets an answer.
    """

    channel: Channel
    pool: Pool


class Seat(ABC):
    """The step in which A, which holds the key, and B differ."""

    @abstractmethod
    def less(self, me: ComputingParty, group: Group, left: Numbers, right: Numbers) -> Bits:
        """XOR shares (n,) of [left < right], from this party's multiplicative shares of both sides."""


class Holder(Seat):
    """A: it sends its shares of both sides encrypted, and decrypts the masked differences."""

    def __init__(self, key: SecretKey, obfuscators: Obfuscators) -> None:
        self._key = key
        self._obfuscators = obfuscators

    def less(self, me: ComputingParty, group: Group, left: Numbers, right: Numbers) -> Bits:
        bits, slots, key = group.comparison_bits, group.slots, self._key

        def send(part: slice) -> None:
            sides = np.stack([left[part], right[part]], axis=1).reshape(-1)
            sent = (key.public.encrypt(side, fresh(self._obfuscators)) for side in sides)
            send_ciphertexts(me.channel, _SIDES, key.public, sent)

        def collect(part: slice) -> list[int]:
            counts = [some.stop - some.start for some in slices(part.stop - part.start, slots)]
            answers = receive_ciphertexts(me.channel, _DIFFERENCES, key.public, len(counts))
            opened = (group.elements(key.decrypt(one), count) for one, count in zip(answers, counts, strict=True))
            return [element for elements in opened for element in elements]

        masked = _in_flight(_stretches(group, left.size), send, collect)
        # Now A has Y = 2^ℓ + left − right + R, and B has R. Bit ℓ of Y − R says whether left ≥ right. It is bit ℓ of Y,
        # bit ℓ of R and the borrow [Y mod 2^ℓ < R mod 2^ℓ], XORed. The borrow is the carry of R mod 2^ℓ plus the
        # complement of Y mod 2^ℓ.
        complement = ring.constant([~number for number in masked], bits)
        return me.negate(_bit(masked, bits) ^ carry(me, complement, bits))


class Other(Seat):
    """B: it multiplies by its own shares, subtracts and masks, all under the encryption."""

    def __init__(self, key: PublicKey, obfuscators: Obfuscators) -> None:
        self._key = key
        self._obfuscators = obfuscators

    def less(self, me: ComputingParty, group: Group, left: Numbers, right: Numbers) -> Bits:
        bits, masks = group.comparison_bits, list[int]()
        for part in _stretches(group, left.size):
            theirs = receive_ciphertexts(me.channel, _SIDES, self._key, 2 * (part.stop - part.start))
            # left − right modulo the group: A's encrypted left times B's, plus A's right times minus B's.
            differences = [
                self._key.weighted(sides, (x, group.modulus - y))
                for *sides, x, y in zip(theirs[::2], theirs[1::2], left[part], right[part], strict=True)
            ]
            parts = [differences[some] for some in slices(len(differences), group.slots)]
            answers = [masked(group, self._key, some, me.random, self._obfuscators) for some in parts]
            send_ciphertexts(me.channel, _DIFFERENCES, self._key, (ciphertext for ciphertext, _ in answers))
            masks += [mask for _, of_slots in answers for mask in of_slots]
        return _bit(masks, bits) ^ carry(me, ring.constant(masks, bits), bits)


def masked(
    group: Group, key: PublicKey, differences: list[int], random: Randomness, obfuscators: Obfuscators
) -> tuple[int, list[int]]:
    """B's answer: encrypted differences, each plus 2^ℓ, in the slots of one ciphertext under a mask. And the mask's
    elements.

    The mask is uniform below N, and its obfuscator fresh. So the answer is a uniform ciphertext whatever A encrypted,
    if N fits Paillier's cryptosystem (`modulus`), and A learns nothing from it.

    For what an honest A encrypts, the element in a slot is the difference plus 2^ℓ plus the mask's, unless something
    carries: this sum beyond P, of probability (2^ℓ + left − right) / P < 2^-41; the slot's number, below 2·P² + 2^ℓ,
    beyond the slot, or that of the slot below, of less than 2^-43 each; or all slots beyond N, of less than 2^-43.
    Modulo N it is the first alone. So a comparison goes wrong with a probability below 2^-40, and about 2^-42 if both
    sides are about the same.
    """
    mask = below(random, key.modulus)
    added = sum(1 << group.comparison_bits + group.width * slot for slot in range(len(differences)))
    encrypted = key.encrypt(mask + added, fresh(obfuscators))
    return key.total([key.packed(differences, group.width), encrypted]), group.elements(mask, len(differences))


def _in_flight(
    parts: Iterable[slice], send: Callable[[slice], None], collect: Callable[[slice], list[int]]
) -> list[int]:
    """Send every part and collect the answers in order, with a few parts sent ahead of the answers.

    So B has work while A decrypts, and little data waits to be read however many comparisons there are.
    """
    due: deque[slice] = deque()
    collected = []
    for part in parts:
        send(part)
        due.append(part)
        if len(due) > _AHEAD:
            collected += collect(due.popleft())
    for part in due:
        collected += collect(part)
    return collected


def _stretches(group: Group, count: int) -> Iterator[slice]:
    """All comparisons in stretches that fill whole ciphertexts."""
    return slices(count, max(1, _STRETCH // group.slots) * group.slots)


def _bit(numbers: list[int], place: int) -> Bits:
    return np.array([number >> place & 1 for number in numbers], np.uint8)


def winners(me: ComputingParty, seat: Seat, model: ExactModel, products: Numbers) -> Words:
    """XOR shares (n,) of one-hot words with the winner's bit set, from the shares (S, n) of all classes' numbers.

    This is a tournament as in `circuits/argmax.py`: the later class wins only if its score is strictly greater.
    """
    classes, n = model.classes, products.shape[-1]
    standings = _standings(products, classes)
    one_hot = me.constant(np.uint64(1) << np.arange(classes, dtype=np.uint64)[:, None] + np.zeros((1, n), np.uint64))
    for is_open, later_by_default in _matches(me, model.empty):
        pairs = len(is_open)
        earlier, later, rest = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2), slice(2 * pairs, None)
        greater = _greater(me, seat, model.group, standings[:, earlier], standings[:, later], is_open)
        later_wins = greater ^ later_by_default[:, None]
        # x ⊕ bit·(x ⊕ y) selects x or y without showing which.
        won = one_hot[earlier] ^ gate(me, later_wins, one_hot[earlier] ^ one_hot[later], classes)
        one_hot = np.concatenate([won, one_hot[rest]])
        if len(one_hot) > 1:
            reshared = _reshared(me, model.group, later_wins, standings[:, earlier], standings[:, later])
            standings = np.concatenate([reshared, standings[:, rest]], axis=1)
    return one_hot[0]


def _standings(products: Numbers, classes: int) -> Numbers:
    """Numerators and denominators (2, K, n). With two classes the denominators are ones: they are in the numerators."""
    if len(products) == classes:
        products = np.concatenate([products, np.ones_like(products)])
    return products.reshape(2, classes, -1)


def _matches(me: ComputingParty, empty: Bits) -> Iterator[tuple[Bits, Bits]]:
    """XOR shares for the matches of every round: do the scores decide it, and if not, does the later class win?

    Scores decide if both classes have rows. A class with rows beats one without. The winner of a match has no rows only
    if neither class has any, so these bits are the same for all instances.
    """
    while len(empty) > 1:
        pairs = len(empty) // 2
        earlier, later = empty[0 : 2 * pairs : 2], empty[1 : 2 * pairs : 2]
        both = gate(me, earlier, later, 1)
        # Neither is empty: ¬(x ∨ y), where x ∨ y = x ⊕ y ⊕ xy. Only the earlier one is empty: x ⊕ xy.
        yield me.negate(earlier ^ later ^ both), earlier ^ both
        empty = np.concatenate([both, empty[2 * pairs :]])


def _greater(me: ComputingParty, seat: Seat, group: Group, earlier: Numbers, later: Numbers, is_open: Bits) -> Bits:
    """XOR shares (pairs, n) of: the scores decide the match, and the later class's score is strictly greater."""
    left, right = (earlier[0] * later[1] % group.modulus, later[0] * earlier[1] % group.modulus)
    less = seat.less(me, group, left.reshape(-1), right.reshape(-1)).reshape(left.shape)
    return gate(me, np.repeat(is_open[:, None], less.shape[1], axis=1), less, 1)


def _reshared(me: ComputingParty, group: Group, later_wins: Bits, earlier: Numbers, later: Numbers) -> Numbers:
    """New multiplicative shares (2, pairs, n) of the winners' numbers. Neither party learns which class won.

    By 1-of-2 OT each party offers its shares of both classes' numbers, multiplied by fresh factors, in an order that
    its share of the outcome determines; the other party's share of the outcome chooses. The chooser keeps what it
    received, and the sender keeps the inverses of its factors. The product of both is the sender's old share. This goes
    both ways.
    """
    flat = later_wins.reshape(-1)
    count, words = flat.size, 2 * _number_words(group)
    pair = np.stack([np.where(later_wins, later, earlier), np.where(later_wins, earlier, later)]).reshape(2, 2, count)
    sent, received = me.pool.take(count)
    raw = me.channel.swap(_ANNOUNCE_WINNER, pack_bits(flat ^ received.choices))
    flips = unpack_bits(raw, count, me.channel.peer, _ANNOUNCE_WINNER)
    factor = _units(me.random, group, 2, count)
    masks = all_masks(me.pool.sent_hash, sent.pads[:, None], flips[None], 2, words)
    # Entry 0 of `pair` is the winner if the other's share of the outcome is 0, and entry 1 if it is 1.
    offered = masks ^ _to_words(group, pair.transpose(0, 2, 1) * factor.T)
    theirs = me.channel.swap(_WINNER, offered).view(np.uint64).reshape(2, count, words)
    unmask = chosen_masks(me.pool.received_hash, received.pads[None], flat.astype(np.uint64), words)
    got = _to_numbers(group, theirs[flat, np.arange(count)] ^ unmask)
    return (got * _inverses(group, factor) % group.modulus).reshape(earlier.shape)


def _units(random: Randomness, group: Group, *shape: int) -> Numbers:
    return np.array([unit(random, group.modulus) for _ in range(int(np.prod(shape)))], object).reshape(shape)


def _inverses(group: Group, numbers: Numbers) -> Numbers:
    return np.array([inverse(number, group.modulus) for number in numbers.reshape(-1)], object).reshape(numbers.shape)


def _number_words(group: Group) -> int:
    """The number of words that hold one element."""
    return ring.limbs(group.bits)


def _to_words(group: Group, numbers: Numbers) -> Words:
    """Numbers (…, S), reduced, as words (…, S · words of an element)."""
    size = 8 * _number_words(group)
    return to_bytes((numbers % group.modulus).reshape(-1), size).view(np.uint64).reshape(*numbers.shape[:-1], -1)


def _to_numbers(group: Group, words: Words) -> Numbers:
    """A peer's words (n, S · words of an element) as units (S, n).

    No honest peer sends another number. An error would tell a lying one whether the chosen entry was the one that it
    had spoilt, and so would a number that a later factor cannot hide.
    """
    numbers = from_bytes(words.view(np.uint8), 8 * _number_words(group))
    return np.array([unit_or_one(number, group.modulus) for number in numbers], object).reshape(len(words), -1).T


def _products(model: ExactModel, codes: Values) -> Numbers:
    """This party's shares (S, n) of all classes' products for these rows, which it knows."""
    product = np.repeat(model.start[:, None], codes.shape[1], axis=1)
    for table, values in zip(model.tables, codes, strict=True):
        product = product * table[values].T % model.group.modulus
    return product


def _choice_bits(model: ExactModel) -> list[int]:
    return [(entries - 1).bit_length() for entries in model.entries]


def _pieces(model: ExactModel, count: int) -> Iterator[slice]:
    """All rows in pieces that keep the messages short."""
    row_bytes = sum(model.entries) * model.start.size * 8 * _number_words(model.group)
    return slices(count, min(_MOST_ROWS, max(1, _PIECE_BYTES // row_bytes)))


def _chosen(partner: Line[ReceivedPool], model: ExactModel, codes: Values) -> Numbers:
    """The asker's side of the 1-of-(V + 1) OT: the product (S, n) over all attributes of the entries that it chose.

    Every entry is the other hospital's share of a cell times a fresh factor.
    """
    group, count, choices = model.group, codes.shape[1], _choice_bits(model)
    received = partner.pool.take(sum(choices) * count)
    wanted = [ring.bits(c.astype(np.uint64), bits).reshape(-1) for c, bits in zip(codes, choices, strict=True)]
    partner.channel.send(_ANNOUNCE, pack_bits(np.concatenate(wanted) ^ received.choices))
    product, at = np.ones((model.start.size, count), object), 0
    words = model.start.size * _number_words(group)
    for values, entries, bits in zip(codes, model.entries, choices, strict=True):
        pads = received.pads[at : at + bits * count].reshape(bits, count, 2)
        masks = chosen_masks(partner.pool.hash, pads, values.astype(np.uint64), words)
        raw = partner.channel.receive(_TABLES, 8 * entries * count * words)
        entry = raw.view(np.uint64).reshape(entries, count, words)[values, np.arange(count)] ^ masks
        product = product * _to_numbers(group, entry) % group.modulus
        at += bits * count
    return product


def _offered(partner: Line[SentPool], model: ExactModel, random: Randomness, count: int) -> Numbers:
    """The other hospital's side: offer every entry times a factor that is fresh for every row, attribute and side.

    Returns the inverse (S, n) of the product of the factors, which is its new share. "Missing" is the factor alone.
    """
    group, choices, channel = model.group, _choice_bits(model), partner.channel
    total = sum(choices) * count
    sent = partner.pool.take(total)
    flips = unpack_bits(channel.receive(_ANNOUNCE, bits_bytes(total)), total, channel.peer, _ANNOUNCE)
    sides = model.start.size
    product, at = np.ones((sides, count), object), 0
    for table, bits in zip(model.tables, choices, strict=True):
        part = slice(at, at + bits * count)
        pads, asked = sent.pads[:, part].reshape(2, bits, count, 2), flips[part].reshape(bits, count)
        factor = _units(random, group, sides, count)
        masks = all_masks(partner.pool.hash, pads, asked, len(table), sides * _number_words(group))
        channel.send(_TABLES, masks ^ _to_words(group, table[:, None] * factor.T))
        product = product * factor % group.modulus
        at += bits * count
    return _inverses(group, product)


def ask(me: ComputingParty, seat: Seat, partner: Line[ReceivedPool], model: ExactModel, codes: Values) -> Labels:
    """The asking hospital's side, for rows that the other hospital does not see."""
    labels = []
    for piece in _pieces(model, codes.shape[1]):
        product = _products(model, codes[:, piece]) * _chosen(partner, model, codes[:, piece]) % model.group.modulus
        labels.append(label.from_partner(me, winners(me, seat, model, product), model.classes))
    return label.joined(labels)


def answer(me: ComputingParty, seat: Seat, partner: Line[SentPool], model: ExactModel, count: int) -> None:
    """The other hospital's side, for rows that it does not see."""
    for piece in _pieces(model, count):
        inverses = _offered(partner, model, me.random, piece.stop - piece.start)
        product = model.start[:, None] * inverses % model.group.modulus
        label.to_partner(me, winners(me, seat, model, product), model.classes)


def show(me: ComputingParty, seat: Seat, layout: Layout, model: ExactModel, codes: Values) -> Labels:
    """The asking hospital's side, for rows that it shows to the other hospital."""
    labels = []
    for piece in _pieces(model, codes.shape[1]):
        rows.send(me.channel, layout, codes[:, piece])
        hot = winners(me, seat, model, _products(model, codes[:, piece]))
        labels.append(label.from_partner(me, hot, model.classes))
    return label.joined(labels)


def see(me: ComputingParty, seat: Seat, layout: Layout, model: ExactModel, count: int) -> None:
    """The other hospital's side, for rows that it is shown."""
    for piece in _pieces(model, count):
        codes = rows.receive(me.channel, layout, piece.stop - piece.start).codes
        label.to_partner(me, winners(me, seat, model, _products(model, codes)), model.classes)


def run_paillier_classification(
    layout: Layout,
    models: tuple[ExactModel, ExactModel],
    key: SecretKey,
    codes: Values,
    seeds: tuple[bytes, bytes],
    *,
    private: bool = True,
    asker: int = A,
) -> Labels:
    """The whole classification in memory: hospitals A, which holds the key, and B. One of them asks."""
    to_b, to_a = memory.channels("party A", "party B")
    question_to_b, question_to_a = memory.channels("party A", "party B")
    # Random transfers are made on channels of their own.
    ahead_b, ahead_a = memory.channels("party A", "party B")
    question_ahead_b, question_ahead_a = memory.channels("party A", "party B")
    count = codes.shape[1]

    def hospital(me: ComputingParty, seat: Seat, question: Channel, ahead: Channel) -> Labels | None:
        model = models[me.role]
        if not private and me.role == asker:
            # The asker shows the rows, and each hospital multiplies its shares of the cells that the rows name.
            return show(me, seat, layout, model, codes)
        if not private:
            see(me, seat, layout, model, count)
        elif me.role == asker:
            # The other hospital offers its shares, multiplied by fresh factors. The asker takes by oblivious transfer
            # those that its rows name, and multiplies them by its own shares.
            return ask(me, seat, Line(question, connect_asker(ahead, me.random)), model, codes)
        else:
            # The inverses of the fresh factors are the other hospital's shares.
            answer(me, seat, Line(question, connect_answerer(ahead, me.random)), model, count)
        # In all cases they then compare two sides: A sends its shares of both encrypted, B multiplies by its own
        # shares, subtracts and masks, A decrypts, and a comparison of bits finds the borrow of the mask. The asker gets
        # the label.
        return None

    def holder() -> Labels | None:
        random = Randomness(seeds[A])
        me = ComputingParty(A, to_b, connect_pair(A, ahead_b, random), random)
        return hospital(me, Holder(key, obfuscators(key, random)), question_to_b, question_ahead_b)

    def other() -> Labels | None:
        random = Randomness(seeds[B])
        me = ComputingParty(B, to_a, connect_pair(B, ahead_a, random), random)
        return hospital(me, Other(key.public, obfuscators(key.public, random)), question_to_a, question_ahead_a)

    labels: Labels = memory.together(holder, other)[asker]
    return labels
