"""Errors and gRPC statuses: our errors travel whole, under their codes, and gRPC's own errors become ours.

An error names the node that raised it, its origin, however many nodes pass it on: a full disk at mixer b is mixer b's,
also where mixer a tells the hospital.
"""

from __future__ import annotations

from collections.abc import Mapping

import grpc
from google.protobuf import any_pb2
from google.protobuf.message import DecodeError
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status

from mixbayes.protocol.errors import (
    BadData,
    DifferentSets,
    LocalError,
    MixbayesError,
    PeerError,
    PeerGone,
    PeerSilent,
    WrongLength,
)
from mixbayes.transport.errors import (
    AlreadyContributed,
    BadState,
    Disagreement,
    NotAdmitted,
    OverBudget,
    RefusedByPolicy,
    Revoked,
    TooEarly,
    Unreachable,
    WrongKey,
)

_DOMAIN = "mixbayes"
_STATE = "its state folder cannot be used. Have its operator look at its log."
_INFO = error_details_pb2.ErrorInfo.DESCRIPTOR
_LONGEST, _LONGEST_REMEDY, _LONGEST_TITLE = 2000, 500, 100
"""Bytes. A status travels in the trailer, which has little room: gRPC sends the message twice, once in base64, and once
with three characters for every byte that is not ASCII."""
_BY_KIND: list[tuple[type[MixbayesError], int]] = [
    (NotAdmitted, code_pb2.PERMISSION_DENIED),
    (WrongKey, code_pb2.PERMISSION_DENIED),
    (Revoked, code_pb2.PERMISSION_DENIED),
    (Disagreement, code_pb2.FAILED_PRECONDITION),
    (DifferentSets, code_pb2.ABORTED),
    (PeerSilent, code_pb2.DEADLINE_EXCEEDED),
    (PeerGone, code_pb2.UNAVAILABLE),
    (Unreachable, code_pb2.UNAVAILABLE),
    (PeerError, code_pb2.INVALID_ARGUMENT),
    (OverBudget, code_pb2.RESOURCE_EXHAUSTED),
    (AlreadyContributed, code_pb2.ALREADY_EXISTS),
    (RefusedByPolicy, code_pb2.FAILED_PRECONDITION),
    (TooEarly, code_pb2.FAILED_PRECONDITION),
    (BadData, code_pb2.INVALID_ARGUMENT),
    (MixbayesError, code_pb2.INTERNAL),
]


def _kinds(kind: type[MixbayesError]) -> dict[str, type[MixbayesError]]:
    own = {kind.code: kind} if "code" in vars(kind) else {}
    return own | {code: sub for below in kind.__subclasses__() for code, sub in _kinds(below).items()}


_BY_CODE = _kinds(MixbayesError)
CODES = tuple(sorted(_BY_CODE))
"""Of all errors that nodes report to each other."""


def public_text(error: MixbayesError, me: str) -> str:
    """The text of an error that this node reports, which names its origin. It names no path on a node's disk."""
    return str(error) if isinstance(error, PeerError) else _says(error.origin or me, _bare(error))


def status_of(error: MixbayesError, me: str) -> grpc.Status:
    """The gRPC status that carries this error whole. `me` is the title of this node."""
    text = _bare(error)
    about = {"message": _short(text)}
    if isinstance(error, PeerError):
        remedy = _short(error.remedy, _LONGEST_REMEDY)
        about = {"peer": error.peer, "step": error.step, "why": _short(_bare_why(error)), "remedy": remedy}
    about["origin"] = _short(error.origin or me, _LONGEST_TITLE)
    detail = any_pb2.Any()
    detail.Pack(error_details_pb2.ErrorInfo(reason=error.code, domain=_DOMAIN, metadata=about))
    number = next(number for kind, number in _BY_KIND if isinstance(error, kind))
    return rpc_status.to_status(
        status_pb2.Status(code=number, message=f"{_short(text)} [{error.code}]", details=[detail])
    )


def _says(origin: str, text: str) -> str:
    return f"{origin} says: {text}"


def _hearsay(origin: str) -> str:
    return f" (so says {origin})"


