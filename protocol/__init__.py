"""The mathematics: two computing parties train and ask naive Bayes on shares. No network, file, clock or thread.

Read it in this order. Each room names what it gives to the next ones.

- `arrays`, `packing`, `randomness`, `shares`: words and bits in numpy arrays, their bytes in messages, seeds, and
  additive secret sharing.
- `channel`: messages between two roles that both know the next step and its size. `memory` connects roles in one
  process, in threads that end with the call, for the functions `run_…` and for tests.
- `privacy`: the coins that noise on a count is made of, and what they promise.
- `transfer`: oblivious transfer (OT), from 128 base transfers to pools of random transfers. It gives the circuits pads.
- `computing_party`: A or B with its channel, its pool and its randomness. All steps below take one as `me`.
- `circuits`: arithmetic on shared words and bits, from one product to log2 and argmax, each built on pads.
- `attributes`: what is counted of a nominal, binned or Gaussian attribute, or of one with several values in a cell, and
  the public layout of all counts.
- `bayes`: the jobs. Counts become a checked contribution, contributions a model on shares, a question a label.
- `paillier`: the same for two hospitals in exact integers, by Paillier's encryption instead of logarithms.

`errors` are the errors of all of these. The functions named `run_*` play all roles of a job in memory, and show a whole
protocol in one place: `bayes.training.run_training` is the shortest, and `bayes.whole.run_federation` is a round from
its first message to its last.
"""
