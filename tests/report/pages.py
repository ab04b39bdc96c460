"""Results to make pages of: small, and with names that would break a careless page."""

from __future__ import annotations

from datetime import UTC, datetime

from mixbayes.local_methods.measures.comparison import Clustering, Comparison, Risk
from mixbayes.local_methods.measures.disclosure import Unknown
from mixbayes.local_methods.measures.utility import Accuracy as Learned
from mixbayes.report.measured import Release, measured_release
from mixbayes.report.page import Run, built
from mixbayes.report.simulated import simulated
from mixbayes.report.tuned import Point, Tuning, tuned
from mixbayes.simulation.outcome import Accuracy, Flow, Hospital, Outcome, Rounds, Seconds, Volumes

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


def tuning(*points: Point, setting: str = "group size", method: str = "a method") -> str:
    return built(tuned(Tuning(method, "Found.", "So.", "smallest group", points, setting)), RUN)


def comparison(names: list[str], **changed: object) -> Comparison:
    """One with every measure."""
    values: dict[str, object] = {
        "confidence_interval": 0.25,
        "vd": 0.0625,
        "rp": 9.125,
        "rk": 0.03125,
        "cp": 0.5,
        "ck": 0.75,
        "risk": Risk(5, 0.0479, 0.2697),
        "original_risk": Risk(1, 0.6969, 0.9666),
        "utility": {"naive-bayes": Learned(0.96, 0.9533), "svm": Learned(None, 0.9667)},
        "clustering": Clustering(0.0533, 0.8042),
        "why_not": {},
        "quasi_identifiers": names,
        "unknown": Unknown.WILDCARD,
        "queries": 787,
        "clusters": 3,
    }
    return Comparison(**(values | changed))  # type: ignore[arg-type]


def release(names: list[str], **changed: object) -> str:
    found = comparison(names, **changed)
    return built(measured_release(Release(found, (150, 149), len(names), [f"Notes on {', '.join(names)}."])), RUN)
