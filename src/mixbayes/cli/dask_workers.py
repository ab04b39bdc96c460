"""Workers of dask.distributed, as the backend of joblib."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from threading import Event, Thread
from time import monotonic
from typing import Any

from distributed import Client, Future, Security, WorkerPlugin
from distributed.comm.core import CommClosedError
from distributed.scheduler import KilledWorker
from joblib import parallel_config
from joblib._dask import DaskDistributedBackend
from threadpoolctl import threadpool_limits

from mixbayes.protocol.errors import MixbayesError

PATIENCE = 10
"""Seconds in which a scheduler answers, and in which it has a worker, at the beginning and later."""
SAME = ("mixbayes", "distributed", "numpy", "scipy", "scikit-learn")
"""What decides on figures, or on whether both ends understand each other."""


class WorkersFailed(MixbayesError):
    """A scheduler, or its workers, cannot do the work."""

    code = "E130"
    exit_code = 4


class _Backend(DaskDistributedBackend):  # type: ignore[misc]  # joblib publishes no types
    """Joblib's, which waits for ever for a task that failed outside of the work, for example with its worker."""

    async def _collect(self) -> None:
        while self._continue:
            async for future, result in self.waiting_futures:
                failed = future.status == "error"
                self._results.pop(future).set_result(None)  # whoever waits is told by the callback alone
                self._callbacks.pop(future)(_Failed(result[1]) if failed else result)
            await asyncio.sleep(0.01)

    def retrieve_result_callback(self, out: Any) -> Any:
        if isinstance(out, _Failed):
            raise out.error
        return super().retrieve_result_callback(out)

    def effective_n_jobs(self, n_jobs: int) -> int:
        """With one, joblib would do the work here."""
        return max(2, super().effective_n_jobs(n_jobs))


@dataclass(frozen=True)
class _Failed:
    error: BaseException


class OneThread(WorkerPlugin):  # type: ignore[misc]  # dask types it as anything
    """Linear algebra on one thread in a worker, because the order in which several add up could change a figure."""

    def setup(self, worker: Any) -> None:
        for module in ("numpy", "scipy.linalg", "sklearn"):
            import_module(module)  # what is loaded later is not limited
        threadpool_limits(1)


@contextmanager
def lent(scheduler: str) -> Iterator[None]:
    """While this is open, joblib's work goes to the workers of this scheduler."""
    for name in ("asyncio", "distributed", "tornado"):  # what they log of a lost connection is what is raised here
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with _connected(scheduler) as client, _Watch(client) as watch:
        try:
            with parallel_config(backend=_Backend(client=client), n_jobs=-1):
                yield
        except KilledWorker as error:
            raise WorkersFailed(
                f"{scheduler}: several workers ended during the same part of the work. Look into their logs, "
                "and whether they have enough memory."
            ) from error
        except (CancelledError, CommClosedError) as error:
            if watch.deserted:
                raise WorkersFailed(f"{scheduler}: no worker is left. Start some, and then this again.") from error
            raise WorkersFailed(f"{scheduler}: the scheduler was lost. Start it, and then this again.") from error


@contextmanager
def _connected(scheduler: str) -> Iterator[Client]:
    if scheduler.startswith("tls:"):
        _refuse_without_certificates(scheduler)
    with ExitStack() as stack:
        try:
            client = stack.enter_context(Client(scheduler, timeout=PATIENCE, set_as_default=False))
            client.wait_for_workers(1, timeout=PATIENCE)
            _refuse_other_versions(scheduler, client)
            client.register_plugin(OneThread())
        except TimeoutError as error:
            raise WorkersFailed(
                f"{scheduler}: the scheduler has no worker. Start some with `dask worker {scheduler} --nthreads 1`."
            ) from error
        except OSError as error:
            raise WorkersFailed(
                f"{scheduler}: no scheduler answers there ({error}). Start one with `dask scheduler`."
            ) from error
        yield client


def _refuse_without_certificates(scheduler: str) -> None:
    try:
        context = Security().get_connection_args("client")["ssl_context"]
    except OSError as error:  # a file that is missing, or no certificate
        context, why = None, f" ({error})"
    else:
        why = ""
    if context is None:
        raise WorkersFailed(
            f"{scheduler}: dask has no certificates for this{why}. Name their files in its configuration: "
            "distributed.comm.tls, with ca-file, client.cert and client.key."
        )


class _Watch(Thread):
    """Calls off what nobody does any more: dask by itself would wait for new workers without end."""

    def __init__(self, client: Client) -> None:
        super().__init__(daemon=True)
        self.deserted = False
        self._client = client
        self._over = Event()

    def __enter__(self) -> _Watch:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()

    def run(self) -> None:
        seen = monotonic()
        while not self._over.wait(PATIENCE / 10):
            try:
                workers = self._client.ncores()
            except (OSError, RuntimeError):  # of a lost scheduler the work itself hears
                return
            if workers:
                seen = monotonic()
            elif monotonic() - seen > PATIENCE:
                self.deserted = True
                self._client.cancel([Future(key, self._client) for key in list(self._client.futures)], force=True)
                return


def _refuse_other_versions(scheduler: str, client: Client) -> None:
    found: Any = client.get_versions(packages=list(SAME))
    own = _versions(found["client"])
    for name, there in {"the scheduler": found["scheduler"], **found["workers"]}.items():
        for package, version in _versions(there).items():
            if version != own[package]:
                raise WorkersFailed(
                    f"{scheduler}: {name} has {package} {version or '(none)'}, here it is {own[package]}. Install the "
                    "same there."
                )


def _versions(found: Any) -> dict[str, str | None]:
    """Of Python only what decides on its bytecode."""
    packages = found["packages"]
    return {name: packages.get(name) for name in SAME} | {"python": ".".join(packages["python"].split(".")[:2])}
