"""The common checks of scikit-learn and imbalanced-learn, on every method that the registry knows."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from imblearn.utils.estimator_checks import estimator_checks_generator as imblearn_checks
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator as sklearn_checks

from mixbayes.local_methods import MethodError
from mixbayes.local_methods.base import LocalMethod
from mixbayes.local_methods.registry import METHODS, configured, method_class

SETTINGS = {
    "condensation": {"k": "3"},
    "class-wise-condensation": {"t": "3"},
    "dmpd": {"k": "3", "population": "10", "generations": "3"},
    "generalisation": {"k": "3"},
    "recoding": {"cuts": '{"x0": 0.5}'},
    "perturbation-tree": {"leaf_size": "3"},
    "microaggregation": {"k": "3"},
    "private-synthesis": {"epsilon": "100"},
    "svd": {"rank": "1"},
    "sparsified-svd": {"rank": "1", "sparsity": "0.1"},
}
"""Small enough for the tables of the checks, and what has no default."""

NOT_BALANCING = "it does not balance classes: there is no strategy, and one class is as good as several"
ONE_COLUMN = "classes come as one column, never as indicators"
ROWS = "its message speaks of rows, the check looks for samples"
FEW_ROWS = "some classes of the check have one or two rows, fewer than any group may have"
COMMON = {
    "check_samplers_one_label": NOT_BALANCING,
    "check_samplers_fit": NOT_BALANCING,
    "check_samplers_multiclass_ova": ONE_COLUMN,
}
NO_NUMBERS = "the table has no number, and there is nothing else that it works on"
FILLED = "missing cells are filled, the check wants some to stay"
GAPS = "the check sorts texts, and cannot sort cells that are suppressed"
NAMED = "it recodes columns by their names, and the check calls them otherwise"
LISTS = "a list of rows comes back as a list of rows, the check wants an array"
LOTS = "the cells of new rows are suppressed by lot, and a row's lot depends on its place"

EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    "Condensation": {
        **COMMON,
        "check_fit2d_1sample": ROWS,
    },
    "ClassWiseCondensation": {
        **COMMON,
        "check_fit2d_1sample": ROWS,
        "check_fit2d_1feature": FEW_ROWS,
        "check_dont_overwrite_parameters": FEW_ROWS,
        "check_f_contiguous_array_estimator": FEW_ROWS,
        "check_methods_sample_order_invariance": FEW_ROWS,
        "check_methods_subset_invariance": FEW_ROWS,
        "check_dict_unchanged": FEW_ROWS,
        "check_fit2d_predict1d": FEW_ROWS,
    },
    "SAP": {
        **COMMON,
        "check_samplers_string": GAPS,
        "check_transformer_data_not_an_array": LISTS,
        "check_methods_sample_order_invariance": LOTS,
        "check_methods_subset_invariance": LOTS,
    },
    "DMPD": {**COMMON, "check_samplers_string": GAPS, "check_transformer_data_not_an_array": LISTS},
    "Generalisation": {**COMMON, "check_transformer_data_not_an_array": LISTS},
    "Recoding": {
        **COMMON,
        "check_samplers_pandas": NAMED,
        "check_samplers_pandas_sparse": NAMED,
        "check_sampler_get_feature_names_out_pandas": NAMED,
        "check_samplers_string": NO_NUMBERS,
    },
    "PerturbationTree": {**COMMON, "check_samplers_string": NO_NUMBERS},
    "Microaggregation": {**COMMON, "check_samplers_string": NO_NUMBERS},
    "SVD": {**COMMON, "check_samplers_string": NO_NUMBERS, "check_samplers_nan": FILLED},
    "SparsifiedSVD": {**COMMON, "check_samplers_string": NO_NUMBERS, "check_samplers_nan": FILLED},
    "AdditiveNoise": {**COMMON, "check_samplers_string": NO_NUMBERS},
    "MultiplicativeNoise": {**COMMON, "check_samplers_string": NO_NUMBERS},
    "PrivateSynthesis": {**COMMON},
    "SampleGeneration": {
        **COMMON,
        "check_samplers_nan": FILLED,
    },
}


def method(name: str) -> LocalMethod:
    return configured(name, SETTINGS.get(name, {}), seed=0)


def checks(of_a_library: Callable[..., Any]) -> Any:
    """Its checks of every method, those that must fail marked with the reason."""
    found = []
    for name in METHODS:
        expected = EXPECTED_FAILURES[method_class(name).__name__]
        for pair in of_a_library(method(name), expected_failed_checks=expected, mark="xfail"):
            values, marks = (pair.values, pair.marks) if hasattr(pair, "values") else (pair, ())
            found.append(pytest.param(*values, marks=marks, id=f"{name}-{_check_name(values[1])}"))
    return pytest.mark.parametrize(("estimator", "check"), found)


def _check_name(check: Any) -> str:
    arguments = [f"{key}={value}" for key, value in check.keywords.items()] if check.keywords else []
    inner = check.func
    while hasattr(inner, "__wrapped__") or hasattr(inner, "func"):
        inner = inner.__wrapped__ if hasattr(inner, "__wrapped__") else inner.func
    return "-".join([inner.__name__, *arguments])


@checks(sklearn_checks)
def test_scikit_learn(estimator: LocalMethod, check: Callable[[LocalMethod], None]) -> None:
    check(estimator)


@checks(imblearn_checks)
def test_imbalanced_learn(estimator: LocalMethod, check: Callable[[LocalMethod], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("name", METHODS)
def test_parameters_are_keywords_and_documented(name: str) -> None:
    kind = method_class(name)
    with pytest.raises(TypeError):
        kind(3)  # type: ignore[call-arg]
    documentation = str(kind.__doc__)
    parameters = kind._get_param_names()
    assert {"missing", "random_state"} <= set(parameters)
    assert [key for key in parameters if f"{key} :" not in documentation and f"{key}," not in documentation] == []


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(
    "broken",
    [
        [[np.inf, 1.0]] * 12,
        [[np.nan, None]] * 12,
        np.array([["2020-01-01"]] * 12, "datetime64[D]"),
    ],
    ids=["infinite", "nothing there", "dates"],
)
def test_unfit_tables_are_refused_as_such(name: str, broken: Any) -> None:
    with pytest.raises(MethodError):
        method(name).fit_resample(broken, ["a", "b"] * 6)


@pytest.mark.parametrize("name", METHODS)
def test_progress_can_end_the_work_and_nothing_is_learned(name: str) -> None:
    rows = np.random.default_rng(0).normal(size=(60, 3))

    def stop(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    chosen = method(name)
    if _tells(chosen, rows):
        with pytest.raises(KeyboardInterrupt):
            chosen.fit_resample(rows, [0, 1] * 30, progress=stop)
        assert not hasattr(chosen, "guarantee_")
        assert not hasattr(chosen, "n_features_in_")


def _tells(chosen: LocalMethod, rows: Any) -> bool:
    """Whether the work has steps; a single matrix operation has none."""
    told: list[str] = []
    copy: Any = clone(chosen)
    copy.fit_resample(rows, [0, 1] * 30, progress=lambda what, done, total: told.append(what))
    return bool(told)


@pytest.mark.parametrize("name", METHODS)
def test_fitted_methods_are_pickled_with_their_guarantee(name: str) -> None:
    rows = np.random.default_rng(0).normal(size=(60, 3))
    chosen = method(name)
    chosen.fit_resample(rows, [0, 1] * 30)
    again = pickle.loads(pickle.dumps(chosen))
    assert again.guarantee_ == chosen.guarantee_
    assert chosen.guarantee_.holds
