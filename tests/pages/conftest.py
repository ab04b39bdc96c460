from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.pages.visitor import Visitor
from tests.pages.ward import Ward, ward

COMMON = ("personal:weight=10:prior=own",)


@pytest.fixture(scope="module")
def heart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ward]:
    """A federation that serves, and the pages of north and of mixer a. Its nodes end before another module's begin."""
    with ward(tmp_path_factory.mktemp("heart"), recipes=list(COMMON)) as made:
        yield made


@pytest.fixture(scope="module")
def manager(heart: Ward) -> Visitor:
    visitor = Visitor(heart.port)
    assert visitor.enter(heart.link()).status == 200
    return visitor


@pytest.fixture(scope="module")
def doctor(heart: Ward, manager: Visitor) -> Visitor:
    """With a link that the data manager made."""
    made = manager.send("/links", ("role", "doctor"))
    found = re.search(r"http://127\.0\.0\.1:\d+/enter/[\w-]+", made.text)
    assert found
    visitor = Visitor(heart.port)
    assert visitor.enter(found[0]).status == 200
    return visitor
