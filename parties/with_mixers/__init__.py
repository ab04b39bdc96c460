"""A hospital that contributes to two mixers and asks them."""
