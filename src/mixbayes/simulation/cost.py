"""What a training and questions of a federation cost on the links between its nodes, before anything is installed.

The costs are counted in a rehearsal and not computed from formulas, so they are those of the protocol as it is. Where
all hospitals contribute many numbers, two parts of the dictionary are rehearsed, and the rest is taken to be
proportional.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mixbayes.agreement.agreement import Federation
from mixbayes.protocol.errors import Unsupported
from mixbayes.simulation.rehearsal import Cost, question, stores, training
from mixbayes.simulation.slow_link import SlowLink

USUAL_ROWS = 1, 1000
_MOST = 100_000
"""Numbers in the contributions of all hospitals that are rehearsed: a second or less."""


@dataclass(frozen=True)
class Predicted:
    """Of a training, and by rows of questions in a conversation that stands. No transfers were made ahead for them."""

    training: Cost
    questions: dict[int, Cost]
    """None of a preliminary agreement, which answers no questions."""


def predicted(
    federation: Federation, link: SlowLink, rows: Sequence[int] = USUAL_ROWS, *, private: bool = True, most: int = _MOST
) -> Predicted:
    """What this federation will cost on such links. More than `most` numbers are not rehearsed."""
    refuse_without_mixers(federation)
    step = -(-_numbers(federation) // most)
    if step == 1 or len(federation.dictionary.attributes) < 2 * step:
        return _rehearsed(federation, link, rows, private=private)
    less, more = thinned(federation, 2 * step), thinned(federation, step)
    share = (_numbers(federation) - _numbers(less)) / (_numbers(more) - _numbers(less))
    of_less, of_more = (_rehearsed(one, link, rows, private=private) for one in (less, more))
    return Predicted(
        beyond(of_less.training, of_more.training, share),
        {n: beyond(cost, of_more.questions[n], share) for n, cost in of_less.questions.items()},
    )


def refuse_without_mixers(federation: Federation) -> None:
    if federation.two_party:
        raise Unsupported(
            "--delay says what a federation with mixers costs; two hospitals alone have none. Leave it out."
        )


def thinned(federation: Federation, step: int) -> Federation:
    """With one in `step` attributes: of every kind and of every size as large a share as possible."""
    attributes = sorted(federation.dictionary.attributes, key=lambda a: (a.kind, a.rows))[::step]
    dictionary = federation.dictionary.model_copy(update={"attributes": tuple(attributes)})
    return federation.model_copy(update={"dictionary": dictionary})


def beyond(less: Cost, more: Cost, share: float) -> Cost:
    """On the line through two costs, this multiple of their distance from the first."""
    costs = ((less.bytes, more.bytes), (less.delays, more.delays), (less.seconds, more.seconds))
    moved, delays, seconds = (first + share * (second - first) for first, second in costs)
    return Cost(round(moved), round(delays), seconds)


def in_words(link: SlowLink, found: Predicted, *, private: bool) -> str:
    """One line for people."""
    where = f"{1e3 * link.delay:g} ms one way and {link.rate * 8 / 1e6:g} Mbit/s each way"
    jobs = [f"a training takes about {_cost(found.training, ' one-way delays in a row')}"]
    begins = f"a {'private' if private else 'public'} question about"
    for rows, cost in found.questions.items():
        jobs.append(f"{begins} {rows:,} row{'s' * (rows > 1)} {_cost(cost)}")
        begins = "about"
    return f"Over links of {where} {', '.join(jobs)}, if nodes make no transfers ahead and compute as this machine."


def _cost(cost: Cost, unit: str = "") -> str:
    return f"{_two_digits(cost.seconds)} s ({_size(cost.bytes)}, {cost.delays}{unit})"


def _size(count: int) -> str:
    return f"{_two_digits(count / 1e6)} MB" if count >= 1e5 else f"{_two_digits(count / 1e3)} kB"


def _two_digits(number: float) -> str:
    return f"{float(f'{number:.2g}'):,.15g}"


def _numbers(federation: Federation) -> int:
    return len(federation.parties) * federation.layout.contributed


def _rehearsed(federation: Federation, link: SlowLink, rows: Sequence[int], *, private: bool) -> Predicted:
    with stores(federation) as both:
        trained = training(both, link)
        asked = () if federation.cuts else rows
        return Predicted(trained, {n: question(both, link, n, private=private) for n in asked})
