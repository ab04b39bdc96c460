"""Keys in an agreement: how they are written, what they do to the digest, and by what steps they change."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from mixbayes.agreement.agreement import BadFederation, Federation, federation_from
from mixbayes.agreement.files import written
from mixbayes.agreement.pinning import begun_anew, not_pinned, pinned, text_with_change, text_with_keys, with_change
from mixbayes.agreement.pins import SIGNING, KeyChange, checked_fingerprint, fingerprint_of, statement
from mixbayes.protocol.errors import Unsupported
from tests.keys.helpers import HEART, PAIR, changed

BEFORE_KEYS_WERE_PINNED = {
    "heart": (HEART, "9a90677005f37c1396dde8ee666bb1286c6f0cb1dfc0e492e3dc1cdade5bfc1a"),
    "pair": (PAIR, "2aecf361fe838ee3f707a0001d741b60e04028f59b5af17a00466ea98f73154e"),
}


@dataclass(frozen=True)
class Key:
    private: ec.EllipticCurvePrivateKey

    @classmethod
    def new(cls, curve: ec.EllipticCurve | None = None) -> Key:
        return cls(ec.generate_private_key(curve or ec.SECP256R1()))

    @property
    def spki(self) -> bytes:
        return spki_of(self.private)

    @property
    def fingerprint(self) -> str:
        return fingerprint_of(self.spki)


def spki_of(key: PrivateKeyTypes) -> bytes:
    return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


FIRST, SECOND, THIRD, OTHER = Key.new(), Key.new(ec.SECP384R1()), Key.new(), Key.new()
AGREED = federation_from(
    changed(HEART, (("mixers", 0, "key"), FIRST.fingerprint), (("mixers", 1, "key"), OTHER.fingerprint))
)


def change(before: Key, after: Key, number: int, agreement: str = AGREED.digest(), **wrong: Any) -> dict[str, Any]:
    """As the old key signs it; some of it may be wrong afterwards."""
    said = statement(agreement, "a", number, before.fingerprint, after.fingerprint)
    about = {"member": "a", "number": number, "old": before.fingerprint, "new": after.fingerprint}
    signature = b64encode(before.private.sign(said, SIGNING)).decode()
    return about | {"old_key": b64encode(before.spki).decode(), "signature": signature} | wrong


def with_changes(*changes: dict[str, Any]) -> Federation:
    return federation_from(AGREED.model_dump(mode="json") | {"changes": changes})


@pytest.mark.parametrize("what", BEFORE_KEYS_WERE_PINNED)
def test_an_agreement_without_keys_has_the_digest_that_it_always_had(what: str) -> None:
    content, digest = BEFORE_KEYS_WERE_PINNED[what]
    assert federation_from(content).digest() == digest


@pytest.mark.parametrize("spell", [str.lower, str.upper, lambda key: key.replace(":", ""), lambda key: f" {key} "])
def test_a_fingerprint_is_the_same_however_it_is_written(spell: Any) -> None:
    assert checked_fingerprint(spell(FIRST.fingerprint)) == FIRST.fingerprint
    again = changed(HEART, (("mixers", 0, "key"), spell(FIRST.fingerprint)), (("mixers", 1, "key"), OTHER.fingerprint))
    assert federation_from(again).digest() == AGREED.digest()


@pytest.mark.parametrize("text", ["", "AB:CD", "AB" * 32 + "A", ":".join(["AB"] * 31) + ":A", "X" * 64, "AB" * 33])
def test_what_is_no_fingerprint_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(BadFederation, match=r"mixers\['a'\]\.key: .* is not the fingerprint of a key"):
        federation_from(changed(HEART, (("mixers", 0, "key"), text)))


def test_two_members_cannot_have_one_key() -> None:
    content = changed(HEART, *(((kind, 0, "key"), FIRST.fingerprint) for kind in ("mixers", "parties")))
    with pytest.raises(BadFederation, match=r"mixers\['a'\]\.key: 'north' has the same"):
        federation_from(content)


def test_keys_are_a_part_of_their_own_in_the_digest() -> None:
    plain = federation_from(HEART)
    assert plain.digest() != AGREED.digest()
    assert {part for part, mark in plain.sections().items() if AGREED.sections()[part] != mark} == {"keys"}


@pytest.mark.parametrize(("content", "names"), [(HEART, ("a", "b")), (PAIR, ("north", "south"))])
def test_who_is_not_pinned(content: dict[str, Any], names: tuple[str, ...]) -> None:
    federation = federation_from(content)
    assert federation.unpinned == names
    assert "whoever holds the authority's key can pose as both" in not_pinned(federation)
    assert not_pinned(AGREED) == ""
    assert federation_from(changed(HEART, (("mixers", 0, "key"), FIRST.fingerprint))).unpinned == ("b",)


def test_changes_lead_from_key_to_key_and_leave_the_digest() -> None:
    federation = with_changes(change(FIRST, SECOND, 1), change(SECOND, THIRD, 2))
    assert federation.digest() == AGREED.digest()
    assert federation.sections() == AGREED.sections()
    assert (federation.key_of("a"), AGREED.key_of("a")) == (THIRD.fingerprint, FIRST.fingerprint)
    assert (federation.key_of("b"), federation.key_of("north")) == (OTHER.fingerprint, None)
    assert federation.first_keys["a"] == FIRST.fingerprint


WRONG = {
    "signed by another key": (change(OTHER, SECOND, 1, old=FIRST.fingerprint), "old_key is not the one whose"),
    "another signature": (change(FIRST, SECOND, 1, signature="AAAA"), "signature is not the old key's"),
    "for another agreement": (change(FIRST, SECOND, 1, federation_from(HEART).digest()), "is for another agreement"),
    "another new key": (change(FIRST, SECOND, 1, new=THIRD.fingerprint), "signature is not the old key's"),
    "of another member": (change(FIRST, SECOND, 1, member="b"), "not the present one"),
    "of a member without a key": (change(FIRST, SECOND, 1, member="north"), "no member with a key"),
    "of a stranger": (change(FIRST, SECOND, 1, member="x"), "no member with a key"),
    "a number left out": (change(FIRST, SECOND, 2), "change 2 of the key of 'a', where 1 is due"),
    "from a key that it has not": (change(SECOND, THIRD, 1), "not the present one"),
    "to the same key": (change(FIRST, FIRST, 1), "the new key is the old one"),
    "no base64": (change(FIRST, SECOND, 1, signature="ä"), "it is not base64"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_change_that_is_not_the_old_keys_word_is_refused(what: str) -> None:
    content, said = WRONG[what]
    with pytest.raises(BadFederation, match=r"changes\[1\]") as told:
        with_changes(content)
    assert said in str(told.value)


def test_only_ecdsa_keys_sign() -> None:
    spki = spki_of(ed25519.Ed25519PrivateKey.generate())
    content = changed(HEART, (("mixers", 0, "key"), fingerprint_of(spki)))
    wrong = change(FIRST, SECOND, 1, old=fingerprint_of(spki), old_key=b64encode(spki).decode())
    with pytest.raises(BadFederation, match="its old_key is no ECDSA key"):
        federation_from(content | {"changes": [wrong]})


def test_a_change_cannot_be_played_again_or_left_out() -> None:
    back = change(SECOND, FIRST, 2)
    for changes in (
        [change(FIRST, SECOND, 1), back, change(FIRST, SECOND, 1)],
        [back],
        [back, change(FIRST, SECOND, 1)],
    ):
        with pytest.raises(BadFederation, match="where"):
            with_changes(*changes)


def test_the_statement_says_what_it_is_for() -> None:
    said = statement("d", "a", 1, "o", "n")
    others = [statement("e", "a", 1, "o", "n"), statement("d", "b", 1, "o", "n"), statement("d", "a", 2, "o", "n")]
    others += [statement("d", "a", 1, "p", "n"), statement("d", "a", 1, "o", "m")]
    assert len({said, *others}) == 6
    assert b"mixbayes: another key of a member" in said


def test_pinning_another_time_is_refused() -> None:
    keys = {"a": FIRST.fingerprint, "b": OTHER.fingerprint}
    assert pinned(federation_from(HEART), keys) == AGREED
    with pytest.raises(Unsupported, match="The key of mixer a is agreed"):
        pinned(AGREED, {"a": THIRD.fingerprint})
    with pytest.raises(Unsupported, match="has no party 'x'"):
        pinned(AGREED, {"x": THIRD.fingerprint})


def test_a_file_gets_keys_and_keeps_what_people_wrote() -> None:
    text = written(federation_from(HEART)).replace('name = "b"', "  name = 'b'  # in Tyrol")
    after = text_with_keys(text, AGREED, ("a", "b"))
    assert after.count("key = ") == 2
    assert set(text.splitlines()) < set(after.splitlines())
    assert "# in Tyrol" in after


def test_a_file_gets_a_change_at_its_end() -> None:
    text = written(AGREED) + "# the end\n"
    federation = with_change(AGREED, KeyChange.model_validate(change(FIRST, SECOND, 1)))
    assert text_with_change(text, federation).startswith(text)
    later = with_change(federation, KeyChange.model_validate(change(SECOND, THIRD, 2)))
    assert text_with_change(text_with_change(text, federation), later).count("[[changes]]") == 2


def test_a_file_of_another_shape_is_left_to_people() -> None:
    start = written(federation_from(HEART)).replace("[[mixers]]", "[[mixers]] # one of them\n'name' = 'a' #", 1)
    with pytest.raises(BadFederation, match="Write the keys into it by hand"):
        text_with_keys(start, AGREED, ("a", "b"))


def test_another_agreement_begins_with_the_present_keys() -> None:
    anew = begun_anew(with_changes(change(FIRST, SECOND, 1)))
    assert (anew.first_keys["a"], anew.key_of("a"), anew.changes) == (SECOND.fingerprint, SECOND.fingerprint, ())
    assert anew.digest() != AGREED.digest()
