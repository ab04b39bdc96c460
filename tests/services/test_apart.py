"""A mixer that was started with another agreement has rounds of which the other one knows nothing: they meet again."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from mixbayes.agreement.addresses import host_and_port
from mixbayes.parties.desk import at_mixers
from mixbayes.protocol.errors import DifferentSets
from mixbayes.transport.errors import CannotServe
from tests.services.couple import NORTH, make_couple
from tests.services.helpers import Site, make_site

AHEAD = [("a", 1), ("b", 1), ("a", 4), ("b", 4)]
"""Which mixer, and how often it was started with another agreement, of one that allows 2 rounds."""


def mistaken(site: Site, name: str, times: int) -> Sequence[int]:
    """Started with another agreement and then with the right one, again and again; the rounds of both mixers."""
    other = site.other(policy={"budget": 7})
    for _ in range(times):
        site.state(name).rename(other.state(name))
        with other.mixer(name):
            pass
        other.state(name).rename(site.state(name))
        with site.mixer(name):
            pass
    return [1 + 2 * times if mixer == name else 1 for mixer in ("a", "b")]


@pytest.mark.parametrize(("name", "times"), AHEAD)
def test_mixers_at_different_rounds_are_brought_together(tmp_path: Path, name: str, times: int) -> None:
    site = make_site(tmp_path / "site", policy={"rounds": 2})
    with site.mixers():
        site.serve()
    at_a, at_b = mistaken(site, name, times)
    with site.mixers(), at_mixers(site.federation, site.identity("north"), site.keys) as desk:
        with pytest.raises(DifferentSets, match=f"mixer a is at round {at_a}, mixer b at round {at_b}"):
            desk.status()
        desk.close_round(desk.last_round())
        assert desk.still_open() == []
        desk.open_round(desk.next_round())
        site.serve()
        assert desk.status().round == max(at_a, at_b) + 1


@pytest.mark.parametrize("name", ["a", "b"])
def test_a_start_that_fails_ends_no_round(served: Site, name: str) -> None:
    other = served.other(policy={"budget": 7})
    other.state(name).symlink_to(served.state(name))
    host, port = host_and_port(served.federation.mixer(name).address)
    with (
        socket.create_server((host, port)),
        pytest.raises(CannotServe, match=f"Nothing can listen on {host}:{port}"),
        other.mixer(name),
    ):
        pass
    with served.mixers():
        assert served.status("north").round == 1


def test_a_start_that_fails_ends_no_round_of_two(tmp_path: Path) -> None:
    couple = make_couple(tmp_path)
    with couple.nodes():
        couple.serve()
    other = replace(couple, site=couple.site.other(policy={"budget": 7}))
    other.site.state(NORTH).symlink_to(couple.site.state(NORTH))
    with (
        socket.create_server(host_and_port(couple.site.federation.party(NORTH).address or "")),
        pytest.raises(CannotServe, match="Nothing can listen on"),
        other.node(NORTH),
    ):
        pass
    with couple.nodes():
        assert couple.status(NORTH).round == 1
