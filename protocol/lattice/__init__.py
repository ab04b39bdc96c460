"""Encryption under ring learning with errors (ring-LWE), for sums of words of an encrypted table.

In reading order:

- `polynomials`: exact products of integer polynomials modulo X^N + 1, by floating-point Fourier transforms.
- `encryption`: keys, encryption, and the masked sums that somebody without the key can compute.
- `layout`: where the words of a table and the rows of a question stand in polynomials, and which size is cheapest.
"""
