"""The command line: stdout is data, stderr is talk, and the exit code says what kind of failure it was."""

import os
import sys
from collections.abc import Callable

from mixbayes.extras import naming_extras
from mixbayes.protocol.errors import MixbayesError

INTERRUPTED = 130


def main() -> None:
    """The `mixbayes` command."""
    # gRPC would write a line about every connection that fails, and not from where. A node's doorkeeper counts them.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    try:
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
