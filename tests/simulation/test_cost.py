"""What a training and questions cost, beside the traffic of the protocol in memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from mixbayes.agreement.agreement import Federation, federation_from
from mixbayes.agreement.noise import promised
from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.binned import Binned
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.attributes.several import Several
from mixbayes.protocol.bayes import whole
from mixbayes.protocol.bayes.classification import run_classification
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.training import run_training
from mixbayes.protocol.bayes.validity import joint
from mixbayes.protocol.bayes.whole import contribute, run_federation
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import Unsupported
from mixbayes.protocol.transfer.supplied import NoLots, connect_supplied
from mixbayes.simulation.cost import Predicted, beyond, in_words, predicted, thinned
from mixbayes.simulation.rehearsal import Cost, question, stores, training
from mixbayes.simulation.slow_link import SlowLink
from tests.protocol.pairs import random_for, seed

FAR = SlowLink.of(25, 100)
ONLY_DELAYS = SlowLink(1.0, float("inf"))
ROWS = 300
MANY = 10_000
SEEDS = seed(1), seed(2), seed(3)
"""The randomness of what is counted beside a prediction."""


def nominal(count: int, values: int = 3) -> list[Attribute]:
    return [Nominal(name=f"n{i}", values=tuple(map(str, range(values)))) for i in range(count)]


def gaussian(count: int) -> list[Attribute]:
    return [Gaussian(name=f"g{i}", low=0.0, high=1.0) for i in range(count)]


def federation(attributes: Sequence[Attribute], classes: int = 2, hospitals: int = 2, **more: Any) -> Federation:
    policy = {"minimum": hospitals, "timeout": 60.0, "rounds": 1, "min_rows": 5} | more.pop("policy", {})
    labels = tuple(f"c{i}" for i in range(classes))
    agreed = {
        "name": "far",
        "parties": [{"name": f"h{i}"} for i in range(hospitals)],
        "mixers": [{"name": "a", "address": "127.0.0.1:1"}, {"name": "b", "address": "127.0.0.1:2"}],
        "policy": policy,
        "dictionary": Dictionary(class_column="class", classes=labels, attributes=tuple(attributes), max_rows=1000),
    }
    return federation_from(agreed | more)


KINDS = {
    "nominal": federation(nominal(4)),
    "five classes": federation(nominal(3, 5), classes=5),
    "gaussian": federation(gaussian(2)),
    "mixed": federation(
        [
            *nominal(2),
            *gaussian(1),
            Binned(name="b", low=0.0, high=1.0, cuts=(0.5,)),
            Several(name="s", values=("x", "y")),
        ],
        hospitals=3,
    ),
    "folds": federation(nominal(3), policy={"folds": 3}),
}
DRAWN = federation(nominal(2), privacy=promised(KINDS["nominal"].dictionary, 8.0, 1e-6))


@pytest.fixture
def traffic(monkeypatch: pytest.MonkeyPatch) -> list[Channel]:
    """One end of every channel that roles in memory open."""
    opened: list[Channel] = []
    usual = memory.channels

    def noted(*names: Any) -> tuple[Channel, Channel]:
        ends = usual(*names)
        opened.append(ends[0])
        return ends

    monkeypatch.setattr(memory, "channels", noted)
    return opened


def moved(channels: list[Channel]) -> int:
    return sum(channel.traffic.sent + channel.traffic.received for channel in channels)


def table(agreed: Federation) -> Words:
    """Of some patients, all in one fold."""
    layout, random = agreed.layout, np.random.default_rng(1)
    labels = random.integers(0, layout.classes, 20).astype(np.int32)
    vector = np.zeros(layout.contributed, np.uint64)
    vector[: layout.size] = count(layout, Codes(codes(agreed, 20), labels))
    return vector


def codes(agreed: Federation, rows: int) -> Values:
    """Cells of which a number of columns are one cell are missing, because not all numbers make one."""
    random = np.random.default_rng(2)

    def cells(attribute: Attribute) -> Values:
        least = 0 if attribute.columns == 1 else attribute.codes - 1
        return random.integers(least, attribute.codes, (attribute.columns, rows), np.int32)

    return np.concatenate([cells(attribute) for attribute in agreed.dictionary.attributes])


@pytest.mark.parametrize("agreed", [*KINDS.values(), DRAWN], ids=[*KINDS, "noise"])
def test_a_training_moves_what_the_protocol_does(
    agreed: Federation, traffic: list[Channel], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And some messages of nodes, about when it begins and ends."""
    with stores(agreed) as both:
        cost = training(both, FAR)
    monkeypatch.setattr(whole, "connect_pair", partial(connect_supplied, source=NoLots()))  # as nodes have them
    tables = {name: table(agreed) for name in agreed.names}
    run_federation(
        agreed.layout, contribute(tables, random_for(4)), [], 0, SEEDS, (seed(5), seed(6)) if agreed.privacy else None
    )
    assert 0 <= cost.bytes - moved(traffic) < 500


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("kind", ["nominal", "mixed"])
def test_a_question_moves_what_the_protocol_does(kind: str, private: bool, traffic: list[Channel]) -> None:
    """But for what is left of the transfers made for the question before it, and for messages about the question."""
    agreed = KINDS[kind]
    with stores(agreed) as both:
        training(both, FAR)
        cost = question(both, FAR, MANY, private=private)
    models = run_training(agreed.layout, [joint(agreed.layout, table(agreed))], SEEDS)
    traffic.clear()
    run_classification(agreed.layout, models, codes(agreed, 0), SEEDS, private=private)
    connecting = moved(traffic)
    traffic.clear()
    run_classification(agreed.layout, models, codes(agreed, MANY), SEEDS, private=private)
    assert cost.bytes == pytest.approx(moved(traffic) - connecting, rel=0.1)


