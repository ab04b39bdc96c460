"""Parts of long work that need nothing of each other: joblib does them one by one, in processes, or on machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from threadpoolctl import threadpool_limits

Result = TypeVar("Result")


def in_turn(work: Callable[..., Result], tasks: Iterable[tuple[Any, ...]]) -> Iterator[Result]:
    """What comes of each task, in their order, as soon as it is there. A task is the arguments of the work."""
    results: Any = Parallel(return_as="generator")(delayed(_alone)(work, *task) for task in tasks)
    return iter(results)


def at_the_same_time() -> bool:
    """Whether several tasks are done at once."""
    asked: Any = None  # joblib takes None, though its types do not say so
    return effective_n_jobs(asked) > 1


def _alone(work: Callable[..., Result], *task: Any) -> Result:
    """On one thread: whoever has more cores gives each its own tasks, and the figures are the same on all.

    What the work itself would give to others it does itself, or tasks would wait for tasks.
    """
    with threadpool_limits(1), parallel_config(backend="sequential"):
        return work(*task)
