"""The measures of a release as one JSON document."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mixbayes.cli.measure_text import DISTORTION

if TYPE_CHECKING:
    from mixbayes.local_methods.attacks.attacks import Attacks
    from mixbayes.local_methods.attacks.people import Estimate
    from mixbayes.local_methods.attacks.reconstruction import Reconstruction
    from mixbayes.local_methods.measures.comparison import Comparison
    from mixbayes.local_methods.measures.folds import Folds, Side, Sides, Spread
    from mixbayes.local_methods.measures.kept_utility import KeptUtility


def document(found: Comparison) -> dict[str, Any]:
    """Distortion and risk flat, then what has parts, then why a measure is null."""
    return {
        **{key: getattr(found, key) for key, _, _ in DISTORTION},
        **asdict(found.risk),
        "utility": None if found.utility is None else {name: asdict(each) for name, each in found.utility.items()},
        "clustering": None if found.clustering is None else asdict(found.clustering),
        "clusterings": None if found.clusterings is None else [asdict(each) for each in found.clusterings],
        "delta_r": None if found.kept_utility is None else _kept(found.kept_utility),
        "detection": None if found.detection is None else _detection(found),
        "quartiles": None if found.folds is None else _folds(found.folds),
        "attacks": attacks_document(found.attacks),
        "paired_by_chance": found.paired_by_chance,
        "original_risk": asdict(found.original_risk),
        "sensitive": found.sensitive,
        "why_not": dict(found.why_not),
    }


def attacks_document(found: Attacks) -> dict[str, Any]:
    """Each with its value, its interval and what it is measured by."""
    return {
        "reconstruction": None if found.reconstruction is None else _reconstruction(found.reconstruction),
        "membership": found.membership and of_people(found.membership, 0.0),
        "attribute_inference": found.attribute_inference and of_people(found.attribute_inference, found.anybody),
    }


def of_people(found: Estimate, baseline: float | None) -> dict[str, Any]:
    """What a release tells about those who were in the table."""
    return {"value": found.value, "interval": [found.low, found.high], "baseline": baseline}


def _reconstruction(found: Reconstruction) -> dict[str, Any]:
    return {
        "value": found.patients.value,
        "interval": [found.patients.low, found.patients.high],
        "baseline": found.guessed,
        "attack": found.attack,
        "cut_off": found.cut_off,
        "attacks": {
            name: {**asdict(score), "beats_guessing": score.beats_guessing} for name, score in found.scores.items()
        },
    }


def _kept(kept: KeptUtility) -> dict[str, Any]:
    return {
        "tolerance": kept.tolerance,
        "utility_kept": kept.by_all,
        "classifiers": {
            name: {"delta_r": delta, "utility_kept": kept.kept[name]} for name, delta in kept.delta_r.items()
        },
    }


def _detection(found: Comparison) -> dict[str, Any]:
    return {
        classifier: {name: asdict(each) for name, each in classes.items()}
        for classifier, classes in (found.detection or {}).items()
    }


def _folds(folds: Folds) -> dict[str, Any]:
    from mixbayes.local_methods.measures.ranking import Verdict  # slow to import
    from mixbayes.local_methods.measures.utility import FOLDS

    return {
        "repeats": folds.repeats,
        "folds": FOLDS,
        "wins": folds.count(Verdict.WIN),
        "ties": folds.count(Verdict.TIE),
        "losses": folds.count(Verdict.LOSS),
        "classifiers": {
            classifier: {measure: _spread(each) for measure, each in spreads.items()}
            for classifier, spreads in folds.of_classifier.items()
        },
    }


def _spread(spread: Spread) -> dict[str, Any]:
    """The values of single folds are those of the classes."""
    classes = {name: _sides(each, values=True) for name, each in spread.of_class.items()}
    return {**_sides(spread.of_all, values=False), "classes": classes}


def _sides(sides: Sides, *, values: bool) -> dict[str, Any]:
    return {
        "original": _side(sides.original, values),
        "released": _side(sides.released, values),
        "p_value": sides.test and sides.test.p_value,
        "verdict": sides.test and sides.test.verdict.value,
    }


def _side(side: Side, values: bool) -> dict[str, Any]:
    none: dict[str, Any] = {"lower": None, "median": None, "upper": None}
    quartiles = asdict(side.quartiles) if side.quartiles else none
    return {**quartiles, "values": list(side.values)} if values else quartiles
