"""The Paillier protocol and plain phe side by side, on two cores: python benchmarks/paillier.py [key bits]

Two hospitals in processes of their own over local sockets, each with a process that makes its encryption randomness.
"ahead": that randomness lies ready when the clock starts. "no stock": next to none does, and it is made while the job
runs, so that its cost is inside the figure. Training takes transfers alone. The plain column does the same arithmetic
with phe alone: every cell and side in a ciphertext of its own, randomness on the spot, exponents as long as the key,
one process, neither transfers nor the comparison of bits.
"""

from __future__ import annotations

import multiprocessing
import random as lottery
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from phe import paillier

from mixbayes.parties.alone.obfuscators import Stock
from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.paillier import exact
from mixbayes.protocol.paillier.classification import Holder, Line, Other, answer, ask, see, show
from mixbayes.protocol.paillier.key import SecretKey, generate
from mixbayes.protocol.paillier.modulus import receive_key, send_key
from mixbayes.protocol.paillier.training import ExactModel, Group, train_exactly
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pool import connect_answerer, connect_asker, connect_pair
from mixbayes.simulation.links import Link

Result = TypeVar("Result")
Ear = Any
"""A connection, whose type depends on the system."""

NAMES = "hospital A", "hospital B"
BITS = 2048
DEADLINE = 120.0
ROWS = {2: 192, 5: 48}
"""Rows asked, by the number of classes."""
LOW = 24
"""Stocks are refilled below this, so that what lies ready is not replaced while the clock runs."""
FEW = 10


def layout_of(classes: int, sizes: list[int]) -> Layout:
    attributes = tuple(Nominal(name=f"a{i}", values=tuple(map(str, range(v)))) for i, v in enumerate(sizes))
    return Layout(Dictionary(class_column="class", classes=tuple(map(str, range(classes))), attributes=attributes))


TRAINED = layout_of(2, [8] * 13)
"""2 priors, 13 · 8 · 2 cells: 210. Its 26 denominators come on top."""
ASKED = layout_of(2, [10] * 13)
ASKED_MORE = layout_of(5, [10] * 13)


def counts(layout: Layout, seed: int) -> Words:
    """Consistent counts of a few thousand patients."""
    rng = np.random.default_rng(seed)
    vector = np.zeros(layout.size, np.uint64)
    layout.class_counts(vector)[:] = rng.integers(1000, 3000, layout.classes)
    for a, cells in enumerate(layout.rows):
        part = rng.multinomial(layout.class_counts(vector).astype(np.int64), np.full(cells, 1 / cells))
        layout.block(vector, a)[:] = part.T
    return vector


def questions(layout: Layout) -> Values:
    rng = np.random.default_rng(9)
    return rng.integers(0, np.array(layout.rows)[:, None], (len(layout.rows), ROWS[layout.classes])).astype(np.int32)


class Hospital:
    """Either one; B is told the modulus alone."""

    def __init__(self, report: Ear, role: int, key: SecretKey, now: Link, questioning: Link) -> None:
        self.report, self.secret = report, key
        random = Randomness.from_system()
        channel, ahead = now.channels(NAMES[1 - role], DEADLINE)
        asked, asked_ahead = questioning.channels(NAMES[1 - role], DEADLINE)
        self.me = ComputingParty(role, channel, connect_pair(role, ahead, random), random)
        if role == A:
            send_key(channel, key)
            self.public = key.public
            self.asks = Line(asked, connect_asker(asked_ahead, random))
        else:
            self.public = receive_key(channel, key.public.bits)
            self.answers = Line(asked, connect_answerer(asked_ahead, random))

    def timed(self, job: Callable[[Stock], Result], ahead: int) -> Result:
        """Do a job with so many obfuscators made before it; report seconds."""
        with Stock(self.secret if self.me.role == A else self.public, ahead=max(ahead + 1, LOW), low=LOW) as stock:
            next(stock)  # its process has started
            stock.fill()
            self.me.channel.swap("ready", b"")
            start = time.perf_counter()
            result = job(stock)
            self.me.channel.swap("done", b"")
            self.report.send(time.perf_counter() - start)
        return result

    def trained(self, layout: Layout) -> ExactModel:
        vector, group = counts(layout, self.me.role), Group.of(layout, self.public)
        return self.timed(lambda stock: train_exactly(self.me, group, layout, vector), 0)

    def asked(self, layout: Layout, model: ExactModel, private: bool, ahead: int) -> None:
        me, codes = self.me, questions(layout)

        def asking(stock: Stock) -> list[int]:
            seat = Holder(self.secret, stock)
            got = ask(me, seat, self.asks, model, codes) if private else show(me, seat, layout, model, codes)
            return got.tolist()

        joint = counts(layout, A) + counts(layout, B)
        assert self.timed(asking, ahead) == exact.labels(layout, joint, codes).tolist()

    def answered(self, layout: Layout, model: ExactModel, private: bool, ahead: int) -> None:
        me, rows = self.me, ROWS[layout.classes]

        def answering(stock: Stock) -> None:
            seat = Other(self.public, stock)
            if private:
                answer(me, seat, self.answers, model, rows)
            else:
                see(me, seat, layout, model, rows)

        self.timed(answering, ahead)


