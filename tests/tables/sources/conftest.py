from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.ports import free_port
from tests.tables.sources import postgres


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """An empty database of a PostgreSQL server that runs until the tests are over."""
    if "CI" not in os.environ:
        pytest.skip("only make ci counts in databases")
    assert postgres.programs(), "PostgreSQL is not installed: make engines"
    with postgres.running(free_port()) as url:
        yield url
