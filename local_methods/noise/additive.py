"""Additive noise: independent, or correlated as the columns are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from mixbayes.local_methods.arithmetic.axes import factor
from mixbayes.local_methods.arithmetic.exact_products import gram, product
from mixbayes.local_methods.arithmetic.scaling import constant, largest_exponents, standard_deviations
from mixbayes.local_methods.base import RandomState
from mixbayes.local_methods.noise.noise import NOISE_CONSTRAINTS, Noise, nonzero_normal
from mixbayes.local_methods.tables import Floats, Mask


class AdditiveNoise(Noise):
    """Adds normal noise to confidential numbers; the noise of a column has `scale` of its standard deviations.

    Correlated noise has the correlations of the columns (Kim). So these stay as they were in expectation, and all
    variances grow by the factor 1 + scale². Independent noise (Brand) weakens the correlations. The noise of a column
    is centred: its mean is kept. A constant column has no deviation, so it is released as it is; so is a table of one
    row. Other columns and classes are released as they are.

    Nobody is protected by this: the guarantee is that no number is the original one. The mean of several releases comes
    near to the originals, one release of correlated columns can be cleaned of independent noise (Kargupta and others),
    and a number far from all others stays far from them. The class is here to be compared with.

    Parameters
    ----------
    scale : float, default=0.1
        The standard deviation of the noise, in standard deviations of the column.
    correlated : bool, default=True
    confidential : list of str or None, default=None
        The numeric columns to change; None for all. The columns of an array are called x0, x1 and so on.
    missing : {"keep", "fill", "drop"}, default="keep"
        Missing cells stay missing; for correlations they count as the mean. Or cells are filled with the mean or the
        most frequent value of the class first, or their rows dropped.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    guarantee_ : Guarantee
        What was added, and how many numbers are the original ones nevertheless.
    unchanged_cells_ : int
        How many numbers stand in constant columns.
    missing_ : MissingCells
        What was missing, and what was done about it.
    kept_rows_ : ndarray of int
        The rows that take part: all, unless `missing` is "drop".

    See Also
    --------
    MultiplicativeNoise : larger noise on larger numbers.

    References
    ----------
    J. J. Kim, A method for limiting disclosure in microdata based on random noise and transformation, Proceedings of
    the Section on Survey Research Methods, American Statistical Association, 1986.

    R. Brand, Microdata protection through noise addition, in J. Domingo-Ferrer (editor), Inference Control in
    Statistical Databases, Springer, 2002.

    H. Kargupta, S. Datta, Q. Wang and K. Sivakumar, On the privacy preserving properties of random data perturbation
    techniques, IEEE International Conference on Data Mining, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from mixbayes.local_methods import AdditiveNoise
    >>> wages = np.array([[5.1], [4.95], [6.67], [4.0], [7.5]])
    >>> released, _ = AdditiveNoise(scale=0.1, random_state=0).fit_resample(wages)
    >>> round(float(released.mean() - wages.mean()), 9)
    0.0
    """

    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **NOISE_CONSTRAINTS,
        "scale": [Interval(Real, 0, None, closed="neither")],
        "correlated": ["boolean"],
    }

    def __init__(
        self,
        *,
        scale: float = 0.1,
        correlated: bool = True,
        confidential: Sequence[str] | None = None,
        missing: str = "keep",
        random_state: RandomState = None,
    ) -> None:
        self.scale = scale
        self.correlated = correlated
        self.confidential = confidential
        self.missing = missing
        self.random_state = random_state

    def _noisy(self, numbers: Floats, random: np.random.Generator) -> Floats:
        deviations = np.where(constant(numbers), 0.0, standard_deviations(numbers))
        noise = coloured(numbers, random) if self.correlated else nonzero_normal(random, numbers.shape)
        noise -= np.nanmean(np.where(np.isnan(numbers), np.nan, noise), axis=0)
        return numbers + self.scale * deviations * noise

    def _unchangeable(self, numbers: Floats) -> Mask:
        return ~np.isnan(numbers) & constant(numbers)

    def _claim(self, names: Sequence[str]) -> str:
        alike = ", correlated as the columns are," if self.correlated and len(names) > 1 else ""
        return (
            f"Normal noise with {self.scale:g} standard deviations of the column{alike} was added to "
            f"{', '.join(names)}: no number there is the original one, except in constant columns"
        )


def coloured(numbers: Floats, random: np.random.Generator) -> Floats:
    """Normal numbers with a variance of one in every column, correlated as the columns are."""
    axes = factor(correlations(numbers), numbers.shape[1])
    return product(nonzero_normal(random, (len(numbers), len(axes))), axes)


def correlations(numbers: Floats) -> Floats:
    """Those of the columns, gaps at the mean; a constant column has none with others."""
    near_one = np.ldexp(numbers, -largest_exponents(numbers))
    scores = (near_one - np.nanmean(near_one, axis=0)) / standard_deviations(near_one)
    products = gram(np.where(np.isnan(scores) | constant(numbers), 0.0, scores))
    squares = products.diagonal()
    lengths = np.sqrt(np.where(squares > 0, squares, 1.0))
    found = products / lengths / lengths[:, None]
    np.fill_diagonal(found, 1.0)
    return found
