"""What noise promises: δ for an ε, from the exact distribution of the privacy loss, rounded to the safe side.

**Loss.** The noise Z on one count has the law of `Coins`. A row more or less moves the count by one, so an observer has
to tell P, the law of Z + 1, from Q, the law of Z. The privacy loss of an outcome x is log(P(x)/Q(x)). Its distribution
under P, with the mass where Q is zero as infinite loss, tells δ for every ε:

    δ(ε) = mass of infinite loss + Σ mass · max(0, 1 − exp(ε − loss))

Z is symmetric: x → 1 − x swaps P and Q, so that adding a row and removing one have the same distribution. Noise on
several counts is independent and none of it depends on answers, so losses add up: the distribution of several
coordinates, or of several releases, is exactly the convolution of theirs.

**Rounding.** δ grows with every mass and with every loss, so whatever is rounded is rounded up, and mass that is left
out counts as infinite loss. Losses are put on a grid by *connecting the dots* (Doroshenko et al. 2022): an atom is
split between its two neighbours on the grid, so that it keeps its mass under P and its mass under Q. Merging the two
neighbours gives the atom again, so the original mechanism is post-processing of the one that we account for. The
latter can therefore only promise less.

**Convolution.** By FFT, after tilting: mass · exp(θ · loss), divided by its sum, is a distribution whose mean we put at
ε by the choice of θ. So the rounding of the FFT is small beside δ, even if δ is 1e-12. The FFT is cyclic. What wraps
around into the window only adds to δ, and what lies above the window is bounded by Chernoff's inequality and added.

**A number with several bits.** A sum of squares is hidden by unit · G + U: G is noise of coins, and U is uniform on
0, …, unit − 1. A row moves it by d, 0 ≤ d ≤ unit. This promises at least what one coordinate does whose noise is G:
let V = (U + d) mod unit, and C = 1 if V < d, else 0. Then unit · G + U + d = unit · (G + C) + V, and V is uniform and
independent of G. So whoever is given Y, which is G or G + 1, can draw V, write unit · Y + V if V < d, and unit · G' + V
with a fresh G' otherwise. That has the law of the number without the row if Y is G, and with the row if Y is G + 1. It
is post-processing of Y. For d < 0 swap the two tables.

**Known coins.** Of two who toss one may know some coins of every number, a uniform subset of them (`checking.py`), and
sees which. So the loss of a coordinate is a mixture: of the losses of the law that the other coins have, over how many
of each weight are known. Knowing more of them, or one number's more, is never less loss; one more coin never is more.
That somebody knows more than was allowed for is so improbable that it counts as infinite loss, once in a release.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from mixbayes.privacy.checking import escaping
from mixbayes.privacy.coins import Coins, unknown

Floats = NDArray[np.float64]

STEP = 1e-4
"""Of the grid. Where losses are small, it is halved until `FINE` steps fit into their standard deviation."""
FINE = 64
MOST_POINTS = 1 << 22
"""No window has more of them: a coarser grid is less exact, and as safe."""
MOST_ATOMS = 1 << 20
"""More atoms of one coordinate are merged."""
FINEST = 1024
"""Into so many parts their standard deviation is then divided near zero."""
DENSE = 8
"""So many places for every atom are counted through; where there are more, the atoms are sorted."""
FAINT = 1e-40
"""An outcome that is less probable counts as infinite loss."""
CUT = 1e-20
"""So much mass of the largest and of the smallest losses counts as infinite loss, over all coordinates."""
OUTSIDE = 1e-15
"""How much of the tilted distribution may lie below the window, and how much above."""
STEEPEST = 4096.0
"""The largest θ."""
TOLERANCE = 1e-6
"""Two machines may find a δ that differs by this part of it."""
_EPS = float(np.finfo(np.float64).eps)


class Step(Protocol):
    """Something that is given away: independent parts that are alike, of which the loss of each is known."""

    @property
    def part(self) -> Hashable:
        """What one part is: steps whose parts are equal are put together."""
        ...

    @property
    def times(self) -> int:
        """How many parts there are."""
        ...

    def losses(self) -> Losses:
        """Of one part."""
        ...


@dataclass(frozen=True)
class Release:
    """What is given away at once: as many coordinates as one row touches by one, each with noise of these coins."""

    coins: Coins
    coordinates: int
    numbers: int = 0
    """How many numbers get noise in all, where some coins may be known: by them an escape is improbable."""
    draws: int = 1
    """How often all this is given away, each time with other noise."""

    def __post_init__(self) -> None:
        if self.coordinates < 1 or self.draws < 1:
            raise ValueError("a release has at least one coordinate, and is drawn at least once")
        if self.coins.known and self.numbers < self.coordinates:
            raise ValueError("where coins may be known a release has at least as many numbers as coordinates")

    @property
    def part(self) -> Hashable:
        return (self.coins, self.escaping) if self.coins.known else self.coins

    @property
    def times(self) -> int:
        return self.draws * self.coordinates

    @property
    def escaping(self) -> float:
        """The mass of a coordinate's infinite loss with which all coordinates together have that of an escape."""
        if not self.coins.known:
            return 0.0
        all_of_them = escaping(self.coins, self.numbers)
        return 1.0 if all_of_them >= 1 else -math.expm1(math.log1p(-all_of_them) / self.coordinates) * (1 + 16 * _EPS)

    def again(self, times: int) -> Release:
        """So many such releases."""
        return replace(self, draws=times * self.draws)

    def losses(self) -> Losses:
        return Losses.of(self.coins).or_else(self.escaping)


