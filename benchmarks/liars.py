"""What comes of one lie: python benchmarks/liars.py [--quick | --all] [--where memory services] [--json FILE] [--cost]

One role follows the protocol in everything but the contents of one message, which keeps its length: one bit is flipped,
or all are zero, or random, or those of an earlier message. Every message of a question has its turn, in each of these
ways; of an evaluation and of a training, up to four messages of every step (--all: every one). A lie is "caught" if the
job ends with an error, or if a contribution is refused; "harmless" if all answers are right; and "silent" if some are
wrong and nobody notices. "most wrong" is the largest number of wrong answers of one silent lie, and "another
blamed" counts the lies for which honest roles name only somebody else. The answers of a training are the labels that
its model gives to the rows.

A question "with copies" asks about eight rows twice, as `mixbayes classify --repeats 8` does; a lie is then also caught
if a row and its copy get different answers.

In memory the roles run with the protocol's own functions. "services" are real mixers, with gRPC, TLS and their disks.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import median
from time import perf_counter

import lying.at_services as real
from lying import in_memory
from lying.fate import Fate, Played, fate_of
from lying.liar import KINDS, Kind, Lie, Said, Tongue
from lying.scene import Scene
from lying.tally import Tally, summary

SCENES = Scene(2), Scene(3), Scene(3, asked=1), Scene(3, asked=400)
QUESTIONS = "private question", "private question with copies", "public question"


@dataclass(frozen=True)
class Job:
    """What is done once for every lie, and what comes out if nobody lies."""

    liars: Sequence[str]
    play: Callable[[str, Tongue], Played]
    """With this liar."""
    expected: list[int]


@dataclass(frozen=True)
class Effort:
    """How many lies are told."""

    most: int | None = 4
    """Messages of each step of a long job; without a limit, all."""
    of_question: int | None = None
    of_round: int | None = 1
    """Of each step of a training among real nodes, for which there is a round each."""
    kinds: Sequence[Kind] = KINDS
    scenes: Sequence[Scene] = SCENES


USUAL, ALL = Effort(), Effort(most=None, of_round=4)
QUICK = Effort(most=1, of_question=1, kinds=("alter", "random"), scenes=SCENES[:1])


def told(name: str, job: Job, most: int | None, kinds: Sequence[Kind]) -> Tally:
    """All lies in one job, about at most so many messages of each step."""
    tally = Tally(name)
    for liar in job.liars:
        for number, said in chosen(honest(liar, job), most):
            tally.message(said, liar)
            for kind in kinds:
                if fate := fate_of_one(Lie(kind, number), liar, job):
                    tally.add(said, liar, fate)
    return tally


def honest(liar: str, job: Job) -> list[Said]:
    """What this role says if it does not lie."""
    tongue = Tongue()
    assert fate_of(job.play(liar, tongue), liar, job.expected).end == "harmless", (
        "the answers are wrong without any lie"
    )
    return tongue.said


def fate_of_one(lie: Lie, liar: str, job: Job) -> Fate | None:
    """Nothing, if the lie would be the truth."""
    tongue = Tongue(lie)
    fate = fate_of(job.play(liar, tongue), liar, job.expected)
    return fate if tongue.lied else None


def chosen(said: Sequence[Said], most: int | None) -> Iterator[tuple[int, Said]]:
    """Of each step at most so many messages that say anything, evenly spread."""
    by_step: dict[tuple[str, str], list[int]] = {}
    for number, one in enumerate(said):
        if one.size:
            by_step.setdefault((one.to, one.step), []).append(number)
    for numbers in by_step.values():
        count = len(numbers) if most is None else min(most, len(numbers))
        for at in range(count):
            number = numbers[at * len(numbers) // count]
            yield number, said[number]


def tallies_in_memory(effort: Effort) -> Iterator[Tally]:
    for scene in effort.scenes:
        for name, job in in_memory.JOBS.items():
            question = name in QUESTIONS
            if question or scene == effort.scenes[0]:
                play = partial(in_memory.play, job, scene)
                most = effort.of_question if question else effort.most
                work = Job(job.liars, play, job.expected(scene))
                yield told(described(name, scene, "memory"), work, most, effort.kinds)


def tallies_at_services(effort: Effort) -> Iterator[Tally]:
    scene = effort.scenes[0]
    expected = scene.labels_by(scene.model)
    with real.nodes(scene) as nodes:
        liars = f"party {nodes.hospital}", *real.MIXERS
        for name in QUESTIONS:
            private, repeats = name != "public question", in_memory.REPEATS if "copies" in name else 0
            work = Job(liars, partial(nodes.ask, private=private, repeats=repeats), expected)
            yield told(described(name, scene, "services"), work, effort.of_question, effort.kinds)
        work = Job(liars, nodes.train, expected)
        yield told(described("training", scene, "services"), work, effort.of_round, effort.kinds)


def described(job: str, scene: Scene, where: str) -> str:
    rows = "one row" if scene.asked == 1 else f"{scene.asked} rows"
    return f"{job}, {scene.classes} classes, {rows}, {where}"


WHERE = {"memory": tallies_in_memory, "services": tallies_at_services}


def cost(repeats: int = 7) -> None:
    """Of copies, in bytes and in the median of some seconds, for questions of several sizes."""
    print(f"{in_memory.REPEATS} copies among private rows, in memory, medians of {repeats}")
    print(f"{'rows':>6} {'MB':>8} {'MB with copies':>15} {'seconds':>8} {'with copies':>12}")
    for scene in (Scene(2, asked=1), Scene(2, asked=100), Scene(2, asked=1000)):
        plain, copied = (in_memory.JOBS[name] for name in QUESTIONS[:2])
        bytes_plain, bytes_copied = (moved(job, scene) / 1e6 for job in (plain, copied))
        laps = [(seconds(plain, scene), seconds(copied, scene)) for _ in range(repeats)]
        without, with_copies = (median(lap[at] for lap in laps) for at in range(2))
        print(f"{scene.asked:6} {bytes_plain:8.3f} {bytes_copied:15.3f} {without:8.3f} {with_copies:12.3f}")


def moved(job: in_memory.Job, scene: Scene) -> int:
    """The bytes that all roles send."""
    tongues = [(liar, Tongue()) for liar in job.liars]
    for liar, tongue in tongues:
        in_memory.play(job, scene, liar, tongue)
    return sum(said.size for _, tongue in tongues for said in tongue.said)


def seconds(job: in_memory.Job, scene: Scene) -> float:
    start = perf_counter()
    in_memory.play(job, scene, "nobody", Tongue())
    return perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one message of each step, two kinds of lies")
    parser.add_argument("--all", action="store_true", help="every message of long jobs too")
    parser.add_argument("--where", nargs="+", choices=list(WHERE), default=list(WHERE))
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--cost", action="store_true", help="only what copies of rows cost")
    asked = parser.parse_args()
    if asked.cost:
        cost()
        return
    effort, found = QUICK if asked.quick else ALL if asked.all else USUAL, []
    for tally in chain.from_iterable(WHERE[where](effort) for where in asked.where):
        print("\n".join(tally.lines()), flush=True)
        found.append(tally)
    print("\n".join(summary(found)))
    if asked.json:
        asked.json.write_text(json.dumps([tally.document() for tally in found], indent=1) + "\n")


if __name__ == "__main__":
    main()
