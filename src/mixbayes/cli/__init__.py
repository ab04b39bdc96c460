"""The command line: stdout is data, stderr is talk, and the exit code says what kind of failure it was."""

import sys

from mixbayes.protocol.errors import MixbayesError

INTERRUPTED = 130


def main() -> None:
    """The `mixbayes` command."""
    try:
        from mixbayes.cli.app import app  # slow to import, and somebody may stop it meanwhile

        app()
    except MixbayesError as error:
        print(f"mixbayes: {error} [{error.code}]", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("mixbayes: stopped", file=sys.stderr)
        sys.exit(INTERRUPTED)
