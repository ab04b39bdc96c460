"""The command line: stdout is data, stderr is talk, and the exit code says what kind of failure it was."""

import atexit
import gc
import os
import sys
import threading
from collections.abc import Callable
from typing import NoReturn

from mixbayes.cli import bounded
from mixbayes.extras import naming_extras
from mixbayes.protocol.errors import MixbayesError
from mixbayes.transport.closed_channels import forgiving

INTERRUPTED = 130
_NODES = ("mixer", "party")


def main() -> None:
    """The `mixbayes` command."""
    # gRPC would write a line about every connection that fails, and not from where. A node's doorkeeper counts them.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    threading.excepthook = forgiving(threading.excepthook)
    atexit.register(gc.freeze)  # the interpreter would look for garbage among all that it is about to leave behind
    if sys.argv[1:2] in ([node] for node in _NODES):
        _run_node()
    run_command()


def _run_node() -> NoReturn:
    """A process that is a node ends with its command: what is left of gRPC may wait for ever for a thread."""
    try:
        run_command(_begin_node)
    except SystemExit as end:  # here, because what waits begins to wait once the error is forgotten
        bounded.end_process(end.code)
    except BaseException as error:  # noqa: BLE001 - as the interpreter would end
        sys.excepthook(type(error), error, error.__traceback__)
        bounded.end_process(1)
    bounded.end_process(0)


def _begin_node() -> None:
    from mixbayes.node.own_memory import keep_memory_to_itself  # which no other command needs

    keep_memory_to_itself()
    bounded.bound_this_process()


def run_command(first: Callable[[], None] = lambda: None) -> None:
    """What is typed, after something that may fail as it does."""
    try:
        first()
        with naming_extras():
            from mixbayes.cli.app import app  # slow to import, and somebody may stop it meanwhile

            _run(app)
    except MixbayesError as error:
        print(f"mixbayes: {error} [{error.code}]", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("mixbayes: stopped", file=sys.stderr)
        sys.exit(INTERRUPTED)


def _run(app: Callable[[], None]) -> None:
    """Ctrl-C reaches typer first, which says nothing and exits."""
    try:
        app()
    except SystemExit as end:
        if end.code == INTERRUPTED:
            raise KeyboardInterrupt from None
        raise
