from __future__ import annotations

import tomllib
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.agreement.agreement import BadFederation, Federation, Policy, Privacy, federation_from
from mixbayes.agreement.files import WIDEST, read_federation, written
from mixbayes.agreement.members import Mixer, Party
from mixbayes.protocol.attributes.binned import Binned
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.formulas import no_formula
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.attributes.several import Several
from mixbayes.protocol.bayes.recipe import UNSURE
from mixbayes.protocol.errors import DictionaryTooLarge
from tests.keys.helpers import HEART, PAIR, changed

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
values = texts.filter(lambda text: text not in ("", "?"))
classes = values.filter(lambda text: text != UNSURE and not is_formula(text))
bounds = st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=6, unique=True).map(sorted)
names = st.from_regex(r"[a-z0-9]([a-z0-9_-]{0,9}[a-z0-9])?", fullmatch=True).filter(lambda name: len(name) > 1)
titles = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12)
policies = st.builds(
    Policy,
    minimum=st.just(2),
    budget=st.integers(1, 2**40),
    collect_hours=st.floats(0, 8784, exclude_min=True),
    timeout=st.floats(0, 86400, exclude_min=True),
    rounds=st.integers(1, 10**6),
    min_rows=st.integers(1, 1),
    max_rows_each=st.none() | st.integers(1, 2**40),
    folds=st.integers(1, 20),
    test_share=st.floats(0, 0.5),
    transfers=st.sampled_from(["extended", "silent"]),
)
recipes = st.lists(st.sampled_from(["own:unsure=1", "own", "own:unsure=0.125"]), unique=True)
privacies = st.builds(
    Privacy,
    epsilon=st.floats(50, 100),
    delta=st.floats(1e-9, 0.1),
    total_epsilon=st.floats(100, 1e300),
    total_delta=st.floats(0.1, 1, exclude_max=True),
    coins=st.just((8, 8, 8, 200)),
    known=st.sampled_from([0, 6]),
    release=st.sampled_from(["labels", "model"]),
)
MIXERS = (Mixer(name="a", address="[::1]:1"), Mixer(name="b", address="h:1"))


def is_formula(name: str) -> bool:
    """No class may have such a name."""
    try:
        no_formula(name)
    except ValueError:
        return True
    return False


@st.composite
def lists(draw: st.DrawFn, name: str) -> Several:
    separator = draw(st.sampled_from(";,|/\"'\\"))
    entries = values.filter(lambda text: separator not in text and text == text.strip())
    none, *listed = draw(st.lists(entries, min_size=2, max_size=30, unique=True))
    most = draw(st.integers(1, 1000))
    return Several(name=name, values=tuple(listed), separator=separator, most=most, none=none)


@st.composite
def attributes(draw: st.DrawFn, name: str) -> Attribute:
    low, *cuts, high = draw(bounds)
    return draw(
        st.sampled_from(
            [
                Nominal(name=name, values=tuple(draw(st.lists(values, min_size=1, max_size=30, unique=True)))),
                Gaussian(name=name, low=low, high=high),
                Binned(name=name, low=low, high=high, cuts=tuple(cuts)),
                draw(lists(name)),
            ]
        )
    )


@st.composite
def federations(draw: st.DrawFn) -> Federation:
    class_column, *columns = draw(st.lists(texts, min_size=2, max_size=4, unique=True))
    dictionary = Dictionary(
        class_column=class_column,
        classes=tuple(draw(st.lists(classes, min_size=2, max_size=5, unique=True))),
        attributes=tuple(draw(attributes(name)) for name in columns),
        smoothing=Fraction(draw(st.integers(1, 2**20)), draw(st.integers(1, 2**20))),
        max_rows=draw(st.integers(1, 2**40)),
    )
    parties = tuple(Party(name=name) for name in draw(st.lists(names, min_size=2, max_size=4, unique=True)))
    policy, privacy = draw(policies), draw(st.none() | privacies)
    if privacy and policy.test_share:
        privacy = privacy.model_copy(
            update={"test_epsilon": draw(st.floats(50, 100)), "test_coins": privacy.coins, "test_known": privacy.known}
        )
    return Federation(
        name=draw(titles),
        parties=parties,
        mixers=MIXERS,
        policy=policy,
        privacy=privacy,
        recipes=tuple(draw(recipes)),
        dictionary=dictionary,
    )


@given(federation=federations())
def test_what_is_written_is_read_back(federation: Federation) -> None:
    again = federation_from(tomllib.loads(written(federation)))
    assert again == federation
    assert again.digest() == federation.digest()