def delta_of(releases: Sequence[Step], epsilon: float) -> float:
    """The δ of all these releases together at this ε."""
    return Composition.of(releases).delta_at(epsilon)


def epsilon_of(releases: Sequence[Step], delta: float) -> float:
    """The smallest ε of all these releases together at this δ; infinite if no ε is large enough."""
    return Composition.of(releases).epsilon_at(delta)


def keeps(releases: Sequence[Step], epsilon: float, delta: float) -> bool:
    """Whether these releases together are (ε, δ)-private; another machine, which rounds otherwise, says the same."""
    return delta_of(releases, epsilon) <= delta * (1 + TOLERANCE)


@dataclass(frozen=True)
class Losses:
    """Of one coordinate: losses with their masses under P, and the mass of infinite loss."""

    losses: Floats
    masses: Floats
    infinite: float

    @classmethod
    def of(cls, coins: Coins) -> Self:
        """The losses of a coordinate with this noise, mixed over what may be known of the coins."""
        laws = _Laws()
        return cls.mixed((share, cls.of_move(laws.of(left))) for share, left in unknown(coins.counts, coins.known))

    @classmethod
    def roughly(cls, coins: Coins, finer: int) -> Self:
        """The same, as if the noise of so many of the smallest weights were uniform: a row seldom moves the others."""
        laws, counts = _Laws(), (sum(coins.counts[:finer]), *coins.counts[finer:])
        several = unknown(counts, coins.known)
        return cls.mixed((share, cls.of_move(laws.of(left[1:]), 0.5**finer)) for share, left in several)

    @classmethod
    def of_move(cls, noise: _Law, part: float = 1.0) -> Self:
        """The losses of a count that moves by one with this probability, and else stays."""
        law, missing, rounding = noise
        p = part * np.concatenate([[0.0], law]) + (1 - part) * np.concatenate([law, [0.0]])
        return cls.between(p, np.concatenate([law, [0.0]]), missing, rounding)

    @classmethod
    def mixed(cls, several: Iterable[tuple[Fraction, Losses]]) -> Self:
        """The losses of one of these, each with this probability; which one is seen."""
        pile, atoms = list[Losses](), 0
        for share, one in several:
            up = float(share) * (1 + _EPS)
            pile.append(cls(one.losses, up * one.masses, up * one.infinite))
            atoms += len(one.losses)
            if atoms > MOST_ATOMS:
                pile, atoms = [cls.together(pile).merged()], 0
        return cls.together(pile)

    @classmethod
    def together(cls, parts: Sequence[Losses]) -> Self:
        """All atoms of these."""
        losses = np.concatenate([one.losses for one in parts])
        masses = np.concatenate([one.masses for one in parts])
        return cls(losses, masses, math.fsum(one.infinite for one in parts))

    def merged(self) -> Self:
        """The same losses on a few thousand points, close to each other near zero: every atom is split as on a grid."""
        scale = self.deviation

        def point(place: Floats) -> Floats:
            return scale * np.sinh(place / FINEST)

        below = np.floor(np.arcsinh(self.losses / scale) * FINEST)
        places, masses = self._split(below, point(below), point(below + 1) - point(below))
        losses = point(places.astype(np.float64))
        return type(self)(losses + 64 * _EPS * np.abs(losses), masses, self.infinite)

    @classmethod
    def between(cls, p: Floats, q: Floats, missing: float, rounding: float) -> Self:
        """Between two laws, without the mass that is missing, and relative errors of what is there."""
        finite = q >= FAINT
        infinite = math.fsum([missing, *p[~finite]])
        p, q = p[finite & (p > 0)], q[finite & (p > 0)]
        safe = 2 * rounding + 128 * _EPS  # the logarithms are below 93
        return cls(np.log(p) - np.log(q) + safe, p * (1 + rounding), infinite * (1 + rounding))

    def or_else(self, infinite: float) -> Self:
        """The same losses, and besides an infinite one of this mass."""
        return replace(self, infinite=self.infinite + infinite)

    @property
    def deviation(self) -> float:
        """The standard deviation of the finite losses."""
        if not len(self.masses):
            return math.inf
        mean = np.average(self.losses, weights=self.masses)
        return math.sqrt(np.average((self.losses - mean) ** 2, weights=self.masses))

    def on_grid(self, step: float) -> Grid:
        """Every atom split between its neighbours on the grid; its masses under P and under Q stay what they are."""
        below = np.floor(self.losses / step)
        places, masses = self._split(below, below * step, step)
        return Grid(places, masses, self.infinite, step)

    def _split(self, below: Floats, low: Floats, width: Floats | float) -> tuple[NDArray[np.int64], Floats]:
        """The masses of all places, if every atom is split between this one, with the loss `low`, and the next one."""
        above = self.masses * np.clip(np.expm1(low - self.losses) / np.expm1(-width), 0, 1)
        places = np.concatenate([below, below + 1]).astype(np.int64)
        return _summed(places, np.concatenate([self.masses - above, above]))


