"""What tests of `mixbayes simulate` type, write and read."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.cli.in_process import PLAIN, Done
from tests.cli.oracle import Row

COMMAND = [sys.executable, "-W", "error", str(Path(sysconfig.get_path("scripts"), "mixbayes"))]
PATIENCE = 60
Record = dict[str, Any]
Simulated = Callable[..., Done]
Refused = Callable[..., str]


def document_of(done: Done) -> Record:
    """The one JSON document on stdout, once it is seen to be what the interface says."""
    document: Record = done.document
    check_document(document)
    return document


def mixbayes(*arguments: object, open_files: int | None = None, **environment: object) -> Done:
    """The installed command in a process of its own, which may have so many open files.

    The shell sets the limit. A `preexec_fn` would run in a fork of this process, in which gRPC's threads may abort.
    """
    limited = [] if open_files is None else ["/bin/sh", "-c", f'ulimit -n {open_files}; exec "$@"', "sh"]
    done = subprocess.run(
        [*limited, *COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=os.environ | PLAIN | {name: str(value) for name, value in environment.items()},
        stdin=subprocess.DEVNULL,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def keys_of(record: Record, *names: str) -> Iterator[Any]:
    """The values of exactly these keys."""
    assert set(record) == set(names)
    return (record[name] for name in names)


def check_document(document: Record) -> None:
    """Keys and types are those of the interface."""
    hospitals, protocol, _, classes, instances, agreement, accuracy, seconds, moved, rounds, privacy = keys_of(
        document,
        *("hospitals", "protocol", "class_column", "classes", "instances", "agreement_with_pooled", "accuracy"),
        *("seconds", "bytes", "rounds", "privacy"),
    )
    if privacy is not None:
        *numbers, unit, noise = keys_of(privacy, "epsilon", "delta", "spent", "unit", "noise")
        coins, known, deviation = keys_of(noise, "coins", "known", "standard_deviation")
        assert known in range(1, len(coins) * max(coins))
        assert {type(number) for number in (*numbers, deviation)} == {float}
        assert [type(number) for number in coins] == [int] * len(coins)
        assert unit == "one row more or less in one hospital's table"
    for hospital in hospitals:
        about = "name", "rows", "protect", "guarantee", "unlabelled", "coarsened", "changed"
        name, rows, *unprotected = keys_of(hospital, *about)
        assert [type(name), type(rows), *unprotected] == [str, int, None, None, 0, 0, None]
    assert protocol in ("shares", "paillier")
    assert [type(name) for name in classes] == [str] * len(classes)
    assert type(instances) is int
    joint, pooled, unprotected, alone = keys_of(accuracy, "joint", "pooled", "pooled_unprotected", "alone")
    assert list(alone) == [hospital["name"] for hospital in hospitals]
    for share in (agreement, joint, pooled, unprotected, *alone.values()):
        assert share is None or (type(share) is float and 0 <= share <= 1)
    assert (agreement is None) == (instances == 0)
    for second in keys_of(seconds, "setup", "contribute", "train", "classify"):
        assert type(second) is float
        assert second >= 0
    for count in (
        *keys_of(moved, "hospitals_to_mixers", "training", "classification"),
        *keys_of(rounds, "training", "classification"),
    ):
        assert type(count) is int
        assert count >= 0


def labels_in(path: Path) -> list[str]:
    """The labels, once the file is seen to be a table of one column of that name."""
    with open(path, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["label"]
    assert {len(row) for row in rows} <= {1}
    return [row[0] for row in rows]


def write_csv(path: Path, rows: Sequence[Row], columns: Sequence[str] | None = None) -> Path:
    path.parent.mkdir(exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns or list(rows[0]), extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


def without(rows: Sequence[Row], *names: str) -> list[Row]:
    return [{name: cell for name, cell in row.items() if name not in names} for row in rows]


SECRET = "Zyx"
"""In every cell of the tables below: no error may tell it."""


def secret_rows(count: int = 12, **cells: str) -> list[Row]:
    values = ({"age": f"{SECRET}{i % 4}", "sex": f"{SECRET}{i % 2}", "class": f"{SECRET}{i % 3}"} for i in range(count))
    return [row | cells for row in values]


def north_and_south(folder: Path) -> tuple[Path, Path]:
    return write_csv(folder / "north.csv", secret_rows()), write_csv(folder / "south.csv", secret_rows())


def complaint(done: Done, exit_code: int) -> str:
    """What a command said that ended as it should: nothing on stdout, no traceback, no cell of a table."""
    assert done.code == exit_code, done
    assert done.out == ""
    assert "Traceback" not in done.err
    assert SECRET not in done.err
    return done.err
