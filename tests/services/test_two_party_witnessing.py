"""Two hospitals alone note each other's heads: each finds that the other's trail was cut."""

from __future__ import annotations

import pytest

from mixbayes.node.disk import audit
from mixbayes.node.disk.heads import NOTED
from tests.services.couple import NORTH, OTHER, SOUTH, Couple
from tests.services.helpers import wait_until
from tests.trails import behind_the_head, cut, found_cut


def noted(couple: Couple, name: str) -> list[str]:
    return [one.entry.subject for one in audit.entries(couple.site.state(name)) if one.entry.verb == NOTED]


@pytest.mark.parametrize("name", [NORTH, SOUTH])
def test_a_trail_that_was_cut_is_found_by_the_other_hospital(couple: Couple, name: str) -> None:
    finder, title = OTHER[name], f"party {name}"
    with couple.node(finder):
        with couple.node(name):
            couple.serve()
            wait_until(lambda: noted(couple, finder) == [title], "the other's head is noted")
            wait_until(lambda: noted(couple, name) == [f"party {finder}"], "its own head is noted")
        cut(couple.site.state(name), behind_the_head(couple.site.state(name)))
        with couple.node(name):
            wait_until(lambda: found_cut(couple.site.state(finder)) == [title], "it is found")
            assert f"the audit trail of {title} no longer has the head" in couple.status(finder).trails[0]
            couple.serve()
            assert couple.labels(name, private=False) == couple.due()
    assert couple.site.journals[finder].says("an audit trail is cut", title)
