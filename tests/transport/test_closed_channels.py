"""Which failures of threads are forgiven: those of gRPC's threads that poll a channel that was closed, and no other."""

from __future__ import annotations

import importlib
import threading
from typing import Any

import grpc
import pytest

from mixbayes.transport.closed_channels import forgiving, of_closed_channel


def ended_with(error: BaseException) -> list[BaseException | None]:
    """What reaches the hook behind."""
    passed: list[BaseException | None] = []
    hook = forgiving(lambda failure: passed.append(failure.exc_value))
    hook(threading.ExceptHookArgs((type(error), error, None, None)))
    return passed


def test_what_grpc_raises_of_a_closed_channel_is_forgiven() -> None:
    cygrpc: Any = importlib.import_module("grpc._cython.cygrpc")
    channel = cygrpc.Channel(b"127.0.0.1:1", (), None)
    channel.close(cygrpc.StatusCode.cancelled, "Channel closed!")
    with pytest.raises(ValueError, match="closed") as raised:
        channel.watch_connectivity_state(grpc.ChannelConnectivity.IDLE.value[0], 0.1)
    assert of_closed_channel(raised.value)
    assert ended_with(raised.value) == []


@pytest.mark.parametrize("error", [ValueError("Cannot invoke RPC: Channel closed!"), RuntimeError(), SystemError("?")])
def test_every_other_failure_is_passed_on(error: BaseException) -> None:
    assert ended_with(error) == [error]


def test_the_command_line_forgives(monkeypatch: pytest.MonkeyPatch) -> None:
    from mixbayes import cli

    passed: list[object] = []
    monkeypatch.setattr(threading, "excepthook", passed.append)
    monkeypatch.setattr(cli, "run_command", lambda *_: None)
    monkeypatch.setattr("sys.argv", ["mixbayes", "status"])
    cli.main()
    closed = ValueError("Cannot monitor channel state: Channel closed!")
    threading.excepthook(threading.ExceptHookArgs((ValueError, closed, None, None)))
    assert not passed
