"""Whom a node dials, and where."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from mixbayes.agreement.agreement import federation_from
from mixbayes.node.identity import Identity
from mixbayes.node.log import logger
from mixbayes.node.serving.dialling import address_of, dial
from mixbayes.protocol.errors import PeerGone, Unsupported
from mixbayes.transport.errors import Unreachable
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1.node_pb2 import ReportRequest
from mixbayes.wire.v1.node_pb2_grpc import MixerStub
from tests.keys.helpers import HEART, PAIR, with_keys


def test_mixers_and_the_hospital_that_listens_have_addresses() -> None:
    assert address_of(federation_from(HEART), "a") == "127.0.0.1:4001"
    assert address_of(federation_from(HEART), "b") == "[::1]:4002"
    assert address_of(federation_from(PAIR), "north") == "north.example.org:8443"


def test_nobody_dials_the_others() -> None:
    with pytest.raises(Unsupported, match="party south has no address in the agreement"):
        address_of(federation_from(PAIR), "south")
    with pytest.raises(Unsupported, match="has no party 'nobody'"):
        address_of(federation_from(PAIR), "nobody")


def test_a_node_is_found_when_it_is_first_called(tmp_path: Path) -> None:
    """And not after the block has ended."""
    keys = with_keys(tmp_path / "keys", "north", tmp_path / "authority")
    identity = Identity(keys, "north", logger("party north", io.StringIO()))
    with (
        dial(federation_from(HEART), identity, "a", Watch(), "127.0.0.1:1") as peer,
        pytest.raises(Unreachable, match=r"mixer a, at looking: nothing listens at 127\.0\.0\.1:1\."),
    ):
        peer.call(MixerStub(peer.channel).Report, ReportRequest(), "looking")
    with pytest.raises(PeerGone, match="this node itself has hung up"):
        peer.call(MixerStub(peer.channel).Report, ReportRequest(), "looking")
