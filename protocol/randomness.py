"""Randomness as an argument of every step: a seed that is expanded by AES in counter mode (a PRG)."""

from __future__ import annotations

import secrets

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

from mixbayes.protocol.arrays import Bits, Bytes, Words

SEED_BYTES = 32
_ZEROS = memoryview(bytes(1 << 16))


def key_stream(key: bytes) -> CipherContext:
    """The AES-CTR stream of a key. Every draw continues where the last one stopped."""
    return Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()


def draw_into(stream: CipherContext, out: Bytes) -> None:
    """Fill `out` with the next bytes of the stream."""
    view = out.data
    for start in range(0, len(view), len(_ZEROS)):
        part = view[start : start + len(_ZEROS)]
        stream.update_into(_ZEROS[: len(part)], part)


class Randomness:
    """A source of random numbers. The same seed gives the same numbers, for tests and for shares sent as a seed."""

    def __init__(self, seed: bytes) -> None:
        if len(seed) != SEED_BYTES:
            raise ValueError(f"a seed has {SEED_BYTES} bytes, not {len(seed)}")
        self._stream = key_stream(seed)

    @classmethod
    def from_system(cls) -> Randomness:
        """A source with a seed from the operating system."""
        return cls(secrets.token_bytes(SEED_BYTES))

    def branch(self) -> Randomness:
        """A new independent source, for use at another time or in another thread."""
        return Randomness(self.bytes(SEED_BYTES))

    def bytes(self, count: int) -> bytes:
        return self._draw(count).tobytes()

    def words(self, *shape: int) -> Words:
        count = int(np.prod(shape))
        return self._draw(8 * count).view(np.uint64).reshape(shape)

    def bits(self, *shape: int) -> Bits:
        """Uniform bits, each in a byte of its own."""
        count = int(np.prod(shape))
        packed = self._draw(-(-count // 8))
        return np.unpackbits(packed, count=count).reshape(shape)

    def small(self, width: int, *shape: int) -> Bytes:
        """Uniform words of up to eight bits, each in a byte of its own."""
        return (self._draw(int(np.prod(shape))) & np.uint8((1 << width) - 1)).reshape(shape)

    def _draw(self, count: int) -> Bytes:
        out = np.empty(count, np.uint8)
        draw_into(self._stream, out)
        return out

    def __repr__(self) -> str:
        return "Randomness(...)"
