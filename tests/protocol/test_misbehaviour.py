"""Whatever a peer does, a role ends soon, with an error that names the peer and the step and tells no secret."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from nacl import bindings as group

from mixbayes.protocol.bayes import label
from mixbayes.protocol.bayes.classification import ask_public
from mixbayes.protocol.bayes.counts import Codes
from mixbayes.protocol.bayes.public_rows import send
from mixbayes.protocol.bayes.question import Form, Offered, TableHolder, TableReader
from mixbayes.protocol.circuits.choice import Slots
from mixbayes.protocol.errors import (
    BadGroupElement,
    CheatingReceiver,
    LocalError,
    MixbayesError,
    OutOfRange,
    PeerError,
    PeerGone,
    PeerSilent,
    Reuse,
    WrongLength,
    WrongStep,
)
from mixbayes.protocol.lattice.encryption import Key, Table
from mixbayes.protocol.packing import pack_words
from mixbayes.protocol.paillier.classification import Line
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.shares import split
from mixbayes.protocol.transfer.base import BaseReceived, BaseSent, receive_base, send_base
from mixbayes.protocol.transfer.pool import PairPool, ReceivedPool, SentPool
from tests.protocol.adversary import (
    EVERY_ROLE,
    JOBS,
    LAYOUT,
    Frame,
    Lines,
    Pools,
    Script,
    TappedEnds,
    alone,
    alone_over_sockets,
    honest,
    model_shares,
    scripts_of,
    some_codes,
)
from tests.protocol.pairs import Ends, Pair, connect_asker, random_for, seed, words_of

pytestmark = pytest.mark.usefixtures("remembered_group")
CONNECTING = [where for where in EVERY_ROLE if where not in {("public", "party va"), ("private", "party va")}]
"""The roles that make random transfers with somebody."""
HEARING = [where for where in CONNECTING if where != ("transfers", "party va")]
"""Those of them that hear anything while transfers are made. Who is only the receiver of transfers does not."""
every_role = pytest.mark.parametrize(("job", "role"), EVERY_ROLE, ids=[f"{job}-{role}" for job, role in EVERY_ROLE])

Pool = PairPool | SentPool | ReceivedPool

# Tampering with message i of a line: the script, and what must come of it at that message's step.

Tampering = Callable[[list[Frame], int], Script]


def with_frame(frames: list[Frame], i: int, *instead: Frame) -> Script:
    return [frame.encoded() for frame in [*frames[:i], *instead, *frames[i + 1 :]]]


def shortened(frames: list[Frame], i: int) -> Script:
    return with_frame(frames, i, replace(frames[i], payload=frames[i].payload[:-1]))


def lengthened(frames: list[Frame], i: int) -> Script:
    return with_frame(frames, i, replace(frames[i], payload=frames[i].payload + b"\0"))


def emptied(frames: list[Frame], i: int) -> Script:
    return with_frame(frames, i, replace(frames[i], payload=b""))


def of_another_step(frames: list[Frame], i: int) -> Script:
    return with_frame(frames, i, replace(frames[i], step="another step"))


def repeated(frames: list[Frame], i: int) -> Script:
    """What came before comes again; the first message cannot, so it claims to be the second."""
    again = frames[i - 1] if i else replace(frames[0], number=1)
    return with_frame(frames, i, again, frames[i])


def overtaken(frames: list[Frame], i: int) -> Script:
    """The next message comes first; the last one claims to have done so."""
    following = frames[i + 1] if i + 1 < len(frames) else replace(frames[i], number=i + 1)
    return with_frame(frames, i, following, frames[i])


def noise(frames: list[Frame], i: int) -> Script:
    garbage = np.random.default_rng(i).bytes(16 + len(frames[i].payload))
    return [*with_frame(frames[:i], i), garbage]


def withheld(frames: list[Frame], i: int) -> Script:
    return with_frame(frames[:i], i)


def half_sent(frames: list[Frame], i: int) -> Script:
    encoded = frames[i].encoded()
    return [*withheld(frames, i), encoded[: (len(encoded) + 16) // 2]]


def headed_only(frames: list[Frame], i: int) -> Script:
    return [*withheld(frames, i), frames[i].encoded()[:16]]


def hung_up(frames: list[Frame], i: int) -> Script:
    return [*withheld(frames, i), None]


def hung_up_half_way(frames: list[Frame], i: int) -> Script:
    return [*half_sent(frames, i), None]


OUTCOMES: dict[Tampering, type[PeerError]] = {
    shortened: WrongLength,
    lengthened: WrongLength,
    emptied: WrongLength,
    of_another_step: WrongStep,
    repeated: WrongStep,
    overtaken: WrongStep,
    noise: WrongStep,
    withheld: PeerSilent,
    half_sent: PeerSilent,
    headed_only: PeerSilent,
    hung_up: PeerGone,
    hung_up_half_way: PeerGone,
}
OVER_SOCKETS = (shortened, of_another_step, half_sent, hung_up)
every_tampering = pytest.mark.parametrize("tampering", OUTCOMES, ids=lambda tampering: tampering.__name__)


def every_message(job: str, role: str) -> Iterator[tuple[str, int, list[Frame]]]:
    """Of a long job some: on each line the first two of every step, and then every 45th."""
    for line, frames in honest(job).heard[role].items():
        steps = [frame.step for frame in frames]
        for i, step in enumerate(steps):
            if job != "training with numbers" or steps[:i].count(step) < 2 or i % 45 == 44:
                yield line, i, frames


def tells_no_secret(error: BaseException) -> None:
    """A text holds no array, no bytes and no number but lengths and counts of messages; nothing is chained to it."""
    assert error.__cause__ is None
    assert error.__context__ is None or error.__suppress_context__
    assert all(part is None or isinstance(part, str) for part in error.args)
    assert not re.search(r"array|0x|\\x|b'|\[", str(error))


def fails(error: type[MixbayesError], run: Callable[[], object]) -> PeerError:
    with pytest.raises(error) as caught:
        run()
    tells_no_secret(caught.value)
    assert type(caught.value) is error
    assert isinstance(caught.value, PeerError)
    return caught.value


def hands_out_nothing(pool: Pool) -> None:
    with pytest.raises(LocalError) as caught:
        pool.take(1)
    assert caught.value.code == "E300"
    with pytest.raises(Reuse):
        pool.reserve(1)


@every_role
def test_a_script_of_what_honest_peers_sent_ends_as_the_honest_run_did(job: str, role: str) -> None:
    expected = honest(job).results[role]
    for run in (alone, alone_over_sockets):
        result = run(job, role, scripts_of(job, role), {})
        if role == "party va":
            assert result.tolist() == expected.tolist()
        else:
            assert type(result) is type(expected)


@every_tampering
@every_role
def test_every_departure_at_every_message_names_peer_and_step(job: str, role: str, tampering: Tampering) -> None:
    for line, i, frames in every_message(job, role):
        scripts = scripts_of(job, role) | {line: tampering(frames, i)}
        error = fails(OUTCOMES[tampering], lambda scripts=scripts: alone(job, role, scripts, {}))
        assert (error.peer, error.step) == (JOBS[job].lines_of(role)[line], frames[i].step)


@pytest.mark.parametrize("tampering", OVER_SOCKETS, ids=lambda tampering: tampering.__name__)
@every_role
def test_so_it_does_at_every_step_over_local_sockets(job: str, role: str, tampering: Tampering) -> None:
    for line, i, frames in every_message(job, role):
        if frames[i].step in {frame.step for frame in frames[:i]}:
            continue
        scripts = scripts_of(job, role) | {line: tampering(frames, i)}
        silent = line if tampering is half_sent else ""
        error = fails(
            OUTCOMES[tampering],
            lambda scripts=scripts, silent=silent: alone_over_sockets(job, role, scripts, {}, silent),
        )
        assert (error.peer, error.step) == (JOBS[job].lines_of(role)[line], frames[i].step)


@every_role
def test_peer_that_is_dead_already_is_gone_whether_written_to_or_read(job: str, role: str) -> None:
    for line, peer in JOBS[job].lines_of(role).items():
        error = fails(PeerGone, lambda line=line: alone_over_sockets(job, role, scripts_of(job, role), {}, dead=line))
        assert error.peer == peer


@pytest.mark.parametrize(("job", "role"), HEARING, ids=str)
def test_pool_whose_making_was_disturbed_hands_out_nothing(job: str, role: str) -> None:
    disturbed = 0
    for line, i, frames in every_message(job, role):
        if frames[i].step in MAKING:
            for tampering in (shortened, repeated, withheld, hung_up):
                pools: Pools = {}
                with pytest.raises(PeerError):
                    alone(job, role, scripts_of(job, role) | {line: tampering(frames, i)}, pools)
                if line in pools:  # else the connection itself was disturbed
                    hands_out_nothing(pools[line])
                    disturbed += 1
    assert disturbed


MAKING = ("OT extension: corrections", "OT extension: check")


# Contents


def contents_tampered(frames: list[Frame], i: int, kind: str) -> Script:
    payload = np.frombuffer(frames[i].payload, np.uint8).copy()
    rng = np.random.default_rng(i)
    if kind == "ones":
        payload[:] = 0xFF
    elif kind == "zeros":
        payload[:] = 0
    elif kind == "noise":
        payload[:] = rng.integers(0, 256, payload.size)
    else:
        payload[rng.integers(payload.size)] ^= np.uint8(1 << rng.integers(8))
    return with_frame(frames, i, replace(frames[i], payload=payload.tobytes()))


CONTENTS = ("ones", "zeros", "noise", "one bit")


@pytest.mark.parametrize("kind", CONTENTS)
@every_role
def test_false_contents_end_in_an_answer_or_in_an_error_of_ours(job: str, role: str, kind: str) -> None:
    for line, i, frames in every_message(job, role):
        try:
            alone(job, role, scripts_of(job, role) | {line: contents_tampered(frames, i, kind)}, {})
        except MixbayesError as error:
            tells_no_secret(error)


CHECKED = {
    "announce choice of slots",
    "bit and word",
    "bit times word",
    "label",
    "public instances",
}
"""Steps in which some bit must be clear: padding, or beyond an attribute's values."""


