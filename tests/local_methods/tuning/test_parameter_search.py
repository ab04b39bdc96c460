"""The search for a parameter of each method, on small tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from mixbayes.local_methods import (
    DMPD,
    SAP,
    SVD,
    AdditiveNoise,
    BadParameter,
    ClassWiseCondensation,
    Condensation,
    GroupSizeSearch,
    Microaggregation,
    MultiplicativeNoise,
    ParameterSearch,
    PerturbationTree,
    SampleGeneration,
    SparsifiedSVD,
    UnfitTable,
)
from mixbayes.local_methods.base import LocalMethod
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.registry import configured, keys_of, method_class
from mixbayes.local_methods.tables import Nominal
from mixbayes.local_methods.tuning.privacy import Hidden, Interval, Level, Measure, measure_for
from mixbayes.local_methods.tuning.tunable import TUNABLE, any_value, name_of
from tests.local_methods.mixed import classes, mixed_table

IRIS = load_iris(return_X_y=True)
SHORT = DMPD(population=4, generations=1, folds=2)
CASES: list[tuple[LocalMethod, str, tuple[float, float]]] = [
    (Condensation(), "k", (3, 67)),
    (ClassWiseCondensation(t=10), "k", (10, 45)),
    (Microaggregation(k=5), "k", (2, 67)),
    (PerturbationTree(leaf_size=9, min_group=4), "leaf_size", (4, 67)),
    (PerturbationTree(leaf_size=9, block_size=20), "leaf_size", (2, 20)),
    (PerturbationTree(leaf_size=9), "min_group", (2, 9)),
    (SAP(), "p", (0.01, 1)),
    (SAP(target="class"), "p", (0.01, 1)),
    (SVD(rank=2), "rank", (1, 4)),
    (SparsifiedSVD(rank=3, sparsity=0.2), "rank", (1, 4)),
    (SparsifiedSVD(rank=3, sparsity=0.2), "sparsity", (0, 0.99)),
    (SHORT, "k", (2, 67)),
    (AdditiveNoise(), "scale", (0.01, 0.99)),
    (MultiplicativeNoise(), "scale", (0.01, 0.99)),
]


@pytest.mark.parametrize(("method", "parameter", "ends"), CASES)
def test_every_parameter_is_searched_from_end_to_end(
    method: LocalMethod, parameter: str, ends: tuple[float, float]
) -> None:
    search = ParameterSearch(method, parameter, repeats=1, random_state=0).fit(*IRIS)
    values = [tried.value for tried in search.tried_]
    assert (values[0], values[-1]) == ends == (search.low_, search.high_)
    assert len(set(values)) == len(values)
    assert search.best_ in search.tried_
    search.method_.fit_resample(*IRIS)
    assert search.method_.get_params()[parameter] == search.best_.value
    assert search.method_.guarantee_.holds
    others = {key: value for key, value in method.get_params().items() if key not in (parameter, "random_state")}
    assert others.items() <= search.method_.get_params().items()


def test_every_method_with_such_a_parameter_is_tried_here() -> None:
    assert {(name_of(method), parameter) for method, parameter, _ in CASES} == {
        (name, parameter) for name, parameters in TUNABLE.items() for parameter in parameters
    }


@pytest.mark.parametrize(
    ("name", "parameter"), [(name, parameter) for name, parameters in TUNABLE.items() for parameter in parameters]
)
def test_the_table_of_parameters_is_of_the_methods(name: str, parameter: str) -> None:
    assert parameter in keys_of(method_class(name))
    others = {"rank": "1", "sparsity": "0", "leaf_size": "2", "k": "3"}
    needed = {key: text for key, text in others.items() if key in keys_of(method_class(name))}
    configured(name, {**needed, parameter: any_value(name, parameter)})


def test_the_search_for_a_group_size_is_the_case_of_class_wise_condensation() -> None:
    sizes = GroupSizeSearch(t=40, repeats=1, random_state=0).fit(*IRIS)
    values = ParameterSearch(ClassWiseCondensation(t=40), "k", repeats=1, random_state=0).fit(*IRIS)
    assert [(one.group_size, one.accuracy, one.privacy) for one in sizes.tried_] == [
        (one.value, one.accuracy, one.privacy) for one in values.tried_
    ]


def test_of_a_rank_less_is_more_private() -> None:
    """Rank 4 of four columns is the table itself; halving goes there where lower ranks cost accuracy."""
    search = ParameterSearch(SVD(rank=1), "rank", search="exhaustive", repeats=1, random_state=0).fit(*IRIS)
    assert search.less_is_private_
    privacy = [tried.privacy for tried in search.tried_]
    assert privacy == sorted(privacy, reverse=True)
    assert privacy[-1] == pytest.approx(0, abs=1e-9)


def test_shares_are_searched_in_hundredths() -> None:
    search = ParameterSearch(SAP(), "p", low=0.095, high=0.205, search="exhaustive", repeats=1, random_state=0)
    assert [tried.value for tried in search.fit(*IRIS).tried_] == [at / 100 for at in range(10, 21)]


def test_bounds_narrow_the_range() -> None:
    search = ParameterSearch(Condensation(), "k", low=10.5, high=15.5, search="exhaustive", repeats=1, random_state=0)
    assert [tried.value for tried in search.fit(*IRIS).tried_] == [11, 12, 13, 14, 15]
    few = ParameterSearch(Condensation(), "k", search="exhaustive", most_values=3, repeats=1, random_state=0)
    assert [tried.value for tried in few.fit(*IRIS).tried_] == [3, 35, 67]


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        (Condensation(), Interval),
        (Microaggregation(k=3), Interval),
        (SVD(rank=1), Interval),
        (SAP(), Hidden),
        (SHORT, Level),
    ],
)
def test_privacy_is_what_the_method_is_about(method: LocalMethod, kind: type[Measure]) -> None:
    assert type(measure_for(method, Labelled(mixed_table(40), classes(20, 20)), 0)) is kind


def test_what_is_suppressed_altogether_is_hidden() -> None:
    rows = Labelled(mixed_table(60), classes(30, 30))
    gone = Nominal(np.full(60, -1), rows.labels.values)
    of_class = Hidden.of(rows, True, 0)
    assert of_class(None, Labelled(rows.table, gone)) == 1
    assert of_class(None, rows) < 0.5
    of_people = Hidden.of(rows, False, 0)
    assert of_people(None, Labelled(rows.table, gone)) == of_people(None, rows) < 0.9


def test_where_every_class_is_suppressed_nothing_is_learned() -> None:
    search = ParameterSearch(SAP(target="class"), "p", low=1, repeats=1, random_state=0).fit(*IRIS)
    assert [(tried.value, tried.accuracy, tried.privacy) for tried in search.tried_] == [(1, 0, 1)]


def test_a_suppressed_cell_makes_an_attacker_less_sure() -> None:
    search = ParameterSearch(SAP(), "p", search="exhaustive", most_values=3, repeats=1, random_state=0).fit(*IRIS)
    privacy = [tried.privacy for tried in search.tried_]
    assert privacy == sorted(privacy)
    assert privacy[0] < privacy[-1]


@pytest.mark.parametrize("classifier", ["naive-bayes", GaussianNB(), None])
def test_any_classifier_and_a_mixed_table_with_gaps(classifier: Any) -> None:
    table, labels = mixed_table(120, gaps=0.1), classes(80, 40)
    for method, parameter in ((Condensation(), "k"), (SAP(), "p"), (SHORT, "k")):
        search = ParameterSearch(method, parameter, low=0.9, high=4, classifier=classifier, repeats=1, random_state=0)
        assert 0 <= search.fit(table, labels).best_.accuracy <= 1


def test_of_dmpd_the_classifier_is_what_learns_from_a_projection() -> None:
    search = ParameterSearch(SHORT, "k", low=20, high=20, classifier="tree", repeats=1, random_state=0).fit(*IRIS)
    assert search.method_.get_params()["inducer"] == "tree"
    assert SHORT.inducer == "naive-bayes"
    with pytest.raises(BadParameter, match="inducer"):
        ParameterSearch(SHORT, "k", low=20, high=20, classifier="svm").fit(*IRIS)


def test_the_same_seed_finds_the_same_with_any_workers() -> None:
    with parallel_config(backend="threading"):
        one, two = (
            ParameterSearch(Condensation(), "k", low=40, high=44, repeats=2, n_jobs=jobs, random_state=3).fit(*IRIS)
            for jobs in (None, 2)
        )
    assert one.tried_ == two.tried_


@pytest.mark.parametrize(
    ("method", "parameter", "said"),
    [
        (SampleGeneration(), "draws_per_row", "sample-generation has no parameter"),
        (Condensation(), "label_weight", "'label_weight' of condensation cannot be searched for; k can"),
        (SparsifiedSVD(rank=1, sparsity=0), "k", "rank and sparsity can"),
    ],
)
def test_a_parameter_without_an_order_is_refused(method: LocalMethod, parameter: str, said: str) -> None:
    with pytest.raises(BadParameter, match=said):
        ParameterSearch(method, parameter).fit(*IRIS)


@pytest.mark.parametrize(
    ("method", "parameter", "bounds", "said"),
    [
        (Condensation(), "k", {"low": 68}, "k of condensation cannot begin at 68 and end at 67: half of 135"),
        (ClassWiseCondensation(t=46), "k", {}, "the smallest class has 45 training rows"),
        (SVD(rank=1), "rank", {"high": 0}, "cannot begin at 1 and end at 0"),
        (SVD(rank=1), "rank", {"low": 5}, "there are 4 numeric columns"),
    ],
)
def test_a_range_without_a_value_is_refused(
    method: LocalMethod, parameter: str, bounds: dict[str, float], said: str
) -> None:
    with pytest.raises(UnfitTable, match=said):
        ParameterSearch(method, parameter, **bounds).fit(*IRIS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "parameters", [{"search": "guess"}, {"accuracy_gap": 2.0}, {"repeats": 0}, {"classifier": 3}, {"most_values": 1}]
)
def test_parameters_out_of_range_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(BadParameter):
        ParameterSearch(Condensation(), "k", **parameters).fit(*IRIS)


def test_tables_without_numbers_or_with_too_few_rows() -> None:
    table, labels = mixed_table(60), classes(30, 30)
    names = table.select(table.nominal)
    search = ParameterSearch(Condensation(), "k", low=20, repeats=1, random_state=0).fit(names, labels)
    assert np.isnan(search.best_.privacy)
    with pytest.raises(UnfitTable, match="0 numeric columns"):
        ParameterSearch(SVD(rank=1), "rank").fit(names, labels)
    with pytest.raises(UnfitTable, match="1 rows are too few"):
        ParameterSearch(Condensation(), "k").fit(table.take(np.arange(1)), labels.take(np.arange(1)))
    with pytest.raises(UnfitTable, match="half of 4"):
        ParameterSearch(Condensation(), "k", test_share=0.4).fit(np.eye(8)[:, :3], list("aaaabbbb"))


def test_what_the_commonest_class_gets_right_is_told() -> None:
    """Of 60 rows 6 are asked about, 4 of them of the class that 40 rows have."""
    search = ParameterSearch(Condensation(), "k", low=20, repeats=1, random_state=0)
    assert search.fit(mixed_table(60), classes(20, 40)).commonest_ == pytest.approx(4 / 6)


def test_it_is_an_estimator_and_can_be_ended() -> None:
    search: Any = clone(ParameterSearch(Condensation(k=4, seeds="kmeans"), "k", accuracy_gap=0.1))
    assert search.get_params()["accuracy_gap"] == 0.1
    assert search.get_params()["method__seeds"] == "kmeans"

    def stop(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search.fit(*IRIS, progress=stop)
    assert not hasattr(search, "best_")
