"""Calls whose bytes no node of ours would send, and what gRPC says of how they ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import grpc
from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from hypothesis import strategies as st

from mixbayes.node.serving.greeting import greeting
from mixbayes.transport.peer import CHANNEL, CONVERSATION, PURPOSE, WHOSE
from mixbayes.wire.v1 import node_pb2
from tests.services.helpers import Site
from tests.transport.loopback import plain_bytes

WAIT = 20.0
"""Longer than any node here waits for a caller."""
TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["", "f", "sex", "tumour", "north", "best", "own", "joint", "\x00", "\x1b[2J\n", "9" * 99, "x" * 5000]
    ),
)
NUMBERS = st.sampled_from([0, 1, 2, 7, 1001, 2**31, 2**32 - 1])
BYTES = st.one_of(st.binary(max_size=40), st.sampled_from([bytes(16), bytes(32), bytes(5000)]))


@dataclass(frozen=True)
class Door:
    """One method of one node, as a caller reaches it."""

    caller: str
    address: str
    name: str
    method: MethodDescriptor

    @property
    def path(self) -> str:
        return f"/{self.method.containing_service.full_name}/{self.method.name}"


@dataclass(frozen=True)
class Ended:
    """How a call ended: with which gRPC status, and which code of ours in it."""

    status: grpc.StatusCode
    code: str
    text: str

    @property
    def in_order(self) -> bool:
        """Answered; or refused with a code that blames no program of ours."""
        return self.status is grpc.StatusCode.OK or self.code not in ("", "E000", "E300")


def methods(service: str) -> list[MethodDescriptor]:
    return list(node_pb2.DESCRIPTOR.services_by_name[service].methods)


def call(site: Site, door: Door, raw: Sequence[bytes], about: dict[str, str] | None = None) -> Ended:
    """Send these bytes as the messages of one call."""
    with site.dialled(door.caller, door.name, door.address) as peer:
        method = peer.channel.stream_stream(door.path, plain_bytes, plain_bytes)
        replies = method(iter(raw), metadata=(*greeting(site.federation), *(about or {}).items()), timeout=WAIT)
        try:
            for _ in replies:
                pass
        except grpc.RpcError:
            pass
        return ended(replies)


def ended(replies: Any) -> Ended:
    status = rpc_status.from_call(cast("grpc.Call", replies))
    info = error_details_pb2.ErrorInfo()
    for detail in status.details if status else ():
        detail.Unpack(info)
    return Ended(replies.code(), info.reason, replies.details())


def about(key: str, channel: str, purpose: str = "", whose: str = "") -> dict[str, str]:
    return {CONVERSATION: key, CHANNEL: channel, PURPOSE: purpose, WHOSE: whose}


def _one(field: Any) -> st.SearchStrategy[Any]:
    if field.message_type is not None:
        return messages(GetMessageClass(field.message_type))
    if field.type == FieldDescriptor.TYPE_STRING:
        return TEXTS
    if field.type == FieldDescriptor.TYPE_BYTES:
        return BYTES
    if field.type == FieldDescriptor.TYPE_BOOL:
        return st.booleans()
    return NUMBERS


def messages(kind: type[Message]) -> st.SearchStrategy[Message]:
    """Messages of the right form with any contents."""
    fields = {
        field.name: st.lists(_one(field), max_size=3) if field.is_repeated else _one(field)
        for field in kind.DESCRIPTOR.fields
    }
    return st.fixed_dictionaries({}, optional=fields).map(lambda contents: kind(**contents))


def requests(method: MethodDescriptor) -> st.SearchStrategy[list[bytes]]:
    """What a call may send: nothing, any bytes, messages of any contents, whole, cut short or of another kind."""
    kinds = [GetMessageClass(one) for one in node_pb2.DESCRIPTOR.message_types_by_name.values()]
    own = messages(GetMessageClass(method.input_type)).map(lambda message: message.SerializePartialToString())
    other = st.sampled_from(kinds).flatmap(messages).map(lambda message: message.SerializePartialToString())
    cut = st.builds(lambda raw, at: raw[: at % (len(raw) + 1)], own, st.integers(0, 5000))
    return st.lists(st.one_of(own, own, cut, other, st.binary(max_size=60)), max_size=3)
