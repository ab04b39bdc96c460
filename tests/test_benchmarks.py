"""Every benchmark, as small as it goes: that it runs and prints its lines, never how fast anything is."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib import import_module
from itertools import chain, product, repeat
from multiprocessing import Pipe, dummy
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from mixbayes.local_methods import DMPD
from mixbayes.privacy.coins import Coins
from mixbayes.protocol.errors import PeerGone
from mixbayes.protocol.paillier.key import obfuscators
from mixbayes.protocol.randomness import Randomness
from mixbayes.research.joining import tables as cutting
from mixbayes.research.joining.chosen import Situation
from mixbayes.research.noise import choices, reported
from mixbayes.research.noise.mechanisms import OfCoins
from mixbayes.simulation.bench import Task
from mixbayes.simulation.bench_slow_links import SlowResult
from mixbayes.simulation.links import Link

FOLDER = Path(__file__).parents[1] / "benchmarks"
NAMES = {path.stem for path in FOLDER.glob("*.py")} - {"sizes"}
ROWS = 120
Load = Callable[[str], Any]
Lines = Callable[[], list[str]]


@dataclass(frozen=True)
class Timed:
    task: str
    seconds: float


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """A benchmark as a module, which the processes that it starts find too."""
    monkeypatch.syspath_prepend(FOLDER)
    before = {name: sys.modules.pop(name, None) for name in (*NAMES, "sizes")}
    yield import_module
    for name, module in before.items():
        sys.modules.pop(name, None)
        if module:
            sys.modules[name] = module


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Lines:
    return lambda: capsys.readouterr().out.splitlines()


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """The columns of the public tables that are asked for, with random numbers in them."""
    random = np.random.default_rng(0)
    german = ["credit_amount", "status", "duration", "credit_history", "savings"]
    for name, columns in (("adult", ["age", "hours-per-week"]), ("german_credit", german)):
        cells = random.integers(0, 3, (ROWS, len(columns)))
        rows = [f"{','.join(map(str, row))},{at % 2}" for at, row in enumerate(cells)]
        (tmp_path / f"{name}.csv").write_text("\n".join([",".join([*columns, "class"]), *rows]) + "\n")
    return tmp_path


def test_every_benchmark_is_run() -> None:
    tests = Path(__file__).read_text()
    assert [name for name in NAMES if f'load("{name}")' not in tests] == []


def test_argmax(load: Load, lines: Lines) -> None:
    load("argmax").main(1)
    assert [line.split()[:3] for line in lines()[1:]] == [[str(c), "1", str(c * (c - 1) // 2)] for c in (3, 5, 10, 26)]


def test_synthesis(load: Load, lines: Lines, tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synthesis = load("synthesis")
    monkeypatch.setattr(synthesis, "EPSILONS", (4.0,))
    synthesis.main(tables, 1000, 1)
    printed = lines()
    assert [line.split()[0] for line in printed[3:5]] == ["original", "ε"]
    assert "no interpreter" in printed[6].lower()
    assert printed[-1].startswith("1,000 rows in parts")


def test_coins(load: Load, lines: Lines) -> None:
    load("coins").main((4.0,))
    assert [line.split()[0] for line in lines()] == ["ε", "4"]


def test_condensation(load: Load, lines: Lines, tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    condensation = load("condensation")
    monkeypatch.setattr(condensation, "T", 4)
    monkeypatch.setattr(condensation, "K", 3)
    condensation.main(tables, ROWS, repeats=1)
    printed = lines()
    assert any("The rule takes" in line for line in printed)
    assert printed[-1].startswith("mean")


def test_counting(load: Load, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = load("counting")
    monkeypatch.setattr(counting, "TURNS", 1)
    counting.main(ROWS, ["csv"])
    monkeypatch.setattr(counting, "get_context", lambda _: dummy)  # threads: each process takes seconds to load
    counting.main(ROWS, ["nominal", "gaussian", "folds"])
    expected = ["CSV", "Parquet", "DuckDB", "Parquet", "DuckDB", "folds.parquet", "folds.csv"]
    assert [line.split(",")[0] for line in lines()] == expected


def test_counts(load: Load, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = load("counts")
    monkeypatch.setattr(counts, "table", partial(counts.table, 1000))
    monkeypatch.setattr(counts, "lists", partial(counts.lists, 1000))
    counts.main()
    assert [line.split(":")[0] for line in lines()] == ["infer", "count, 1415 cells", "count lists of 5, 5015 cells"]


def test_lpn(load: Load, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    lpn = load("lpn")
    monkeypatch.setattr(lpn, "SAMPLED", 256)
    lpn.main()
    found = lines()
    assert len(found) == (2 + len(lpn.PUBLISHED)) * (2 + len(lpn.ATTACKS))
    assert found[0].startswith("in use: LPN n=524288")


def test_cuts(load: Load, lines: Lines) -> None:
    load("cuts").main([16], [400], 2)
    cost, _, *noise = lines()
    assert cost.startswith("13 columns on 16 cells, 2 classes: ")
    assert [line.split()[:3] for line in noise] == [["16", "400", "4"], ["16", "400", "1"]]


def test_dmpd(load: Load, lines: Lines, tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dmpd = load("dmpd")
    monkeypatch.setattr(dmpd, "TIMES", (1, 2))
    monkeypatch.setattr(dmpd, "DMPD", partial(DMPD, population=4, generations=2))
    dmpd.main(tables, 1)
    assert len(lines()) == 2 + 2 * 2


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="its strangers come from another address of loopback")
def test_doors(load: Load, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    doors = load("doors")
    monkeypatch.setattr(doors, "SETTLING", 0.0)
    monkeypatch.setattr(doors, "RESETTING", 1)
    doors.main(0.1, 5, 256)
    attacks = [line[:24].partition(",")[0].rstrip() for line in lines()[1:]]
    assert attacks == [
        "none",
        "5 silent connections",
        "failed handshakes",
        "resets by a hospital",
        "resets by a stranger",
    ]


def test_drawing(load: Load, lines: Lines) -> None:
    load("drawing").main(8.0, 1, [(2, 3)])
    assert [" cells, " in line and "with noise" in line for line in lines()] == [True, True]


def test_evaluation(load: Load, lines: Lines) -> None:
    load("evaluation").main(2, 12, (1, 2))
    printed = lines()
    assert [line.split(",")[0] for line in printed[:2]] == ["1 folds", "2 folds"]
    assert len(printed) == 2 + 3 + 1


def test_extraction(load: Load, lines: Lines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = ["--lying", "2", "--legal", "3", "--labels", "5", "15", "--epsilon", "5"]
    monkeypatch.setattr(sys, "argv", ["extraction.py", *small, "--plot", str(tmp_path / "drawn.svg")])
    load("extraction").main()
    printed = [line.split() for line in lines()[2:]]
    assert [line[:3] for line in printed] == [["lying", "22", "407"]] * 2 + [
        ["legal", "32", "5"],
        ["legal", "32", "15"],
    ] * 2
    assert printed[0][5] == printed[0][8] == "22"
    assert (tmp_path / "drawn.svg").read_text().count("<path") > 4


def test_generalisation(load: Load, lines: Lines) -> None:
    load("generalisation").main(400)
    assert len(lines()) == 1 + 4 * 4


def test_joining(load: Load, lines: Lines, tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    joining = load("joining")
    cut = cutting.Cut("german_credit", "status")
    monkeypatch.setattr(joining, "REPORTED", (cut,))
    monkeypatch.setattr(joining, "CHOSEN_BY", (cut,))
    monkeypatch.setattr(joining, "HEART", {"four": False})
    monkeypatch.setattr(joining, "heart", lambda folder, _: cut.sites(folder))
    monkeypatch.setattr(joining, "EFFORT", joining.Effort(1, 2))
    monkeypatch.setattr(joining, "NOISES", {"no noise": None})
    monkeypatch.setattr(joining, "SITUATIONS", (Situation(), Situation(few=10)))
    monkeypatch.setattr(cutting, "LEAST", 20)
    monkeypatch.setattr(sys, "argv", ["joining.py", str(tables)])
    joining.main()
    printed = lines()
    assert [sum(line.startswith(f"| {name} |") for line in printed) for name in ("four", "0", "all")] == [1, 5, 5]
    monkeypatch.setattr(sys, "argv", ["joining.py", str(tables), "--choices"])
    joining.main()
    assert [line.split(" |")[0] for line in lines()[-2:]][1] == "| the rule"


def test_large_tables(load: Load, lines: Lines) -> None:
    load("large_tables").main([1_000])
    measured = [line.split() for line in lines()[1:]]
    assert [line[:2] for line in measured] == [["class-wise-condensation", "1,000"], ["perturbation-tree", "1,000"]]
    assert all(float(figure.replace(",", "")) > 0 for line in measured for figure in line[2:])


def test_liars(load: Load, lines: Lines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    liars = load("liars")
    monkeypatch.setattr(liars, "QUICK", replace(liars.QUICK, kinds=("random",)))
    some = {name: liars.in_memory.JOBS[name] for name in liars.QUESTIONS[:2]}
    monkeypatch.setattr(liars.in_memory, "JOBS", some)
    written = tmp_path / "fates.json"
    monkeypatch.setattr(sys, "argv", ["liars.py", "--quick", "--where", "memory", "--json", str(written)])
    liars.main()
    *names, last = [line.removeprefix("### ") for line in lines() if line.startswith("### ")]
    assert last == "All jobs"
    assert names == [liars.described(name, liars.SCENES[0], "memory") for name in some]
    found = json.loads(written.read_text())
    assert [tally["job"] for tally in found] == names
    for step in (step for tally in found for step in tally["steps"]):
        assert step["caught"] + step["harmless"] + step["silent"] == step["lies"]
        assert bool(step["most_wrong"]) == bool(step["silent"])
    liars.cost(1)
    assert [line.split()[0] for line in lines()[2:]] == ["1", "100", "1000"]


def test_mdav(load: Load, lines: Lines, tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mdav = load("mdav")
    monkeypatch.setattr(mdav, "SIZES", (50, 100))
    monkeypatch.setattr(sys, "argv", ["mdav.py", str(tables)])
    mdav.main()
    assert {line.split(",")[0] for line in lines()[2:]} == {"blocks", "every row", "adult"}


def test_nodes(load: Load, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = load("nodes")
    monkeypatch.setattr(nodes, "measure", lambda repeats, tasks: [Timed("one row", 0.002)])
    monkeypatch.setattr(nodes, "measure_nodes", lambda repeats: [Timed("one row", 0.003)])
    monkeypatch.setattr(sys, "argv", ["nodes.py", "--repeats", "1"])
    nodes.main()
    assert lines()[1].split() == ["one", "row", "2.0", "3.0", "1.50"]


def test_many(load: Load, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    small = ["--hospitals", "2", "--cells", "100", "--connected", "2", "--applications", "2", "--seconds", "0.1"]
    monkeypatch.setattr(sys, "argv", ["many.py", *small])
    load("many").main()
    printed = lines()
    assert printed[1] == "hospitals that contribute 90 cells each, 32 at a time"
    assert [line.split()[0] for line in printed if line.split()[0] == "2"] == ["2"] * 4


def test_healing(load: Load, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    """With real nodes, and then with answers that take no time: a real outage is half a minute of waiting."""
    healing = load("healing")
    with healing.playing() as played:
        assert played.asked() is None
    answers = chain([None, PeerGone("mixer a", "a step", "why")], repeat(None))
    monkeypatch.setattr(healing, "playing", lambda: nullcontext(played))
    monkeypatch.setattr(played, "asked", lambda: next(answers))
    healing.main((0.05,))
    assert [line.split()[:2] for line in lines()[1:]] == [["0.05", "again"], ["0.05", "nothing"]]


def test_noise(load: Load, lines: Lines, tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = load("noise")
    forms = [noise.Form("german_credit"), noise.Form("german_credit", gaussian=True)]
    monkeypatch.setattr(noise, "REPORTED", forms)
    monkeypatch.setattr(noise, "EFFORT", noise.Effort(2, 1))
    monkeypatch.setattr(reported, "of_coins", lambda *_: OfCoins(Coins((4, 4))))
    drawn = tmp_path / "noise.svg"
    monkeypatch.setattr(sys, "argv", ["noise.py", str(tables), "--plot", str(drawn)])
    noise.main()
    printed = lines()
    assert [sum(line.startswith(f"| {form.name} |") for line in printed) for form in forms] == [5, 5]
    assert "diffprivlib's column is left out" in printed[-1]
    assert "<svg" in drawn.read_text()


def test_choices_of_noise(load: Load, lines: Lines, tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = load("noise")
    forms = [noise.Form("german_credit"), noise.Form("german_credit", gaussian=True)]
    monkeypatch.setattr(choices, "CHOSEN_BY", forms)
    monkeypatch.setattr(choices, "of_coins", lambda *_: OfCoins(Coins((4, 4))))
    monkeypatch.setattr(choices, "MECHANISMS", {"normal": choices.normal})
    monkeypatch.setattr(noise, "EPSILONS", (1.0,))
    monkeypatch.setattr(noise, "VARIANTS", noise.Effort(2, 1))
    monkeypatch.setattr(noise, "BEST", noise.Effort(2, 1))
    monkeypatch.setattr(sys, "argv", ["noise.py", str(tables), "--choices"])
    noise.main()
    printed = lines()
    assert sum(line.startswith(choices.HEAD) for line in printed) == 2
    assert [line.split()[:2] for line in printed[-2:]] == [["binned", "normal"], ["Gaussian", "normal"]]


def test_paillier(load: Load, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    paillier = load("paillier")
    small = paillier.layout_of(2, [2]), paillier.layout_of(2, [2]), paillier.layout_of(5, [2])
    for name, layout in zip(("TRAINED", "ASKED", "ASKED_MORE"), small, strict=True):
        monkeypatch.setattr(paillier, name, layout)
    for name, value in (("ROWS", {2: 2, 5: 1}), ("FEW", 1), ("Stock", Made), ("running", partial(threads, paillier))):
        monkeypatch.setattr(paillier, name, value)
    monkeypatch.setattr(sys, "argv", ["paillier.py"])
    paillier.main()
    ways = [f"{way} rows a second, {classes} classes" for classes, way in product((2, 5), ("public", "private"))]
    assert [line[:38].rstrip() for line in lines()[3:]] == ways


class Made:
    """Encryption randomness that no process makes ahead."""

    def __init__(self, key: Any, ahead: int, low: int) -> None:
        self._made = obfuscators(key, Randomness.from_system())

    def __enter__(self) -> Made:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __next__(self) -> int:
        return next(self._made)

    def __iter__(self) -> Made:
        return self

    def fill(self) -> None:
        pass


@contextmanager
def threads(paillier: ModuleType, key: Any) -> Iterator[Any]:
    """Both hospitals of the benchmark in threads, because processes of their own take longer than all that they do."""
    (now_a, now_b), (asked_a, asked_b) = Link.pair(), Link.pair()
    here, there = Pipe()
    unread, unheard = Pipe()
    with here, there, unheard, unread, ThreadPoolExecutor(2) as pool:
        a = pool.submit(paillier.hospital, there, 0, key, now_a, asked_a)
        b = pool.submit(paillier.hospital, unheard, 1, key, now_b, asked_b)
        yield here
        a.result()
        b.result()
    for link in (now_a, now_b, asked_a, asked_b):
        link.now.close()
        link.ahead.close()


def test_perturbation_tree(load: Load, lines: Lines) -> None:
    load("perturbation_tree").main(400)
    assert len(lines()) == 1 + 4 * 2 * 4 + 2 * 4


def test_phases(load: Load, lines: Lines) -> None:
    load("phases").main()
    found = lines()
    assert sum(line.startswith("both roles together") for line in found) == 2
    assert found[-1].startswith("iterations of 453,504 transfers")


def test_private_questions(load: Load, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    """And that keys are replaced early enough: 128 bits are left once the answers of all rows of one are known."""
    private_questions = load("private_questions")
    monkeypatch.setattr(private_questions, "ROWS", (1,))
    private_questions.main()
    found = lines()
    assert all(float(line.split()[-1]) >= 128 for line in found[1:4])
    smalls = [float(line.split()[-1]) for line in found if line.startswith(("13 attributes", "30 Gaussian"))]
    assert len(smalls) == 3
    assert max(smalls) < 11


def test_undoing(load: Load, lines: Lines, tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    undoing = load("undoing")
    monkeypatch.setattr(undoing, "PEOPLE", 2)
    undoing.main(tables, ["german_credit"], ["class-wise-condensation", "additive-noise"], [3])
    printed = lines()
    noisy = [line.split() for line in printed if line.startswith("german_credit") and "scale=0.1" in line]
    assert [line[-1] for line in noisy if "seed" in line] == ["more"]
    assert sum("class-wise-condensation k=3" in line and " to " in line for line in printed) == 1
    assert printed[-2].startswith("german_credit: ")


def test_validity(load: Load, lines: Lines) -> None:
    load("validity").main(100)
    assert [line[42:].split()[0] for line in lines()[1:]] == ["60", "60", "85", "105"]


def test_slow_links(load: Load, lines: Lines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With measured figures from a file, because real nodes take seconds."""
    slow_links = load("slow_links")
    tasks = Task("public", 2), Task("train", 210)
    small = {"TASKS": tasks, "HOSPITALS": (2, 3), "DICTIONARIES": (("nominal", 2), ("Gaussian", 1)), "ROWS": (1, 5)}
    for name, value in small.items():
        monkeypatch.setattr(slow_links, name, value)
    rows = {tasks[0]: 2}
    found = [SlowResult(task.named(), 25.0, 100.0, "silent", rows.get(task), 1.0, 1000) for task in tasks]
    (tmp_path / "bench.json").write_text(json.dumps([asdict(result) for result in found]))
    monkeypatch.setattr(sys, "argv", ["slow_links.py", "--measured", str(tmp_path / "bench.json")])
    slow_links.main()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines()]
    named = [task.named() for task in tasks]
    assert [row[0] for row in cells[2:4]] == [row[0] for row in cells[7:9]] == named
    assert cells[2][-3:] == ["", "0.00", "500"]
    assert [row[:2] for row in cells[12:]] == [[kind, n] for kind in ("2 nominal", "1 Gaussian") for n in "23"]
    assert all(float(figure) >= 0 for row in cells[12:] for figure in row[2:])


def test_starting(load: Load, lines: Lines) -> None:
    load("starting").main(1)
    assert [line[:24].rstrip() for line in lines()] == [
        "command",
        "--version",
        "--help",
        "keys --help",
        "status --help",
        "classify --help",
        "simulate --help",
        "federation show",
        "status",
        "status --json",
    ]