@dataclass(frozen=True)
class Grid:
    """Losses that are multiples of a step."""

    places: NDArray[np.int64]
    masses: Floats
    infinite: float
    step: float

    @property
    def losses(self) -> Floats:
        return self.places.astype(np.float64) * self.step

    def without_ends(self, most: float) -> Grid:
        """The largest and the smallest losses count as infinite, as long as their mass is at most this.

        Otherwise a loss that nobody will ever see can be the one that counts in the tilted distribution.
        """
        sums = np.cumsum(self.masses), np.cumsum(self.masses[::-1])
        low, high = (int(np.searchsorted(side, most / 2)) for side in sums)
        kept = slice(low, len(self.masses) - high)
        return replace(self, places=self.places[kept], masses=self.masses[kept], infinite=self.infinite + most)

    def coarser(self) -> Grid:
        return Losses(self.losses, self.masses, self.infinite).on_grid(2 * self.step)

    @property
    def range(self) -> tuple[int, int]:
        return (int(self.places.min()), int(self.places.max())) if len(self.places) else (0, 0)

    def log_moment(self, theta: float) -> float:
        """The logarithm of Σ mass · exp(θ · loss)."""
        exponents = theta * self.losses
        highest = float(exponents.max())
        return highest + math.log(float(np.dot(self.masses, np.exp(exponents - highest))))

    def tilted(self, theta: float) -> Floats:
        """The masses times exp(θ · loss), divided by their sum."""
        return self.masses * np.exp(np.minimum(theta * self.losses - self.log_moment(theta), 700))

    def tilted_mean(self, theta: float) -> float:
        return float(np.dot(self.tilted(theta), self.losses))

    def tilted_variance(self, theta: float) -> float:
        """Never zero."""
        weights = self.tilted(theta)
        return float(np.dot(weights, (self.losses - np.dot(weights, self.losses)) ** 2)) + self.step**2 / 16


