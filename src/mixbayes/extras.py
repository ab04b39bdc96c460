"""Packages that only some installations have: the extras of mixbayes, and the modules that each one brings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from mixbayes.protocol.errors import Unsupported

MODULES = {
    "hospital": ("joblib", "pyarrow", "scipy", "sklearn", "threadpoolctl"),
    "sql": ("duckdb", "oracledb", "psycopg", "pymssql", "pymysql", "sqlalchemy"),
    "spark": ("py4j", "pyspark"),
    "excel": ("python_calamine",),
    "distributed": ("dask", "distributed"),
    "research": ("matplotlib",),
    "page": ("waitress", "werkzeug"),
    "metrics": ("prometheus_client",),
}
_EXTRA_OF = {module: extra for extra, modules in MODULES.items() for module in modules}


class NotInstalled(Unsupported):
    """What was asked for needs a package that this installation lacks."""

    code = "E111"


@contextmanager
def naming_extras() -> Iterator[None]:
    """If a module of an extra is missing, wherever it is imported within, say in one sentence how to get it."""
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        if module not in _EXTRA_OF:
            raise
        raise not_installed(module) from None


def refuse_without(module: str) -> None:
    """Say before long work that what comes after it needs this module of an extra."""
    if find_spec(module) is None:
        raise not_installed(module)


def not_installed(module: str) -> NotInstalled:
    """The error to raise for a missing module of an extra."""
    return NotInstalled(f"This needs {module}, which is not installed: pip install 'mixbayes[{_EXTRA_OF[module]}]'.")
