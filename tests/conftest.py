import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

import mixbayes  # before anybody imports gRPC: it says which TLS gRPC speaks
from mixbayes.cli import progress
from mixbayes.transport.closed_channels import forgiving

# No deadlines: first calls of numpy and cryptography are much slower than the next, and machines stand still.
assert mixbayes.__version__
SLOW = [HealthCheck.too_slow]
settings.register_profile("mixbayes", deadline=None, suppress_health_check=SLOW, derandomize="CI" in os.environ)
settings.load_profile("mixbayes")

# What a site reads is in its own zone; test_site_time.py tests others.
os.environ["TZ"] = "UTC"
time.tzset()

# Whoever runs the tests in the background has these ignored, and so would every process that a test starts and stops.
for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("MIXBAYES_DATA"):
        return
    without = [item for item in items if item.get_closest_marker("real_tables")]
    config.hook.pytest_deselected(items=without)
    items[:] = [item for item in items if item not in without]


@pytest.fixture(autouse=True, scope="session")
def _closed_channels_are_forgiven() -> Iterator[None]:
    """Every other failure of a thread fails a test. Commands forgive these in their own processes."""
    before, threading.excepthook = threading.excepthook, forgiving(threading.excepthook)
    yield
    threading.excepthook = before


@pytest.fixture
def _every_step_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every step of the work took long."""
    monkeypatch.setattr(progress, "FIRST_AFTER", 0.0)
    monkeypatch.setattr(progress, "EVERY", 0.0)


@pytest.fixture(autouse=True)
def _signals_are_handled_as_before() -> Iterator[None]:
    """A test that leaves a handler behind would make another one fail, much later."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield
    assert [signal.getsignal(number) for number in numbers] == before
