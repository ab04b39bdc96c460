"""Sums, products, logarithms, distances and axes: the same bits on every processor (docs/every-processor.md)."""
