"""Oblivious transfer (OT): random transfers between two roles, made ahead in large numbers.

In reading order:

- `base`: 128 base transfers by elliptic-curve cryptography (Chou and Orlandi).
- `pads`: the hash of transfers, and the masks that are made of the pads they leave.
- `extension`: any number of random transfers from the base ones by AES alone (SoftSpokenOT), and the consistency check.
- `field`, `half_tree`, `lpn`, `local_code`, `silent`: many more correlated transfers from those of the extension, with
  hardly any bytes (Ferret).
- `kinds`: whether a pair of computing parties uses the extension alone or silent transfers too.
- `pool`: transfers made ahead, each handed out once. The circuits and questions take theirs from here.
"""
