"""A proxy before nodes of this machine, which makes their links as slow as those between cities.

It is a role of a `Crew`: a process of its own, so that it waits for no interpreter lock of a node. Every connection to
a node passes it. All connections to one node share one link, as they would share the line that the node has.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from mixbayes.simulation.slow_link import Direction, SlowLink
from mixbayes.transport.errors import CannotServe

READY = "ready"
_HOST = "127.0.0.1"
_PART = 1 << 16
_UNDER_WAY = 256
"""Parts that a direction holds; then it takes no more, as a link whose buffers are full."""


def delaying_proxy(report: Connection, link: SlowLink, behind: Mapping[int, int]) -> None:
    """Pass what comes at each port on to the port behind it, later.

    It says when it listens. Then it is asked with the begin and the end of a span, in seconds of `time.time`, and says
    how many bytes came in both directions of all links in that span.
    """
    # Other selectors round every wait up to whole milliseconds.
    loop = asyncio.SelectorEventLoop(selectors.SelectSelector())
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(_Proxy(link).serve(report, behind))


class _Proxy:
    def __init__(self, link: SlowLink) -> None:
        self._link = link
        self._passed: list[tuple[float, int]] = []
        self._connections: set[asyncio.Task[None]] = set()

    async def serve(self, report: Connection, behind: Mapping[int, int]) -> None:
        """Until nobody listens to this process any more."""
        gone, loop = asyncio.Event(), asyncio.get_running_loop()
        async with AsyncExitStack() as listening:
            for port, target in behind.items():
                await listening.enter_async_context(await self._listening(port, target))
            loop.add_reader(report.fileno(), self._answer, report, gone)
            report.send(READY)
            await gone.wait()
            loop.remove_reader(report.fileno())
            for connection in self._connections:
                connection.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)

    async def _listening(self, port: int, target: int) -> asyncio.Server:
        to, fro = Direction(self._link), Direction(self._link)
        try:
            return await asyncio.start_server(partial(self._accept, target, to, fro), _HOST, port)
        except OSError as error:
            raise CannotServe(f"The proxy cannot listen on port {port} ({error.strerror}). Try again.") from None

    def _answer(self, report: Connection, gone: asyncio.Event) -> None:
        try:
            begin, end = report.recv()
        except EOFError:
            gone.set()
            return
        report.send(sum(count for at, count in self._passed if begin <= at < end))

    def _accept(self, target: int, to: Direction, fro: Direction, *ends: Any) -> None:
        task = asyncio.get_running_loop().create_task(self._connected(target, to, fro, *ends))
        self._connections.add(task)  # the loop itself does not hold it
        task.add_done_callback(self._connections.discard)

    async def _connected(
        self,
        target: int,
        to: Direction,
        fro: Direction,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection(_HOST, target)
        except OSError:  # the node does not listen yet, or has ended
            writer.close()
            return
        try:
            await asyncio.gather(self._pass(reader, far_writer, to), self._pass(far_reader, writer, fro))
        finally:
            for end in (writer, far_writer):
                end.close()
                with suppress(OSError):
                    await end.wait_closed()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, direction: Direction) -> None:
        """One direction of a connection, until an end hangs up."""
        under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(_UNDER_WAY)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_deliver(under_way, writer))
                while data := await reader.read(_PART):
                    self._passed.append((time.time(), len(data)))
                    await under_way.put((direction.arrival(time.monotonic(), len(data)), data))
                await under_way.put((0.0, b""))
        except* OSError:  # broken off, at one end or the other
            writer.close()


async def _deliver(under_way: asyncio.Queue[tuple[float, bytes]], writer: asyncio.StreamWriter) -> None:
    """Each part when it is due. An empty one ends it."""
    while (item := await under_way.get())[1]:
        due, data = item
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        writer.write(data)
        await writer.drain()
    writer.write_eof()
