"""Whether a hospital that joins, and uses the recipe that `evaluate` recommends, is ever behind its own classifier."""
