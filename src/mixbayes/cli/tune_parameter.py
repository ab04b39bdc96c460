"""`mixbayes tune --method M --parameter P`: Kim's rules for a parameter of any method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mixbayes.cli.tune_search import Asked, Found, Rules, Search, plain

if TYPE_CHECKING:
    from mixbayes.local_methods.base import Progress
    from mixbayes.local_methods.tables import Nominal, Table
    from mixbayes.local_methods.tuning.searches import Tried


class Values(Search):
    """The same search for one parameter of a method, whose others are said."""

    def __init__(
        self,
        method: str,
        parameter: str,
        others: Mapping[str, str],
        low: float | None,
        high: float | None,
        rules: Rules,
    ) -> None:
        from mixbayes.local_methods.registry import configured  # slow to import
        from mixbayes.local_methods.tuning.parameter_search import ParameterSearch
        from mixbayes.local_methods.tuning.tunable import any_value

        # The parameter has a value only because some methods are not made without one.
        made = configured(method, {**others, parameter: any_value(method, parameter)}, rules.seed)
        self._method, self._others = method, others
        self._search = ParameterSearch(
            made, parameter, low=low, high=high, most_values=rules.most, **rules.parameters()
        )

    def fit(self, table: Table, labels: Nominal | None, progress: Progress) -> None:
        self._search.fit(table, labels, progress=progress)

    def found(self, asked: Asked) -> Found:
        search = self._search
        others = [f"{key}={value}" for key, value in self._others.items()]
        return Found(
            method=self._method,
            parameter=search.parameter,
            values="values",
            tried=search.tried_,
            best=search.best_,
            most="smallest" if search.less_is_private_ else "largest",
            measure=search.privacy_measure_,
            search=search.search,
            gap=search.accuracy_gap,
            test_share=search.test_share,
            without="",
            commonest=search.commonest_,
            judged=asked.judged(search.test_share, search.repeats),
            line=asked.line(self._method, [f"{search.parameter}={search.best_.value:g}", *others]),
        )

    def document(self) -> dict[str, Any]:
        search = self._search
        return {
            "method": self._method,
            "parameter": search.parameter,
            "settings": dict(self._others),
            "search": search.search,
            "from": search.low_,
            "to": search.high_,
            "privacy_measure": search.privacy_measure_,
            "commonest_class": search.commonest_,
            "best": _plain(search.best_),
            "tried": [_plain(tried) for tried in search.tried_],
        }


def _plain(tried: Tried) -> dict[str, Any]:
    return {"value": tried.value, "accuracy": tried.accuracy, "privacy": plain(tried.privacy)}
