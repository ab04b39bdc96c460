"""Who may call what: the certificate's name against the agreement, for every call; and errors as gRPC statuses.

Whoever calls is who its certificate says, unless that is revoked, or the agreement says another key. Hospitals call
mixers, mixer a calls mixer b, a hospital's node serves the hospital's own certificate alone; everybody of the
federation may ask about health.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NoReturn

import grpc
from cryptography import x509

from mixbayes.agreement.agreement import Federation
from mixbayes.keys.pem import certificates_in, only_name
from mixbayes.node.log import Log, error_fields
from mixbayes.node.repeated import Repeated
from mixbayes.node.serving.conduct import OF_MEMBERS, OF_MIXERS, OF_OTHERS, Allowance, Conduct
from mixbayes.node.serving.greeting import refuse_difference
from mixbayes.node.serving.guests import MOST_CONNECTIONS, Guests
from mixbayes.node.serving.open_calls import OpenCalls, Serials
from mixbayes.node.serving.requests import Read, read_each
from mixbayes.node.tallies import Tallies
from mixbayes.protocol.errors import LocalError, MixbayesError, WrongLength
from mixbayes.transport.accepted import End, end_of
from mixbayes.transport.errors import NotAdmitted, RefusedByPolicy
from mixbayes.transport.recognition import refuse_unrecognised
from mixbayes.transport.status import status_of
from mixbayes.transport.watch import Watch, in_time

_OURS = "/mixbayes.wire.v1."
_STEP = "greeting"
MOST_CALLS = 64
"""Calls that one hospital may have open at once. Each call takes a thread, and all callers share the threads."""
Admit = Callable[[str, str], bool]
"""Whether a node of this name may call this service."""


@dataclass(frozen=True)
class Room:
    """What one caller may have open at a node at once, and how many of its calls may come to nothing."""

    calls: int
    connections: int
    allowance: Allowance | None = None
    """If not said, that of its role."""


OF_APPLICATIONS = Room(512, 512, OF_MIXERS)
"""All applications of a hospital call its node with one certificate, and they may all end in the same moment."""
_ALLOWANCES = {"party": OF_MEMBERS, "mixer": OF_MIXERS, None: OF_OTHERS}


@dataclass
class _Visit:
    """One call: who calls from where, and what has become of it."""

    certificate: str
    """Its digest. Bad conduct counts against it and not against its name, which a revoked certificate has, too. But its
    connections, and an address that is barred, count by name: two certificates of a member are nobody else."""
    name: str
    title: str
    end: End | None
    admitted: bool = False
    answered: bool = False


@dataclass(frozen=True)
class _Coders:
    """From bytes to the requests of a method, if they are not bytes themselves, and from its replies to bytes."""

    read: Read | None
    write: Callable[[Any], bytes]


class _Unheard(Exception):
    """The call ended before anybody looked at it, or its caller is shut out. The log says nothing more of it."""

    def __init__(self, answer: MixbayesError | None = None) -> None:
        super().__init__()
        self.answer = answer


def caller_of(context: grpc.ServicerContext) -> str:
    """The one DNS name in the caller's certificate. A certificate with several names, or none, speaks for nobody."""
    pem = _certificate_of(context)
    return _name_in(pem) if pem else ""


def _certificate_of(context: grpc.ServicerContext) -> bytes:
    """The caller's, as PEM; nothing where none was shown."""
    about: Mapping[str, Sequence[bytes]] = context.auth_context()  # type: ignore[assignment]  # typed as if of numbers
    return (about.get("x509_pem_cert") or [b""])[0]


@lru_cache
def _read(pem: bytes) -> x509.Certificate:
    return certificates_in(pem)[0]


@lru_cache
def _name_in(pem: bytes) -> str:
    try:
        return only_name(_read(pem))
    except ValueError as error:
        return f"({error})"


