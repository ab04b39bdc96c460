"""What stands between a hospital and the outside."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress


@contextmanager
def proxy(status: bytes, asked_for: list[str] | None = None) -> Iterator[int]:
    """A proxy of its own port that answers CONNECT so, and if it agrees passes on what comes."""
    stack = ExitStack()
    server = stack.enter_context(closing(socket.create_server(("127.0.0.1", 0))))

    def pump(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def serve(wire: socket.socket) -> None:
        with wire, suppress(OSError):
            asked = b""
            while b"\r\n\r\n" not in asked:
                if not (more := wire.recv(1 << 12)):
                    return
                asked += more
            host, _, port = asked.split()[1].decode().rpartition(":")
            if asked_for is not None:
                asked_for.append(f"{host}:{port}")
            wire.sendall(b"HTTP/1.1 " + status + b"\r\n\r\n")
            if status.startswith(b"200"):
                with socket.create_connection((host, int(port))) as onward:
                    back = threading.Thread(target=pump, args=(onward, wire), daemon=True)
                    back.start()
                    pump(wire, onward)
                    back.join(5)

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    with stack:
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
