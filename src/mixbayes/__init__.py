"""Naive Bayes trained and asked across hospitals, without anyone pooling a table."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("mixbayes")
except PackageNotFoundError:  # src on the path without an installation
    __version__ = "unknown"
