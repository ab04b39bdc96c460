"""The exact protocol for two hospitals, by Paillier's encryption: no logarithms and no rounding.

In reading order:

- `exact`: the classifier in rational numbers, which the protocol must equal, and how many bits its comparisons need.
- `key`: Paillier's cryptosystem.
- `modulus`: the key's modulus as it is sent, with a proof that it fits.
- `training`: from counts to multiplicative shares of the joint cells.
- `classification`: from multiplicative shares to labels.
- `whole`: both hospitals of a round, from counts to labels.
"""
