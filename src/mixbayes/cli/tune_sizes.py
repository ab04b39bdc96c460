"""`mixbayes tune --method class-wise-condensation`: the group size of Kim's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mixbayes.cli.tune_search import Asked, Found, Rules, Search, plain

if TYPE_CHECKING:
    from mixbayes.local_methods.base import Progress
    from mixbayes.local_methods.condensation.group_search import Tried
    from mixbayes.local_methods.tables import Nominal, Table

METHOD = "class-wise-condensation"
PARAMETER = "k"


class Sizes(Search):
    """The search of the paper."""

    def __init__(self, threshold: int, rules: Rules) -> None:
        from mixbayes.local_methods.condensation.group_search import GroupSizeSearch  # slow to import

        self._search = GroupSizeSearch(t=threshold, most_sizes=rules.most, **rules.parameters())

    def fit(self, table: Table, labels: Nominal | None, progress: Progress) -> None:
        self._search.fit(table, labels, progress=progress)

    def found(self, asked: Asked) -> Found:
        from mixbayes.local_methods.tuning.privacy import Interval  # slow to import
        from mixbayes.local_methods.tuning.searches import Tried

        search = self._search
        tried = [Tried(one.group_size, one.accuracy, one.privacy) for one in search.tried_]
        return Found(
            method=METHOD,
            parameter="group size",
            values="sizes",
            tried=tried,
            best=tried[search.tried_.index(search.best_)],
            most="largest",
            measure=Interval.told,
            search=search.search,
            gap=search.accuracy_gap,
            test_share=search.test_share,
            without=str(search.approximate_gcd_),
            commonest=search.commonest_,
            judged=asked.judged(search.test_share, search.repeats),
            line=asked.line(METHOD, [f"{PARAMETER}={search.best_.group_size}"]),
        )

    def document(self) -> dict[str, Any]:
        search = self._search
        return {
            "method": METHOD,
            "search": search.search,
            "threshold": search.t,
            "approximate_gcd": search.approximate_gcd_,
            "best": _plain(search.best_),
            "tried": [_plain(tried) for tried in search.tried_],
        }


def _plain(tried: Tried) -> dict[str, Any]:
    return {"group_size": tried.group_size, "accuracy": tried.accuracy, "privacy": plain(tried.privacy)}
