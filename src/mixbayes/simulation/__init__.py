"""A whole federation on one machine: the computing parties and the asker in processes of their own."""

from mixbayes.simulation.run import simulate

__all__ = ["simulate"]
