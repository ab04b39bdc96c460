"""Where the time of a random transfer goes, one thread: python benchmarks/phases.py

Prints nanoseconds a transfer for each phase, for one party being sender and receiver once each, and the bits that one
direction sends for a transfer: first of the extension alone, then of silent transfers.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from mixbayes.protocol.randomness import Randomness, key_stream
from mixbayes.protocol.transfer import extension
from mixbayes.protocol.transfer.extension import (
    BLOCK_WORDS,
    COLUMNS,
    FOURS,
    PAIRS,
    STRETCH,
    Challenges,
    Transposer,
    choices_in_order,
)
from mixbayes.protocol.transfer.local_code import ROWS, LocalCode
from mixbayes.protocol.transfer.lpn import USUAL
from mixbayes.protocol.transfer.pads import TransferHash
from mixbayes.protocol.transfer.silent import SilentReceiver, SilentSender

BLOCK = 64 * BLOCK_WORDS
MATRIX = np.random.default_rng(0).integers(0, 2**63, (COLUMNS, STRETCH // 64), dtype=np.uint64)


def nanoseconds(work: Callable[[], object], transfers: int, repeats: int = 15) -> float:
    """The best of several runs, a transfer."""
    best = min(_seconds(work) for _ in range(repeats))
    return 1e9 * best / transfers


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def streams(count: int) -> Callable[[], None]:
    """AES-CTR of so many column streams, a stretch long."""
    keys = Randomness(bytes(32))
    running = [key_stream(keys.bytes(16)) for _ in range(count)]
    zeros, out = memoryview(bytes(STRETCH // 8)), np.empty(STRETCH // 8, np.uint8).data

    def draw() -> None:
        for stream in running:
            stream.update_into(zeros, out)

    return draw


def sums() -> None:
    """The receiver's column sums of one stretch, leaves in the cache."""
    leaves = MATRIX[: 4 * PAIRS.leaves].reshape(4, PAIRS.leaves, -1)
    out = np.empty((4, leaves.shape[2]), np.uint64)
    for _ in range(PAIRS.count // 4):
        for x in range(PAIRS.leaves + 4):
            np.bitwise_xor(out, leaves[:, x % PAIRS.leaves], out=out)


def extended() -> None:
    """The phases of the extension."""
    transposer, hashing = Transposer(), TransferHash(bytes(16))
    rows, blocks = MATRIX[:, :BLOCK_WORDS], np.empty((BLOCK + 1, 2), np.uint64)
    room = np.empty((BLOCK + 1, 2), np.uint64)
    packed = MATRIX[0, :BLOCK_WORDS]
    key, corrections = bytes(16), MATRIX[: PAIRS.count].reshape(-1).view(np.uint8)
    challenges = Challenges(key, corrections[:16])
    phases = {
        "PRG, receiver": nanoseconds(streams(PAIRS.count * PAIRS.leaves), STRETCH),
        "PRG, sender": nanoseconds(streams(PAIRS.count * (PAIRS.leaves - 1)), STRETCH),
        "sums of columns": nanoseconds(sums, STRETCH),
        "transpose": nanoseconds(lambda: transposer.block(rows, blocks[:-1]), BLOCK),
        "hash, one pad": nanoseconds(lambda: hashing.absorb([(blocks, room)]), BLOCK),
        "choices in order": nanoseconds(lambda: choices_in_order(packed), BLOCK),
        "key of the check": nanoseconds(lambda: challenges.next(corrections), STRETCH),
        "check": nanoseconds(lambda: extension.column_hashes(key, MATRIX), STRETCH),
    }
    once = 2 * (phases["sums of columns"] + phases["transpose"]) + 3 * phases["hash, one pad"]
    once += phases["PRG, receiver"] + phases["PRG, sender"] + 2 * (phases["key of the check"] + phases["check"])
    show(phases, once)
    for grouping in (PAIRS, FOURS):
        bits = 8 * grouping.correction_bytes(STRETCH) / STRETCH
        print(f"{f'groups of {grouping.size}':22} {bits:6.2f} bits a transfer")
    print(f"stretches of {STRETCH:,} transfers")


def silently() -> None:
    """The phases of silent transfers."""
    random = Randomness(bytes(32))
    sender, receiver = SilentSender(bytes(16), random.words(2), USUAL), SilentReceiver(bytes(16), USUAL)
    rows, check = random.words(USUAL.levels, 2), random.words(128, 2)
    code, secret = LocalCode(bytes(16), USUAL), random.words(USUAL.secret, 2, 2)
    block, pads, choices = random.words(ROWS, 2, 2), np.empty((2, ROWS + 1, 2), np.uint64), np.empty(ROWS, np.uint8)
    masked = sender.open(rows, random)
    receiver.grow(rows, masked)
    question = np.frombuffer(receiver.question(check, random), np.uint8)
    phases = {
        "trees, sender": nanoseconds(lambda: sender.open(rows, random), USUAL.gained),
        "trees, receiver": nanoseconds(lambda: receiver.grow(rows, masked), USUAL.gained),
        "check, receiver": nanoseconds(lambda: receiver.question(check, random), USUAL.gained),
        "check, sender": nanoseconds(lambda: sender.answer(question, check), USUAL.gained),
        "matrix, both roles": nanoseconds(lambda: code.add(secret, block), ROWS),
        "pads, sender": nanoseconds(lambda: sender.finish(block[:, 0], pads), ROWS),
        "pads, receiver": nanoseconds(lambda: receiver.finish(block[:, 1], choices, pads[0]), ROWS),
    }
    show(phases, sum(phases.values()))
    sent = 16 * USUAL.levels + 64
    first = sent + FOURS.correction_bytes(USUAL.taken)
    for title, size in {"first iteration": first, "later iterations": sent}.items():
        print(f"{title:22} {8 * size / USUAL.gained:6.2f} bits a transfer")
    held = sender.leaves.nbytes + receiver.leaves.nbytes + secret.nbytes
    print(f"{'held by a session':22} {held / 1e6:6.1f} MB besides its stock")
    print(f"iterations of {USUAL.gained:,} transfers, {USUAL}")


def show(phases: dict[str, float], together: float) -> None:
    for name, cost in phases.items():
        print(f"{name:22} {cost:6.2f} ns a transfer")
    print(f"{'both roles together':22} {together:6.2f} ns a transfer each way")


def main() -> None:
    extended()
    print()
    silently()


if __name__ == "__main__":
    main()
