"""The numbers of a node as it is now, group by group, by the metrics of the catalogue."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mixbayes.node.metrics import catalogue as of
from mixbayes.node.metrics.catalogue import Metric
from mixbayes.node.observed import Observed
from mixbayes.node.privacy import loss_of
from mixbayes.node.questions import FOR_LABELS
from mixbayes.node.rounds.state import OVER, State
from mixbayes.node.serving.greeting import SOFTWARE
from mixbayes.node.serving.protocols import OLDEST, PROTOCOL
from mixbayes.node.tallies import KINDS, TRAINING, Timed, Work
from mixbayes.transport.status import CODES
from mixbayes.transport.traffic import Flow

ALL_HOSPITALS, APPLICATIONS = "all hospitals", "own applications"
"""No node has a name with a space in it."""


@dataclass(frozen=True)
class Sample:
    """One value of a metric, for the values of its labels. `times` is how many pieces of work a summary sums up."""

    metric: Metric
    value: float
    labels: tuple[str, ...] = ()
    times: int = 0


Group = Callable[[Observed], Iterator[Sample]]


def who(node: Observed) -> Iterator[Sample]:
    digest = node.federation.digest()[:16]
    yield Sample(of.BUILD, 1, (SOFTWARE, str(PROTOCOL), str(OLDEST)))
    yield Sample(of.NODE, 1, (node.name, node.role, node.federation.name, digest))


def round_now(node: Observed) -> Iterator[Sample]:
    """The round and who is missing in it; of questions only what all hospitals together have asked."""
    if (seen := node.round()) is None:
        return
    status = seen.status
    yield Sample(of.ROUND, status.round)
    for state in State:
        yield Sample(of.STATE, status.state == state, (state.value,))
    yield Sample(of.OPENED, seen.opened)
    yield Sample(of.WAITING, bool(status.reason) and status.state not in OVER)
    for hospital in node.federation.names:
        yield Sample(of.MISSING, hospital in status.missing, (hospital,))
        yield Sample(of.REFUSED, hospital in status.refused, (hospital,))
    yield Sample(of.CHARGED_ROWS, seen.charged_rows)
    if seen.charged_questions is not None:
        yield Sample(of.CHARGED_QUESTIONS, seen.charged_questions)
    if node.role == "hospital":
        yield Sample(of.BUDGET, status.budget)
        yield Sample(of.BUDGET_LEFT, status.budget_left)


def privacy(node: Observed) -> Iterator[Sample]:
    if (agreed := node.federation.privacy) is None:
        return
    own = loss_of(node.given_away(), agreed.total_epsilon, agreed.total_delta)
    seen = node.round()
    epsilon = max(own.epsilon, seen.status.epsilon_spent if seen else 0.0)
    yield Sample(of.EPSILON, agreed.total_epsilon)
    yield Sample(of.EPSILON_SPENT, epsilon)
    yield Sample(of.EPSILON_LEFT, max(0.0, agreed.total_epsilon - epsilon))
    yield Sample(of.DELTA, agreed.total_delta)
    yield Sample(of.DELTA_SPENT, own.delta)
    yield Sample(of.DELTA_LEFT, max(0.0, agreed.total_delta - own.delta))


def certificates(node: Observed) -> Iterator[Sample]:
    node.identity.credentials()  # looks for renewed ones
    yield Sample(of.CERTIFICATE, node.identity.expires.timestamp(), ("own",))
    yield Sample(of.CERTIFICATE, node.identity.authority_expires.timestamp(), ("authority",))


def contacts(node: Observed) -> Iterator[Sample]:
    for peer in node.peers:
        heard = node.tallies.traffic.of(peer).heard
        yield Sample(of.CONTACT, node.tallies.began if heard is None else heard, (peer,))
    for peer, flow in _flows(node):
        yield Sample(of.RECEIVED, flow.received, (peer,))
        yield Sample(of.SENT, flow.sent, (peer,))


def _flows(node: Observed) -> Iterator[tuple[str, Flow]]:
    """How many bytes one hospital moves says how much it asks. So at a mixer it is all of them, or nobody."""
    traffic, hospitals = node.tallies.traffic, node.federation.names
    for peer in node.peers:
        if node.role == "hospital" or peer not in hospitals:
            yield peer, traffic.of(peer)
    if node.role == "mixer":
        yield ALL_HOSPITALS, sum(map(traffic.of, hospitals), Flow())
    else:
        yield APPLICATIONS, traffic.of(node.name)


def calls(node: Observed) -> Iterator[Sample]:
    for method, times in sorted(node.tallies.calls.by_method().items()):
        yield Sample(of.CALLS, times, (method,))
    refusals = node.tallies.calls.by_code()
    for code in sorted({*CODES, *refusals}):
        yield Sample(of.REFUSALS, refusals.get(code, 0), (code,))


def work(node: Observed) -> Iterator[Sample]:
    tallies = node.tallies
    if node.role == "hospital":
        yield from _questions("asked", tallies.asked)
    if node.computes:
        yield from _questions("answered", tallies.answered)
        yield _timed(of.TRAININGS, tallies.trainings.of(TRAINING))


def _questions(side: str, done: Work) -> Iterator[Sample]:
    for kind in KINDS.values():
        yield _timed(of.QUESTIONS, done.of(kind), side, kind)
    for one in FOR_LABELS:
        yield Sample(of.ROWS, done.of(KINDS[one]).rows, (side, KINDS[one]))


def _timed(metric: Metric, timed: Timed, *labels: str) -> Sample:
    return Sample(metric, timed.seconds, labels, timed.times)


def disk(node: Observed) -> Iterator[Sample]:
    room = shutil.disk_usage(node.folder)
    yield Sample(of.DISK_FREE, room.free)
    yield Sample(of.DISK, room.total)


def trails(node: Observed) -> Iterator[Sample]:
    yield Sample(of.TRAILS, len(node.trails()))


GROUPS: tuple[Group, ...] = (who, round_now, privacy, certificates, contacts, calls, work, disk, trails)