def test_bits_that_must_be_clear_are_refused_in_every_step_that_has_them() -> None:
    refused = set()
    for job, role in EVERY_ROLE:
        for line, i, frames in every_message(job, role):
            peer, step = JOBS[job].lines_of(role)[line], frames[i].step
            try:
                alone(job, role, scripts_of(job, role) | {line: contents_tampered(frames, i, "ones")}, {})
            except OutOfRange as error:
                if (error.peer, error.step) == (peer, step):
                    refused.add(step)
            except MixbayesError:
                continue
    assert refused == CHECKED


def test_each_single_bit_that_must_be_clear_is_refused() -> None:
    """Padding of the label: of three rows and three classes, nine bits and seven of padding."""
    for line, step, byte, bit in (("to a", "label", -1, 6), ("to a", "label", -1, 0)):
        frames = honest("private").heard["party va"][line]
        i = [frame.step for frame in frames].index(step)
        payload = np.frombuffer(frames[i].payload, np.uint8).copy()
        payload[byte] |= np.uint8(1 << bit)
        scripts = scripts_of("private", "party va") | {
            line: with_frame(frames, i, replace(frames[i], payload=payload.tobytes()))
        }
        error = fails(OutOfRange, lambda scripts=scripts: alone("private", "party va", scripts, {}))
        assert (error.peer, error.step) == ("mixer a", step)


