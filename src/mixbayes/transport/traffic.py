"""The messages between a node and the others: how many bytes went each way, and when each of them was last heard of."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Coder = Callable[[Any], Any]


@dataclass(frozen=True)
class Flow:
    """Bytes of whole messages, without what TLS and HTTP/2 add."""

    sent: int = 0
    received: int = 0
    heard: float | None = None
    """When the last message came, in seconds since 1970; None if none has come since this node started."""

    def __add__(self, other: Flow) -> Flow:
        heard = [one.heard for one in (self, other) if one.heard is not None]
        return Flow(self.sent + other.sent, self.received + other.received, max(heard, default=None))


class Traffic:
    """By name of the other node. Every method may be called from any thread."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._flows: dict[str, Flow] = {}

    def sent(self, name: str, size: int) -> None:
        self._add(name, Flow(sent=size))

    def received(self, name: str, size: int) -> None:
        self._add(name, Flow(received=size, heard=self._clock()))

    def of(self, name: str) -> Flow:
        with self._lock:
            return self._flows.get(name, Flow())

    def _add(self, name: str, flow: Flow) -> None:
        with self._lock:
            self._flows[name] = self._flows.get(name, Flow()) + flow


@dataclass(frozen=True)
class With:
    """The traffic with one other node, which this one dials."""

    name: str
    traffic: Traffic

    def counted(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options of a call, with coders that count what passes through them."""
        counting = {"request_serializer": self._sending, "response_deserializer": self._receiving}
        return {key: counting[key](value) if key in counting and value else value for key, value in options.items()}

    def _sending(self, encode: Coder) -> Coder:
        def counted(message: Any) -> Any:
            encoded = encode(message)
            self.traffic.sent(self.name, len(encoded))
            return encoded

        return counted

    def _receiving(self, decode: Coder) -> Coder:
        def counted(encoded: Any) -> Any:
            self.traffic.received(self.name, len(encoded))
            return decode(encoded)

        return counted
