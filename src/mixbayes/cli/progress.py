"""Progress on stderr: a bar on a terminal, a line for every step elsewhere."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, TaskID


class Talk:
    """Called with what is being done, how much of it is done, and how much there is."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._bar = Progress(console=self._console, transient=True) if self._console.is_terminal else None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Talk:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, what: str, done: int, total: int) -> None:
        if not self._bar:
            steps = f" ({done} of {total})" if total > 1 else ": done" * done
            self._console.print(what + steps, markup=False, soft_wrap=True)
            return
        group = what.split(":")[0]
        if group not in self._tasks:
            self._tasks[group] = self._bar.add_task(group, total=total)
        self._bar.update(self._tasks[group], completed=done, total=total, description=escape(what))