@dataclass(frozen=True)
class Composition:
    """Independent coordinates together: how often each grid of losses is among them."""

    grids: tuple[Grid, ...]
    times: tuple[int, ...]

    @classmethod
    def of(cls, steps: Iterable[Step], coarsest: float = STEP) -> Self:
        together, alike = Counter[Hashable](), dict[Hashable, Step]()
        for step in steps:
            together[step.part] += step.times
            alike[step.part] = step
        cut = CUT / max(1, together.total())
        exact = [alike[part].losses() for part in together]
        width = _step(exact, list(together.values()), coarsest)
        return cls(tuple(one.on_grid(width).without_ends(cut) for one in exact), tuple(together.values()))

    def coarser(self) -> Self:
        """On every second point of the grid."""
        return type(self)(tuple(grid.coarser() for grid in self.grids), self.times)

    @property
    def infinite(self) -> float:
        """The mass of infinite loss."""
        if any(grid.infinite >= 1 or not len(grid.masses) for grid in self.grids):
            return 1.0
        return -math.expm1(math.fsum(k * math.log1p(-grid.infinite) for grid, k in self._parts))

    def delta_at(self, epsilon: float) -> float:
        if not epsilon >= 0:
            raise ValueError("ε is at least zero")
        if not self.grids or self.infinite >= 1:
            return self.infinite
        theta = tilt_where(lambda theta: self.mean(theta) >= epsilon)
        return min(1.0, self.infinite + Tilted.of(self, theta).delta_at(epsilon))

    def epsilon_at(self, delta: float) -> float:
        if not delta >= 0:
            raise ValueError("δ is at least zero")
        left = delta - self.infinite
        if not self.grids or delta >= 1:
            return 0.0
        if left <= 0:
            return math.inf
        theta = tilt_where(lambda theta: theta * self.mean(theta) - self.log_moment(theta) >= -math.log(left))
        tilted = Tilted.of(self, theta)
        found = tilted.epsilon_at(left)
        while tilted.left_out_at(found) > 1e-6 * left:  # too steep, as when there are only few losses
            tilted = Tilted.of(self, tilt_where(lambda theta, at=found: self.mean(theta) >= at))  # type: ignore[misc]
            before, found = found, min(found, tilted.epsilon_at(left))
            if found == before:
                break
        return found

    def log_moment(self, theta: float) -> float:
        """The logarithm of the mean of exp(θ · loss), over finite losses."""
        return math.fsum(k * grid.log_moment(theta) for grid, k in self._parts)

    def mean(self, theta: float) -> float:
        """The mean of the tilted distribution."""
        return math.fsum(k * grid.tilted_mean(theta) for grid, k in self._parts)

    def variance(self, theta: float) -> float:
        """That of the tilted distribution."""
        return math.fsum(k * grid.tilted_variance(theta) for grid, k in self._parts)

    def range(self) -> tuple[int, int]:
        """The smallest and the largest place on the grid that a sum of finite losses can have."""
        return sum(k * grid.range[0] for grid, k in self._parts), sum(k * grid.range[1] for grid, k in self._parts)

    def window(self, theta: float) -> tuple[int, int]:
        """Places with nearly all of the tilted distribution: at most `OUTSIDE` lies below, and as much above."""
        step, (lowest, highest) = self.grids[0].step, self.range()
        below = max(-self._reach(theta, -rate) for rate in self._rates(theta))
        above = min(self._reach(theta, rate) for rate in self._rates(theta))
        return max(lowest, math.floor(below / step)), min(highest, math.ceil(above / step))

    def _rates(self, theta: float) -> list[float]:
        """Any would be right; the middle one is the best if the distribution is normal."""
        middle = math.sqrt(-2 * math.log(OUTSIDE) / self.variance(theta))
        return [middle * factor for factor in (0.25, 0.5, 0.7, 1, 1.4, 2)]

    def _reach(self, theta: float, rate: float) -> float:
        """Chernoff: the tilted distribution has at most `OUTSIDE` beyond this, in the direction of the rate's sign."""
        return (self.log_moment(theta + rate) - self.log_moment(theta) - math.log(OUTSIDE)) / abs(rate)

    @property
    def _parts(self) -> list[tuple[Grid, int]]:
        return list(zip(self.grids, self.times, strict=True))


