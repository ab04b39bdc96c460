"""Errors through gRPC: ours arrive as they left, gRPC's become ours, and neither says more than it should."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.errors import BadData, LocalError, MixbayesError, PeerError, PeerGone, PeerSilent, WrongLength
from mixbayes.transport.errors import BadState, Disagreement, OverBudget, RefusedByPolicy, RoundFailed, Unreachable
from mixbayes.transport.status import error_from, plain, public_text, status_of
from tests.transport.loopback import BACK_AND_FORTH, calling, plain_bytes, serving

HOMES = ("mixbayes.protocol.errors", "mixbayes.transport.errors")
"""Where the errors are that a node may report."""


def kinds(kind: type[MixbayesError] = MixbayesError) -> list[type[MixbayesError]]:
    below = [sub for child in kind.__subclasses__() for sub in kinds(child)]
    return [kind, *below] if kind.__module__ in HOMES else below


BLAMING = [kind for kind in kinds() if issubclass(kind, PeerError)]
OTHERS = [kind for kind in kinds() if not issubclass(kind, (PeerError, LocalError, BadState))]


@pytest.fixture(scope="module")
def line() -> Iterator[Any]:
    """Call it with a status: it comes back as the call that ended with it."""
    told: list[grpc.Status] = []

    def refuse(request: bytes, context: grpc.ServicerContext) -> bytes:
        context.abort_with_status(told.pop())

    def call(status: grpc.Status) -> grpc.Call:
        told.append(status)
        with pytest.raises(grpc.RpcError) as failed:
            ask(b"", timeout=60)
        assert isinstance(failed.value, grpc.Call)
        return failed.value

    with serving(grpc.unary_unary_rpc_method_handler(refuse)) as port, calling(port) as channel:
        ask = channel.unary_unary(BACK_AND_FORTH, plain_bytes, plain_bytes)
        yield call


@pytest.mark.parametrize("kind", BLAMING, ids=lambda kind: kind.__name__)
def test_who_is_to_blame_arrives(line: Any, kind: type[PeerError]) -> None:
    sent = kind("party north", "contribution", "it has 3 bytes instead of 4", "Do this")
    arrived = error_from(line(status_of(sent, "mixer a")), "mixer a", "sealing")
    assert type(arrived) is kind
    assert isinstance(arrived, PeerError)
    assert (arrived.peer, arrived.step, arrived.remedy) == ("party north", "contribution", "Do this")
    assert arrived.why == "it has 3 bytes instead of 4 (so says mixer a)"


@pytest.mark.parametrize("kind", OTHERS, ids=lambda kind: kind.__name__)
def test_a_refusal_arrives_with_its_code(line: Any, kind: type[MixbayesError]) -> None:
    arrived = error_from(line(status_of(kind("The budget is used up."), "mixer a")), "mixer a", "question")
    assert (type(arrived), arrived.code, arrived.exit_code) == (kind, kind.code, kind.exit_code)
    assert str(arrived) == "mixer a says: The budget is used up."


def test_what_a_node_says_of_itself_is_not_repeated_as_hearsay(line: Any) -> None:
    arrived = error_from(line(status_of(Disagreement("mixer a", "greeting", "they differ"), "mixer a")), "mixer a", "x")
    assert isinstance(arrived, PeerError)
    assert arrived.why == "they differ"


def test_a_mistake_of_the_others_program_is_not_ours(line: Any) -> None:
    arrived = error_from(line(status_of(LocalError("secret place in the code"), "mixer b")), "mixer b", "question")
    assert type(arrived) is PeerError
    assert "mixer b" in str(arrived)
    assert "secret" not in str(arrived)


def relayed(line: Any, error: MixbayesError, *way: str) -> MixbayesError:
    """An error of the first node on this way, as it arrives at the caller of the last one."""
    for node in way:
        error = error_from(line(status_of(error, node)), node, "question")
    return error


WAY = "mixer b", "mixer a", "party north"


@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (
            BadState("/srv/b/state.sqlite: the disk is full. Make room."),
            "mixer b says: its state folder cannot be used",
        ),
        (LocalError("secret place"), "mixer b, at its own work: its program made a mistake."),
        (OverBudget("Nothing is left."), "mixer b says: Nothing is left."),
        (RoundFailed("too few are left."), "mixer b says: too few are left."),
        (PeerSilent("party south", "label", "nothing came"), "party south, at label: nothing came (so says mixer b)."),
        (PeerGone("mixer b", "label", "it stops"), "mixer b, at label: it stops."),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, MixbayesError) else "",
)
def test_whoever_passes_an_error_on_its_origin_is_named_once(
    line: Any, raised: MixbayesError, said: str, hops: int
) -> None:
    arrived = relayed(line, raised, *WAY[:hops])
    assert arrived.origin == "mixer b"
    assert str(arrived).startswith(said)
    assert str(arrived).count("mixer b") == 1
    assert "mixer a" not in str(arrived)
    assert "secret" not in str(arrived)
    assert "/srv" not in str(arrived)


def test_a_passed_on_error_keeps_its_code_and_class(line: Any) -> None:
    assert type(relayed(line, BadState("/srv: full."), *WAY)) is BadState
    assert type(relayed(line, OverBudget("Nothing is left."), *WAY)) is OverBudget


def test_a_node_that_names_no_origin_speaks_for_itself(line: Any) -> None:
    """As one of an earlier version."""
    arrived = error_from(line(status_of(OverBudget("Nothing is left."), "")), "mixer a", "x")
    assert str(arrived) == "mixer a says: Nothing is left."


@pytest.mark.parametrize("at", ["mixer a", "mixer b"])
def test_what_others_read_of_an_error_names_its_origin_and_no_path(line: Any, at: str) -> None:
    full = BadState("/srv/b/state.sqlite: the disk is full. Make room.")
    error = relayed(line, full, "mixer b") if at == "mixer a" else full
    assert public_text(error, at).startswith("mixer b says: its state folder cannot be used.")


def test_gRPC_tools_see_code_and_text(line: Any) -> None:
    call = line(status_of(OverBudget("Nothing is left."), "mixer a"))
    assert call.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert call.details() == "Nothing is left. [E231]"


@given(text=st.text(max_size=20_000) | st.integers(100, 20_000).map(lambda n: "\U0001f3e5" * n))
@settings(max_examples=40)
def test_long_errors_in_any_script_fit_into_the_trailer(line: Any, text: str) -> None:
    """Behind a trailer that is too long the caller would see another error."""
    assert type(error_from(line(status_of(BadData(text), "mixer a")), "mixer a", "x")) is BadData
    arrived = error_from(line(status_of(PeerGone("party north", "question", text, text), "mixer a")), "mixer a", "x")
    assert type(arrived) is PeerGone


@given(text=st.text(max_size=300))
def test_no_terminal_is_steered_by_what_another_node_says(line: Any, text: str) -> None:
    arrived = error_from(line(status_of(RefusedByPolicy(text + "\x1b[2J\r\x9b"), "mixer a")), "mixer a", "x")
    assert all(character.isprintable() or character == "\n" for character in str(arrived))


class Contradicting(grpc.Status):
    """A status that says something else than its details."""

    def __init__(self, status: Any, code: grpc.StatusCode, details: str) -> None:
        self.code, self.details, self.trailing_metadata = code, details, status.trailing_metadata


def test_a_status_that_contradicts_itself_is_not_believed(line: Any) -> None:
    """Code and details of a status travel apart."""
    inner = rpc_status.to_status(status_pb2.Status(code=9, message="one", details=[]))
    status = Contradicting(inner, grpc.StatusCode.INTERNAL, "other")
    assert type(error_from(line(status), "mixer a", "x")) is PeerError


@given(reason=st.text(max_size=10), about=st.dictionaries(st.text(max_size=8), st.text(max_size=20), max_size=4))
def test_details_of_unknown_form_are_an_error_of_the_peer_or_of_ours_never_a_crash(
    line: Any, reason: str, about: dict[str, str]
) -> None:
    detail = any_pb2.Any()
    detail.Pack(error_details_pb2.ErrorInfo(reason=reason, domain="mixbayes", metadata=about))
    status = status_pb2.Status(code=3, message="m", details=[detail])
    assert isinstance(error_from(line(rpc_status.to_status(status)), "mixer a", "x"), MixbayesError)


@given(raw=st.binary(max_size=60))
def test_details_of_random_bytes_never_crash(line: Any, raw: bytes) -> None:
    detail = any_pb2.Any(type_url="type.googleapis.com/google.rpc.ErrorInfo", value=raw)
    status = status_pb2.Status(code=3, message="m", details=[detail])
    assert isinstance(error_from(line(rpc_status.to_status(status)), "mixer a", "x"), MixbayesError)


class _Ended(grpc.RpcError):
    """A call as gRPC ends it by itself."""

    def __init__(self, code: grpc.StatusCode, details: str = "") -> None:
        self._code, self._details = code, details

    def code(self) -> grpc.StatusCode:
        return self._code

    def details(self) -> str:
        return self._details

    def trailing_metadata(self) -> tuple[()]:
        return ()


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (grpc.StatusCode.DEADLINE_EXCEEDED, PeerSilent),
        (grpc.StatusCode.CANCELLED, PeerGone),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, WrongLength),
        (grpc.StatusCode.UNIMPLEMENTED, Disagreement),
        (grpc.StatusCode.UNAVAILABLE, Unreachable),
        (grpc.StatusCode.INTERNAL, PeerError),
        (grpc.StatusCode.UNKNOWN, PeerError),
    ],
)
def test_what_gRPC_says_names_node_and_step(code: grpc.StatusCode, kind: type[PeerError]) -> None:
    ours = error_from(_Ended(code), "mixer b", "sealing the round")  # type: ignore[arg-type]  # as much as is used
    assert type(ours) is kind
    assert str(ours).startswith("mixer b, at sealing the round: ")


@pytest.mark.parametrize(
    ("said", "means"),
    [
        ("ipv4:127.0.0.1:1: Failed to connect to remote host: connect: Connection refused (111)", "nothing listens"),
        ("Ssl handshake failed (TSI_PROTOCOL_FAILURE): WRONG_VERSION_NUMBER: Invalid", "does not speak TLS"),
        ("CERTIFICATE_VERIFY_FAILED", "not signed by this federation's authority, or has expired"),
        ("Peer name a is not in peer certificate", "for another name"),
        ("DNS resolution failed for x", "host name is unknown"),
        ("Socket closed", "closed the connection"),
        ("what nobody foresaw: 10.0.0.7 secret", "the connection failed"),
    ],
)
def test_connections_are_explained_in_words(said: str, means: str) -> None:
    assert means in plain(said)
    assert "secret" not in plain(said)


def test_a_path_of_the_own_disk_is_told_to_nobody(line: Any) -> None:
    said = str(
        error_from(line(status_of(BadState("/srv/state: the disk is full. Make room."), "mixer b")), "mixer b", "x")
    )
    assert "its state folder cannot be used" in said
    assert "/srv" not in said