def test_seconds_are_delays_bytes_and_computing() -> None:
    """A second each where nothing else takes time; the computing of so little takes less than half of one."""
    with stores(KINDS["nominal"]) as both:
        costs = training(both, ONLY_DELAYS), *(question(both, ONLY_DELAYS, 1, private=p) for p in (False, True))
    for cost in costs:
        assert cost.delays <= cost.seconds < cost.delays + 0.5


def test_a_slower_link_takes_longer_for_the_same() -> None:
    with stores(KINDS["nominal"]) as both:
        training(both, FAR)
        near, far = (question(both, SlowLink(0.0, rate), ROWS, private=True) for rate in (1e9, 1e5))
    assert (far.bytes, far.delays) == (near.bytes, near.delays)
    assert far.seconds - near.seconds > 0.3 * far.bytes / 1e5, "of three links, six directions, one is the slowest"


def test_what_is_thinned_has_its_share_of_every_kind() -> None:
    agreed = federation([*nominal(6), *gaussian(3), *(Nominal(name=f"m{i}", values=tuple("abcd")) for i in range(3))])
    assert [attribute.name for attribute in thinned(agreed, 3).dictionary.attributes] == ["n0", "n3", "m0", "g0"]


@pytest.mark.parametrize("attributes", [nominal(300, 10), [*nominal(60, 20), *gaussian(12)]], ids=["nominal", "mixed"])
def test_parts_of_a_dictionary_tell_of_the_whole(attributes: list[Attribute]) -> None:
    agreed = federation(attributes)
    numbers = 2 * agreed.layout.contributed
    whole = predicted(agreed, FAR, rows=(ROWS,))
    parts = predicted(agreed, FAR, rows=(ROWS,), most=-(-numbers // 2))
    for said, counted in ((parts.training, whole.training), (parts.questions[ROWS], whole.questions[ROWS])):
        assert said.bytes != counted.bytes, "nothing was left out"
        # Not quite linear: circuits join more words in a round where there are few.
        assert said.bytes == pytest.approx(counted.bytes, rel=0.25)
        assert said.delays == pytest.approx(counted.delays, rel=0.15)


def test_a_question_may_be_larger_than_the_agreed_budget() -> None:
    found = predicted(federation(nominal(1), policy={"budget": 10}), FAR, rows=(20,))
    assert found.questions[20].bytes > 0


def test_beyond_two_costs() -> None:
    assert beyond(Cost(10, 2, 1.0), Cost(20, 3, 1.5), 3.0) == Cost(40, 5, 2.5)


def test_a_preliminary_agreement_answers_no_questions() -> None:
    binned = Binned(name="b", low=0.0, high=4.0, cuts=(1.0, 2.0, 3.0))
    found = predicted(federation([binned], cuts={"bins": 2}), FAR)
    assert found.questions == {}
    assert found.training.bytes > 0


def test_two_hospitals_alone_are_refused() -> None:
    parties = [{"name": "h0", "address": "127.0.0.1:1"}, {"name": "h1"}]
    with pytest.raises(Unsupported, match="two hospitals alone"):
        predicted(federation(nominal(1), mixers=[], parties=parties), FAR)


def test_one_line_says_it_all() -> None:
    found = Predicted(Cost(2_566_600, 56, 1.587), {1: Cost(3084, 16, 0.404), 1000: Cost(3_173_786, 17, 0.5675)})
    assert in_words(FAR, found, private=True) == (
        "Over links of 25 ms one way and 100 Mbit/s each way a training takes about 1.6 s (2.6 MB, 56 one-way delays "
        "in a row), a private question about 1 row 0.4 s (3.1 kB, 16), about 1,000 rows 0.57 s (3.2 MB, 17), if nodes "
        "make no transfers ahead and compute as this machine."
    )
