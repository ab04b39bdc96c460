"""What a hospital may do to its own table before its rows are counted."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mixbayes.local_methods.errors import BadParameter, MethodError, UnfitTable
from mixbayes.local_methods.guarantee import Guarantee

if TYPE_CHECKING:
    from mixbayes.local_methods.condensation.class_wise import ClassWiseCondensation
    from mixbayes.local_methods.condensation.group_search import GroupSizeSearch
    from mixbayes.local_methods.condensation.whole_table import Condensation
    from mixbayes.local_methods.dmpd.decomposition import DMPD
    from mixbayes.local_methods.dmpd.tradeoff import AnonymityTradeoff
    from mixbayes.local_methods.generalisation.generalisation import Generalisation
    from mixbayes.local_methods.microaggregation.aggregation import Microaggregation
    from mixbayes.local_methods.noise.additive import AdditiveNoise
    from mixbayes.local_methods.noise.multiplicative import MultiplicativeNoise
    from mixbayes.local_methods.perturbation_tree.tree import PerturbationTree
    from mixbayes.local_methods.private_synthesis.synthesis import PrivateSynthesis
    from mixbayes.local_methods.recoding.recoding import Recoding
    from mixbayes.local_methods.sample_generation.sampling import SampleGeneration
    from mixbayes.local_methods.sap.sap import SAP
    from mixbayes.local_methods.svd.decomposition import SVD, SparsifiedSVD
    from mixbayes.local_methods.tuning.parameter_search import ParameterSearch

__all__ = [
    "DMPD",
    "SAP",
    "SVD",
    "AdditiveNoise",
    "AnonymityTradeoff",
    "BadParameter",
    "ClassWiseCondensation",
    "Condensation",
    "Generalisation",
    "GroupSizeSearch",
    "Guarantee",
    "MethodError",
    "Microaggregation",
    "MultiplicativeNoise",
    "ParameterSearch",
    "PerturbationTree",
    "PrivateSynthesis",
    "Recoding",
    "SampleGeneration",
    "SparsifiedSVD",
    "UnfitTable",
]

_HOMES = {
    "AdditiveNoise": "noise.additive",
    "AnonymityTradeoff": "dmpd.tradeoff",
    "ClassWiseCondensation": "condensation.class_wise",
    "Condensation": "condensation.whole_table",
    "DMPD": "dmpd.decomposition",
    "Generalisation": "generalisation.generalisation",
    "GroupSizeSearch": "condensation.group_search",
    "Microaggregation": "microaggregation.aggregation",
    "MultiplicativeNoise": "noise.multiplicative",
    "ParameterSearch": "tuning.parameter_search",
    "PerturbationTree": "perturbation_tree.tree",
    "PrivateSynthesis": "private_synthesis.synthesis",
    "SAP": "sap.sap",
    "SVD": "svd.decomposition",
    "Recoding": "recoding.recoding",
    "SampleGeneration": "sample_generation.sampling",
    "SparsifiedSVD": "svd.decomposition",
}


def __getattr__(name: str) -> Any:
    # scikit-learn takes a second to import; only whoever uses a method waits for it.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
