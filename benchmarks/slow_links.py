"""What a federation between cities takes: measured, beside what was predicted, and predicted by size.

python benchmarks/slow_links.py [--delay 25] [--rate 100] [--repeats 3] [--measured bench.json]

Prints the tables of docs/slow-links.md. `--measured` names a document that `mixbayes bench --nodes --delay MS --rate
MBIT --json` has printed, which is then not measured anew. With --repeats 0 nothing is measured.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from mixbayes.agreement.agreement import Federation, federation_from
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.simulation.bench import MAX_ROWS, Task
from mixbayes.simulation.bench_slow_links import TASKS, SlowResult, agreement_of, measure_slow_links, training
from mixbayes.simulation.cost import predicted
from mixbayes.simulation.rehearsal import Cost, question, stores
from mixbayes.simulation.rehearsal import training as rehearsed_training
from mixbayes.simulation.slow_link import SlowLink

HOSPITALS = 3, 10, 30
DICTIONARIES = ("nominal", 13), ("nominal", 30), ("nominal", 100), ("Gaussian", 5), ("Gaussian", 30)
ROWS = 1, 1000, 10_000


def compared(link: SlowLink, results: Iterable[SlowResult]) -> None:
    """What was measured between nodes, and what a rehearsal says of the same task in an open conversation."""
    header("task", "connecting too, s", "open, s", "made ahead, s", "MB", "bytes a row")
    lines = []
    named = {task.named(): task for task in TASKS}
    for found in results:
        row([found.task, *map(seconds, (found.seconds_new, found.seconds, found.seconds_ahead)), *sizes(found)])
        said = rehearsed(link, named[found.task], found.transfers)
        off = (f"{100 * (here / there - 1):+.0f} %" for here, there in zip(*both_of(said, found), strict=True))
        lines.append([found.task, seconds(said.seconds), f"{said.bytes / 1e6:.2f}", str(said.delays), *off])
    print()
    header("task", "predicted, s", "MB", "delays", "seconds off", "bytes off")
    for line in lines:
        row(line)
    print()


def sizes(found: SlowResult) -> list[str]:
    return [f"{found.bytes / 1e6:.2f}", f"{found.bytes / found.rows:,.0f}" if found.rows else ""]


def seconds(figure: float | None) -> str:
    return "" if figure is None else f"{figure:.2f}"


def both_of(said: Cost, found: SlowResult) -> tuple[tuple[float, int], tuple[float, int]]:
    return (said.seconds, said.bytes), (found.seconds, found.bytes)


def header(*names: str) -> None:
    row(names)
    print("|" + "---|" * len(names))


def row(cells: Sequence[str]) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


def rehearsed(link: SlowLink, task: Task, transfers: str) -> Cost:
    with stores(federation(agreement_of(task), 2, transfers)) as both:
        trained = rehearsed_training(both, link)
        return trained if training(task) else question(both, link, task.size, private=task.kind == "private")


def by_size(link: SlowLink) -> None:
    """Of two classes; nominal attributes have ten values."""
    asked = [title for n in ROWS for title in (f"{n:,} row{'s' * (n > 1)}, s", "MB")]
    header("attributes", "hospitals", "training, s", "MB", "delays", *asked)
    for kind, count in DICTIONARIES:
        for number in HOSPITALS:
            found = predicted(federation(dictionary(kind, count), number), link, ROWS)
            costs = [figure for cost in found.questions.values() for figure in of(cost)]
            row([f"{count} {kind}", str(number), *of(found.training), str(found.training.delays), *costs])


def of(cost: Cost) -> list[str]:
    return [seconds(cost.seconds), f"{cost.bytes / 1e6:.2f}"]


def dictionary(kind: str, count: int) -> Dictionary:
    values = tuple(str(value) for value in range(10))
    nominal: list[Attribute] = [Nominal(name=f"attribute {number}", values=values) for number in range(count)]
    gaussian: list[Attribute] = [Gaussian(name=f"attribute {number}", low=0.0, high=1.0) for number in range(count)]
    attributes = tuple(nominal if kind == "nominal" else gaussian)
    return Dictionary(class_column="class", classes=("no", "yes"), attributes=attributes, max_rows=MAX_ROWS)


def federation(agreed: Dictionary, hospitals: int, transfers: str = "silent") -> Federation:
    return federation_from(
        {
            "name": "between cities",
            "parties": [{"name": f"hospital-{number}"} for number in range(hospitals)],
            "mixers": [{"name": "a", "address": "a.example:8443"}, {"name": "b", "address": "b.example:8443"}],
            "policy": {"minimum": hospitals, "transfers": transfers},
            "dictionary": agreed,
        }
    )


def read(path: Path) -> list[SlowResult]:
    return [SlowResult(**record) for record in json.loads(path.read_text(encoding="utf-8"))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delay", type=float, default=25.0)
    parser.add_argument("--rate", type=float, default=100.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--measured", type=Path)
    options = parser.parse_args()
    link = SlowLink.of(options.delay, options.rate)
    if options.measured:
        compared(link, read(options.measured))
    elif options.repeats:
        compared(link, measure_slow_links(link, options.repeats, tasks=TASKS))
    by_size(link)


if __name__ == "__main__":
    main()
