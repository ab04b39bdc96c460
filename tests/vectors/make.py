"""Writes the known answers beside it: `python tests/vectors/make.py [folder]`.

All randomness is fixed: a role draws from AES-CTR under its seed. Words are hexadecimal, 16 digits each; bits are 0 and
1; what is long stands as its SHA-256. A refused case changes what B sent on one stream, at a byte counted from the
front or the end, and says with which code A refuses it.
"""

from __future__ import annotations

import hashlib
import queue
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Bits, Values, Words, mask
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.question import Form, TableHolder, TableReader, receive_sums
from mixbayes.protocol.channel import Buffer, Channel
from mixbayes.protocol.circuits.comparison import carry
from mixbayes.protocol.circuits.logarithm import fixed_log2, shared_log2
from mixbayes.protocol.circuits.products import gate
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.errors import MixbayesError, PeerGone
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.shares import split
from mixbayes.protocol.transfer.extension import FOURS
from mixbayes.protocol.transfer.kinds import NAME_BYTES, TransferKind
from mixbayes.protocol.transfer.lpn import LpnSizes
from mixbayes.protocol.transfer.pool import Marks, connect_answerer, connect_asker, connect_pair
from mixbayes.research.records import one_a_line

HERE = Path(__file__).parent
MARKS = Marks(low=128, high=128)
SILENT = TransferKind(FOURS, LpnSizes(secret=128, trees=16, depth=6))
"""Silent transfers of small sizes, from the first one on."""
DEADLINE = 30.0
STREAMS = "ahead", "talk"
"""Random transfers are made on the first; the step itself talks on the second."""

Step = Callable[..., Any]
Content = dict[str, Any]


@dataclass
class Recorded:
    """A wire in memory that keeps what is written to it."""

    inner: memory.MemoryWire
    written: bytearray = field(default_factory=bytearray)

    def write(self, parts: Sequence[Buffer], step: str) -> None:
        for part in parts:
            self.written += part.tobytes() if isinstance(part, np.ndarray | memoryview) else part
        self.inner.write(parts, step)

    def read(self, into: memoryview, step: str) -> None:
        self.inner.read(into, step)


@dataclass
class Replayed:
    """A wire from which comes what was recorded, and then nothing."""

    rest: bytes

    def write(self, parts: Sequence[Buffer], step: str) -> None:
        pass

    def read(self, into: memoryview, step: str) -> None:
        if len(self.rest) < len(into):
            raise PeerGone("party B", step, "the recording ends")
        into[:], self.rest = self.rest[: len(into)], self.rest[len(into) :]

    def close(self) -> None:
        pass


@dataclass
class Run:
    """What both roles returned, and what each wrote on each stream."""

    results: tuple[Any, Any]
    of_a: dict[str, bytes]
    of_b: dict[str, bytes]


def run(role_a: Step, role_b: Step) -> Run:
    """Both roles in memory, each called with its two channels."""
    wires_a, wires_b = zip(*(_wires() for _ in STREAMS), strict=True)
    a, b = memory.together(
        lambda: role_a(*(Channel("party B", wire) for wire in wires_a)),
        lambda: role_b(*(Channel("party A", wire) for wire in wires_b)),
    )
    of_a, of_b = (
        {stream: bytes(wire.written) for stream, wire in zip(STREAMS, wires, strict=True)}
        for wires in (wires_a, wires_b)
    )
    return Run((a, b), of_a, of_b)


def _wires() -> tuple[Recorded, Recorded]:
    there: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    back: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    return (
        Recorded(memory.MemoryWire("party B", back, there, DEADLINE)),
        Recorded(memory.MemoryWire("party A", there, back, DEADLINE)),
    )


def refusal(role_a: Step, of_b: dict[str, bytes], case: Content) -> str:
    """The code with which A refuses B's recorded messages once one of them is changed."""
    changed = dict(of_b)
    changed[case["stream"]] = altered(of_b[case["stream"]], case)
    try:
        role_a(*(Channel("party B", Replayed(changed[stream])) for stream in STREAMS))
    except MixbayesError as error:
        return error.code
    return "accepted"


def altered(stream: bytes, case: Content) -> bytes:
    """The byte at `at` with some bits flipped, or nothing from there on."""
    at = case["at"] % len(stream)
    if "flip" in case:
        return stream[:at] + bytes([stream[at] ^ case["flip"]]) + stream[at + 1 :]
    return stream[:at]


