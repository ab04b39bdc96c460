from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.ports import free_port
from tests.tables.sources import postgres


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """An empty database of a PostgreSQL server that runs until the tests are over."""
    if postgres.programs() is None:
        assert "CI" not in os.environ, "PostgreSQL is not installed: make engines"
        pytest.skip("PostgreSQL is not installed")
    with postgres.running(free_port()) as url:
        yield url