def _bare(error: MixbayesError) -> str:
    """The text of an error as its origin raised it."""
    if isinstance(error, BadState):
        return _STATE
    return str(error).removeprefix(_says(error.origin, ""))


def _bare_why(error: PeerError) -> str:
    return error.why.removesuffix(_hearsay(error.origin))


def _short(text: str, longest: int = _LONGEST) -> str:
    raw = text.encode(errors="replace")
    return raw.decode() if len(raw) <= longest else raw[: longest - 3].decode(errors="ignore") + "…"


def error_from(call: grpc.Call, peer: str, step: str) -> MixbayesError:
    """The error of a failed call: the one that the peer reported, or one for what gRPC says of the connection."""
    reported = _reported(call, peer)
    if reported:
        return reported
    number, text = call.code(), call.details() or ""
    if number is grpc.StatusCode.DEADLINE_EXCEEDED:
        return PeerSilent(peer, step, "no answer came in time")
    if number is grpc.StatusCode.CANCELLED:
        return PeerGone(peer, step, "the conversation was broken off")
    if number is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return WrongLength(peer, step, "a message is longer than any of this protocol")
    if number is grpc.StatusCode.UNIMPLEMENTED:
        return Disagreement(peer, step, "what answers there is no node of this kind or version")
    if number is grpc.StatusCode.UNAVAILABLE:
        return Unreachable(peer, step, plain(text))
    return PeerError(peer, step, f"it failed ({number.name})")


def connection_broke(call: object) -> bool:
    """Whether a call ended because the connection broke, and not because the peer reported an error."""
    broken = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
    return isinstance(call, grpc.Call) and call.code() in broken and _reported(call, "") is None


def _reported(call: grpc.Call, peer: str) -> MixbayesError | None:
    try:
        status = rpc_status.from_call(call)
        found = [_info(detail) for detail in (status.details if status else ()) if detail.Is(_INFO)]
    except (ValueError, DecodeError):
        return None  # unreadable, or two accounts of what went wrong that differ: trust neither
    return next((_rebuilt(info, peer) for info in found if info.domain == _DOMAIN), None)


def _info(detail: any_pb2.Any) -> error_details_pb2.ErrorInfo:
    info = error_details_pb2.ErrorInfo()
    detail.Unpack(info)
    return info


def _rebuilt(info: error_details_pb2.ErrorInfo, peer: str) -> MixbayesError:
    """The error that the peer reported: its own, or that of another node."""
    about = {k: _shown(value) for k, value in info.metadata.items()}
    origin = about.get("origin") or peer
    error = _of_origin(_BY_CODE.get(info.reason, MixbayesError), about, origin)
    error.origin = origin
    return error


def _of_origin(kind: type[MixbayesError], about: Mapping[str, str], origin: str) -> MixbayesError:
    """A mistake of the origin's program becomes an error that blames the origin."""
    if issubclass(kind, PeerError):
        blamed = about.get("peer", origin)
        source = "" if blamed == origin else _hearsay(origin)
        return kind(blamed, about.get("step", "?"), about.get("why", "") + source, about.get("remedy"))
    if issubclass(kind, LocalError):
        return PeerError(origin, "its own work", "its program made a mistake", "Ask its operator to look at its log")
    return kind(_says(origin, about.get("message", "")))


def _shown(text: str) -> str:
    """The text without control characters, which could steer a terminal."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in _short(text))


_PLAIN = (
    ("connection refused", "nothing listens there"),
    ("wrong_version_number", "what answers there does not speak TLS"),
    ("certificate_verify_failed", "its certificate is not signed by this federation's authority, or has expired"),
    ("peer name", "its certificate is for another name"),
    ("name resolution", "its host name is unknown"),
    ("dns", "its host name is unknown"),
    ("no route", "there is no route to it"),
    ("timed out", "it cannot be reached"),
    ("handshake", "no connection came about that both ends trust"),
    ("socket closed", "it closed the connection"),
    ("connection reset", "it closed the connection"),
    ("broken pipe", "it closed the connection"),
)


def plain(text: str) -> str:
    """What gRPC says of a connection, in words."""
    lower = text.lower()
    return next((words for sign, words in _PLAIN if sign in lower), "the connection failed")
