"""What a local method refuses. The message says what is wrong with the parameter or the table, and what to do."""

from __future__ import annotations


class MethodError(ValueError):
    """A local method cannot do what it was asked to."""


class BadParameter(MethodError):
    """A parameter is of the wrong type or out of its range."""


class UnfitTable(MethodError):
    """The table, or the table with these parameters, is none that the method can work on."""
