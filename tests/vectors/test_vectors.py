import json
from collections.abc import Iterator
from math import log2
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from mixbayes.protocol.circuits.logarithm import ERROR
from mixbayes.protocol.packing import words_bytes
from mixbayes.protocol.shares import split
from tests.vectors import make

Content = dict[str, Any]


def known(name: str) -> Content:
    content: Content = json.loads((make.HERE / name).read_text())
    return content


def words(text: str) -> list[int]:
    return [int(word, 16) for word in text.split()]


def bits(text: str) -> list[int]:
    return [int(bit) for bit in text]


def xored(texts: list[str]) -> list[int]:
    return [a ^ b for a, b in zip(*map(words, texts), strict=True)]


@pytest.mark.parametrize("name", make.FILES)
def test_code_gives_the_known_answers(name: str) -> None:
    """What the generator makes today is the file, byte for byte."""
    assert make.text(name) == (make.HERE / name).read_text()


def test_generator_writes_these_files_and_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["make.py", str(tmp_path)])
    make.main()
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_bytes() for path in make.HERE.glob("*.json")}


def test_shares_are_the_seed_s_key_stream_and_the_rest() -> None:
    for case in known("shares.json")["cases"]:
        stream = Cipher(algorithms.AES(bytes.fromhex(case["seed"])), modes.CTR(bytes(16))).encryptor()
        for_a = words(case["for_a"])
        assert b"".join(w.to_bytes(8, "little") for w in for_a) == stream.update(bytes(8 * len(for_a)))
        both = zip(for_a, words(case["for_b"]), strict=True)
        assert [(a + b) % 2**64 for a, b in both] == words(case["vector"])


def test_seed_of_another_length_is_refused() -> None:
    for case in known("shares.json")["refused"]:
        assert case["error"] == "ValueError"
        with pytest.raises(ValueError, match="31"):
            split(make.drawn(1, 3), bytes.fromhex(case["seed"]))


def test_receiver_s_pads_are_those_of_its_choices() -> None:
    """The first four of each direction, from the made transfers; the files have digests of all."""
    for name, (role_a, role_b) in make.transfer_roles().items():
        of_a, of_b = make.run(role_a, role_b).results
        ends = [(of_a[0], of_b[1]), (of_b[0], of_a[1])] if name == "pair" else [(of_a, of_b)]
        for direction, (_, received) in zip(known("transfers.json")[name]["directions"], ends, strict=True):
            pads = [words(text) for text in direction["first_pads"]]
            for i, choice in enumerate(bits(direction["choices"][:4])):
                assert received.pads[i].tolist() == pads[choice][2 * i : 2 * i + 2]
                assert received.pads[i].tolist() != pads[1 - choice][2 * i : 2 * i + 2]


def test_shares_of_a_gate_open_to_the_product() -> None:
    for case in known("triples.json")["cases"]:
        chosen = [a ^ b for a, b in zip(*map(bits, case["bits"]), strict=True)]
        products = [bit * word for bit, word in zip(chosen, xored(case["words"]), strict=True)]
        assert xored(case["shares"]) == products
        assert 0 < sum(chosen) < len(chosen)


def test_wire_of_a_gate_is_a_header_and_a_bit_and_a_word_each() -> None:
    for case in known("triples.json")["cases"]:
        payload = 1 + (1 if case["width"] == 1 else words_bytes(5, case["width"]))
        for sent in (bytes.fromhex(case["wire_a"]), bytes.fromhex(case["wire_b"])):
            assert len(sent) == 16 + payload
            assert int.from_bytes(sent[4:8], "little") == 0
            assert int.from_bytes(sent[8:16], "little") == payload


def test_shares_of_a_comparison_open_to_the_carry() -> None:
    for case in known("comparisons.json")["cases"]:
        carries = [a ^ b for a, b in zip(*map(bits, case["shares"]), strict=True)]
        sums = [a + b for a, b in zip(words(case["of_a"]), words(case["of_b"]), strict=True)]
        assert carries == [total >> case["width"] for total in sums]
        assert 0 < sum(carries) < len(carries)


def test_logarithms_are_close_and_their_shares_add_up() -> None:
    known_answers = known("logarithms.json")
    counts, fixed = words(known_answers["counts"]), words(known_answers["logarithms"])
    for count, log in zip(counts, fixed, strict=True):
        assert abs(log / 2**31 - log2(max(count, 1))) < ERROR
    shares = zip(*map(words, known_answers["shares"]), strict=True)
    assert [(a + b) % 2 ** known_answers["width"] for a, b in shares] == fixed
    some = zip(*map(bits, known_answers["some"]), strict=True)
    assert [a ^ b for a, b in some] == [int(count > 0) for count in counts]


def test_shares_of_encrypted_sums_add_up_to_the_words_that_rows_name() -> None:
    sizes = []
    for case in known("questions.json")["cases"]:
        sizes.append((case["dimension"], case["limbs"]))
        tables = [words(text) for text in case["words"]]
        found = [sum(both) % 2 ** case["width"] for both in zip(*map(words, case["shares"]), strict=True)]
        assert found == [
            sum(table[2 * code + later] for table, code in zip(tables, row, strict=True)) % 2 ** case["width"]
            for later in range(2)
            for row in zip(*case["codes"], strict=True)
        ]
    assert sizes == [(4096, 4), (8192, 4), (8192, 5)]


def test_a_changed_sum_is_accepted_and_decrypts_to_something_else() -> None:
    _, width, rows = make.ASKED[0]
    holder, reader = make.question_roles(width, rows)
    honest = make.run(holder, reader)
    changed = make.altered(honest.of_b["talk"], make.TAMPERED_SUMS)
    share = holder(make.Channel("party B", make.Replayed(b"")), make.Channel("party B", make.Replayed(changed)))
    assert (share != honest.results[0]).any()


def refusals() -> Iterator[tuple[str, make.Step, make.Step, list[Content]]]:
    """Both roles of every vector with cases that must be refused, and the cases."""
    for name, roles in make.transfer_roles().items():
        yield name, *roles, known("transfers.json")[name]["refused"]
    for case in known("triples.json")["cases"]:
        yield f"gate of width {case['width']}", *make.gate_roles(case["width"]), case["refused"]
    for case in known("comparisons.json")["cases"]:
        yield f"comparison of width {case['width']}", *make.comparison_roles(case["width"]), case["refused"]
    for name, width, rows in make.ASKED:
        case = next(case for case in known("questions.json")["cases"] if case["name"] == name)
        yield name, *make.question_roles(width, rows), case["refused"]
    yield "logarithm", *make.logarithm_roles(), known("logarithms.json")["refused"]


def test_changed_messages_are_refused_with_their_code() -> None:
    for name, role_a, role_b, cases in refusals():
        of_b = make.run(role_a, role_b).of_b
        found = {case["why"]: make.refusal(role_a, of_b, case) for case in cases}
        assert found == {case["why"]: case["code"] for case in cases}, name


def test_unchanged_messages_are_accepted() -> None:
    """So that it is the change which the other test sees refused."""
    for name, role_a, role_b, _ in refusals():
        of_b = make.run(role_a, role_b).of_b
        stream = "ahead" if of_b["ahead"] else "talk"
        assert make.refusal(role_a, of_b, {"stream": stream, "at": 0, "flip": 0}) == "accepted", name