def party(role: int, number: int, step: Step, inputs: tuple[Any, ...]) -> Step:
    """One computing party: connect, then take the step."""

    def play(ahead: Channel, talk: Channel) -> Any:
        random = Randomness(seed(number))
        return step(ComputingParty(role, talk, connect_pair(role, ahead, random, MARKS), random), *inputs)

    return play


def seed(number: int) -> bytes:
    return bytes([number]) * 32


def hexed(words: Words) -> str:
    return " ".join(f"{word:016x}" for word in words.reshape(-1).tolist())


def binary(bits: Bits) -> str:
    return "".join(str(bit) for bit in bits.tolist())


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def drawn(number: int, *shape: int) -> Words:
    return Randomness(seed(number)).words(*shape)


def shares() -> Content:
    """A vector split into the expansion of a seed and the rest."""
    cases = []
    for number, vector in [(0, drawn(0, 4) * 0), (7, np.arange(5, dtype=np.uint64)), (255, drawn(9, 3))]:
        share = split(vector, seed(number))
        cases.append(
            {
                "seed": seed(number).hex(),
                "vector": hexed(vector),
                "for_a": hexed(share.for_a()),
                "for_b": hexed(share.for_b()),
            }
        )
    return {"cases": cases, "refused": [{"seed": seed(7)[:31].hex(), "error": "ValueError"}]}


def transfer_roles() -> dict[str, tuple[Step, Step]]:
    """Who makes 256 random transfers with whom: A and B in both directions, extended or silent, and a mixer (as A) with
    an asking hospital.
    """

    def taken(connect: Step, number: int) -> Step:
        return lambda ahead, talk: connect(ahead, Randomness(seed(number)), MARKS).take(256)

    return {
        "pair": (party(0, 1, _take, ()), party(1, 2, _take, ())),
        "silent": (_silently(0, 1), _silently(1, 2)),
        "line": (taken(connect_answerer, 1), taken(connect_asker, 2)),
    }


def _silently(role: int, number: int) -> Step:
    return lambda ahead, talk: connect_pair(role, ahead, Randomness(seed(number)), MARKS, SILENT).take(256)


def _take(me: ComputingParty) -> Any:
    return me.pool.take(256)


NO_POINT = {"why": "the offer is no point", "stream": "ahead", "at": 20, "flip": 0x55, "code": "E205"}
TAMPERED_TRANSFERS = [
    {"why": "another step", "stream": "ahead", "at": 0, "flip": 1, "code": "E202"},
    {"why": "another number", "stream": "ahead", "at": 4, "flip": 1, "code": "E202"},
    {"why": "another length", "stream": "ahead", "at": 8, "flip": 1, "code": "E201"},
    {"why": "it stops in the middle", "stream": "ahead", "at": 2000, "code": "E211"},
]
CHEATING = [
    {"why": "a flipped correction", "stream": "ahead", "at": -2500, "flip": 0xFF, "code": "E204"},
    {"why": "a flipped bit of the check", "stream": "ahead", "at": -1, "flip": 1, "code": "E204"},
]
CHEATING_SILENTLY = [
    {"why": "a flipped sum of the trees", "stream": "ahead", "at": -200, "flip": 1, "code": "E215"},
    {"why": "a flipped bit of the check", "stream": "ahead", "at": -1, "flip": 1, "code": "E215"},
]
KIND = {"why": "another kind of transfers", "stream": "ahead", "at": 20, "flip": 1, "code": "E216"}
AFTER_KIND = 16 + NAME_BYTES
"""A and B begin with the name of the kind."""
REFUSED: dict[str, list[Content]] = {
    "pair": [KIND, NO_POINT | {"at": AFTER_KIND + 20}, *TAMPERED_TRANSFERS, *CHEATING],
    "silent": [KIND, *TAMPERED_TRANSFERS, *CHEATING_SILENTLY],
    "line": [NO_POINT, *TAMPERED_TRANSFERS, *CHEATING],
}