@pytest.mark.parametrize(("column", "code"), [(0, 3), (2, (1 << 24) + 2)], ids=["a0", "number"])
def test_cell_beyond_its_attribute_is_refused(column: int, code: int) -> None:
    """The second attribute has as many codes as its bits can say."""
    codes, ends = some_codes(), TappedEnds("party va", "mixer a")
    codes[column, 1] = code
    send(ends.first, LAYOUT, codes)
    frames = honest("public").heard["mixer a"]["to a"]
    (_, payload), *_ = ends.first.said
    assert payload.size == len(frames[0].payload)
    scripts = scripts_of("public", "mixer a") | {
        "to a": with_frame(frames, 0, replace(frames[0], payload=payload.tobytes()))
    }
    error = fails(OutOfRange, lambda: alone("public", "mixer a", scripts, {}))
    assert (error.peer, error.step) == ("party va", "public instances")
    assert "none that its attribute can have" in str(error)


@pytest.mark.parametrize("hot", [0, 0b011, 0b111], ids=["no class", "two classes", "all classes"])
@pytest.mark.parametrize(
    ("job", "line", "blamed"),
    [
        ("public", "to a", "mixer a or mixer b"),
        ("private", "to b", "mixer a or mixer b"),
        ("two hospitals", "pair", "party vb"),
        ("two hospitals, shown", "pair", "party vb"),
    ],
)
def test_answer_that_names_no_class_or_several_is_refused(job: str, line: str, blamed: str, hot: int) -> None:
    frames = honest(job).heard["party va"][line]
    right = np.uint64(1) << honest(job).results["party va"].astype(np.uint64)
    false = np.frombuffer(frames[-1].payload, np.uint8) ^ pack_words(right ^ np.uint64(hot), 3)
    scripts = scripts_of(job, "party va") | {
        line: with_frame(frames, len(frames) - 1, replace(frames[-1], payload=false.tobytes()))
    }
    error = fails(OutOfRange, lambda: alone(job, "party va", scripts, {}))
    assert (error.peer, error.step) == (blamed, "label")