@given(federation=federations())
def test_people_see_every_character_they_sign(federation: Federation) -> None:
    assert written(federation).replace("\n", "").isprintable()


@pytest.mark.parametrize("content", [HEART, PAIR])
def test_a_file_is_read_as_it_was_written(tmp_path: Path, content: dict[str, object]) -> None:
    federation, file = federation_from(content), tmp_path / "federation.toml"
    file.write_text(written(federation), encoding="utf-8")
    assert read_federation(file) == federation


def test_what_editors_do_to_files_does_no_harm(tmp_path: Path) -> None:
    federation, file = federation_from(HEART), tmp_path / "federation.toml"
    file.write_bytes(b"\xef\xbb\xbf" + written(federation).replace("\n", "\r\n").encode())
    assert read_federation(file) == federation


def test_every_part_has_its_comment() -> None:
    parts = written(federation_from(HEART)).split("\n\n")
    assert [part.splitlines()[0][:2] for part in parts] == [
        "# ",
        "na",
        "# ",
        "# ",
        "# ",
        "# ",
        "[p",
        "[d",
        "# ",
        *["[["] * 3,
    ]
    assert "[[mixers]]" not in written(federation_from(PAIR))


def test_long_lists_have_a_line_for_every_value() -> None:
    long = changed(HEART, (("dictionary", "attributes", 0, "values"), [f"value {i}" for i in range(40)]))
    lines = written(federation_from(long)).splitlines()
    assert '  "value 39",' in lines
    assert all(len(line) <= WIDEST + len("values = ") for line in lines if not line.startswith("#"))


def test_a_thousand_codes_have_a_line_each() -> None:
    codes = [f"C{i:03d}" for i in range(1000)]
    diagnoses = {"name": "diagnoses", "kind": "several", "values": codes}
    federation = federation_from(changed(HEART, (("dictionary", "attributes", 0), diagnoses)))
    text = written(federation)
    lines = text.splitlines()
    assert [line for line in lines if line.startswith('  "C')] == [f'  "{code}",' for code in codes]
    at = lines.index('kind = "several"')
    assert lines[at - 1 : at + 2] == ['name = "diagnoses"', 'kind = "several"', "values = ["]
    assert lines[at + 1002 : at + 1006] == ["]", 'separator = ";"', "most = 20", 'none = "none"']
    assert federation_from(tomllib.loads(text)) == federation


WRONG_FILES = [
    (b'name = "heart"\n\xff', "Line 2 is not UTF-8 text"),
    ("name = heart".encode("utf-16"), "Line 1 is not UTF-8 text"),
    (b'name = "heart"\npolicy = ', "This is not TOML: .*end of document"),
    (b'name = "heart"\nname = "heart"\n', "This is not TOML: .*line 2"),
    (b"x = " + b"[" * 100_000, "nested too deep"),
    (b"", "parties: it is missing"),
]


@pytest.mark.parametrize(("content", "said"), WRONG_FILES)
def test_a_wrong_file_is_named_with_what_is_wrong(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "federation.toml"
    file.write_bytes(content)
    with pytest.raises(BadFederation, match=said) as caught:
        read_federation(file)
    assert str(caught.value).startswith(f"{file}: ")


@pytest.mark.parametrize(("name", "said"), [("none.toml", "No such file"), (".", "Is a directory")])
def test_no_file_to_read(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(BadFederation, match=f"cannot be read: {said}"):
        read_federation(tmp_path / name)


def test_a_dictionary_that_is_too_large_is_named_with_its_file(tmp_path: Path) -> None:
    file = tmp_path / "federation.toml"
    classes = ", ".join(f'"{i}"' for i in range(65))
    text = written(federation_from(HEART)).replace('["absent", "present"]', f"[{classes}]")
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DictionaryTooLarge, match="65 classes") as caught:
        read_federation(file)
    assert str(caught.value).startswith(f"{file}: ")


def test_words_for_people_are_written_and_read_back(tmp_path: Path) -> None:
    content = federation_from(HEART).model_dump(mode="json")
    first, *others = content["dictionary"]["attributes"]
    labels = {"title": 'Sex "at birth"', "meanings": [f"meaning of {value}" for value in first["values"]]}
    of_classes = {
        "class_title": "Illness",
        "class_meanings": [f"is {name}" for name in content["dictionary"]["classes"]],
    }
    content["dictionary"] |= {"attributes": [first | labels, *others], **of_classes}
    agreed = federation_from(content)
    path = tmp_path / "federation.toml"
    path.write_text(written(agreed))
    assert read_federation(path) == agreed
    assert read_federation(path).digest() != federation_from(HEART).digest()
