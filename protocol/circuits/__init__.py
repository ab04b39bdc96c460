"""Arithmetic on shared words and bits between the two computing parties.

Additive shares of a word are two words whose sum modulo 2^width is the word. XOR shares of bits are two bits whose XOR
is the bit. In reading order:

- `ring`: words modulo 2^width, of any width. No protocol.
- `products`: a shared bit times a shared word, and what follows from it: AND, B2A, multiplication.
- `choice`: 1-of-N oblivious transfer: look-ups in small tables.
- `comparison`: the carry of two private words, and the sign of a shared one.
- `bounded`: whether a shared word is below a power of two, what it is as an integer, and products with it.
- `addition`: A2B, the bits of a shared word.
- `look_up`: a public table of any size at a shared index.
- `normal`: normalisation, the leading one of a shared word brought to the top.
- `logarithm`: log2 of a shared count.
- `reciprocal`: of a normalised word, from below.
- `division`: exact integer quotients.
- `argmax`: the class with the highest score.
"""
