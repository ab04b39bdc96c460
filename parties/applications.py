"""The server for a hospital's own applications: on loopback, for this hospital's certificate alone."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

from mixbayes.node.identity import Identity
from mixbayes.node.log import Log
from mixbayes.node.serving.admission import Admission
from mixbayes.node.serving.server import Server
from mixbayes.parties.loopback import remembered, with_port
from mixbayes.parties.service import Asked, PartyService
from mixbayes.parties.settings import Settings
from mixbayes.wire.v1.node_pb2_grpc import add_PartyServicer_to_server

FULL_NAME = "mixbayes.wire.v1.Party"


def serve_applications(stack: ExitStack, settings: Settings, identity: Identity, behind: Asked, log: Log) -> Server:
    """It listens until the stack unwinds, and its address lies beside the key as long."""
    federation, name = settings.federation, settings.name
    admission = Admission(federation.title(name), federation, lambda caller, service: caller == name, log)
    service = PartyService(federation.dictionary, behind, settings.said_of_table, federation.policy.timeout)
    server = Server(
        settings.listen,
        identity.credentials,
        admission,
        [partial(add_PartyServicer_to_server, service)],
        [FULL_NAME],
        reflected=settings.reflection,
    )
    stack.enter_context(server)
    address = with_port(settings.listen, server.port)
    stack.enter_context(remembered(settings.keys, name, federation.digest(), address, log))
    return server
