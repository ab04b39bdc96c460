"""The noise that a promise needs, and in words what an agreement promises and what it does not."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from mixbayes.agreement.agreement import MOST_EPSILON, Federation, Given, Privacy
from mixbayes.agreement.promise import UNIT, coins_in_words, cost, noise_document, release_of, rounded_up
from mixbayes.privacy.choosing import coins_for
from mixbayes.privacy.coins import Coins
from mixbayes.privacy.loss import Release
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.aside import figures_of
from mixbayes.protocol.errors import Unsupported

USUAL_DELTA = 1e-6
MOST_NAMED = 10


def promised(
    dictionary: Dictionary,
    epsilon: float,
    delta: float = USUAL_DELTA,
    *,
    rounds: int = 1,
    total_epsilon: float | None = None,
    total_delta: float | None = None,
    release: Given = "labels",
    test: JointTest | None = None,
) -> Privacy:
    """This promise for every round, with coins that keep it; the totals are what the rounds add up to if not said.

    `test` is the joint test of every round, where there is one.
    """
    in_all = float(f"{rounds * delta:.12g}") if total_delta is None else total_delta
    _refuse_no_promise(epsilon, delta, in_all)
    layout = Layout(dictionary)
    coins = _coins(epsilon, delta, layout.coordinates, layout.noisy_numbers)
    drawn = [release_of(coins, layout)]
    if test:
        drawn.append(_test_release(test, delta, layout.classes))
    once, together = cost(drawn, in_all), total_epsilon
    if together is None:
        together = rounded_up(cost(drawn, in_all, rounds))
    if not 0 < together < math.inf:
        raise Unsupported(f"{rounds} rounds and a total epsilon of {together:g} do not go together. Agree on others.")
    if together < once:
        raise Unsupported(
            f"One round costs epsilon {rounded_up(once):g} at delta {in_all:g}, more than the {together:g} that are "
            "allowed in all. Allow more, or promise more (a smaller epsilon)."
        )
    return Privacy(
        epsilon=epsilon,
        delta=delta,
        total_epsilon=together,
        total_delta=in_all,
        coins=coins.counts,
        known=coins.known,
        release=release,
        test_epsilon=test.epsilon if test else None,
        test_coins=drawn[1].coins.counts if test else (),
        test_known=drawn[1].coins.known if test else 0,
    )


@dataclass(frozen=True)
class JointTest:
    """What is promised of the joint test of a round."""

    epsilon: float
    changed: int
    """How many of its figures a row changes, at most."""


def usual_test_epsilon(epsilon: float) -> float:
    """Half of what a round promises: losses add up almost like squares, so both cost little more than one."""
    return epsilon / 2


def _test_release(test: JointTest, delta: float, classes: int) -> Release:
    if not 0 < test.epsilon <= MOST_EPSILON:
        raise Unsupported(f"A test epsilon of {test.epsilon:g} is not possible: above 0, and at most {MOST_EPSILON:g}.")
    figures = figures_of(classes)
    return Release(_coins(test.epsilon, delta, test.changed, figures), test.changed, figures)


def document(privacy: Privacy, layout: Layout) -> dict[str, Any]:
    """What one round promises, with which noise, and the ε that it really costs."""
    return {
        "epsilon": privacy.epsilon,
        "delta": privacy.delta,
        "unit": UNIT,
        "noise": noise_document(privacy.noise),
        "spent": cost([release_of(privacy.noise, layout)], privacy.delta),
    }


def joint_test_document(federation: Federation) -> dict[str, Any] | None:
    """The same of the joint test; None where there is none with noise."""
    privacy, drawn = federation.privacy, federation.test_release
    if not privacy or not drawn:
        return None
    about = {"epsilon": privacy.test_epsilon, "delta": privacy.delta, "noise": noise_document(drawn.coins)}
    return about | {"figures_changed": drawn.coordinates, "spent": cost([drawn], privacy.delta)}


def joint_test_in_words(federation: Federation) -> Iterator[str]:
    """What is promised of the joint test, and by which noise; nothing where there is none with noise."""
    privacy, drawn = federation.privacy, federation.test_release
    if not privacy or not drawn:
        return
    yield f"epsilon {privacy.test_epsilon:g} and delta {privacy.delta:g} for the joint test of a round"
    noise = f"{coins_in_words(drawn.coins)} on every figure, a standard deviation of {drawn.coins.deviation:.4g}"
    yield noise if drawn.coordinates == 1 else f"{noise}; a row can change {drawn.coordinates} figures"


def in_words(privacy: Privacy) -> Iterator[str]:
    """What is promised of one round, and by which noise."""
    coins = privacy.noise
    yield f"epsilon {privacy.epsilon:g} and delta {privacy.delta:g} a round, for {UNIT}"
    yield f"{coins_in_words(coins)} on every count, a standard deviation of {coins.deviation:.4g}"


def against_whom(privacy: Privacy) -> str:
    """In words against whom the promise holds."""
    if not all(coins.known for coins in (privacy.noise, privacy.test_noise) if coins):
        return (
            "only against parties that follow the protocol and listen. A mixer, or one of two hospitals, that departs "
            "from it while coins are tossed may know some of them, and the noise of this agreement does not allow for "
            "that. A new agreement does"
        )
    return (
        "also against a mixer, or one of two hospitals, that departs from the protocol while noise is drawn: it is "
        f"found, or knows at most {privacy.known} coins of a count, which is accounted for. It covers what is computed "
        "from noisy counts. Not covered: two mixers together. Nor what a mixer learns by departing from the protocol: "
        "at most three bits of each contribution from its verdicts; the weight that it gives to a row in a joint test. "
        "Nor single bits of counts that enter without noise when a hospital asks (its folds, groups, own recipes, the "
        "rows asked about): a mixer, or the other of two hospitals, that departs from the protocol can learn these"
    )


def spent_together(privacy: Privacy, releases: Sequence[Release], rounds: int) -> float:
    """The ε of so many rounds together at the total δ, each with these releases; it may be infinite."""
    return cost(releases, privacy.total_delta, rounds)


def all_rounds(privacy: Privacy, releases: Sequence[Release], rounds: int) -> str:
    """In words what the agreed rounds cost together, and what the totals allow."""
    spent = spent_together(privacy, releases, rounds)
    found = f"{rounded_up(spent):g}" if math.isfinite(spent) else "without an end"
    return (
        f"epsilon {found} at delta {privacy.total_delta:g} if there are all {rounds}; "
        f"{privacy.total_epsilon:g} is allowed in all"
    )


def without_noise(layout: Layout) -> str:
    """What labels give away if there is no noise."""
    return (
        "Without noise every label is an exact answer about the patients of all hospitals: whoever may ask about as "
        f"many rows as there are cells, here {layout.size:,}, can begin to work out the counts cell by cell, and "
        "whoever may ask about many times as many has the classifier that they make."
    )


def exactly(federation: Federation) -> str:
    """What the round of an agreement gives away that has no noise."""
    if not federation.cuts:
        return without_noise(federation.layout)
    return (
        "Without noise what the round opens is exact: of every numeric attribute the cells of the grid that hold its "
        "quantiles, over the patients of all hospitals, and how the attributes rank. Nothing else is opened."
    )


def not_covered(bounded: Sequence[str], source: str) -> str:
    """What the promise does not cover where the dictionary was made from a table; some columns have bounds."""
    copied = f", and so are bounds and cut points of {_listed(bounded)}" if bounded else ""
    return (
        f"the promise does not cover what the dictionary tells: its classes and values are those of {source}{copied}. "
        "Only those that are known without any patient give nothing away"
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" * (len(names) > MOST_NAMED)
    return ", ".join(map(repr, names[:MOST_NAMED])) + more


def _refuse_no_promise(epsilon: float, delta: float, total_delta: float) -> None:
    if not 0 < epsilon <= MOST_EPSILON:
        raise Unsupported(f"An epsilon of {epsilon:g} is not possible: it is above 0 and at most {MOST_EPSILON:g}.")
    if not 0 < delta < 1:
        raise Unsupported(f"A delta of {delta:g} is not possible: it is above 0 and below 1; 1e-6 is usual.")
    if not 0 < total_delta < 1:
        raise Unsupported(f"A total delta of {total_delta:g} promises nothing: agree on one below 1, or fewer rounds.")


@lru_cache(maxsize=64)  # cross-validation trains with the same promise again
def _coins(epsilon: float, delta: float, coordinates: int, numbers: int) -> Coins:
    try:
        return coins_for(epsilon, delta, coordinates, numbers)
    except ValueError as error:
        raise Unsupported(
            f"There is no such noise: {error}. Promise less (a larger epsilon or delta), or agree on fewer attributes."
        ) from None
