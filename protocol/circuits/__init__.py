"""Arithmetic on shared words and bits between the two computing parties.

Additive shares of a word are two words whose sum modulo 2^width is the word. XOR shares of bits are two bits whose XOR
is the bit. In reading order:

- `ring`: words modulo 2^width, of any width. No protocol.
- `products`: a shared bit times a shared word, and what follows from it: AND, B2A, multiplication.
- `choice`: 1-of-N oblivious transfer: look-ups in small tables, and in a public table at a shared index.
- `comparison`: the carry of two private words, and the sign of a shared one.
- `bounded`: whether a shared word is below a power of two, and what it is as an integer.
- `addition`: A2B, the bits of a shared word.
- `division`: exact integer quotients.
- `logarithm`: log2 of a shared count.
- `argmax`: the class with the highest score.
"""
