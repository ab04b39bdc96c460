"""Arithmetic on shared words and bits: products, choice, comparison, addition, division, logarithm, argmax."""
