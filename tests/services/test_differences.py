"""Nodes that do not agree: what differs is named, and whose is which; the other end's log says it too."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from mixbayes.node.serving import greeting
from mixbayes.node.serving.protocols import OURS, Numbers
from mixbayes.protocol.errors import DifferentSets
from mixbayes.transport.errors import Disagreement
from tests.services.helpers import DICTIONARY, Site, wait_until

LARGER = deepcopy(DICTIONARY)
LARGER["attributes"].append({"name": "age", "kind": "binned", "low": 0.0, "high": 120.0, "cuts": [40.0]})

OTHER: dict[str, tuple[dict[str, Any], str]] = {
    "policy": ({"policy": {"budget": 7}}, "they differ in the policy."),
    "dictionary": ({"dictionary": LARGER}, "they differ in the dictionary."),
    "order of the classes": ({"dictionary": {"classes": ["well", "ill"]}}, "they differ in the dictionary."),
    "members": ({"parties": [{"name": "north"}, {"name": "south"}]}, "they differ in the list of members."),
    "name": ({"name": "tumors"}, "they differ in the name."),
    "two parts": ({"name": "tumors", "policy": {"budget": 7}}, "they differ in the name, the policy."),
}


@pytest.mark.parametrize("what", OTHER)
def test_another_agreement(shared: Site, what: str) -> None:
    changes, words = OTHER[what]
    other = shared.other(**changes)
    with other.both("north") as both:
        error = both.reports()[1]["mixer a"]
    assert (type(error), error.code, error.exit_code) == (Disagreement, "E206", 3)
    ours, theirs = other.federation.digest()[:16], shared.federation.digest()[:16]
    assert f"mixer a, at greeting: its agreement is {theirs} and that of party north is {ours}: {words}" in str(error)
    assert "mixbayes federation show" in str(error)
    assert shared.journals["a"].says("refused", ours, words, "E206", "party north")


def test_a_hospitals_node_does_not_start_with_another_agreement(shared: Site) -> None:
    other = shared.other(policy={"budget": 7})
    with pytest.raises(Disagreement, match="they differ in the policy"), other.hospital("north"):
        pass


def test_mixers_with_different_agreements_compute_nothing(site: Site) -> None:
    other = site.other(policy={"minimum": 3})
    with other.mixer("b"), site.mixer("a"), site.both("north") as both:
        for name in site.federation.names:
            site.hand_in(name, "a")
        wait_until(lambda: "differ in the policy" in both.report("a").reason, "mixer a says what differs")
        assert "mixer b" in both.report("a").reason
        assert both.report("a").state == "collecting"
        assert other.journals["b"].says("refused", "mixer a", "they differ in the policy")


def test_another_protocol_version(shared: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    now, later = OURS.newest, OURS.newest + 1
    with shared.both("north") as both:
        monkeypatch.setattr(greeting, "OURS", Numbers(later, later))
        error = both.reports()[1]["mixer b"]
    assert type(error) is Disagreement
    assert f"mixer b, at greeting: it speaks protocol {later} (mixbayes " in str(error)
    assert f"and party north speaks protocol {now} (mixbayes " in str(error)
    assert "Upgrade party north, which is the older one" in str(error)
    assert shared.journals["b"].says("refused", f"speaks protocol {now}", "Upgrade party north", "E206")


def test_a_caller_without_a_greeting(shared: Site) -> None:
    from mixbayes.transport.peer import Endpoint, Peer
    from mixbayes.transport.watch import Watch
    from mixbayes.wire.v1.node_pb2 import ReportRequest
    from mixbayes.wire.v1.node_pb2_grpc import MixerStub

    address = shared.federation.mixer("a").address
    peer = Peer(Endpoint("mixer a", "a", address), lambda: shared.credentials("north"), (), 5, Watch())
    with pytest.raises(Disagreement, match="party north speaks none"):
        peer.call(MixerStub(peer.channel).Report, ReportRequest(), "asking for the status")
    peer.close()


def test_mixers_that_hold_different_contributions_of_a_hospital(site: Site) -> None:
    """A hospital that sent each another one: the round ends without a model, and everybody learns whose fault it is."""
    with site.mixers(), site.both("north") as both:
        for name in ("north", "south"):
            made = site.message(name)
            site.hand_in(name, "a", made.to_a)
            site.hand_in(name, "b", made.to_b)
        site.hand_in("west", "a", site.message("west").to_a)
        site.hand_in("west", "b", site.message("west").to_b)
        wait_until(lambda: [both.report(name).state for name in "ab"] == ["failed", "failed"], "the round failed")
        for name in ("a", "b"):
            assert "different contributions of party west" in both.report(name).reason


def test_mixers_of_which_one_lacks_a_contribution_wait_for_it(site: Site) -> None:
    """Nothing is computed on two different sets."""
    with site.mixers(), site.both("north") as both:
        made = {name: site.message(name) for name in site.federation.names}
        for name, message in made.items():
            site.hand_in(name, "a", message.to_a)
            if name != "west":
                site.hand_in(name, "b", message.to_b)
        assert both.report("a").state == both.report("b").state == "collecting"
        site.hand_in("west", "b", made["west"].to_b)
        site.wait_for("serving")
        assert site.labels("north", site.tables["west"]) == site.expected(site.tables["west"])


def test_mixers_at_different_rounds_are_named(site: Site) -> None:
    """A mixer that was started under an agreement that the other never saw has one round more."""
    other = site.other(policy={"budget": 7})
    with other.mixer("b"):
        pass
    other.state("b").rename(site.state("b"))
    with site.mixers(), pytest.raises(DifferentSets, match="mixer a is at round 1, mixer b at round 2"):
        site.status("north")