def hospital(report: Ear, role: int, key: SecretKey, now: Link, questioning: Link) -> None:
    """The jobs, in the order in which `main` prints them."""
    one = Hospital(report, role, key, now, questioning)
    one.trained(TRAINED)
    for layout in (ASKED, ASKED_MORE):
        model = one.trained(layout)
        comparisons = (layout.classes - 1) * ROWS[layout.classes]
        for private in (False, True):
            for ahead in (comparisons, 0):
                if role == A:
                    one.asked(layout, model, private, 2 * ahead)
                else:
                    one.answered(layout, model, private, ahead)


@contextmanager
def running(key: SecretKey) -> Iterator[Ear]:
    """Both hospitals; what A reports."""
    context = multiprocessing.get_context("spawn")
    (now_a, now_b), (asked_a, asked_b) = Link.pair(), Link.pair()
    here, there = context.Pipe()
    _, unheard = context.Pipe()
    started = [
        context.Process(target=hospital, args=(there, A, key, now_a, asked_a)),
        context.Process(target=hospital, args=(unheard, B, key, now_b, asked_b)),
    ]
    for process in started:
        process.start()
    there.close()
    for link in (now_a, now_b, asked_a, asked_b):
        link.now.close()
        link.ahead.close()
    try:
        yield here
    finally:
        for process in started:
            process.join(1)
            process.terminate()


def plain_cell(public: paillier.PaillierPublicKey, private: paillier.PaillierPrivateKey) -> None:
    """Encrypt, add, multiply by a factor modulo N, re-randomise, decrypt."""
    number = public.raw_encrypt(1234)
    number = number * public.raw_encrypt(77, r_value=1) % public.nsquare
    raised = paillier.EncryptedNumber(public, number)._raw_mul(lottery.randrange(1, public.n))
    private.raw_decrypt(raised * public.raw_encrypt(0) % public.nsquare)


def plain_row(public: paillier.PaillierPublicKey, private: paillier.PaillierPrivateKey) -> None:
    """Two sides encrypted, raised and multiplied, a mask, decrypted."""
    sides = [paillier.EncryptedNumber(public, public.raw_encrypt(lottery.randrange(public.n))) for _ in "LR"]
    left, right = (side._raw_mul(lottery.randrange(1, public.n)) for side in sides)
    mask = public.raw_encrypt(lottery.getrandbits(600))
    private.raw_decrypt(left * right * mask % public.nsquare)


def pow_of_modulus(public: paillier.PaillierPublicKey) -> None:
    public.raw_encrypt(0)


def mean(job: Callable[..., None], *arguments: object) -> float:
    start = time.perf_counter()
    for _ in range(FEW):
        job(*arguments)
    return (time.perf_counter() - start) / FEW


def main() -> None:
    bits = int(sys.argv[1]) if len(sys.argv) > 1 else BITS
    keys = paillier.generate_paillier_keypair(n_length=bits)
    cell, row = mean(plain_cell, *keys), mean(plain_row, *keys)
    print(f"One power r^N modulo N² takes {1000 * mean(pow_of_modulus, keys[0]):.1f} ms here and now.")
    print(f"{bits} bits{'':29} {'ahead':>9} {'no stock':>9} {'plain phe':>10}")
    with running(generate(bits)) as report:
        what = "210 cells and 26 denominators trained"
        print(f"{what:38} {'':9} {report.recv():7.2f} s {236 * cell:8.2f} s", flush=True)
        for layout in (ASKED, ASKED_MORE):
            report.recv()
            for way in ("public", "private"):
                rates = [ROWS[layout.classes] / report.recv() for _ in range(2)]
                plain = 1 / (row * (layout.classes - 1))
                what = f"{way} rows a second, {layout.classes} classes"
                print(f"{what:38} {rates[0]:9.1f} {rates[1]:9.1f} {plain:10.1f}", flush=True)


if __name__ == "__main__":
    main()
