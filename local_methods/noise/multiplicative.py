"""Multiplicative noise: each number times a random one near to one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from mixbayes.local_methods.base import RandomState
from mixbayes.local_methods.noise.noise import NOISE_CONSTRAINTS, Noise, nonzero_normal
from mixbayes.local_methods.tables import Floats, Mask


class MultiplicativeNoise(Noise):
    """Multiplies confidential numbers by normal noise with mean one, truncated so that no number changes its sign.

    This is the first form of Kim and Winkler: factors 1 + e, where e is normal with standard deviation `scale` and lies
    between -1 and 1. Larger numbers change more; a zero stays zero. The means of the columns are kept in expectation
    only. Other columns and classes are released as they are.

    Nobody is protected by this: the guarantee is that no number but zero is the original one. The mean of several
    releases comes near to the originals, every zero is known, and a number far from all others stays far from them. The
    class is here to be compared with.

    Parameters
    ----------
    scale : float, default=0.1
        The standard deviation of the factors, before truncation. Less than 1.
    confidential : list of str or None, default=None
        The numeric columns to change; None for all. The columns of an array are called x0, x1 and so on.
    missing : {"keep", "fill", "drop"}, default="keep"
        Missing cells stay missing. Or cells are filled with the mean or the most frequent value of the class first, or
        their rows dropped.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    guarantee_ : Guarantee
        What was done, and how many numbers are the original ones nevertheless.
    unchanged_cells_ : int
        How many numbers are zeros.
    missing_ : MissingCells
        What was missing, and what was done about it.
    kept_rows_ : ndarray of int
        The rows that take part: all, unless `missing` is "drop".

    See Also
    --------
    AdditiveNoise : noise of the same size on all numbers of a column.

    References
    ----------
    J. J. Kim and W. E. Winkler, Multiplicative noise for masking continuous data, Statistical Research Division
    Research Report 2003-01, U.S. Bureau of the Census, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from mixbayes.local_methods import MultiplicativeNoise
    >>> released, _ = MultiplicativeNoise(random_state=0).fit_resample(np.array([[-4.0], [0.0], [7.5]]))
    >>> np.sign(released).ravel().tolist()
    [-1.0, 0.0, 1.0]
    """

    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **NOISE_CONSTRAINTS,
        "scale": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        *,
        scale: float = 0.1,
        confidential: Sequence[str] | None = None,
        missing: str = "keep",
        random_state: RandomState = None,
    ) -> None:
        self.scale = scale
        self.confidential = confidential
        self.missing = missing
        self.random_state = random_state

    def _noisy(self, numbers: Floats, random: np.random.Generator) -> Floats:
        return numbers * (1 + truncated(self.scale, random, numbers.shape)) + 0.0  # a zero has no sign

    def _unchangeable(self, numbers: Floats) -> Mask:
        return numbers == 0

    def _claim(self, names: Sequence[str]) -> str:
        return (
            f"Each number of {', '.join(names)} was multiplied by normal noise with mean 1 and standard deviation "
            f"{self.scale:g}: no number there is the original one, except zeros"
        )


def truncated(scale: float, random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Normal numbers with this standard deviation; what is not between -1 and 1 is drawn again."""
    drawn = scale * nonzero_normal(random, shape)
    beyond = abs(drawn) >= 1
    while beyond.any():
        drawn[beyond] = scale * nonzero_normal(random, (int(beyond.sum()),))
        beyond = abs(drawn) >= 1
    return drawn
