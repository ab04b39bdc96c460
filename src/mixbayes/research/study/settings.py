"""The local methods and the strengths at which the study tries them, the weaker before the stronger."""

from __future__ import annotations

SHORT_SEARCH = ":population=20:generations=20"
SETTINGS = (
    "condensation:k=5",
    "condensation:k=20",
    "condensation:k=50",
    "condensation:k=5:seeds=kmeans",
    "condensation:k=20:seeds=kmeans",
    "condensation:k=50:seeds=kmeans",
    "class-wise-condensation:t=3",
    "class-wise-condensation:t=5",
    "class-wise-condensation:t=20",
    "microaggregation:k=3",
    "microaggregation:k=10",
    "microaggregation:k=30",
    "perturbation-tree:leaf_size=10",
    "perturbation-tree:leaf_size=30:min_group=10",
    "sap:p=0.1",
    "sap:p=0.3",
    "sap:p=0.3:target=class",
    f"dmpd:k=2{SHORT_SEARCH}",
    f"dmpd:k=5{SHORT_SEARCH}",
    f"dmpd:k=20{SHORT_SEARCH}",
    "recoding:suppress=age,sex",
    "recoding:suppress=age,trestbps,chol,thalach,oldpeak",
    "generalisation:k=5",
    "generalisation:k=20",
    "additive-noise:scale=0.1",
    "additive-noise:scale=0.5",
    "multiplicative-noise:scale=0.1",
    "multiplicative-noise:scale=0.5",
    "sample-generation:classifiers=tree,nearest-neighbour",
    "sample-generation:classifiers=naive-bayes",
    "svd:rank=3",
    "svd:rank=1",
    "sparsified-svd:rank=3:sparsity=0.1",
    "sparsified-svd:rank=3:sparsity=0.4",
    "private-synthesis:epsilon=8",
    "private-synthesis:epsilon=4",
    "private-synthesis:epsilon=2",
    "private-synthesis:epsilon=1",
)

QUICK = ("class-wise-condensation:t=20", "microaggregation:k=10", "sap:p=0.3:target=class")
"""One that a hospital of the four cannot use, one that keeps the rows in their order, one that drops rows."""
