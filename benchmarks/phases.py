"""Where the time of a random transfer goes, one thread: python benchmarks/phases.py

Prints nanoseconds a transfer for each phase, for one party being sender and receiver once each, and what stays for
interpreter, allocation and memory when the whole is taken together without a wire.
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
    PAIRS,
    STRETCH,
    Challenges,
    Transposer,
    choices_in_order,
)
from mixbayes.protocol.transfer.pads import TransferHash

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


def main() -> None:
    transposer, hashing = Transposer(), TransferHash(bytes(16))
    rows, blocks = MATRIX[:, :BLOCK_WORDS], np.empty((BLOCK + 1, 2), np.uint64)
    room = np.empty((BLOCK + 1, 2), np.uint64)
    packed = MATRIX[0, :BLOCK_WORDS]
    key, corrections = bytes(16), MATRIX[: PAIRS.count].reshape(-1).view(np.uint8)
    phases = {
        "PRG, receiver": nanoseconds(streams(PAIRS.count * PAIRS.leaves), STRETCH),
        "PRG, sender": nanoseconds(streams(PAIRS.count * (PAIRS.leaves - 1)), STRETCH),
        "sums of columns": nanoseconds(sums, STRETCH),
        "transpose": nanoseconds(lambda: transposer.block(rows, blocks[:-1]), BLOCK),
        "hash, one pad": nanoseconds(lambda: hashing.absorb([(blocks, room)]), BLOCK),
        "choices in order": nanoseconds(lambda: choices_in_order(packed), BLOCK),
        "key of the check": nanoseconds(lambda: Challenges(key, corrections).next(corrections), STRETCH),
        "check": nanoseconds(lambda: extension.column_hashes(key, MATRIX), STRETCH),
    }
    for name, cost in phases.items():
        print(f"{name:22} {cost:6.2f} ns a transfer")
    once = 2 * (phases["sums of columns"] + phases["transpose"]) + 3 * phases["hash, one pad"]
    once += phases["PRG, receiver"] + phases["PRG, sender"] + 2 * (phases["key of the check"] + phases["check"])
    print(f"{'both roles together':22} {once:6.2f} ns a transfer each way")
    print(f"stretches of {STRETCH:,} transfers")


if __name__ == "__main__":
    main()
