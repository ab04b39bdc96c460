"""Noise that nobody knows: what it is made of, how it is drawn on shares, and what it promises."""
