"""`--jobs` and `--workers`: on how many processes, or on whose machines, long work runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Annotated

import typer

from mixbayes.protocol.errors import Unsupported

Jobs = Annotated[
    int, typer.Option("--jobs", metavar="N", help="Processes that work at the same time; -1 for all cores.")
]
Workers = Annotated[
    str | None,
    typer.Option(
        "--workers",
        metavar="tcp://HOST:PORT",
        help="A scheduler of dask.distributed, whose workers do the work and see the tables; or tls://HOST:PORT.",
    ),
]
_ADDRESS = re.compile(r"(?:tcp|tls)://\S+:\d+")
_HERE = re.compile(r"tcp://(?:127\.[\d.]+|localhost|\[::1\]):\d+")


def spread(jobs: int, workers: str | None) -> AbstractContextManager[None]:
    """While this is open, joblib has so many processes here, or these workers. What is wrong with it is said now."""
    _refuse(jobs, workers)
    return _at(workers) if workers else _here(jobs)


def _refuse(jobs: int, workers: str | None) -> None:
    if jobs == 0:
        raise Unsupported("--jobs 0: there is nobody to do it. Say how many processes, or -1 for all cores.")
    if workers is None:
        return
    if jobs != 1:
        raise Unsupported("--jobs and --workers: choose one. The workers of a scheduler are as many as were started.")
    if not _ADDRESS.fullmatch(workers):
        raise Unsupported(f"--workers {workers}: the scheduler's address is tcp://HOST:PORT or tls://HOST:PORT.")
    if workers.startswith("tcp:") and not _HERE.fullmatch(workers):
        typer.echo(f"{workers}: the tables travel there without encryption. tls:// encrypts.", err=True)


@contextmanager
def _here(jobs: int) -> Iterator[None]:
    from joblib import parallel_config  # not every installation has it

    with parallel_config(n_jobs=jobs):
        yield


@contextmanager
def _at(workers: str) -> Iterator[None]:
    from mixbayes.cli.dask_workers import lent  # likewise, and slow to import

    with lent(workers):
        yield
