"""What a hospital may do to its own table before its rows are counted."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mixbayes.local_methods.errors import BadParameter, MethodError, UnfitTable
from mixbayes.local_methods.guarantee import Guarantee

if TYPE_CHECKING:
    from mixbayes.local_methods.class_wise import ClassWiseCondensation
    from mixbayes.local_methods.condensation import Condensation
    from mixbayes.local_methods.dmpd import DMPD
    from mixbayes.local_methods.dmpd_tradeoff import AnonymityTradeoff
    from mixbayes.local_methods.group_search import GroupSizeSearch
    from mixbayes.local_methods.microaggregation import Microaggregation
    from mixbayes.local_methods.perturbation_tree import PerturbationTree
    from mixbayes.local_methods.sample_generation import SampleGeneration
    from mixbayes.local_methods.sap import SAP
    from mixbayes.local_methods.svd import SVD, SparsifiedSVD

__all__ = [
    "DMPD",
    "SAP",
    "SVD",
    "AnonymityTradeoff",
    "BadParameter",
    "ClassWiseCondensation",
    "Condensation",
    "GroupSizeSearch",
    "Guarantee",
    "MethodError",
    "Microaggregation",
    "PerturbationTree",
    "SampleGeneration",
    "SparsifiedSVD",
    "UnfitTable",
]

_HOMES = {
    "AnonymityTradeoff": "dmpd_tradeoff",
    "ClassWiseCondensation": "class_wise",
    "Condensation": "condensation",
    "DMPD": "dmpd",
    "GroupSizeSearch": "group_search",
    "Microaggregation": "microaggregation",
    "PerturbationTree": "perturbation_tree",
    "SAP": "sap",
    "SVD": "svd",
    "SampleGeneration": "sample_generation",
    "SparsifiedSVD": "svd",
}


def __getattr__(name: str) -> Any:
    # scikit-learn takes a second to import; only whoever uses a method waits for it.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
