"""The agreement as a file: TOML, for people to read, edit and sign off."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import TextWrapper

from mixbayes.agreement.agreement import (
    USUAL_AHEAD,
    BadFederation,
    Cutting,
    Federation,
    Policy,
    Privacy,
    federation_from,
)
from mixbayes.agreement.members import Mixer, Party
from mixbayes.agreement.needs import NEEDS, refuse_newer
from mixbayes.agreement.pins import KeyChange
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.errors import DictionaryTooLarge

NO_REMARKS: Mapping[str, str] = {}
WIDEST = 100
"""A list that makes a longer line than this has a line for every entry, or, of numbers, several lines."""
_WRAPPER = TextWrapper(WIDEST, "  ", "  ", break_on_hyphens=False, break_long_words=False)


def read_federation(path: str | Path) -> Federation:
    """The agreement in this file, or one error that names the file and everything wrong in it."""
    path = Path(path)
    try:
        content = _content(path)
        refuse_newer(content.pop(NEEDS, None))
        return federation_from(content)
    except (BadFederation, DictionaryTooLarge) as error:
        raise type(error)(f"{path}: {error}") from None


def _content(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise BadFederation(f"The file cannot be read: {error.strerror}. Name the agreed file.") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BadFederation(f"Line {line} is not UTF-8 text. Save the file as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise BadFederation(f"This is not TOML: {error}. Correct that line, or take the agreed file again.") from None
    except RecursionError:
        raise BadFederation("This is no agreement: brackets are nested too deep. Take the agreed file again.") from None


def written(federation: Federation, remarks: Mapping[str, str] = NO_REMARKS) -> str:
    """The file that `read_federation` reads back as the same agreement; `remarks` are comments on attributes."""
    return "\n".join(_lines(federation, remarks)) + "\n"


def _lines(federation: Federation, remarks: Mapping[str, str]) -> Iterator[str]:
    yield "# What the nodes of this federation agree on. Every node has a copy, and all copies must say the same:"
    yield "# compare the digests that `mixbayes federation show` prints, by telephone for instance."
    yield ""
    yield f"name = {_text(federation.name)}"
    yield ""
    yield "# How the two computing parties work: shares, or, for two hospitals without mixers, paillier."
    yield f"protocol = {_text(federation.protocol)}"
    yield from _recipe_lines(federation.recipes)
    yield from _party_lines(federation)
    yield from _mixer_lines(federation.mixers)
    yield from _policy_lines(federation.policy)
    if not federation.two_party or federation.policy.ahead != USUAL_AHEAD:  # which would have another digest
        yield from _ahead_lines(federation.policy.ahead)
    yield from _privacy_lines(federation.privacy)
    yield from _cut_lines(federation.cuts)
    yield from _dictionary_lines(federation.dictionary, remarks)
    yield from change_lines(federation.changes)


def _party_lines(federation: Federation) -> Iterator[str]:
    yield ""
    yield "# The hospitals."
    if federation.two_party:
        yield "# They compute without mixers: the one with an address listens there, the other dials it."
    for party in federation.parties:
        yield from _member_lines("parties", party)


def _mixer_lines(mixers: Sequence[Mixer]) -> Iterator[str]:
    if mixers:
        yield ""
        yield "# The two mixers, at the addresses that all nodes dial. They must not collude: choose two operators."
        yield "# key is the fingerprint of a mixer's public key: nobody with another key is taken for that mixer."
    for mixer in mixers:
        yield from _member_lines("mixers", mixer)


def _member_lines(table: str, member: Party | Mixer) -> Iterator[str]:
    yield f"[[{table}]]"
    yield f"name = {_text(member.name)}"
    if member.address is not None:
        yield f"address = {_text(member.address)}"
    if member.key is not None:
        yield key_line(member.key)


def key_line(fingerprint: str) -> str:
    """The key of a member, within its table."""
    return f"key = {_text(fingerprint)}"


def change_lines(changes: Sequence[KeyChange]) -> Iterator[str]:
    """The end of the file: keys that members have got since."""
    for change in changes:
        yield ""
        yield "# Another key of a member, signed with the one before. It does not change the agreement's digest."
        yield "[[changes]]"
        for field, value in change.model_dump().items():
            yield f"{field} = {_written(value)}"


def _policy_lines(policy: Policy) -> Iterator[str]:
    yield ""
    yield "[policy]"
    yield "# A round needs the accepted contributions of so many hospitals."
    yield f"minimum = {policy.minimum}"
    yield "# Rows that each hospital may ask about in one round. Labels are what leaks, so this bounds the leak."
    yield f"budget = {policy.budget}"
    yield "# A round starts without those still missing after so many hours, if the minimum is there."
    yield f"collect_hours = {policy.collect_hours!r}"
    yield "# Seconds within which every wait for another node ends."
    yield f"timeout = {policy.timeout!r}"
    yield "# How many rounds there may be. Two rounds that differ in one patient tell about that patient."
    yield f"rounds = {policy.rounds}"
    yield "# Patients that a hospital must have to take part, and may have; without max_rows_each, max_rows below."
    yield f"min_rows = {policy.min_rows}"
    if policy.max_rows_each is not None:
        yield f"max_rows_each = {policy.max_rows_each}"
    yield "# Every hospital divides its patients into so many folds, to judge classifiers by patients that they do not"
    yield "# count; 1 for none. test_share is kept out of all counts, to judge the joint classifier by."
    yield f"folds = {policy.folds}"
    yield f"test_share = {policy.test_share!r}"
    yield "# How the two computing parties make oblivious transfers: extended takes the least time on one machine,"
    yield "# silent sends the fewest bytes between machines that are far apart."
    yield f"transfers = {_text(policy.transfers)}"


def _ahead_lines(ahead: int) -> Iterator[str]:
    yield "# Random transfers that the mixers make while nobody asks, and keep in memory for questions to come, at 49"
    yield "# bytes each; 0 for none."
    yield f"ahead = {ahead}"


def _privacy_lines(privacy: Privacy | None) -> Iterator[str]:
    if privacy is None:
        return
    yield ""
    yield "# What is promised to a patient: whoever asks for labels, and whatever they know, one row more or less in a"
    yield "# hospital's table changes the probability of what they see by a factor of e^epsilon at most, but for delta."
    yield "[privacy]"
    yield "# Of one round, and of all rounds together, also of those under other agreements."
    yield f"epsilon = {privacy.epsilon!r}"
    yield f"delta = {privacy.delta!r}"
    yield f"total_epsilon = {privacy.total_epsilon!r}"
    yield f"total_delta = {privacy.total_delta!r}"
    yield "# The noise on a count that keeps this: so many coins of weight 1, 2, 4 and so on."
    yield f"coins = {list(privacy.coins)!r}"
    if privacy.known:
        yield "# So many coins of every count may be known to a mixer, or to one of two hospitals, that departs from"
        yield "# the protocol while they are tossed. If it tries to know more, it is found and named, but for delta."
        yield f"known = {privacy.known!r}"
    yield "# What hospitals get of a round: labels, or the noisy counts themselves, as a model to keep."
    yield f"release = {_text(privacy.release)}"
    if privacy.test_epsilon is not None:
        yield "# What is promised of the figures of the joint test of a round, and the noise on each that keeps it. The"
        yield "# totals above count both: a patient kept aside for it is in no count, and pays for one of the two."
        yield f"test_epsilon = {privacy.test_epsilon!r}"
        yield f"test_coins = {list(privacy.test_coins)!r}"
        if privacy.test_known:
            yield f"test_known = {privacy.test_known!r}"


def _recipe_lines(recipes: Sequence[str]) -> Iterator[str]:
    yield ""
    yield "# Classifiers that a hospital may ask for besides the plain joint one. With noise all may be asked for that"
    yield "# have no costs and no margin."
    yield f"recipes = {_list(map(_text, recipes))}"


def _cut_lines(cuts: Cutting | None) -> Iterator[str]:
    if cuts is None:
        return
    yield ""
    yield "# This agreement is preliminary. Its round finds cut points and ranks of attributes, and answers no"
    yield "# questions: `mixbayes federation cuts` writes them into the agreement that is to follow."
    yield "[cuts]"
    yield "# Into how many bins every numeric attribute is to be cut."
    yield f"bins = {cuts.bins}"


def _dictionary_lines(dictionary: Dictionary, remarks: Mapping[str, str]) -> Iterator[str]:
    yield ""
    yield "[dictionary]"
    yield "# The column that is predicted, and its classes; of two that are equally likely the first listed wins."
    yield f"class_column = {_text(dictionary.class_column)}"
    yield f"classes = {_list(map(_text, dictionary.classes))}"
    if dictionary.class_title:
        yield f"class_title = {_text(dictionary.class_title)}"
    if dictionary.class_meanings:
        yield f"class_meanings = {_list(map(_text, dictionary.class_meanings))}"
    yield "# Added to every count of a category, so that none is impossible: 1, 0.5, 1/3."
    yield f"smoothing = {_text(str(dictionary.smoothing))}"
    yield "# Rows that each hospital may have, unless max_rows_each above says another number."
    yield f"max_rows = {dictionary.max_rows}"
    yield ""
    yield "# The attributes, in the order of the counts. A nominal one has a closed list of values. A numeric one has a"
    yield "# normal distribution in every class; values beyond its bounds are clipped to them. A binned one is cut at"
    yield "# the cut points, low <= cuts <= high. Widen the bounds to what can be measured at all."
    yield "# A cell of kind several holds values between separators, each present or absent. Of one cell at most `most`"
    yield "# count, the first in the list. An empty cell says nothing; `none` says that no value is present."
    yield "# Words for people, which forms show: title of an attribute, unit of its numbers, meanings of its values in"
    yield "# their order; class_title and class_meanings above the attributes."
    for attribute in dictionary.attributes:
        yield from _attribute_lines(attribute, remarks.get(attribute.name))


def _attribute_lines(attribute: Attribute, remark: str | None) -> Iterator[str]:
    yield ""
    if remark:
        yield f"# {remark}"
    yield "[[dictionary.attributes]]"
    yield f"name = {_text(attribute.name)}"
    yield f"kind = {_text(attribute.kind)}"
    for field, value in attribute.model_dump(exclude={"name", "kind"}).items():
        yield f"{field} = {_written(value)}"


def _written(value: object) -> str:
    """A field's value as TOML has it: a text, a number, or a list of either."""
    if isinstance(value, tuple | list):
        words = [_written(entry) for entry in value]
        return _list(words) if value and isinstance(value[0], str) else _numbers(words)
    return _text(value) if isinstance(value, str) else repr(value)


def _list(entries: Iterable[str]) -> str:
    entries = list(entries)
    line = f"[{', '.join(entries)}]"
    return line if len(line) <= WIDEST else "[\n" + "".join(f"  {entry},\n" for entry in entries) + "]"


def _numbers(words: Sequence[str]) -> str:
    """As many to a line as it holds."""
    line = ", ".join(words)
    return f"[{line}]" if len(line) + 2 <= WIDEST else f"[\n{_WRAPPER.fill(line)}\n]"


def _text(text: str) -> str:
    return f'"{"".join(map(_character, text))}"'


def _character(character: str) -> str:
    """The character as TOML has it. What a reader would not see is escaped, so that nobody signs it unseen."""
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    return f"\\u{ord(character):04X}" if ord(character) <= 0xFFFF else f"\\U{ord(character):08X}"