class Admission(grpc.ServerInterceptor):
    """Checks the caller of every call before the node handles it, and turns errors into gRPC statuses."""

    def __init__(
        self,
        me: str,
        federation: Federation,
        admit: Admit,
        log: Log,
        revoked: Serials = frozenset,
        room: Room | None = None,
        tallies: Tallies | None = None,
    ) -> None:
        self._me = me
        self._federation = federation
        self._admit = admit
        self._log = log
        self._repeated = Repeated()
        self._calls = OpenCalls(revoked)
        self._watch = Watch()
        self._conduct = Conduct(log)
        self._tallies = tallies or Tallies()
        self.room = room or Room(MOST_CALLS, MOST_CONNECTIONS)
        self.guests = Guests(self.room.connections)
        self._open: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def timeout(self) -> float:
        """The agreed seconds within which every wait ends."""
        return self._federation.policy.timeout

    @property
    def log(self) -> Log:
        return self._log

    def intercept_service(
        self, continuation: Callable[[grpc.HandlerCallDetails], Any], handler_call_details: grpc.HandlerCallDetails
    ) -> Any:
        handler = continuation(handler_call_details)
        return handler and _around(handler, self._guarded, handler_call_details.method)

    def _visit(self, context: grpc.ServicerContext) -> _Visit:
        name, certificate = caller_of(context), hashlib.sha256(_certificate_of(context)).hexdigest()
        return _Visit(certificate, name, self._federation.title(name), end_of(context.peer()))

    def _enter(self, method: str, context: grpc.ServicerContext, visit: _Visit) -> None:
        self._refuse_shut_out(context, visit)
        if not context.add_callback(lambda: self._ended(visit)):
            self._ended(visit)
            raise _Unheard
        self._check(method, context)
        if visit.end and not self.guests.admit(visit.end, visit.name, time.monotonic()):
            self.guests.turn_out(visit.end)
            most = self.room.connections
            raise RefusedByPolicy(f"{visit.title} has {most} connections here already; end some first.")
        self._count(context, visit)
        visit.admitted = True
        self._tallies.calls.called(method)

    def _refuse_shut_out(self, context: grpc.ServicerContext, visit: _Visit) -> None:
        """Whoever is shut out costs as little as possible: no line of the log, and no connection for long."""
        if not (seconds := self._conduct.shut_out(visit.certificate)):
            return
        if visit.end:
            self.guests.turn_out(visit.end)
            if self._conduct.floods(visit.certificate):
                self.guests.bar(visit.end, visit.name, time.monotonic() + seconds)
        answer = None
        if context.is_active():
            why = f"{visit.title} is shut out for {seconds:.0f} more seconds: too many of its calls came to nothing"
            remedy = "Ask the operator of this node for the reason, which the log has, and end what calls so often"
            answer = NotAdmitted(self._me, _STEP, why, remedy)
        raise _Unheard(answer)

    def _ended(self, visit: _Visit) -> None:
        """The call is over, at whichever end."""
        if visit.answered:
            return
        allowance = self.room.allowance or _ALLOWANCES[self._federation.role_of(visit.name)]
        address = visit.end.host if visit.end else ""
        if self._conduct.wasted(visit.certificate, visit.title, allowance, address) and visit.end:
            self.guests.turn_out(visit.end)

    def _count(self, context: grpc.ServicerContext, visit: _Visit) -> None:
        name = visit.name
        if self._federation.role_of(name) != "party":
            return  # all hospitals together decide how many calls a mixer has open here
        with self._lock:
            if self._open[name] >= (most := self.room.calls):
                raise RefusedByPolicy(f"{visit.title} has {most} calls open here already; end some of them first.")
            self._open[name] += 1
        if not context.add_callback(lambda: self._left(name)):
            self._left(name)

    def _left(self, name: str) -> None:
        with self._lock:
            self._open[name] -= 1

    def _end_in_time(self, context: grpc.ServicerContext) -> None:
        """Cancel a call whose request, which comes in pieces, is not complete in time. It would keep its thread."""
        late = threading.Timer(self.timeout, context.cancel)
        late.daemon = True
        late.start()
        if not context.add_callback(late.cancel):
            late.cancel()

    def _only(self, requests: Iterator[Any], context: grpc.ServicerContext) -> Any:
        """The single request of a call, if it comes in time."""
        patience = self.timeout
        with closing(in_time(requests, context.cancel, self._watch, patience, patience)) as coming:
            for request in coming:
                return request
        title, remedy = self._federation.title(caller_of(context)), "Ask who runs it which version they use"
        raise WrongLength(title, "calling", "no request that can be read came in time", remedy)

    def _check(self, method: str, context: grpc.ServicerContext) -> None:
        revoked, name = self._calls.end(), caller_of(context)  # whoever calls, the calls of revoked certificates end
        if self._federation.role_of(name) is None:
            raise NotAdmitted(
                self._me,
                _STEP,
                f"a certificate for {name[:80]!r} was shown, who is not listed in the agreement of this node",
                "Compare the list of members, and the name in the certificate. "
                f"If {name[:80]!r} is being added, restart the mixers with the new agreement first, then its node",
            )
        title, key = self._federation.title(name), self._federation.key_of(name)
        certificate = _read(_certificate_of(context))
        refuse_unrecognised(self._me, _STEP, title, certificate, key, revoked)
        revoked = self._calls.enter(certificate.serial_number, context)  # it may have been revoked since
        refuse_unrecognised(self._me, _STEP, title, certificate, key, revoked)
        if not method.startswith(_OURS):
            return
        service = method.removeprefix(_OURS).split("/")[0]
        if not self._admit(name, service):
            raise NotAdmitted(self._me, _STEP, f"{title} may not call what is there for others ({service})")
        refuse_difference(self._me, title, self._federation, context.invocation_metadata())

    def _guarded(
        self, behaviour: Callable[..., Any], coders: _Coders, method: str, asks: bool, answers: bool
    ) -> Callable[..., Any]:
        """The same behaviour, guarded. `asks` and `answers` say whether requests and replies are streams."""

        def one(raw: Iterator[bytes], context: grpc.ServicerContext) -> Any:
            visit = self._visit(context)
            try:
                self._enter(method, context, visit)
                if asks:
                    self._end_in_time(context)
                requests = read_each(map(partial(self._received, method, visit), raw), coders.read, visit.title)
                answer = behaviour(requests if asks else self._only(requests, context), context)
                visit.answered = True
                return self._sent(method, visit, coders.write(answer))
            except Exception as error:  # noqa: BLE001 - a mistake of ours must not carry a value to another node
                self._failed(context, method, visit, error)

        def many(raw: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[Any]:
            visit = self._visit(context)
            try:
                self._enter(method, context, visit)
                requests = read_each(map(partial(self._received, method, visit), raw), coders.read, visit.title)
                for answer in behaviour(requests if asks else self._only(requests, context), context):
                    visit.answered = True
                    yield self._sent(method, visit, coders.write(answer))
                visit.answered = True
            except Exception as error:  # noqa: BLE001 - as above
                self._failed(context, method, visit, error)

        return many if answers else one

    def _received(self, method: str, visit: _Visit, message: bytes) -> bytes:
        if method.startswith(_OURS):
            self._tallies.traffic.received(visit.name, len(message))
        return message

    def _sent(self, method: str, visit: _Visit, message: bytes) -> bytes:
        if method.startswith(_OURS):
            self._tallies.traffic.sent(visit.name, len(message))
        return message

    def _failed(self, context: grpc.ServicerContext, method: str, visit: _Visit, error: Exception) -> NoReturn:
        visit.answered = visit.admitted
        if isinstance(error, _Unheard):
            if error.answer:
                self._tallies.calls.refused(error.answer.code)
                context.abort_with_status(status_of(error.answer, self._me))
            context.abort(grpc.StatusCode.CANCELLED, "")
        if isinstance(error, MixbayesError):
            self._refuse(context, method, visit, error)
        if type(error) is grpc.RpcError:  # reading on from a caller who is gone
            self._log.info("hung up", caller=visit.title, call=method)
            raise error
        self._repeated.failed(self._log, error, "a mistake of this program", call=method)
        self._refuse(context, method, visit, LocalError("This program made a mistake; its log has the place."))

    def _refuse(self, context: grpc.ServicerContext, method: str, visit: _Visit, error: MixbayesError) -> NoReturn:
        self._tallies.calls.refused(error.code)
        what = visit.title, method, str(error)
        self._repeated.say(what, self._log.warning, "refused", caller=visit.title, call=method, **error_fields(error))
        context.abort_with_status(status_of(error, self._me))
        raise error  # not reached: to abort is to raise


def _around(handler: Any, guarded: Callable[..., Callable[..., Any]], method: str) -> Any:
    """The same handler, guarded. The guard takes even a single request from a stream: gRPC itself would wait for it
    in a thread, without a deadline, before the caller could be checked. The guard reads and writes the bytes too, so
    that what cannot be read is an error with a code, and that the bytes of each caller are counted."""
    asks, answers = handler.request_streaming, handler.response_streaming
    kind = f"{'stream' if asks else 'unary'}_{'stream' if answers else 'unary'}"
    make = grpc.stream_stream_rpc_method_handler if answers else grpc.stream_unary_rpc_method_handler
    coders = _Coders(handler.request_deserializer, handler.response_serializer or bytes)
    return make(guarded(getattr(handler, kind), coders, method, asks, answers), None, None)
