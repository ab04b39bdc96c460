"""A whole federation on one machine: every node in a process of its own."""

from mixbayes.simulation.run import simulate

__all__ = ["simulate"]
