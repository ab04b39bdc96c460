"""Workers of dask.distributed, as the backend of joblib."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from distributed import Client, WorkerPlugin
from distributed.comm.core import CommClosedError
from distributed.scheduler import KilledWorker
from joblib import parallel_config
from threadpoolctl import threadpool_limits

from mixbayes.protocol.errors import MixbayesError

PATIENCE = 10
"""Seconds in which a scheduler answers, and has a worker."""
SAME = ("mixbayes", "numpy", "scipy", "sklearn")
"""What decides on figures."""


class WorkersFailed(MixbayesError):
    """A scheduler, or its workers, cannot do the work."""

    code = "E130"
    exit_code = 4


class OneThread(WorkerPlugin):  # type: ignore[misc]  # dask types it as anything
    """Linear algebra on one thread in a worker, because the order in which several add up could change a figure."""

    def setup(self, worker: Any) -> None:
        for module in SAME:
            import_module(module)  # what is loaded later is not limited
        threadpool_limits(1)


@contextmanager
def lent(scheduler: str) -> Iterator[None]:
    """While this is open, joblib's work goes to the workers of this scheduler."""
    with _connected(scheduler) as client:
        _refuse_other_versions(scheduler, client)
        client.register_plugin(OneThread())
        try:
            with parallel_config(backend="dask", client=client):
                yield
        except KilledWorker as error:
            raise WorkersFailed(
                f"{scheduler}: several workers ended during the same part of the work. Look into their logs, "
                "and whether they have enough memory."
            ) from error
        except (CancelledError, CommClosedError) as error:
            raise WorkersFailed(f"{scheduler}: the scheduler was lost. Start it again, and then this.") from error


@contextmanager
def _connected(scheduler: str) -> Iterator[Client]:
    try:
        client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, TypeError, ValueError) as error:  # a wrong certificate is one of the latter
        raise WorkersFailed(
            f"{scheduler}: no scheduler answered within {PATIENCE} seconds ({error}). Start one with `dask scheduler`."
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise WorkersFailed(
                f"{scheduler}: the scheduler has no worker. Start some with `dask worker {scheduler} --nthreads 1`."
            ) from None
        yield client


def _refuse_other_versions(scheduler: str, client: Client) -> None:
    found = client.get_versions(packages=list(SAME))
    own = found["client"]["packages"]
    for name, worker in found["workers"].items():
        for package in ("python", *SAME):
            there = worker["packages"].get(package)
            if there != own[package]:
                raise WorkersFailed(
                    f"{scheduler}: the worker {name} has {package} {there or '(none)'}, here it is {own[package]}. "
                    "Install the same there, or figures would not be comparable."
                )