# Group elements

P = 2**255 - 19


def point(y: int, sign: int = 0) -> bytes:
    return (y | sign << 255).to_bytes(32, "little")


ORDER_8 = int.from_bytes(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little")
SMALL = [point(y, sign) for y in (0, 1, P - 1, ORDER_8, P - ORDER_8) for sign in (0, 1)]
"""Every point whose order divides eight, and encodings of two of them with a needless sign."""
NOT_CANONICAL = [point(y, sign) for y in range(P, 2**255) for sign in (0, 1)]
"""y is not reduced."""
OFF_THE_CURVE = [point(2), point(P - 2)]
GENERATOR = group.crypto_scalarmult_ed25519_base_noclamp((1).to_bytes(32, "little"))


def mixed() -> bytes:
    """A point of the large subgroup plus one of order two: on the curve, and outside the group."""
    y = int.from_bytes(GENERATOR, "little") & ((1 << 255) - 1)
    sign = GENERATOR[31] >> 7
    return point(P - y, 1 - sign)


BAD_POINTS = [*SMALL, *NOT_CANONICAL, *OFF_THE_CURVE, mixed()]


def test_bad_points_are_what_they_are_called() -> None:
    assert group.crypto_core_ed25519_is_valid_point(GENERATOR)
    assert len(set(BAD_POINTS)) == len(BAD_POINTS) == 10 + 38 + 2 + 1


@pytest.mark.parametrize(("job", "role"), CONNECTING, ids=str)
def test_point_outside_the_group_is_refused_wherever_points_are_sent(job: str, role: str) -> None:
    steps = set()
    for line, i, frames in every_message(job, role):
        if frames[i].step.startswith("base OT"):
            steps.add(frames[i].step)
            for number, bad in enumerate(BAD_POINTS):
                scripts = scripts_of(job, role) | {line: with_point(frames, i, number, bad)}
                error = fails(BadGroupElement, lambda scripts=scripts: alone(job, role, scripts, {}))
                assert (error.peer, error.step) == (JOBS[job].lines_of(role)[line], frames[i].step)
    assert steps


def with_point(frames: list[Frame], i: int, number: int, bad: bytes) -> Script:
    """In place of the first point of the message, or the second, …"""
    payload = frames[i].payload
    at = 32 * number % len(payload)
    return with_frame(frames, i, replace(frames[i], payload=payload[:at] + bad + payload[at + 32 :]))


def test_offer_that_comes_back_as_every_answer_ends_in_an_answer() -> None:
    """The receiver of keys who answers with the offer has chosen 1 in a strange way; nothing breaks."""
    ends = Ends()
    ends.second.send("base OT: answers", offer_of(random_for(8)) * 128)
    keys = send_base(ends.first, random_for(8)).keys
    assert len(np.unique(keys.reshape(-1, 2), axis=0)) == 256


def offer_of(random: Randomness) -> bytes:
    ends = Ends(deadline=0.5)
    with pytest.raises(PeerSilent):
        send_base(ends.first, random)
    return ends.second.receive("base OT: offer", 32).tobytes()


# The receiver's proof of honesty


@pytest.mark.parametrize("byte", [0, 16 * 127, 16 * 128, 16 * 129 - 1])
def test_false_proof_of_an_asker_is_called_cheating(byte: int) -> None:
    frames = honest("transfers").heard["party vb"]["ahead"]
    i = [frame.step for frame in frames].index("OT extension: check")
    payload = bytearray(frames[i].payload)
    payload[byte] ^= 0x10
    scripts = {"ahead": with_frame(frames, i, replace(frames[i], payload=bytes(payload)))}
    pools: Pools = {}
    error = fails(CheatingReceiver, lambda: alone("transfers", "party vb", scripts, pools))
    assert (error.peer, error.step, error.code) == ("party va", "OT extension: check", "E204")
    hands_out_nothing(pools["ahead"])


# A broken connection discards its transfers


def test_disturbed_pool_refuses_to_be_topped_up() -> None:
    _, answerer, ends = connect_asker(5)
    ends.cut()
    with pytest.raises(PeerGone):
        answerer.take(1)
    with pytest.raises(Reuse):
        answerer.reserve(1)
    with pytest.raises(Reuse):
        answerer.top_up()


def test_disturbed_pool_begins_nothing_new() -> None:
    asker, _, ends = connect_asker(6)
    ends.first.close()
    with pytest.raises(Reuse, match="conversation"):
        asker.take(1)
    with pytest.raises(Reuse, match="transfers"):
        asker.take(1)


@every_tampering
def test_conversation_that_was_disturbed_carries_nothing_more(tampering: Tampering) -> None:
    """So the transfers that serve it serve nothing either, although they themselves are whole."""
    frames = honest("training").heard["mixer a"]["pair"]
    scripts = scripts_of("training", "mixer a") | {"pair": tampering(frames, 3)}
    lines: Lines = {}
    fails(OUTCOMES[tampering], lambda: alone("training", "mixer a", scripts, {}, lines=lines))
    for use in (
        lambda: lines["pair"].send("step", b""),
        lambda: lines["pair"].receive("step", 1),
        lambda: lines["pair"].swap("step", b"1"),
    ):
        with pytest.raises(Reuse) as caught:
            use()
        assert caught.value.code == "E300"


# What is printed of things that hide


def holders() -> dict[str, object]:
    pair = Pair(7)
    sent, received = pair.run(lambda me: me.pool.take(8), (), ())[0]
    asker, answerer, ends = connect_asker(7)
    form, model = Form.of(LAYOUT, model_shares()[0].width), model_shares()[0]
    layout = form.polynomials(3)
    key = Key(layout.parameters, random_for(4))
    encrypted = key.encrypt(layout.table(form.table(model)), form.width, random_for(5))
    return {
        "party": pair.a,
        "channel": pair.a.channel,
        "pair pool": pair.a.pool,
        "asker's pool": asker,
        "answerer's pool": answerer,
        "randomness": pair.a.random,
        "sent": sent,
        "received": received,
        "base sent": BaseSent(np.ones((2, 128, 2), np.uint64)),
        "base received": BaseReceived(np.ones(128, np.uint8), np.ones((128, 2), np.uint64)),
        "model": model_shares()[0],
        "share": split(words_of([1, 2, 3]), seed(3)),
        "codes": Codes(some_codes(), np.zeros(3, np.int32)),
        "line": Line(ends.first, asker),
        "key": key,
        "encrypted": encrypted,
        "table": Table.of(layout.parameters, encrypted),
        "offered": Offered(form, layout, key, model.prior, 3),
        "holder": TableHolder(ends.first, random_for(6)),
        "reader": TableReader([ends.first], random_for(6)),
    }


def shows_nothing(text: str) -> bool:
    return not re.search(r"array\(|\[|b'|\\x", text)


def test_nothing_that_hides_shows_its_contents() -> None:
    shown = {name: repr(thing) + str(thing) for name, thing in holders().items()}
    assert {name for name, text in shown.items() if not shows_nothing(text)} == set()


def test_slots_show_neither_tables_nor_index() -> None:
    assert shows_nothing(repr(Slots(4, 4, np.ones((1, 2), np.uint64), np.ones(2, np.uint8))))


def test_label_that_is_refused_is_not_repeated_in_the_error() -> None:
    secret = words_of([0b101])
    error = fails(OutOfRange, lambda: label.opened(secret, words_of([0]), "mixer a or mixer b"))
    assert not re.search(r"101|5", str(error))


def test_asker_meets_a_mixer_that_hangs_up_before_it_says_anything() -> None:
    to_a, to_b = Ends("party va", "mixer a"), Ends("party va", "mixer b")
    to_a.cut()
    error = fails(PeerGone, lambda: ask_public((to_a.first, to_b.first), LAYOUT, 40, some_codes()))
    assert (error.peer, error.step) == ("mixer a", "label")


def test_receiver_of_base_transfers_waits_for_the_offer_no_longer_than_the_deadline() -> None:
    error = fails(PeerSilent, lambda: receive_base(Ends(deadline=0.5).first, random_for(9)))
    assert error.step == "base OT: offer"
