import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

import mixbayes  # before anybody imports gRPC: it says which TLS gRPC speaks

# No deadline: the first call of a numpy or cryptography routine is much slower than the next.
assert mixbayes.__version__
settings.register_profile("mixbayes", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("mixbayes")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("MIXBAYES_DATA"):
        return
    without = [item for item in items if item.get_closest_marker("real_tables")]
    config.hook.pytest_deselected(items=without)
    items[:] = [item for item in items if item not in without]


@pytest.fixture(autouse=True)
def _signals_are_handled_as_before() -> Iterator[None]:
    """A test that leaves a handler behind would make another one fail, much later."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield
    assert [signal.getsignal(number) for number in numbers] == before
