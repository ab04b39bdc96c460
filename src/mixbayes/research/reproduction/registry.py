"""All experiments, by name."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from mixbayes.protocol.errors import Unsupported
from mixbayes.research.reproduction import (
    beyond_jena,
    fung,
    jena,
    jena_search,
    jena_search_space,
    kim,
    kim_accuracy,
    kim_class_weight,
    kim_classifiers,
    kim_parameters,
    kim_thresholds,
    li_xi,
    naive_bayes,
    peters,
    peters_appendix,
    peters_class_noise,
    peters_example,
    peters_score,
    roy,
    roy_geometric,
    roy_noise,
    roy_oblique,
    roy_relations,
    roy_risk,
)
from mixbayes.research.reproduction.experiment import Experiment

EXPERIMENTS = (
    *kim.EXPERIMENTS,
    *kim_accuracy.EXPERIMENTS,
    *kim_thresholds.EXPERIMENTS,
    *kim_class_weight.EXPERIMENTS,
    *kim_classifiers.EXPERIMENTS,
    *kim_parameters.EXPERIMENTS,
    *roy.EXPERIMENTS,
    *roy_geometric.EXPERIMENTS,
    *roy_noise.EXPERIMENTS,
    *roy_risk.EXPERIMENTS,
    *roy_relations.EXPERIMENTS,
    *roy_oblique.EXPERIMENTS,
    *li_xi.EXPERIMENTS,
    *peters_example.EXPERIMENTS,
    *peters.EXPERIMENTS,
    *peters_appendix.EXPERIMENTS,
    *peters_class_noise.EXPERIMENTS,
    *peters_score.EXPERIMENTS,
    *jena.EXPERIMENTS,
    *jena_search.EXPERIMENTS,
    *jena_search_space.EXPERIMENTS,
    *beyond_jena.EXPERIMENTS,
    *fung.EXPERIMENTS,
    *naive_bayes.EXPERIMENTS,
)


def chosen(names: Sequence[str]) -> list[Experiment]:
    """The experiments of these names, each once; all without a name."""
    by_name = {experiment.name: experiment for experiment in EXPERIMENTS}
    for name in names:
        if name not in by_name:
            near = get_close_matches(name, by_name, n=3, cutoff=0.4) or list(by_name)
            raise Unsupported(f"There is no experiment {name!r}; there is {', '.join(near)}. --list names all.")
    return [by_name[name] for name in dict.fromkeys(names)] if names else list(EXPERIMENTS)
