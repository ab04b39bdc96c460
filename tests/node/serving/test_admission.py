"""Who may call what. tests/nodes asks that of whole nodes; here it is every kind of call and every mistake."""

from __future__ import annotations

import io
import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, cast

import grpc
import pytest
from cryptography import x509

from mixbayes.node.log import logger
from mixbayes.node.serving import admission
from mixbayes.node.serving.admission import Admission, caller_of
from mixbayes.node.serving.greeting import greeting
from mixbayes.node.serving.open_calls import Serials
from mixbayes.protocol.errors import BadData, MixbayesError
from mixbayes.transport.errors import OverBudget
from mixbayes.transport.status import error_from
from mixbayes.transport.tls import Credentials, for_client, for_server
from tests.node.serving.certificates import shown, shown_by
from tests.services.helpers import PATIENCE, Site, make_site, wait_until
from tests.services.test_trust import Authority
from tests.transport.loopback import plain_bytes

SERVICE = "mixbayes.wire.v1.Test"
METHOD = f"/{SERVICE}/Do"
CELL = "the cell of a patient"
"""Letters: digits would turn up in times and ports."""
_THREADS = 8
MAKERS = {
    "unary_unary": grpc.unary_unary_rpc_method_handler,
    "unary_stream": grpc.unary_stream_rpc_method_handler,
    "stream_unary": grpc.stream_unary_rpc_method_handler,
    "stream_stream": grpc.stream_stream_rpc_method_handler,
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return make_site(tmp_path_factory.mktemp("admission") / "site")


def written(answer: bytes) -> bytes:
    """As protobuf does it, which does not take None for an answer."""
    return b"" + answer


@contextmanager
def guarded(site: Site, behaviour: Callable[..., Any], kind: str, said: io.StringIO) -> Iterator[Callable[[str], Any]]:
    """Gives what calls it under a name of the federation."""
    with listening(site, behaviour, kind, said) as port:
        yield lambda name: _called(site, site.credentials(name), port, kind)


@contextmanager
def listening(site: Site, behaviour: Callable[..., Any], kind: str, said: io.StringIO) -> Iterator[int]:
    with behind(guard_of(site, said), site, behaviour, kind) as port:
        yield port


def guard_of(site: Site, said: io.StringIO, revoked: Serials = frozenset) -> Admission:
    log = logger("mixer a", said)
    return Admission("mixer a", site.federation, lambda name, service: name != "west", log, revoked)


@contextmanager
def behind(guard: Admission, site: Site, behaviour: Callable[..., Any], kind: str) -> Iterator[int]:
    with ThreadPoolExecutor(_THREADS) as pool:
        server = grpc.server(pool, interceptors=[guard])
        handlers = grpc.method_handlers_generic_handler(SERVICE, {"Do": MAKERS[kind](behaviour, None, written)})
        server.add_generic_rpc_handlers((handlers,))
        port = server.add_secure_port("127.0.0.1:0", for_server(site.identity("a").credentials))
        server.start()
        try:
            yield port
        finally:
            server.stop(None).wait()


def _called(site: Site, own: Credentials, port: int, kind: str) -> Any:
    with dialled(own, port) as channel:
        method = getattr(channel, kind)(METHOD, plain_bytes, plain_bytes)
        request = iter([b"x"]) if kind.startswith("stream") else b"x"
        try:
            answer = method(request, timeout=60, metadata=greeting(site.federation))
            return answer if isinstance(answer, bytes) else b"".join(answer)
        except grpc.RpcError as error:
            return error_from(cast("grpc.Call", error), "mixer a", "calling")


@contextmanager
def dialled(own: Credentials, port: int) -> Iterator[grpc.Channel]:
    options = (("grpc.ssl_target_name_override", "a"),)
    with grpc.secure_channel(f"127.0.0.1:{port}", for_client(own), options) as channel:
        yield channel


def behaviour_of(kind: str, act: Callable[[grpc.ServicerContext], bytes]) -> Callable[..., Any]:
    def one(request: Any, context: grpc.ServicerContext) -> bytes:
        return act(context)

    def many(request: Any, context: grpc.ServicerContext) -> Iterator[bytes]:
        yield act(context)

    return many if kind.endswith("stream") else one


def test_the_same_refusal_of_the_same_caller_is_said_once(site: Site) -> None:
    said = io.StringIO()
    with guarded(site, behaviour_of("unary_unary", lambda context: b""), "unary_unary", said) as call:
        for name in ("west", "west", "west", "north"):
            call(name)
    assert [json.loads(line)["caller"] for line in said.getvalue().splitlines()] == ["party west"]


@pytest.mark.parametrize("kind", MAKERS)
def test_whoever_may_is_answered_and_known_by_the_certificate(site: Site, kind: str) -> None:
    behaviour = behaviour_of(kind, lambda context: caller_of(context).encode())
    with guarded(site, behaviour, kind, io.StringIO()) as call:
        assert call("north") == b"north"
        assert call("b") == b"b"


@pytest.mark.parametrize("kind", MAKERS)
def test_whoever_may_not_does_not_reach_the_service(site: Site, kind: str) -> None:
    reached: list[str] = []
    said = io.StringIO()
    with guarded(site, behaviour_of(kind, lambda context: reached.append("!") or b""), kind, said) as call:
        error = call("west")
    assert not reached
    assert error.code == "E207"
    assert "party west may not call" in str(error)
    line = json.loads(said.getvalue())
    assert (line["event"], line["level"]) == ("refused", "warning")  # nothing is wrong with this node


@pytest.mark.parametrize("caller", ["north", "a stranger"])
@pytest.mark.parametrize("kind", ["unary_unary", "unary_stream"])
def test_callers_that_never_send_their_request_leave_threads_for_others(
    site: Site, kind: str, caller: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """gRPC itself would wait for it before anybody counted the calls."""
    monkeypatch.setattr(admission, "MOST_CALLS", _THREADS // 2)
    own = Authority.of(site).signed("stranger") if caller == "a stranger" else site.credentials(caller)
    said, over = io.StringIO(), threading.Event()

    def never() -> Iterator[bytes]:
        over.wait()
        yield from ()

    with listening(site, behaviour_of(kind, lambda context: b"here"), kind, said) as port, dialled(own, port) as held:
        silent = getattr(held, kind.replace("unary_", "stream_", 1))(METHOD, plain_bytes, plain_bytes)
        asked = silent if kind.endswith("stream") else silent.future
        calls = [asked(never(), metadata=greeting(site.federation)) for _ in range(2 * _THREADS)]
        try:
            assert _called(site, site.credentials("south"), port, kind) == b"here"
        finally:
            over.set()
            for call in calls:
                call.cancel()


def test_a_call_without_a_request_is_said_to_be_one(site: Site) -> None:
    behaviour = behaviour_of("unary_unary", lambda context: b"here")
    with (
        listening(site, behaviour, "unary_unary", io.StringIO()) as port,
        dialled(site.credentials("north"), port) as channel,
        pytest.raises(grpc.RpcError) as refused,
    ):
        channel.stream_unary(METHOD, plain_bytes, plain_bytes)(iter([]), metadata=greeting(site.federation), timeout=60)
    error = error_from(cast("grpc.Call", refused.value), "mixer a", "calling")
    assert (error.code, str(error).startswith("party north, at calling: no request that can be read")) == ("E201", True)


@pytest.mark.parametrize("kind", MAKERS)
def test_our_errors_arrive_whole(site: Site, kind: str) -> None:
    def refuse(context: grpc.ServicerContext) -> bytes:
        raise OverBudget("Nothing is left.")

    with guarded(site, behaviour_of(kind, refuse), kind, io.StringIO()) as call:
        error = call("north")
    assert isinstance(error, OverBudget)
    assert str(error) == "mixer a says: Nothing is left."


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("mistake", [ValueError(CELL), KeyError(CELL), AssertionError(CELL)])
def test_mistakes_of_ours_carry_nothing_out(site: Site, kind: str, mistake: Exception) -> None:
    def fail(context: grpc.ServicerContext) -> bytes:
        raise mistake

    said = io.StringIO()
    with guarded(site, behaviour_of(kind, fail), kind, said) as call:
        error = call("north")
    assert isinstance(error, MixbayesError)
    assert "mixer a, at its own work: its program made a mistake" in str(error)
    assert CELL not in str(error)
    assert CELL not in said.getvalue()
    assert type(mistake).__name__ in said.getvalue()
    assert "test_admission.py:" in said.getvalue()


def test_what_is_wrong_with_a_table_is_told_to_the_caller_and_not_to_the_log(site: Site) -> None:
    def refuse(context: grpc.ServicerContext) -> bytes:
        raise BadData(f"Column age holds '{CELL}'.")

    said = io.StringIO()
    with guarded(site, behaviour_of("unary_unary", refuse), "unary_unary", said) as call:
        assert CELL in str(call("north"))
    assert CELL not in said.getvalue()


def test_who_hangs_up_is_said_once_and_by_nobody_else(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    """gRPC would complain of an answer that is none."""
    said, there, over = io.StringIO(), threading.Event(), threading.Event()

    def read(requests: Iterator[bytes], context: grpc.ServicerContext) -> bytes:
        there.set()
        wait_until(lambda: not context.is_active(), "the caller is gone")
        return b"".join(requests)

    def never() -> Iterator[bytes]:
        over.wait()
        yield from ()

    with listening(site, read, "stream_unary", said) as port, dialled(site.credentials("north"), port) as channel:
        call = channel.stream_unary(METHOD, plain_bytes, plain_bytes).future(
            never(), metadata=greeting(site.federation)
        )
        assert there.wait(PATIENCE)
        call.cancel()
        over.set()
        wait_until(lambda: "hung up" in said.getvalue(), "it is noticed")
    assert said.getvalue().count("\n") == 1
    assert [record.name for record in caplog.records if record.name.startswith("grpc")] == []


def serial(own: Credentials) -> int:
    return x509.load_pem_x509_certificate(own.certificate).serial_number


def test_whoever_calls_the_calls_of_revoked_certificates_end(site: Site) -> None:
    """Also somebody whom the agreement does not list."""
    own, revoked, there, gone = site.credentials("north"), set[int](), threading.Event(), threading.Event()

    def stay(context: grpc.ServicerContext) -> bytes:
        context.add_callback(gone.set)
        there.set()
        gone.wait(PATIENCE)
        return b""

    guard = guard_of(site, io.StringIO(), lambda: frozenset(revoked))
    with (
        behind(guard, site, behaviour_of("unary_unary", stay), "unary_unary") as port,
        dialled(own, port) as channel,
    ):
        call = channel.unary_unary(METHOD, plain_bytes, plain_bytes).future(b"x", metadata=greeting(site.federation))
        assert there.wait(PATIENCE)
        revoked.add(serial(own))
        error = _called(site, Authority.of(site).signed("stranger"), port, "unary_unary")
        assert "who is not listed in the agreement" in str(error)
        assert call.code() is grpc.StatusCode.CANCELLED


def test_a_caller_whose_certificate_is_revoked_while_it_is_checked_is_refused(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, revoked = site.credentials("north"), set[int]()
    guard = guard_of(site, io.StringIO(), lambda: frozenset(revoked))
    check, reached = admission.refuse_unrecognised, list[str]()

    def checked(*about: Any) -> None:
        check(*about)
        revoked.add(serial(own))
        guard._calls.end()  # as another call does at that moment

    monkeypatch.setattr(admission, "refuse_unrecognised", checked)
    behaviour = behaviour_of("unary_unary", lambda context: reached.append("!") or b"")
    with behind(guard, site, behaviour, "unary_unary") as port:
        error = _called(site, own, port, "unary_unary")
    assert (error.code, reached) == ("E214", [])


def test_two_certificates_of_one_member_are_nobody_else(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else whoever has renewed its certificate could never be barred."""
    guard = guard_of(site, io.StringIO())
    before = site.credentials("north")
    with behind(guard, site, behaviour_of("unary_unary", lambda context: b"here"), "unary_unary") as port:
        assert _called(site, before, port, "unary_unary") == b"here"
        renewed = Authority.of(site).signed("north")
        assert _called(site, renewed, port, "unary_unary") == b"here"
        monkeypatch.setattr(guard._conduct, "shut_out", lambda certificate: 10.0)
        monkeypatch.setattr(guard._conduct, "floods", lambda certificate: True)
        assert "shut out" in str(_called(site, renewed, port, "unary_unary"))
        assert guard.guests.barred(time.monotonic()) == {"127.0.0.1"}


class Context:
    """As much of a call as says who calls."""

    def __init__(self, **told: list[bytes]) -> None:
        self._told = told

    def auth_context(self) -> dict[str, list[bytes]]:
        return self._told


def test_the_name_in_a_certificate() -> None:
    assert caller_of(Context(**shown_by("north"))) == "north"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"x509_pem_cert": [b"nothing of the kind"]},
        shown(common="north"),
        shown(x509.UniformResourceIdentifier("north"), common="north"),
        shown(x509.RFC822Name("north"), common="north"),
        shown(x509.DNSName("north"), x509.DNSName("south"), common="north"),
    ],
    ids=["none", "garbage", "common name", "URI", "mail", "two names"],
)
def test_a_certificate_that_names_no_node_or_several_speaks_for_nobody(
    site: Site, told: dict[str, list[bytes]]
) -> None:
    """An authority that signs for a whole hospital makes such ones; `mixbayes keys sign` makes none."""
    assert site.federation.role_of(caller_of(Context(**told))) is None  # type: ignore[arg-type]