@dataclass(frozen=True)
class Tilted:
    """The tilted distribution of the sum of finite losses, in a window, and how far it can be wrong."""

    theta: float
    log_moment: float
    losses: Floats
    masses: Floats
    wrong: float
    """No mass is wrong by more."""
    rounding: float
    """The relative error of everything else."""

    @classmethod
    def of(cls, composition: Composition, theta: float) -> Self:
        low, high = composition.window(theta)
        if high - low >= MOST_POINTS:
            return cls.of(composition.coarser(), theta)
        points = 1 << max(1, (high - low).bit_length())
        log_moment, step = composition.log_moment(theta), composition.grids[0].step
        masses, wrong = _convolved(composition, theta, points)
        inside = np.roll(masses, -(low % points))[: high - low + 1]
        losses: Floats = np.arange(low, high + 1, dtype=np.float64) * step
        return cls(theta, log_moment, losses, np.maximum(inside, 0), wrong, _rounding(composition, theta))

    def delta_at(self, epsilon: float) -> float:
        """Without the mass of infinite loss. Everything that is left out or may be wrong is added."""
        negligible = epsilon - math.log(OUTSIDE) / max(self.theta, _EPS)
        first, last = np.searchsorted(self.losses, [epsilon, negligible], side="right")
        above = self.losses[first:last] - epsilon
        weights = np.exp(-self.theta * above) * -np.expm1(-above)
        found = float(np.dot(self.masses[first:last] + self.wrong, weights)) + 3 * OUTSIDE
        exponent = self.log_moment - self.theta * epsilon
        rounding = self.rounding + 8 * _EPS * (abs(self.log_moment) + self.theta * epsilon)
        return math.exp(min(exponent, 700.0)) * found * (1 + rounding)

    def left_out_at(self, epsilon: float) -> float:
        """How much of δ stands for what is not in the window."""
        return 3 * OUTSIDE * math.exp(min(self.log_moment - self.theta * epsilon, 700.0))

    def epsilon_at(self, delta: float) -> float:
        """By bisection: an ε whose δ is not larger, and hardly too large itself."""
        low, high = 0.0, 1.0
        if self.delta_at(low) <= delta:
            return low
        while self.delta_at(high) > delta:
            low, high = high, 2 * high
            if high > 1e6:
                return math.inf
        while high - low > 1e-10 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta_at(middle) <= delta else (middle, high)
        return high


