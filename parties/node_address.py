"""The address of a hospital's node, in a file beside the hospital's key, where the hospital's commands find it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mixbayes.node.log import Log
from mixbayes.transport.errors import TooEarly


@contextmanager
def remembered(keys: Path, name: str, agreement: str, address: str, log: Log) -> Iterator[None]:
    """Keep the address where the hospital's own commands find it, as long as the node runs."""
    file = _file(keys, name, agreement)
    try:
        draft = file.with_name(f"{file.name}.new")  # whoever reads meanwhile finds the old one, or the new one
        draft.write_text(f"{address}\n")
        draft.replace(file)
    except OSError as error:
        log.warning("the node's address is not kept", file=str(file), why=error.strerror or "")
    try:
        yield
    finally:
        with suppress(OSError):  # a folder that can only be read
            file.unlink(missing_ok=True)


def recalled(keys: Path, name: str, agreement: str) -> str:
    """Where the node listens. Raises what to do if it does not run."""
    try:
        return _file(keys, name, agreement).read_text().strip()
    except OSError:
        raise TooEarly(
            f"The node of party {name} does not run here: {keys} keeps no address of it. Start it with "
            "`mixbayes party` and the same --keys and --federation, or say with --node where it listens."
        ) from None


def _file(keys: Path, name: str, agreement: str) -> Path:
    return keys / f"{name}-{agreement[:16]}.address"