def transfers() -> Content:
    """The first four pads of 256 and a digest of all, for each direction, and what went over the wire."""
    content: Content = {}
    for name, (role_a, role_b) in transfer_roles().items():
        done = run(role_a, role_b)
        of_a, of_b = done.results
        directions = [(of_a[0], of_b[1]), (of_b[0], of_a[1])] if name != "line" else [(of_a, of_b)]
        content[name] = {
            "seed_a": seed(1).hex(),
            "seed_b": seed(2).hex(),
            "directions": [
                {
                    "choices": binary(received.choices),
                    "first_pads": [hexed(pads[:4]) for pads in sent.pads],
                    "pads": [digest(pads.tobytes()) for pads in sent.pads],
                    "chosen": digest(received.pads.tobytes()),
                }
                for sent, received in directions
            ],
            "wire_a": digest(done.of_a["ahead"]),
            "wire_b": digest(done.of_b["ahead"]),
            "refused": REFUSED[name],
        }
    return content


TAMPERED_TALK = [
    {"why": "another step", "stream": "talk", "at": 0, "flip": 1, "code": "E202"},
    {"why": "another number", "stream": "talk", "at": 4, "flip": 1, "code": "E202"},
    {"why": "a message of another length", "stream": "talk", "at": 8, "flip": 1, "code": "E201"},
    {"why": "its last byte is missing", "stream": "talk", "at": -1, "code": "E211"},
]
PADDING = {"why": "padding of the bits is set", "stream": "talk", "at": 16, "flip": 1, "code": "E203"}
PADDED = {"why": "padding of the words is set", "stream": "talk", "at": -1, "flip": 1, "code": "E203"}