def _convolved(composition: Composition, theta: float, points: int) -> tuple[Floats, float]:
    """The tilted distribution of the sum, wrapped around, and a bound on what rounding does to each of its masses.

    Every output of an FFT is a sum of inputs that go through log2(points) levels of multiplications by roots of unity
    and additions, so its error is at most that many roundings times the sum of the inputs' absolute values.
    """
    level = 8 * _EPS * math.log2(points)
    product, largest, error = np.ones(points // 2 + 1, np.complex128), np.zeros(points // 2 + 1), 0.0
    relative = np.zeros(points // 2 + 1)
    for grid, times in zip(composition.grids, composition.times, strict=True):
        wave = np.fft.rfft(np.bincount(grid.places % points, grid.tilted(theta), points))
        size = np.abs(wave) + level
        product *= wave**times
        largest += times * np.log(size)
        relative += times * (level / size + 16 * _EPS)
    sizes = np.exp(largest)
    error = 2 * float(np.sum(sizes * (relative + level))) / points
    return np.fft.irfft(product, points), error


def _rounding(composition: Composition, theta: float) -> float:
    """Of the tilted masses: exponents are wrong by a few units in their last place."""
    tops = [theta * float(np.abs(grid.losses).max()) + abs(grid.log_moment(theta)) for grid in composition.grids]
    return 8 * _EPS * math.fsum(k * (2 + top) for k, top in zip(composition.times, tops, strict=True))


def _summed(places: NDArray[np.int64], masses: Floats) -> tuple[NDArray[np.int64], Floats]:
    """The places that occur, in order, and the sum of the masses at each."""
    low = int(places.min(initial=0))
    if int(places.max(initial=0)) - low > DENSE * places.size:
        found, where = np.unique(places, return_inverse=True)
        return found, np.bincount(where, masses).astype(np.float64)
    sums = np.bincount(places - low, masses).astype(np.float64)
    kept = np.flatnonzero(sums).astype(np.int64)
    return kept + low, sums[kept]


def tilt_where(reached: Callable[[float], bool]) -> float:
    """A θ at which a condition that holds from some θ on begins to hold, roughly; any θ gives a bound."""
    low, high = 0.0, 1.0
    if reached(low):
        return low
    while not reached(high):
        low, high = high, 2 * high
        if high > STEEPEST:
            return low
    for _ in range(10):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def _step(exact: Sequence[Losses], times: Sequence[int], coarsest: float) -> float:
    """Fine enough for the smallest losses, coarse enough for the window of all."""
    deviations = [one.deviation for one in exact if 0 < one.deviation < math.inf]
    whole = math.sqrt(math.fsum(k * one.deviation**2 for one, k in zip(exact, times, strict=True) if len(one.masses)))
    step = coarsest
    while deviations and step > min(deviations) / FINE and 32 * whole / step < MOST_POINTS:
        step /= 2
    return step


_Law = tuple[Floats, float, float]
"""Probabilities of the noise without faint ends, the mass that is missing, and the relative rounding of the rest."""


class _Laws:
    """The laws of several counts of coins, of which many have the same coins of large weights."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, ...], _Law] = {(): (np.ones(1), 0.0, 0.0)}

    def of(self, counts: tuple[int, ...]) -> _Law:
        """From the largest weight to the smallest, so that every convolution is a short one.

        Everything is positive, so that also the smallest probability has a small relative error. What is cut off
        depends on the coins alone, not on the row, so it is as if it had infinite loss.
        """
        larger = counts[1:]
        if larger not in self._found:
            self._found[larger] = self.of(larger)
        law, missing, rounding = self._found[larger]
        spread = np.zeros(2 * len(law) - 1)
        spread[::2] = law
        binomial, cut = _binomial(counts[0])
        law, also_cut = _without_faint_ends(np.convolve(spread, binomial))
        return law, missing + (cut + also_cut) * FAINT, rounding + (len(binomial) + 2) * _EPS


@lru_cache(maxsize=256)
def _binomial(count: int) -> tuple[Floats, int]:
    """The probabilities of heads among fair coins, each correctly rounded, without faint ends."""
    ways, found = 1, []
    for heads in range(count + 1):
        found.append(ways / (1 << count))
        ways = ways * (count - heads) // (heads + 1)
    return _without_faint_ends(np.array(found))


def _without_faint_ends(law: Floats) -> tuple[Floats, int]:
    """And how many outcomes were cut off."""
    kept = np.flatnonzero(law >= FAINT)
    inside = law[kept[0] : kept[-1] + 1]
    return inside, len(law) - len(inside)
