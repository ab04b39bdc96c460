"""A whole federation on one machine: every role a process of its own, over local sockets."""

from mixbayes.simulation.run import simulate

__all__ = ["simulate"]
