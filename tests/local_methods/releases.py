"""Releases every table by every method, and prints what decides how a processor computes, and a digest of each release.

Run as `python -m tests.local_methods.releases`, or with the name of a file to write the digests there. The tables are
made of whole numbers drawn and divided: no logarithm and no product of matrices is in them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from threadpoolctl import threadpool_info

from mixbayes.local_methods import SAP, SVD, Microaggregation, ParameterSearch
from mixbayes.local_methods.base import LocalMethod
from mixbayes.local_methods.condensation.group_search import GroupSizeSearch
from mixbayes.local_methods.dmpd.tradeoff import AnonymityTradeoff
from mixbayes.local_methods.registry import METHODS, method_class
from mixbayes.local_methods.tables import Codes, Column, Floats, Nominal, Numeric, Table
from mixbayes.local_methods.tuning.tunable import name_of

SHORT: Mapping[str, object] = {"k": 3, "population": 10, "generations": 4}
SETTINGS: Mapping[str, Sequence[Mapping[str, object]]] = {
    "condensation": [
        {"k": 5},
        {"k": 3, "seeds": "kmeans"},
        {"k": 20, "seeds": "kmeans", "distribution": "uniform"},
        {"k": 20, "seeds": "kmeans", "outcomes": ["c0", "c3"]},
    ],
    "class-wise-condensation": [{"t": 3}, {"k": 40, "missing": "fill"}],
    "sap": [
        {"p": 0.3},
        {"p": 0.3, "target": "class"},
        {"p": 0.3, "follows": "appendix"},
        {"p": 0.07, "target": "class", "follows": "appendix"},
    ],
    "dmpd": [
        SHORT,
        {**SHORT, "inducer": "tree"},
        {**SHORT, "class_in_key": True},
        {**SHORT, "l": 2, "coarsen": True},
        {**SHORT, "mutation_rule": "printed"},
    ],
    "generalisation": [{"k": 5}, {"k": 3, "split": "best"}, {"k": 20, "l": 2, "missing": "fill"}],
    "recoding": [{"cuts": {"c0": 0.3}}, {"cuts": {"c0": [0, 1, 2, 400000]}, "suppress": ["c1"], "missing": "drop"}],
    "perturbation-tree": [
        {"leaf_size": 5},
        {"leaf_size": 4, "split": "median", "block_size": 60},
        {"leaf_size": 40, "min_group": 3, "within": "mdav", "scaling": "z-score"},
        {"leaf_size": 40, "min_group": 3, "within": "univariate", "scaling": "z-score", "block_size": 90},
    ],
    "microaggregation": [{"k": 3}, {"k": 10}, {"k": 3, "variant": "univariate"}],
    "sample-generation": [{}, {"classifiers": ["naive-bayes"]}],
    "private-synthesis": [{"epsilon": 1}, {"epsilon": 1000, "bins": 8}, {"epsilon": 3, "missing": "drop"}],
    "svd": [{"rank": 1}, {"rank": 2}],
    "sparsified-svd": [{"rank": 2, "sparsity": 0.3}],
    "additive-noise": [{}, {"correlated": False}],
    "multiplicative-noise": [{"scale": 0.5}],
}

Labelled = tuple[Table, Nominal]


def tables() -> dict[str, Labelled]:
    """Tables on which a last digit decides: many equal rows, many equal distances, large numbers that differ little."""
    random = np.random.default_rng(1)
    whole = random.integers(0, 4, (400, 3)).astype(np.float64)
    fine = random.integers(0, 10**6, (420, 4)) / 7
    far = np.column_stack([1e9 + fine[:, 0] / 1e3, fine[:, 1] * 1e-9, -fine[:, 2], fine[:, 0] / 3 + fine[:, 3]])
    signed = np.where(random.integers(0, 2, (150, 2)), -0.0, 0.0)
    real, labels = load_breast_cancer(return_X_y=True)
    return {
        "equal distances": labelled([*numbers(whole), *words(random, 400, 3, 5, 7)], random),
        "large and small": labelled([*numbers(far), *words(random, 420, 2)], random),
        "gaps": labelled([*numbers(with_gaps(fine, random)), *words(random, 420, 3, 40)], random),
        "signs of zero": labelled(numbers(np.column_stack([signed, fine[:150, :2]])), random),
        "real": (table_of(numbers(np.asarray(real)[:, :20])), Nominal(np.asarray(labels, np.int64), np.arange(2))),
    }


def numbers(matrix: Floats) -> list[Column]:
    return [Numeric(np.ascontiguousarray(column)) for column in matrix.T]


def words(random: np.random.Generator, rows: int, *counts: int) -> list[Column]:
    return [Nominal(random.integers(0, count, rows), np.array([f"w{at}" for at in range(count)])) for count in counts]


def with_gaps(matrix: Floats, random: np.random.Generator) -> Floats:
    return np.where(random.integers(0, 20, matrix.shape) == 0, np.nan, matrix)


def table_of(columns: list[Column]) -> Table:
    return Table(tuple(f"c{at}" for at in range(len(columns))), tuple(columns), len(columns[0]))


def labelled(columns: list[Column], random: np.random.Generator) -> Labelled:
    """With classes that the first column says something about."""
    table = table_of(columns)
    first = table.numbers([0])[:, 0]
    high = np.nan_to_num(first) > np.nanmedian(first)
    return table, Nominal(high + random.integers(0, 2, table.rows), np.array(["A", "B", "C"]))


def digest(table: Table, labels: Nominal | None) -> str:
    """Of every bit of it."""
    found = sha256()
    for column in (*table.columns, *([labels] if labels else [])):
        cells: Codes | Floats = column.codes if isinstance(column, Nominal) else column.numbers
        found.update(np.ascontiguousarray(cells).tobytes())
    return found.hexdigest()[:16]


def releases() -> Iterator[tuple[str, str]]:
    """Every method with every setting on every table, by name."""
    for name, (table, labels) in tables().items():
        for method in METHODS:
            for setting in SETTINGS[method]:
                said = " ".join(f"{key}={value}" for key, value in setting.items())
                yield f"{name}: {method} {said}".strip(), released(method, setting, table, labels)


def released(method: str, setting: Mapping[str, object], table: Table, labels: Nominal) -> str:
    kind = method_class(method)
    made: LocalMethod = kind(**setting, **{"random_state": 7})
    columns, classes = made.fit_resample(table, labels)
    assert isinstance(columns, Table)
    assert isinstance(classes, Nominal)
    return digest(columns, classes)


def searches() -> Iterator[tuple[str, str]]:
    """What the searches find, to the last digit."""
    for name in ("equal distances", "real"):
        table, labels = tables()[name]
        for classifier in (None, "naive-bayes"):
            search = GroupSizeSearch(t=10, repeats=1, classifier=classifier, random_state=7).fit(table, labels)
            yield f"{name}: group sizes {classifier}", sha256(repr(search.tried_).encode()).hexdigest()[:16]
        for method, parameter, low in ((SAP(), "p", 0.9), (SVD(rank=1), "rank", 1), (Microaggregation(k=2), "k", 99)):
            values = ParameterSearch(method, parameter, low=low, repeats=1, classifier="naive-bayes", random_state=7)
            found = values.fit(table, labels).tried_
            yield f"{name}: {parameter} of {name_of(method)}", sha256(repr(found).encode()).hexdigest()[:16]
        front = AnonymityTradeoff(population=10, generations=4, runs=2, random_state=7).fit(table, labels).front_
        yield f"{name}: trade-offs", sha256(repr(front).encode()).hexdigest()[:16]


def instructions() -> dict[str, bool]:
    """What numpy would use beyond what every processor has, and whether it does."""
    core: Any = import_module("numpy._core._multiarray_umath")
    return {name: bool(core.__cpu_features__[name]) for name in core.__cpu_dispatch__}


def processor() -> dict[str, list[str]]:
    """The kernels of BLAS, and the instructions that numpy uses beyond those that every processor has."""
    blas = [found for found in threadpool_info() if found["user_api"] == "blas"]
    return {
        "blas": sorted({found.get("architecture", "") for found in blas}),
        "library": sorted({found["internal_api"] for found in blas}),
        "numpy": [name for name, used in instructions().items() if used],
    }


def all_digests() -> dict[str, str]:
    return dict(releases()) | dict(searches())


if __name__ == "__main__":
    digests = all_digests()
    for path in sys.argv[1:]:
        Path(path).write_text(json.dumps(digests, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({"processor": processor(), "releases": digests}))
