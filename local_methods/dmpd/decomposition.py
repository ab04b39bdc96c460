"""Data mining privacy by decomposition: a table as k-anonymous projections."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, TransformerMixin
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from mixbayes.local_methods.base import COMMON_CONSTRAINTS, LocalMethod, RandomState, Released, Work, silent
from mixbayes.local_methods.coded import Coded
from mixbayes.local_methods.containers import ManyColumns, read_columns
from mixbayes.local_methods.dmpd.anonymity import Levels
from mixbayes.local_methods.dmpd.coarsening import EnoughShare
from mixbayes.local_methods.dmpd.exposure import Exposure
from mixbayes.local_methods.dmpd.inducers import INDUCERS, NAIVE_BAYES
from mixbayes.local_methods.dmpd.partition import FREE, MUTATION_RULES, groups_of
from mixbayes.local_methods.dmpd.problem import Problem, identifiers_of, refuse_contradiction
from mixbayes.local_methods.dmpd.projection_classifier import ProjectionClassifier
from mixbayes.local_methods.dmpd.projections import Projection, emptied, projected, rejoined
from mixbayes.local_methods.errors import UnfitTable
from mixbayes.local_methods.guarantee import Guarantee
from mixbayes.local_methods.name_set_check import ListsOfNames
from mixbayes.local_methods.name_sets import NameSets
from mixbayes.local_methods.tables import Nominal, Table

Groups = tuple[tuple[int, ...], ...]

SEARCH_CONSTRAINTS: Mapping[str, Any] = {
    **COMMON_CONSTRAINTS,
    "quasi_identifiers": [ListsOfNames(), None],
    "l": [Interval(Integral, 1, None, closed="left")],
    "inducer": [StrOptions(set(INDUCERS)), HasMethods(["fit", "predict_proba"])],
    "population": [Interval(Integral, 2, None, closed="left")],
    "generations": [Interval(Integral, 0, None, closed="left")],
    "folds": [Interval(Integral, 2, None, closed="left")],
    "crossover": [Interval(Real, 0, 1, closed="both")],
    "mutation": [Interval(Real, 0, 1, closed="both")],
    "mutation_rule": [StrOptions(set(MUTATION_RULES))],
    "class_in_key": ["boolean"],
    "missing": [StrOptions({"keep", "fill", "drop"})],
    "n_jobs": [Integral, None],
}


class DMPD(TransformerMixin, LocalMethod):  # type: ignore[misc]  # scikit-learn publishes no types
    """Divides the columns among projections, each k-anonymous and each with the class, and leaves out the rest.

    Numbers become intervals, cut where the class changes, and are released as the means of their intervals; a number
    that no cut tells anything about is left out. A genetic search looks for the partition of the columns with which
    classifiers of the projections, combined, are most accurate; among equals, for the one with most columns. With naive
    Bayes it is the set of used columns alone that decides how accurate, and the grouping how anonymous.

    `fit_resample` gives one table that says exactly what the projections say: each is shuffled within the classes, and
    columns that are left out are missing - all of them, if no column has only values that k rows share. So a count of
    a column by class is that of the discretised table. `projections` gives the projections apart. `transform` puts
    rows that are to be classified into the terms of the release. It does not make them anonymous, nor does
    `fit_transform`: rows stay whole.

    The paper claims that projections rejoined by their class are still k-anonymous. For three classes or more that
    need not be so (see `rejoined_anonymity_`), unless the class is in the key.

    Parameters
    ----------
    k : int, default=10
        How many rows at least share each combination of quasi-identifiers that is in a projection.
    quasi_identifiers : list of str, list of lists of str, or None, default=None
        The columns that an outsider may know; None for all. The columns of an array are called x0, x1 and so on. With
        several lists, each is what one outsider knows, and k holds for each of them. It does not hold for outsiders
        who put together what they know.
    l : int, default=1
        How many classes at least the rows have that share a combination of quasi-identifiers (distinct l-diversity,
        the class being what is to be kept secret).
    inducer : {"naive-bayes", "tree"} or classifier of scikit-learn, default="naive-bayes"
        What learns from a projection.
    population : int, default=50
    generations : int, default=100
    folds : int, default=5
        Of the cross-validation that the accuracy is measured by.
    crossover : float, default=0.6
        The probability with which two parents are crossed.
    mutation : float, default=0.033
        The probability with which a feature changes its group.
    mutation_rule : {"free", "printed"}, default="free"
        Where it goes then: to any other group, to the unused features or to a group of its own; or, as the paper has
        it, to another group, and to one of its own only where there is just one.
    class_in_key : bool, default=False
        Whether the k rows must be of one class too. Then rejoined projections are k-anonymous with any classes.
    coarsen : bool, default=False
        Whether a quasi-identifier with values that too few rows share is made coarser, where it would be left out
        else. Its rare intervals are merged with their neighbours, and its rare names become missing cells together.
    missing : {"keep", "fill", "drop"}, default="keep"
        A missing cell is a value of its own, that k rows must share; or it is filled with the mean or the most
        frequent value of the class; or its row is dropped.
    n_jobs : int or None, default=None
        Workers of joblib that learn from projections; naive Bayes needs none. Its backend, be it Dask or Ray, is the
        caller's choice with `joblib.parallel_config`.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    guarantee_ : Guarantee
        The promise, checked on the release.
    projections_ : list of list of str
        The columns of each projection.
    left_out_ : list of str
        The columns that are in none.
    coarsened_ : list of str
        The released columns that `coarsen` has made coarser.
    accuracy_ : float
        Of the combined classifiers, over the folds. The best of many, and numbers were cut with all rows in view: for
        new rows expect less.
    anonymity_ : int
        The rows of the rarest combination of quasi-identifiers in a projection; as all of the following, for the
        outsider who finds the smallest.
    rejoined_anonymity_ : int
        The same after rejoining the projections by their class, or fewer where these are very many.
    rejoined_anonymity_with_class_ : int
        The same with the class in the key.
    diversity_ : int
        The fewest classes of rows that share a combination of quasi-identifiers in a projection.
    rejoined_diversity_ : int
        The same after rejoining the projections by their class. It can be below `l`, unless `l` is the number of
        classes.
    discretiser_ : Discretiser
        The intervals.
    classifier_ : ProjectionClassifier
        What can be learned from the release; it classifies what `transform` gives of a `Table`.
    missing_ : MissingCells
        What was missing, and what was done about it.
    kept_rows_ : ndarray of int
        The rows that take part: all, unless `missing` is "drop".

    See Also
    --------
    AnonymityTradeoff : how much accuracy each level of anonymity costs.

    References
    ----------
    N. Matatov, L. Rokach and O. Maimon, Privacy-preserving data mining: a feature set partitioning approach,
    Information Sciences 180(14), 2010; after it L. Jena and N. K. Kamila, Distributed data mining privacy by
    decomposition (DDMPD) with naive Bayes classifier and genetic algorithm.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mixbayes.local_methods import DMPD
    >>> method = DMPD(k=20, population=20, generations=10, random_state=0)
    >>> released, classes = method.fit_resample(*load_iris(return_X_y=True))
    >>> method.anonymity_ >= 20
    True
    """

    NEEDS_CLASS = True
    KEEPS_ORDER = False
    RELEASES_PROJECTIONS = True
    LEARNED: ClassVar[tuple[str, ...]] = (
        "projections",
        "left_out",
        "coarsened",
        "accuracy",
        "anonymity",
        "rejoined_anonymity",
        "rejoined_anonymity_with_class",
        "diversity",
        "rejoined_diversity",
    )

    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **SEARCH_CONSTRAINTS,
        "k": [Interval(Integral, 1, None, closed="left")],
        "coarsen": ["boolean"],
    }

    def __init__(
        self,
        *,
        k: int = 10,
        quasi_identifiers: NameSets | None = None,
        l: int = 1,  # noqa: E741 - as in l-diversity
        inducer: str | ClassifierMixin = NAIVE_BAYES,
        population: int = 50,
        generations: int = 100,
        folds: int = 5,
        crossover: float = 0.6,
        mutation: float = 0.033,
        mutation_rule: str = FREE,
        class_in_key: bool = False,
        coarsen: bool = False,
        missing: str = "keep",
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.k = k
        self.quasi_identifiers = quasi_identifiers
        self.l = l
        self.inducer = inducer
        self.population = population
        self.generations = generations
        self.folds = folds
        self.crossover = crossover
        self.mutation = mutation
        self.mutation_rule = mutation_rule
        self.class_in_key = class_in_key
        self.coarsen = coarsen
        self.missing = missing
        self.n_jobs = n_jobs
        self.random_state = random_state

    def transform(self, X: ManyColumns) -> ManyColumns:
        """New rows in the terms of the release: intervals for numbers, and left-out columns missing."""
        check_is_fitted(self)
        table, give = read_columns(X)
        names = self._names_of(table, X)
        part = table.select([names.index(name) for name in self._names])
        known = dict(zip(self._names, _kept(self.discretiser_(part), self._groups).columns, strict=True))
        columns = [known.get(name) or emptied(table.columns[at]) for at, name in enumerate(names)]
        return give(give.rounded(Table(table.names, tuple(columns), table.rows)))

    def projections(self, released: Table, labels: Nominal) -> list[Projection]:
        """The projections of the release apart, each in an order of its own."""
        groups = [released.positions(names) for names in self.projections_]
        return projected(released, labels, groups, self._shuffle)

    def work(self, table: Table, labels: Nominal) -> Work:
        """The table as it is searched, its missing cells treated."""
        if len(labels) != table.rows:
            raise UnfitTable(f"X has {table.rows} rows, y has {len(labels)}: inconsistent numbers of samples.")
        return self._prepare(table, labels, silent)[0]

    def _refuse_parameters(self) -> None:
        super()._refuse_parameters()
        refuse_contradiction(self)

    def _release(self, work: Work) -> Released:
        if work.table.rows < self.k:
            raise UnfitTable(f"k = {self.k} rows cannot share anything: n_samples = {work.table.rows}. Lower k.")
        with threadpool_limits(1):  # the order in which several threads add up could decide between two classes
            problem = self._problem(work)
            searchable = problem.searchable(self.k)
            partition, accuracy = problem.search(self, searchable, work)
        groups = tuple(tuple(searchable[at] for at in group) for group in groups_of(partition))
        table, labels = rejoined(problem.table, problem.labels, groups, work.random)
        self._learn(work, problem, groups, table, labels)
        self.accuracy_ = accuracy
        return Released(table, labels)

    def _problem(self, work: Work) -> Problem:
        fine = Problem.of(work, self)
        return fine.coarsened(work, EnoughShare(self.k, self.class_in_key, self.l)) if self.coarsen else fine

    def _learn(self, work: Work, problem: Problem, groups: Groups, table: Table, labels: Nominal) -> None:
        found = Exposure.of(Coded.of(table, labels), groups, problem.identifiers)
        self.anonymity_, self.diversity_ = found.anonymity, found.diversity
        self.rejoined_anonymity_ = found.rejoined_anonymity
        self.rejoined_anonymity_with_class_ = found.rejoined_anonymity_with_class
        self.rejoined_diversity_ = found.rejoined_diversity
        names, used = table.names, {at for group in groups for at in group}
        self.projections_ = [[names[at] for at in group] for group in groups]
        self.left_out_ = [name for at, name in enumerate(names) if at not in used]
        self.coarsened_ = [names[at] for at in problem.discretiser.coarser if at in used]
        self.discretiser_ = problem.discretiser
        self.classifier_ = ProjectionClassifier.learn(table, labels, groups, self.inducer)
        self._names, self._groups = names, groups
        self._shuffle = int(work.random.integers(2**31))

    def _guarantee(self, work: Work, released: Released) -> Guarantee:
        labels = released.labels
        if labels is None or work.labels is None:
            raise UnfitTable("DMPD needs the class of every row.")
        identifiers = identifiers_of(work.table, self.quasi_identifiers)
        coded = Coded.of(released.table, labels)
        level = Levels(coded, identifiers, self.class_in_key, self.l).of_groups(self._groups)
        before = _kept(self.discretiser_(work.table), self._groups), work.labels
        counted = _same_counts(*before, released.table, labels)
        return Guarantee(
            claim=self._claim(),
            measured=level,
            holds=level >= self.k and counted,
            people=self._people(),
            not_promised="that the class is hidden, or that projections rejoined by their class are as anonymous",
        )

    def _people(self) -> str | None:
        if self.k == 1 or not self._groups:
            return None
        return f"{self.k}-anonymity of the quasi-identifiers in each projection by itself"

    def _claim(self) -> str:
        if not self._groups:
            return "nothing is released but the classes"
        of_classes = f" of at least {self.l} classes" if self.l > 1 else ""
        of_classes = " of one class" if self.class_in_key else of_classes
        return (
            f"in each of {len(self._groups)} projections every combination of quasi-identifiers stands for at least "
            f"{self.k} rows{of_classes}"
        )

    def _names_of(self, table: Table, X: ManyColumns) -> list[str]:
        if len(table.names) != self.n_features_in_:
            raise UnfitTable(
                f"X has {len(table.names)} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        names = list(table.names)
        absent = [name for name in self._names if name not in names]
        if absent:
            raise UnfitTable(f"There is no column {absent[0]!r}. The columns are {', '.join(map(repr, names))}.")
        return names


def _kept(table: Table, groups: Groups) -> Table:
    """Columns that are in no group missing."""
    used = {at for group in groups for at in group}
    return table.with_columns({at: emptied(c) for at, c in enumerate(table.columns) if at not in used})


def _same_counts(before: Table, labels: Nominal, after: Table, labels_after: Nominal) -> bool:
    """Whether each column has each value as often in each class as before."""
    pairs = ((Coded.of(t, y), t) for t, y in ((before, labels), (after, labels_after)))
    one, other = ([coded.class_counts(code) for code in coded.codes] for coded, _ in pairs)
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
