"""The trial of one value: the training rows are released with it, and the other rows judge the release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from mixbayes.local_methods.arithmetic.nearest_neighbour import NearestNeighbour
from mixbayes.local_methods.base import LocalMethod, RandomState
from mixbayes.local_methods.classifiers import train
from mixbayes.local_methods.coordinates import Coordinates
from mixbayes.local_methods.errors import UnfitTable
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.tables import MISSING, Codes, Nominal, Rows, Table
from mixbayes.local_methods.tuning.privacy import Measure
from mixbayes.local_methods.tuning.scale import Scale
from mixbayes.local_methods.tuning.searches import Tried

Points = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Trial:
    """What every try needs."""

    method: LocalMethod
    parameter: str
    scale: Scale
    training: Labelled
    test: Labelled
    classifier: str | ClassifierMixin | None
    measure: Measure
    seed: int

    def tried(self, steps: Sequence[int], repeats: int, n_jobs: int | None) -> Iterator[Tried]:
        """Each of these values in its turn, the mean of the repeats."""
        tasks = (delayed(self.once)(step, repeat) for step in steps for repeat in range(repeats))
        results: Iterator[Any] = iter(Parallel(n_jobs=n_jobs, return_as="generator")(tasks) or ())
        for step in steps:
            found: list[tuple[float, float]] = [next(results) for _ in range(repeats)]
            accuracy, privacy = np.mean(np.array(found), axis=0)
            yield Tried(self.scale.value(step), float(accuracy), float(privacy))

    def commonest(self) -> float:
        """The accuracy of whoever gives every row the commonest class."""
        return float((self.test.labels.codes == self.training.labels.counts().argmax()).mean())

    def with_value(self, value: float, random_state: RandomState) -> LocalMethod:
        """The method with this value of the parameter."""
        method: Any = clone(self.method)
        return method.set_params(**{self.parameter: value, "random_state": random_state})

    def once(self, steps: int, repeat: int) -> tuple[float, float]:
        """Accuracy and privacy of one release with this value.

        This uses one thread; with `n_jobs` every core runs its own trials.
        """
        with threadpool_limits(1):
            return self._once(steps, repeat)

    def _once(self, steps: int, repeat: int) -> tuple[float, float]:
        seed = int(np.random.SeedSequence([self.seed, steps, repeat]).generate_state(1)[0])
        method = self.with_value(self.scale.value(steps), seed)
        released = Labelled(*method.fit_resample(self.training.table, self.training.labels))
        accuracy = float((self._given(method, released.known()) == self.test.labels.codes).mean())
        return accuracy, self.measure(method, released)

    def _given(self, method: Any, released: Labelled) -> Codes:
        """The labels of the test rows after learning from the release. With one class or none, nothing is learned.

        With projections, the classifiers of all projections are combined, and the test rows are encoded like them.
        """
        codes = released.labels.codes
        if not len(codes):
            return np.full(self.test.table.rows, MISSING)
        if method.RELEASES_PROJECTIONS:
            return method.classifier_.predict(method.transform(self.test.table))
        if isinstance(self.classifier, str):
            return train(self.classifier, released.table, released.labels, self.seed)(self.test.table)
        if (codes == codes[0]).all():
            return np.full(self.test.table.rows, codes[0])
        place = Coordinates.of(self.training.table)
        if self.classifier is None:
            learned = NearestNeighbour().fit(place.points(released.table), codes)
            return learned.predict(place.points(self.test.table))
        classifier: Any = clone(self.classifier)
        return classifier.fit(_points(place, released.table), codes).predict(_points(place, self.test.table))


def _points(place: Coordinates, table: Table) -> Points:
    return place.points(table).astype(np.float32)  # half the work for most classifiers


def split(labels: Nominal, test_share: float, seed: int) -> list[Rows]:
    """Rows to learn from and rows to ask about; both have every class, if no class has one row alone."""
    counts = labels.counts()
    stratify = labels.codes if counts[counts > 0].min() > 1 else None
    try:
        parts = train_test_split(np.arange(len(labels)), test_size=test_share, stratify=stratify, random_state=seed)
    except ValueError:
        raise UnfitTable(
            f"{len(labels)} rows are too few: some are learned from and some asked about, and either need every class."
        ) from None
    return [np.sort(part) for part in parts]
