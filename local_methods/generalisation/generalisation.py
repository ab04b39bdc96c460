"""Top-down specialisation and refinement: one k-anonymous table, its quasi-identifiers generalised or suppressed."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mixbayes.local_methods.base import KEEPING_CONSTRAINTS, LocalMethod, RandomState, Released, Work
from mixbayes.local_methods.coded import Coded
from mixbayes.local_methods.containers import ManyColumns, read_columns
from mixbayes.local_methods.errors import BadParameter, UnfitTable
from mixbayes.local_methods.generalisation.cut import Cut
from mixbayes.local_methods.generalisation.interval_cut import IntervalCut
from mixbayes.local_methods.generalisation.parameters import TAXONOMIES, sets_of
from mixbayes.local_methods.generalisation.requirement import Requirement
from mixbayes.local_methods.generalisation.rules import Rule
from mixbayes.local_methods.generalisation.search import Search
from mixbayes.local_methods.generalisation.suppression_cut import SuppressionCut
from mixbayes.local_methods.generalisation.taxonomy import Taxonomy
from mixbayes.local_methods.generalisation.taxonomy_cut import TaxonomyCut
from mixbayes.local_methods.guarantee import Guarantee
from mixbayes.local_methods.name_set_check import ListsOfNames
from mixbayes.local_methods.name_sets import NameSets
from mixbayes.local_methods.tables import Column, Nominal, Numeric, Table

VALID, BEST = "valid", "best"


class Generalisation(TransformerMixin, LocalMethod):  # type: ignore[misc]  # scikit-learn publishes no types
    """Generalises the quasi-identifiers, so that at least k rows share every combination of them.

    The search begins with all quasi-identifiers fully generalised. It then repeats the refinement with the highest
    score, among those that leave the table k-anonymous and concern rows of more than one class, until there is none. A
    column with a taxonomy refines a node into its children (TDS). A nominal column without a taxonomy discloses one
    more value, and its other values stay suppressed (TDR). A numeric column cuts an interval in two. The score is the
    information gain about the class, divided by one more than the number of rows that the smallest combination loses.

    A nominal cell is released as the name of a node of its taxonomy, or it is a disclosed value, or missing. A number
    is released as the mean of its interval's rows, because a federation counts numbers, and as missing if the column
    is never cut. Columns that are no quasi-identifiers, and the classes, are released as they are.

    Parameters
    ----------
    k : int, default=10
        How many rows at least share each combination of quasi-identifiers.
    quasi_identifiers : list of str, list of lists or None, default=None
        The columns that an outsider may know; None for all. Of several lists each is a set by itself, for outsiders who
        know different columns. The columns of an array are called x0, x1 and so on.
    taxonomies : dict or None, default=None
        For nominal columns, by name, a tree of their values: {root: [child, {child: [grandchild, ...]}, ...]}, where
        leaves are the texts of the values. Each value that occurs must be in it.
    l : int, default=1
        How many classes at least each combination has (distinct l-diversity).
    split : {"valid", "best"}, default="valid"
        Where an interval is cut: where the information gain is largest among the cuts that leave the table k-anonymous;
        or where it is largest of all, as in the papers, and if that is not valid, the interval is never cut.
    missing : {"keep", "fill", "drop"}, default="keep"
        A missing cell is one of the suppressed values; in a numeric column, or one with a taxonomy, it is a value of
        its own from the first refinement on, that k rows must share. Or it is filled with the mean or the most
        frequent value of the class first, or its row dropped.
    random_state : int, Generator, RandomState or None, default=None
        Nothing is drawn. It is here because all methods have it.

    Attributes
    ----------
    guarantee_ : Guarantee
        The promise, checked on the release.
    anonymity_ : int
        The rows of the rarest combination.
    refinements_ : int
        How many were made.
    cuts_ : dict
        For each quasi-identifier the names of the nodes on its cut, the values that are disclosed, or the numbers at
        which it is cut.
    silent_ : list of str
        The quasi-identifiers of which nothing is told.
    rules_ : dict
        For each quasi-identifier, what `transform` does to its cells.
    quasi_identifiers_ : list of list of str
        The sets of quasi-identifiers.
    missing_ : MissingCells
        What was missing, and what was done about it.
    kept_rows_ : ndarray of int
        The rows that take part: all, unless `missing` is "drop".

    References
    ----------
    B. C. M. Fung, K. Wang and P. S. Yu, Top-down specialization for information and privacy preservation, ICDE 2005;
    and Anonymizing classification data for privacy preservation, IEEE Transactions on Knowledge and Data Engineering
    19(5), 2007.

    Examples
    --------
    >>> from mixbayes.local_methods import Generalisation
    >>> jobs = [["nurse"], ["nurse"], ["surgeon"], ["lawyer"], ["judge"], ["judge"]]
    >>> trees = {"x0": {"any": [{"health": ["nurse", "surgeon"]}, {"law": ["lawyer", "judge"]}]}}
    >>> method = Generalisation(k=2, taxonomies=trees)
    >>> released, _ = method.fit_resample(jobs, [1, 0, 1, 0, 0, 0])
    >>> [row[0] for row in released], method.anonymity_
    (['health', 'health', 'health', 'law', 'law', 'law'], 3)
    """

    NEEDS_CLASS = True
    COARSENS = True
    LEARNED: ClassVar[tuple[str, ...]] = ("anonymity", "refinements", "silent")
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **KEEPING_CONSTRAINTS,
        "k": [Interval(Integral, 1, None, closed="left")],
        "quasi_identifiers": [None, ListsOfNames()],
        "taxonomies": [None, TAXONOMIES],
        "l": [Interval(Integral, 1, None, closed="left")],
        "split": [StrOptions({VALID, BEST})],
    }

    def __init__(
        self,
        *,
        k: int = 10,
        quasi_identifiers: NameSets | None = None,
        taxonomies: Mapping[str, Any] | None = None,
        l: int = 1,  # noqa: E741  # the literature's name
        split: str = VALID,
        missing: str = "keep",
        random_state: RandomState = None,
    ) -> None:
        self.k = k
        self.quasi_identifiers = quasi_identifiers
        self.taxonomies = taxonomies
        self.l = l
        self.split = split
        self.missing = missing
        self.random_state = random_state

    def transform(self, X: ManyColumns) -> ManyColumns:
        """New rows in the terms of the release. It does not make them anonymous.

        A value that no tree has, or that is not disclosed, becomes missing; a number beyond all intervals counts to the
        nearest one.
        """
        check_is_fitted(self)
        table, give = read_columns(X)
        at = self._positions_in(table)
        released = table.with_columns({at[name]: rule(table.columns[at[name]]) for name, rule in self.rules_.items()})
        return give(give.rounded(released))

    def _release(self, work: Work) -> Released:
        requirement = self._requirement(work)
        sets = sets_of(work.table, self.quasi_identifiers)
        columns = sorted({at for each in sets for at in each})
        trees = self._trees(work.table)
        search = Search(
            [_cut(work, at, trees.get(work.table.names[at]), requirement) for at in columns],
            [[columns.index(at) for at in each] for each in sets],
            work.classes.codes,
            len(work.classes.values),
            requirement,
            cut_elsewhere=self.split == VALID,
        )
        self.refinements_ = search.run(work.progress)
        self.anonymity_ = min(each.smallest for each in search.sets)
        rules = [cut.rule() for cut in search.cuts]
        self._learn(work.table, dict(zip(columns, rules, strict=True)))
        self.quasi_identifiers_ = [[work.table.names[at] for at in each] for each in sets]
        told = {at: _told(rule, work.table.columns[at]) for at, rule in zip(columns, rules, strict=True)}
        return Released(work.table.with_columns(told), work.labels)

    def _requirement(self, work: Work) -> Requirement:
        if work.table.rows < self.k:
            raise UnfitTable(f"k = {self.k} rows cannot share anything: n_samples = {work.table.rows}. Lower k.")
        classes = int((work.classes.counts() > 0).sum())
        if classes < self.l:
            raise UnfitTable(f"l = {self.l} classes cannot be in any combination: there are {classes}. Lower l.")
        return Requirement(self.k, self.l)

    def _trees(self, table: Table) -> dict[str, Taxonomy]:
        given = self.taxonomies or {}
        for name in given:
            if isinstance(table.column(name), Numeric):
                raise BadParameter(f"There is a taxonomy for {name!r}, which is numeric. Leave it out: it is cut.")
        return {name: Taxonomy.read(name, nested) for name, nested in given.items()}

    def _learn(self, table: Table, rules: Mapping[int, Rule]) -> None:
        self.rules_ = {table.names[at]: rule for at, rule in rules.items()}
        self.cuts_ = {name: rule.cut for name, rule in self.rules_.items()}
        self.silent_ = [name for name, rule in self.rules_.items() if rule.silent]

    def _guarantee(self, work: Work, released: Released) -> Guarantee:
        coded = Coded.of(released.table, released.classes)
        sets = sets_of(released.table, self.quasi_identifiers)
        counts = [coded.class_counts(coded.combined(each)) for each in sets]
        requirement = Requirement(self.k, self.l)
        return Guarantee(
            claim=self._claim(),
            measured=float(min(int(each.sum(axis=1).min()) for each in counts)),
            holds=all(requirement.met_by(each).all() for each in counts),
            people=self._people(),
            not_promised="that what all rows of a combination have in common, such as their class, is hidden",
        )

    def _people(self) -> str | None:
        sets = "; ".join(", ".join(names) for names in self.quasi_identifiers_)
        return f"{self.k}-anonymity of {sets}" if self.k > 1 else None

    def _claim(self) -> str:
        sets = "; ".join(", ".join(names) for names in self.quasi_identifiers_)
        whose = "all columns" if self.quasi_identifiers is None else sets
        each = "in each set, every" if len(self.quasi_identifiers_) > 1 else "every"
        classes = f"of at least {self.l} classes" if self.l > 1 else "which may all be of one class"
        return f"{each} combination of quasi-identifiers ({whose}) stands for at least {self.k} rows, {classes}"

    def _positions_in(self, table: Table) -> dict[str, int]:
        """Where the quasi-identifiers stand in another table."""
        if len(table.names) != self.n_features_in_:
            raise UnfitTable(
                f"X has {len(table.names)} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        absent = [name for name in self.rules_ if name not in table.names]
        if absent:
            raise UnfitTable(f"There is no column {absent[0]!r}. The columns are {', '.join(map(repr, table.names))}.")
        return {name: table.position(name) for name in self.rules_}


def _cut(work: Work, at: int, tree: Taxonomy | None, requirement: Requirement) -> Cut:
    """The cut of a fully generalised column."""
    column, labels, classes = work.table.columns[at], work.classes.codes, len(work.classes.values)
    if isinstance(column, Numeric):
        return IntervalCut(column, labels, classes)
    if tree is not None:
        return TaxonomyCut(column, tree, labels, classes)
    return SuppressionCut(column, labels, classes, requirement)


def _told(rule: Rule, column: Column) -> Column:
    """The column as it is released: the same object if every cell is released unchanged."""
    found = rule(column)
    if isinstance(found, Nominal) and isinstance(column, Nominal):
        same = len(found.values) == len(column.values) and np.array_equal(found.codes, column.codes)
    else:
        same = np.array_equal(found.cells(), column.cells(), equal_nan=True)
    return column if same else found
