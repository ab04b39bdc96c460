"""Two parties in memory for the tests of every step: connected once, shared by many examples.

Import it as `from tests.protocol.pairs import both`; pytest's importlib mode finds it without any setting.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Bits, Values, Words, mask
from mixbayes.protocol.attributes.dictionary import MOST_ROWS, Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.memory import MemoryWire
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pool import Marks, PairPool, ReceivedPool, SentPool
from mixbayes.protocol.transfer.pool import connect_answerer as answerer_pool
from mixbayes.protocol.transfer.pool import connect_asker as asker_pool
from mixbayes.protocol.transfer.pool import connect_pair as pair_pool

DEADLINE = 30.0
"""How long a role of a test waits for the other: never reached unless a step is broken."""
MARKS = Marks()
WORD = 64


def seed(number: int) -> bytes:
    """The 32 bytes by which a test draws."""
    return number.to_bytes(32, "little")


def random_for(number: int) -> Randomness:
    return Randomness(seed(number))


class Ends:
    """Both ends of one conversation in memory, which can be cut."""

    def __init__(self, first: str = "party A", second: str = "party B", deadline: float = DEADLINE) -> None:
        there: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        back: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.wires = MemoryWire(second, back, there, deadline), MemoryWire(first, there, back, deadline)
        self.first = Channel(second, self.wires[0])
        self.second = Channel(first, self.wires[1])

    def cut(self) -> None:
        """Whoever waits, or will, learns at once that nothing comes any more."""
        for wire in self.wires:
            wire.close()


def converse(ends: Sequence[Ends], *roles: Callable[[], Any]) -> list[Any]:
    """`memory.together`, but a role that fails cuts all conversations, so that the others end at once."""

    def guarded(role: Callable[[], Any]) -> Any:
        try:
            return role()
        except BaseException:
            for end in ends:
                end.cut()
            raise

    return memory.together(*(lambda role=role: guarded(role) for role in roles))


class Pair:
    """A and B, connected, each with randomness from its own seed."""

    def __init__(self, number: int = 1, marks: Marks = MARKS, deadline: float = DEADLINE) -> None:
        self.talk, self.ahead = Ends(deadline=deadline), Ends(deadline=deadline)
        ends = [self.talk, self.ahead]
        self.a, self.b = converse(ends, lambda: self._party(A, number, marks), lambda: self._party(B, number, marks))

    def _party(self, role: int, number: int, marks: Marks) -> ComputingParty:
        random = random_for(1000 * number + role)
        talk, ahead = (self.talk.first, self.ahead.first) if role == A else (self.talk.second, self.ahead.second)
        return ComputingParty(role, talk, pair_pool(role, ahead, random, marks), random)

    def run(
        self, step: Callable[..., Any], of_a: tuple[Any, ...] = (), of_b: tuple[Any, ...] | None = None
    ) -> tuple[Any, Any]:
        """What `step(party, *its inputs)` returns to A and to B; B's inputs are A's unless given."""
        others = of_a if of_b is None else of_b
        ends = [self.talk, self.ahead]
        share_a, share_b = converse(ends, lambda: step(self.a, *of_a), lambda: step(self.b, *others))
        return share_a, share_b

    @property
    def pools(self) -> tuple[PairPool, PairPool]:
        return self.a.pool, self.b.pool


_pair: Pair | None = None


def shared_pair() -> Pair:
    """The pair that examples share. Its draws go on from example to example."""
    global _pair
    if _pair is None:
        _pair = Pair()
    return _pair


def forget_pair() -> None:
    """Connect anew for the next example."""
    global _pair
    _pair = None


def both(step: Callable[..., Any], of_a: tuple[Any, ...], of_b: tuple[Any, ...] | None = None) -> tuple[Any, Any]:
    """Run one step with A's and B's inputs (B's are A's unless given) on the shared pair.

    A step that fails leaves nothing behind: the next example gets a new pair. It has failed too if the two
    ends hold different stocks of transfers afterwards.
    """
    pair = shared_pair()
    try:
        results = pair.run(step, of_a, of_b)
        left_a, left_b = (pool.left for pool in pair.pools)
        if left_a != left_b:
            raise AssertionError(f"A has {left_a} transfers left and B has {left_b}")
    except BaseException:
        forget_pair()
        raise
    return results


def connect_asker(number: int = 1, marks: Marks = MARKS) -> tuple[ReceivedPool, SentPool, Ends]:
    """A hospital that asks and a mixer that answers: both pools, and the channel on which they are filled."""
    ends = Ends("party asker", "mixer a")
    asker, answerer = converse(
        [ends],
        lambda: asker_pool(ends.first, random_for(1000 * number + 2), marks),
        lambda: answerer_pool(ends.second, random_for(1000 * number + 3), marks),
    )
    return asker, answerer, ends


def words_of(values: list[int], width: int = WORD) -> Words:
    """Plain integers as an array of words; beyond 64 bits, as limbs along the first axis."""
    limbs = [[value >> WORD * i & 2**WORD - 1 for value in values] for i in range(-(-width // WORD))]
    return np.array(limbs[0] if width <= WORD else limbs, np.uint64)


def integers(words: Words, width: int = WORD) -> list[int]:
    """What `words_of` made, or a narrow array of any shape, as plain integers."""
    rows: list[list[int]] = words.reshape(-(-width // WORD), -1).tolist()
    return [sum(limb << WORD * i for i, limb in enumerate(limbs)) for limbs in zip(*rows, strict=True)]


def bits_of(values: list[int]) -> Bits:
    return np.array(values, np.uint8)


def uniform(shape: tuple[int, ...], width: int, number: int) -> Words:
    """Random words of a width."""
    words = random_for(number).words(*shape)
    top = words if width <= WORD else words[-1]
    top &= mask(width - (-(-width // WORD) - 1) * WORD)
    return words


def additive(words: Words, width: int, number: int) -> tuple[Words, Words]:
    """Two additive shares modulo 2^width."""
    of_a = uniform(words.shape, width, number)
    if width <= WORD:
        return of_a, (words - of_a) & mask(width)
    pairs = zip(integers(words, width), integers(of_a, width), strict=True)
    return of_a, words_of([(word - share) % 2**width for word, share in pairs], width)


def xored(words: Words, width: int, number: int) -> tuple[Words, Words]:
    """Two XOR shares of words of a width."""
    of_a = uniform(words.shape, width, number)
    return of_a, words ^ of_a


def xored_bits(bits: Bits, number: int) -> tuple[Bits, Bits]:
    """Two XOR shares of bits."""
    of_a = random_for(number).bits(*bits.shape)
    return of_a, bits ^ of_a


def added(shares: tuple[Words, Words], width: int) -> list[int]:
    """What two additive shares stand for, as plain integers, once both are seen to be reduced."""
    of_a, of_b = (integers(share, width) for share in shares)
    assert max(of_a + of_b, default=0) < 2**width
    return [(a + b) % 2**width for a, b in zip(of_a, of_b, strict=True)]


def opened(shares: tuple[Any, Any], width: int = WORD) -> list[int]:
    """What two XOR shares stand for, bits or words, as plain integers."""
    return integers(np.bitwise_xor(*shares), width)


def words_below(width: int) -> st.SearchStrategy[int]:
    """Words of a width, its borders more often than chance would."""
    top = 1 << width
    borders = {n % top for n in (0, 1, top // 2 - 1, top // 2, top // 2 + 1, top - 2, top - 1)}
    return st.one_of(st.integers(0, top - 1), st.sampled_from(sorted(borders)))


@st.composite
def words_and_width(
    draw: st.DrawFn, widths: st.SearchStrategy[int], columns: int = 1, size: int = 9
) -> tuple[int, list[list[int]]]:
    """A width, and as many equally long lists of words of it as there are columns."""
    width = draw(widths)
    rows = draw(st.lists(st.tuples(*[words_below(width)] * columns), min_size=1, max_size=size))
    return width, [list(column) for column in zip(*rows, strict=True)]


WIDTHS = st.integers(1, 64)
ALL_WIDTHS = st.one_of(WIDTHS, st.integers(65, 260), st.sampled_from([63, 64, 65, 127, 128, 129, 192]))
"""Those of one word, and those whose words have limbs."""
SEEDS = st.integers(0, 2**32 - 1)
"""What the shares of an example are drawn from."""


def layout_of(classes: int, sizes: list[int], max_rows: int = MOST_ROWS, smoothing: str = "1") -> Layout:
    """A dictionary of nominal attributes with this many values each."""
    attributes = [Nominal(name=f"a{i}", values=tuple(str(v) for v in range(size))) for i, size in enumerate(sizes)]
    return Layout(
        Dictionary.model_validate(
            {
                "class_column": "class",
                "classes": [str(c) for c in range(classes)],
                "attributes": attributes,
                "smoothing": smoothing,
                "max_rows": max_rows,
            }
        )
    )


def sizes_of(layout: Layout) -> list[int]:
    """The numbers of values, without the missing one."""
    return [rows - 1 for rows in layout.rows]


def random_counts(layout: Layout, rng: np.random.Generator, rows: int, empty: float = 0.2) -> Words:
    """Consistent counts of so many patients: in every attribute, values and missing add up to the class count.

    Classes stay empty with probability `empty`; some attributes are spread evenly, some lie almost in one cell.
    """
    weights = rng.dirichlet(np.full(layout.classes, rng.choice([0.1, 1.0])))
    weights[rng.random(layout.classes) < empty] = 0
    if not weights.any():
        weights[rng.integers(layout.classes)] = 1
    of_class = rng.multinomial(rows, weights / weights.sum())
    vector = np.zeros(layout.size, np.uint64)
    layout.class_counts(vector)[:] = of_class
    for a, cells in enumerate(layout.rows):
        shape = rng.dirichlet(np.full(cells, rng.choice([0.02, 1.0])) + 1e-3, layout.classes)
        layout.block(vector, a)[:] = rng.multinomial(of_class, shape).T
    return vector


def random_codes(layout: Layout, rng: np.random.Generator, rows: int) -> Values:
    """Instances with values and missing cells, all missing now and then."""
    entries = np.array(layout.rows)[:, None]
    codes = rng.integers(0, entries, (len(layout.rows), rows))
    codes[:, rng.random(rows) < 0.05] = entries - 1
    return codes.astype(np.int32)
