"""The hash of oblivious transfer: AES under one public key, H(i, x) = π(x ⊕ i) ⊕ x ⊕ i.

One AES key schedule serves millions of calls, so that hashing costs little more than the AES rounds. π is modelled
as a random permutation. Guo et al. (S&P 2020) hash twice, π(π(x) ⊕ i) ⊕ π(x), against receivers that choose x; ours
cannot, since every x is the sum of AES streams whose keys the base transfers fixed. The key is drawn by the extension's
sender per session; the one that hashes the transfers is changed every 2^32 of them.
"""

from __future__ import annotations

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from mixbayes.protocol.arrays import Words

KEY_BYTES = 16


class FixedKeyHash:
    """Hashes arrays of 128-bit blocks, shaped (…, 2) in words."""

    def __init__(self, key: bytes) -> None:
        self._cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()

    def absorb(self, tweaked: Words, out: Words) -> None:
        """Write π(x) ⊕ x of the already tweaked blocks to `out`, which needs one spare block behind its end.

        The spare block is what the cipher's interface asks for; it is left as it was or overwritten by the next call.
        """
        size = tweaked.size
        self._cipher.update_into(tweaked.reshape(-1).view(np.uint8).data, out.reshape(-1).view(np.uint8).data)
        flat = out.reshape(-1)[:size]
        np.bitwise_xor(flat, tweaked.reshape(-1), out=flat)

    def __call__(self, tweaked: Words) -> Words:
        """π(x) ⊕ x of contiguous, already tweaked blocks, in a new array."""
        out = np.empty(tweaked.size + 2, np.uint64)
        self.absorb(tweaked, out)
        return out[: tweaked.size].reshape(tweaked.shape)
