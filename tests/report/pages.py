"""Results to make pages of: small, and with names that would break a careless page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixbayes.evaluation.document import Table
from mixbayes.evaluation.document import document as evaluated_document
from mixbayes.evaluation.opened import Opened, opened
from mixbayes.local_methods.attacks.attacks import Attacks
from mixbayes.local_methods.attacks.claims import ClaimScore, ShareInterval
from mixbayes.local_methods.attacks.people import Estimate
from mixbayes.local_methods.attacks.reconstruction import Reconstruction
from mixbayes.local_methods.measures.attacker import Risk
from mixbayes.local_methods.measures.clustering import Clustering
from mixbayes.local_methods.measures.comparison import Clusters, Comparison, OfClass
from mixbayes.local_methods.measures.detection import Detected
from mixbayes.local_methods.measures.disclosure import Unknown
from mixbayes.local_methods.measures.folds import Folds
from mixbayes.local_methods.measures.kept_utility import KeptUtility
from mixbayes.local_methods.measures.utility import Accuracy as Learned
from mixbayes.local_methods.measures.utility import Answers
from mixbayes.report.evaluated import evaluated
from mixbayes.report.measured import measured_release
from mixbayes.report.page import Run, built
from mixbayes.report.release import Release
from mixbayes.report.simulated import simulated
from mixbayes.report.tuned import Point, Tuning, tuned
from mixbayes.simulation.outcome import Accuracy, Flow, Hospital, Outcome, Rounds, Seconds, Volumes

ATTACKS = Attacks(
    Reconstruction(
        {
            "fractions of sums": ClaimScore(
                265, 265.0, ShareInterval.of(265, 265), ShareInterval.of(0, 5300), 265.0, 0.0, False
            )
        },
        "fractions of sums",
        ShareInterval.of(265, 270),
        0.0,
    ),
    Estimate(0.54, 0.426, 0.654),
    Estimate(0.16, 0.119, 0.202),
    0.451,
)
EVIL = '</text><script>hacked = 1; parent.hacked = 1</script>"\'& onload="hacked=1" <img src=x onerror=hacked=1>'
RUN = Run(f"mixbayes simulate {EVIL}", "0.1.0", datetime(2026, 3, 1, 8, 30, tzinfo=UTC))


def outcome(names: list[str], classes: list[str], protect: str | None = None) -> Outcome:
    """Every row of the last class taken for the first, all others right."""
    confusion = [[10 + i if i == j else 0 for j in range(len(classes))] for i in range(len(classes))]
    confusion[-1][0], confusion[-1][-1] = 7, 0
    flows = [
        Flow(name, f"mixer {m}", what, 90 + i, False)
        for i, name in enumerate(names)
        for m, what in (("a", "seed"), ("b", "masked counts"))
    ]
    return Outcome(
        class_column="outcome",
        hospitals=[
            Hospital(name, 1000 + i, protect, protect and f"{protect}: kept", i) for i, name in enumerate(names)
        ],
        protocol="shares",
        classes=classes,
        instances=sum(map(sum, confusion)),
        agreement_with_pooled=0.9876,
        accuracy=Accuracy(0.8125, 0.8225, 0.8325, {name: 0.5 + i / 1000 for i, name in enumerate(names)}),
        seconds=Seconds(1.234, 0.345, 2.456, 0.567),
        bytes=Volumes(sum(flow.bytes for flow in flows), 3_300_017, 880_023),
        rounds=Rounds(501, 62),
        labels=[],
        flows=[
            *flows,
            Flow("mixer a", "mixer b", "training", 3_300_017, True),
            Flow(names[0], "both mixers", "asking", 880_023, True),
        ],
        confusion=confusion,
    )


def simulation(names: list[str], classes: list[str], protect: str | None = None) -> str:
    return built(simulated(outcome(names, classes, protect)), RUN)


def document(
    hospital: str,
    classes: Sequence[str],
    recipes: Sequence[str],
    seed: int = 0,
    rows: int = 60,
    columns: Sequence[str] = ("age", "sex"),
    unsure: bool = True,
) -> dict[str, Any]:
    """An evaluation of random labels, as `evaluate --json` prints it; the last recipe may be unsure."""
    random, count = np.random.default_rng(seed), len(classes)
    truth = random.integers(count, size=rows)

    def labels() -> NDArray[np.int64]:
        return np.where(random.random(rows) < 0.6, truth, random.integers(count, size=rows))

    def counted(name: str, given: NDArray[np.int64], may_be_unsure: bool = False) -> Opened:
        scores = truth + random.normal(size=rows) * 3 if count == 2 else None
        answers = np.where(random.random(rows) < 0.1, count, given) if may_be_unsure else given
        return opened(name, count, truth, answers, own, may_be_unsure, scores)

    own = labels()
    known = [f"personal:weight={at}:prior=own" for at in range(len(recipes))]
    of_recipes = [counted(name, labels(), unsure and name == known[-1]) for name in known]
    table = Table(tuple(classes), "outcome", tuple(columns), 5)
    found = evaluated_document(hospital, table, counted("own", own), of_recipes).as_json()
    return _renamed(found, dict(zip(known, recipes, strict=True)))


def _renamed(found: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """With names that no evaluation would give recipes."""
    told = {key: names.get(found[key], found[key]) for key in ("recommended", "best")}
    return found | told | {"recipes": [one | {"recipe": names[one["recipe"]]} for one in found["recipes"]]}


def evaluation(*documents: Mapping[str, Any]) -> str:
    return built(evaluated(documents), RUN)


def tuning(*points: Point, setting: str = "group size", method: str = "a method") -> str:
    return built(tuned(Tuning(method, "Found.", "So.", "smallest group", points, setting)), RUN)


DETECTED = OfClass(Detected(0.7551, 0.6552, 0.5553, 0.4554), Detected(0.7541, None, 0.5543, 0.4544))


def folds(classes: list[str]) -> Folds:
    """Twice five folds: the original is right about half of each class, the release about all."""
    count = len(classes)
    right = np.tile(np.eye(count, dtype=np.int64), (10, 1, 1))
    return Folds.of({"naive-bayes": Answers(right + right[:, ::-1], 2 * right)}, classes, repeats=2)


def comparison(names: list[str], **changed: object) -> Comparison:
    """One with every measure."""
    values: dict[str, object] = {
        "confidence_interval": 0.25,
        "vd": 0.0625,
        "rp": 9.125,
        "rk": 0.03125,
        "cp": 0.5,
        "ck": 0.75,
        "risk": Risk(5, 0.0479, 0.2697, 2, 1.75, 0.1875),
        "original_risk": Risk(1, 0.6969, 0.9666, 1, 1.0, 0.6875),
        "utility": {"naive-bayes": Learned(0.96, 0.9533), "svm": Learned(None, 0.9667)},
        "kept_utility": KeptUtility(0.02, {"nearest-neighbour": None, "naive-bayes": 0.0125, "tree": -0.25, "svm": 0}),
        "detection": {"naive-bayes": dict.fromkeys(["no", *names], DETECTED)},
        "folds": folds(["no", *names]),
        "clustering": Clustering(0.0533, 0.8042),
        "clusterings": [Clusters(3, Clustering(0.0533, 0.8042), Clustering(0.0077, 0.9921))],
        "attacks": ATTACKS,
        "paired_by_chance": False,
        "why_not": {},
        "sensitive": names[0],
        "quasi_identifiers": names,
        "unknown": Unknown.WILDCARD,
        "queries": 787,
        "clusters": 3,
    }
    return Comparison(**(values | changed))  # type: ignore[arg-type]


def release(names: list[str], **changed: object) -> str:
    found = comparison(names, **changed)
    return built(measured_release(Release(found, (150, 149), len(names), [f"Notes on {', '.join(names)}."])), RUN)