def gate_inputs(width: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Five shared bits and shared words."""
    of_a, of_b = (
        ((drawn(10 + role, 5) & np.uint64(1)).astype(np.uint8), drawn(12 + role, 5) & mask(width), width)
        for role in (0, 1)
    )
    return of_a, of_b


def gate_roles(width: int) -> tuple[Step, Step]:
    of_a, of_b = gate_inputs(width)
    return party(0, 3, gate, of_a), party(1, 4, gate, of_b)


def triples() -> Content:
    """Bit times word, five at a time: the bytes on the wire and the shares. Of width 1 it is AND."""
    return {"cases": [_triple(width) for width in (1, 20, 64)]}


def _triple(width: int) -> Content:
    of_a, of_b = gate_inputs(width)
    done = run(*gate_roles(width))
    cases = [*TAMPERED_TALK, PADDING, *([PADDED] if width == 20 else [])]
    return {
        "width": width,
        "seed_a": seed(3).hex(),
        "seed_b": seed(4).hex(),
        "bits": [binary(of_a[0]), binary(of_b[0])],
        "words": [hexed(of_a[1]), hexed(of_b[1])],
        "wire_a": done.of_a["talk"].hex(),
        "wire_b": done.of_b["talk"].hex(),
        "shares": [hexed(share) for share in done.results],
        "refused": cases,
    }


def comparisons() -> Content:
    """The carry of private words, at its border and away from it."""
    return {"cases": [_comparison(width) for width in (1, 13, 40, 64)]}


def comparison_inputs(width: int) -> tuple[Words, Words]:
    """Sums of 2^width − 1, 2^width and 2^width + 1 or as near as they come, and any."""
    of_a = drawn(20, 12) & mask(width)
    of_b = drawn(21, 12) & mask(width)
    for i, above in enumerate((0, 1, 2)):
        of_b[3 * i : 3 * i + 3] = (~of_a[3 * i : 3 * i + 3] + np.uint64(above)) & mask(width)
    return of_a, of_b


def comparison_roles(width: int) -> tuple[Step, Step]:
    of_a, of_b = comparison_inputs(width)
    return party(0, 5, carry, (of_a, width)), party(1, 6, carry, (of_b, width))


def _comparison(width: int) -> Content:
    of_a, of_b = comparison_inputs(width)
    done = run(*comparison_roles(width))
    return {
        "width": width,
        "seed_a": seed(5).hex(),
        "seed_b": seed(6).hex(),
        "of_a": hexed(of_a),
        "of_b": hexed(of_b),
        "wire_a": digest(done.of_a["talk"]),
        "wire_b": digest(done.of_b["talk"]),
        "shares": [binary(share) for share in done.results],
        "refused": TAMPERED_TALK,
    }


COUNTS = [0, 1, 2, 3, 5, 7, 10, 511, 512, 513, 1000, 65535, 65536, 10**6, 2**31 - 1, 2**40 - 1, 2**40, 10**12]
COUNT_BITS, LOG_WIDTH = 41, 46


def logarithm_roles() -> tuple[Step, Step]:
    of_a = drawn(30, len(COUNTS))
    of_b = np.array(COUNTS, np.uint64) - of_a
    return (
        party(0, 7, shared_log2, (of_a, COUNT_BITS, LOG_WIDTH)),
        party(1, 8, shared_log2, (of_b, COUNT_BITS, LOG_WIDTH)),
    )


def logarithms() -> Content:
    """Counts and their logarithms with 31 fraction bits, in the clear and on shares."""
    counts = np.array(COUNTS, np.uint64)
    done = run(*logarithm_roles())
    return {
        "counts": hexed(counts),
        "logarithms": hexed(fixed_log2(counts)),
        "count_bits": COUNT_BITS,
        "width": LOG_WIDTH,
        "seed_a": seed(7).hex(),
        "seed_b": seed(8).hex(),
        "share_a": hexed(drawn(30, counts.size)),
        "shares": [hexed(logs) for logs, _ in done.results],
        "some": [binary(some) for _, some in done.results],
        "wire_a": digest(done.of_a["talk"]),
        "wire_b": digest(done.of_b["talk"]),
        "refused": TAMPERED_TALK,
    }


ASKED = [("dimension 4096, q = 2^96", 40, 4), ("dimension 8192, q = 2^96", 40, 600), ("longer words", 60, 4)]
"""A name, the width of words, and a number of rows: so many that each case has another dimension or q."""
TAMPERED_SUMS = {"why": "a bit of c1", "stream": "talk", "at": 16 + 9 * 4096 + 2, "flip": 0x80, "code": "accepted"}
"""The highest one of a coefficient. What is decrypted is always some share: an error would tell of the key."""


def asked_form(width: int) -> Form:
    """Of two attributes with two and three values, and three classes."""
    attributes = [Nominal(name=name, values=values) for name, values in (("a", ("x", "y")), ("b", ("x", "y", "z")))]
    content = {"class_column": "class", "classes": ["0", "1", "2"], "attributes": attributes}
    return Form.of(Layout(Dictionary.model_validate(content)), width)


def asked_words(width: int) -> list[Words]:
    """The holder's share of the words of each attribute, and of missing cells."""
    return [
        np.append(drawn(40 + at, rows, 2) & mask(width), drawn(0, 1, 2) * 0, axis=0) for at, rows in ((0, 2), (1, 3))
    ]


def asked_codes(rows: int) -> Values:
    every = [(a, b) for a in range(3) for b in range(4)]
    return np.array([every[row % len(every)] for row in range(rows)], np.int32).T


def question_roles(width: int, rows: int) -> tuple[Step, Step]:
    """A encrypts its table and decrypts masked sums; B asks."""
    form = asked_form(width)
    model = Model(width, np.zeros(2, np.uint64), tuple(asked_words(width)))

    def holder(ahead: Channel, talk: Channel) -> Words:
        (offered,) = TableHolder(talk, Randomness(seed(9))).offered(form, [(model, rows)])
        return receive_sums(talk, offered)

    def reader(ahead: Channel, talk: Channel) -> Words:
        return TableReader([talk], Randomness(seed(10))).ask_partner(form, asked_codes(rows))

    return holder, reader


def questions() -> Content:
    """Sums of encrypted words, as shares of the first four rows."""
    return {"cases": [_question(*case) for case in ASKED]}


def _question(name: str, width: int, rows: int) -> Content:
    done, laid = run(*question_roles(width, rows)), asked_form(width).polynomials(rows)
    return {
        "name": name,
        "width": width,
        "rows": rows,
        "dimension": laid.parameters.dimension,
        "limbs": laid.parameters.limbs,
        "run": laid.run,
        "seed_a": seed(9).hex(),
        "seed_b": seed(10).hex(),
        "words": [hexed(words) for words in asked_words(width)],
        "codes": asked_codes(rows)[:, :4].tolist(),
        "wire_a": digest(done.of_a["talk"]),
        "wire_b": digest(done.of_b["talk"]),
        "shares": [hexed(share[:, :4] & mask(width)) for share in done.results],
        "refused": [*TAMPERED_TALK, TAMPERED_SUMS],
    }


FILES: dict[str, Callable[[], Content]] = {
    "shares.json": shares,
    "transfers.json": transfers,
    "triples.json": triples,
    "comparisons.json": comparisons,
    "logarithms.json": logarithms,
    "questions.json": questions,
}


def text(name: str) -> str:
    return one_a_line(FILES[name]())


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for name in FILES:
        (folder / name).write_text(text(name))


if __name__ == "__main__":
    main()
