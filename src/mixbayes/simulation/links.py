"""How the processes of a benchmark are connected."""

from __future__ import annotations

import socket
from dataclasses import dataclass

from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import Unsupported
from mixbayes.transport import local

MIXERS = "mixer a", "mixer b"


def socket_pair() -> tuple[socket.socket, socket.socket]:
    """Both ends of a connection on this machine, or what to do if the system has no more."""
    try:
        return socket.socketpair()
    except OSError as error:
        raise Unsupported(
            f"The system lets this process have no more connections ({error.strerror}). Raise its limit (ulimit -n)."
        ) from None


@dataclass(frozen=True)
class Link:
    """One end of the two socket pairs between two roles: for the protocol, and for transfers made ahead."""

    now: socket.socket
    ahead: socket.socket

    @classmethod
    def pair(cls) -> tuple[Link, Link]:
        now, ahead = socket_pair(), socket_pair()
        return cls(now[0], ahead[0]), cls(now[1], ahead[1])

    def channel(self, peer: str, deadline: float) -> Channel:
        """For the protocol alone."""
        return local.channel(peer, self.now, deadline)

    def channels(self, peer: str, deadline: float) -> tuple[Channel, Channel]:
        return local.channel(peer, self.now, deadline), local.channel(peer, self.ahead, deadline)
