"""The methods by the names that commands and files use, and the parser of their parameters."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from importlib import import_module
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions, make_constraint

from mixbayes.local_methods.base import LocalMethod, RandomState
from mixbayes.local_methods.domain import Domain
from mixbayes.local_methods.errors import BadParameter
from mixbayes.local_methods.generalisation.parameters import ByColumn
from mixbayes.local_methods.name_set_check import ListsOfNames
from mixbayes.local_methods.name_sets import read_name_sets

METHODS: Mapping[str, tuple[str, str]] = {
    "condensation": ("condensation.whole_table", "Condensation"),
    "class-wise-condensation": ("condensation.class_wise", "ClassWiseCondensation"),
    "generalisation": ("generalisation.generalisation", "Generalisation"),
    "recoding": ("recoding.recoding", "Recoding"),
    "sap": ("sap.sap", "SAP"),
    "dmpd": ("dmpd.decomposition", "DMPD"),
    "perturbation-tree": ("perturbation_tree.tree", "PerturbationTree"),
    "microaggregation": ("microaggregation.aggregation", "Microaggregation"),
    "sample-generation": ("sample_generation.sampling", "SampleGeneration"),
    "private-synthesis": ("private_synthesis.synthesis", "PrivateSynthesis"),
    "svd": ("svd.decomposition", "SVD"),
    "sparsified-svd": ("svd.decomposition", "SparsifiedSVD"),
    "additive-noise": ("noise.additive", "AdditiveNoise"),
    "multiplicative-noise": ("noise.multiplicative", "MultiplicativeNoise"),
}
"""The module and the class of each, imported when it is asked for."""

SET_ELSEWHERE = ("random_state", "n_jobs", "domain")
"""Parameters that are no setting of the method."""


def method_class(name: str) -> type[LocalMethod]:
    """The class of this name."""
    if name not in METHODS:
        raise BadParameter(f"There is no method {name!r}. There are {', '.join(METHODS)}.")
    module, kind = METHODS[name]
    return getattr(import_module(f"mixbayes.local_methods.{module}"), kind)


def keys_of(kind: type[LocalMethod]) -> list[str]:
    """The parameters that can be set, in the order of the class."""
    return [key for key in inspect.signature(kind).parameters if key not in SET_ELSEWHERE]


def required_keys(kind: type[LocalMethod]) -> list[str]:
    """The parameters that have no default."""
    parameters = inspect.signature(kind).parameters
    return [key for key in keys_of(kind) if parameters[key].default is inspect.Parameter.empty]


def configured(
    name: str, settings: Mapping[str, str], seed: RandomState = None, domain: Domain | None = None
) -> LocalMethod:
    """The method with these parameters, each read as what the method takes; `domain` is for those that need it."""
    kind = method_class(name)
    unknown = [key for key in settings if key not in keys_of(kind)]
    if unknown:
        raise BadParameter(f"{name} has no parameter {unknown[0]!r}. It has {', '.join(keys_of(kind))}.")
    lacking = [key for key in required_keys(kind) if key not in settings]
    if lacking:
        raise BadParameter(f"{name} needs {' and '.join(lacking)}. Say {' '.join(f'{key}=...' for key in lacking)}.")
    read = {key: read_value(name, key, text, kind._parameter_constraints[key]) for key, text in settings.items()}
    public = {"domain": domain} if "domain" in inspect.signature(kind).parameters else {}
    return kind(**read, **public, **{"random_state": seed})


def read_value(method: str, key: str, text: str, constraints: Sequence[Any]) -> Any:
    """What the text says, by the first constraint that it can be read for and that it keeps."""
    for constraint in constraints:
        try:
            value = _read(text, constraint)
        except ValueError:
            continue
        if make_constraint(constraint).is_satisfied_by(value):
            return value
    wanted = " or ".join(str(make_constraint(constraint)) for constraint in constraints)
    raise BadParameter(f"{key} of {method} must be {wanted}; {text!r} is not.")


def _read(text: str, constraint: Any) -> Any:
    if constraint is None:
        return _none(text)
    if constraint == "boolean":
        return _truth(text)
    if isinstance(constraint, Interval):
        return int(text) if constraint.type is Integral else float(text)
    if isinstance(constraint, StrOptions) or constraint is str:
        return text
    if constraint is Integral:
        return int(text)
    if constraint is Real:
        return float(text)
    if isinstance(constraint, ListsOfNames):
        return read_name_sets(text)
    if isinstance(constraint, ByColumn):
        return constraint.read(text)
    if constraint in (list, tuple, "array-like"):
        return [part.strip() for part in text.split(",") if part.strip()]
    raise ValueError


def _none(text: str) -> None:
    if text.lower() not in ("", "none"):
        raise ValueError


def _truth(text: str) -> bool:
    return ("false", "true").index(text.lower()) == 1
