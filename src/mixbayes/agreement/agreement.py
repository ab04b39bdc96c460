"""The agreement of a federation: who takes part, by which protocol and policy, and what is counted.

Every node holds a copy. Its digest goes into every contribution and every greeting, so copies that differ in
one character of content do not work together.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from mixbayes.agreement.addresses import host_and_port
from mixbayes.agreement.members import Mixer, Party
from mixbayes.agreement.pins import KeyChange, change_problems, current_key, key_problems
from mixbayes.agreement.problems import Problem, lines, refuse
from mixbayes.agreement.promise import cost, keeps, release_of
from mixbayes.privacy.coins import MOST_KNOWN, Coins
from mixbayes.privacy.loss import Release
from mixbayes.protocol.attributes.dictionary import MOST_ROWS, Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.aside import MOST_ASIDE as MOST_ASIDE_ASKED
from mixbayes.protocol.bayes.aside import asked, changed, figures_of
from mixbayes.protocol.bayes.cut_widths import MOST_BINS, widths_for
from mixbayes.protocol.bayes.precision import precision_for
from mixbayes.protocol.bayes.recipe import JOINT, Recipe, read_recipe
from mixbayes.protocol.errors import BadData, MixbayesError, Unsupported
from mixbayes.protocol.paillier.exact import USUAL_BITS, fitting_bits
from mixbayes.protocol.transfer.kinds import KINDS, KindName, TransferKind

LONGEST_TITLE = 100
MOST_FOLDS = 20
MOST_ASIDE = 0.5
MOST_PERSONAL = 2
"""Personal recipes of an agreement without noise. Each is one more exact classifier of sums that differ little."""
READ_BY_THE_OTHER = "with noise, paillier would show the own counts of a personal recipe to the other hospital"
MOST_RECIPES = 100
LONGEST_COLLECTION = 24 * 366  # hours
LONGEST_WAIT = 24 * 3600  # seconds
MOST_ROUNDS = 10**6
MOST_AHEAD, USUAL_AHEAD = 1 << 26, 1 << 20
SHORT_DIGEST = 16

MOST_EPSILON = 100.0

Role = Literal["party", "mixer"]
Given = Literal["labels", "model"]
Protocol = Literal["shares", "paillier"]
Thing = TypeVar("Thing", bound=Hashable)


class BadFederation(BadData):
    """The federation file cannot be read or contradicts itself."""

    code = "E105"


def _one_readable_line(text: str) -> str:
    if not text.isprintable() or text != text.strip() or not 1 <= len(text) <= LONGEST_TITLE:
        raise ValueError(f"it must be one line of 1 to {LONGEST_TITLE} visible characters")
    return text


def _twice(things: Iterable[Thing]) -> set[Thing]:
    return {thing for thing, times in Counter(things).items() if times > 1}


Title = Annotated[str, Field(strict=True), AfterValidator(_one_readable_line)]
Whole = Annotated[int, Field(strict=True, ge=1)]
Positive = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
Known = Annotated[int, Field(strict=True, ge=0, le=MOST_KNOWN)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Policy(_Frozen):
    """What every node refuses to go beyond."""

    minimum: Annotated[int, Field(strict=True, ge=2)]
    """A round needs the accepted contributions of so many hospitals."""
    budget: Annotated[Whole, Field(le=MOST_ROWS)] = 100_000
    """Rows that one hospital may ask about in one round."""
    collect_hours: Annotated[Positive, Field(le=LONGEST_COLLECTION)] = 24.0
    """A round seals at that age if the minimum has contributed; once all listed have, at once."""
    timeout: Annotated[Positive, Field(le=LONGEST_WAIT)] = 60.0
    """Seconds within which every wait ends."""
    rounds: Annotated[Whole, Field(le=MOST_ROUNDS)] = 10
    """How many rounds this agreement allows: every retraining is a chance for a difference attack."""
    min_rows: Annotated[Whole, Field(le=MOST_ROWS)] = 1
    """Patients that every hospital must contribute."""
    max_rows_each: Annotated[Whole, Field(le=MOST_ROWS)] | None = None
    """Patients that every hospital may contribute; the dictionary's `max_rows` if not said."""
    folds: Annotated[Whole, Field(le=MOST_FOLDS)] = 1
    """Into how many parts every hospital divides its patients, to be judged by those that did not count."""
    test_share: Annotated[float, Field(strict=True, ge=0, le=MOST_ASIDE, allow_inf_nan=False)] = 0.0
    """The share of its patients that every hospital keeps out of the counts, to judge the joint classifier by."""
    transfers: KindName = "extended"
    """How the two computing parties make their oblivious transfers."""
    ahead: Annotated[int, Field(strict=True, ge=0, le=MOST_AHEAD)] = USUAL_AHEAD
    """Random transfers that the mixers keep in memory for questions to come; 0 for none."""

    @model_serializer(mode="wrap")
    def _without_what_came_later(self, content: SerializerFunctionWrapHandler) -> dict[str, object]:
        """An agreement that does not use what came later keeps the digest that it had before there were such fields."""
        found: dict[str, object] = content(self)
        usual = {("transfers", "extended"), ("ahead", USUAL_AHEAD)}
        return {key: value for key, value in found.items() if (key, value) not in usual}


Member = TypeVar("Member", Party, Mixer)


class Privacy(_Frozen):
    """What is promised to a patient, and the noise that keeps the promise."""

    epsilon: Annotated[Positive, Field(le=MOST_EPSILON)]
    """Of one round."""
    delta: Annotated[Positive, Field(lt=1)]
    total_epsilon: Positive
    """Of all rounds together, under whatever agreements."""
    total_delta: Annotated[Positive, Field(lt=1)]
    coins: tuple[Annotated[int, Field(strict=True, ge=0)], ...]
    """How many coins of weight 1, 2, 4 and so on make the noise on a count."""
    known: Known = 0
    """How many of these one of the two who toss may know; 0 in agreements of before coins were checked."""
    release: Given = "labels"
    """What hospitals get of a round: labels, or the noisy counts themselves, which are a classifier to keep."""
    test_epsilon: Annotated[Positive, Field(le=MOST_EPSILON)] | None = None
    """Of the joint test of one round; nothing where no patients are kept aside for it."""
    test_coins: tuple[Annotated[int, Field(strict=True, ge=0)], ...] = ()
    """How many coins of each weight make the noise on a figure of it."""
    test_known: Known = 0
    """How many of these one of the two who toss may know."""

    @field_validator("coins", "test_coins")
    @classmethod
    def _make_noise(cls, coins: tuple[int, ...], about: ValidationInfo) -> tuple[int, ...]:
        if coins or about.field_name == "coins":
            Coins(coins)
        return coins

    @field_validator("known", "test_known")
    @classmethod
    def _leave_some(cls, known: int, about: ValidationInfo) -> int:
        coins = about.data.get("coins" if about.field_name == "known" else "test_coins")
        if known and coins is not None and known >= sum(coins):
            raise ValueError("of the coins of a number not all may be known")
        return known

    @property
    def noise(self) -> Coins:
        """The coins of the noise on a count."""
        return Coins(self.coins, self.known)

    @property
    def test_noise(self) -> Coins | None:
        """The coins of the noise on a figure of the joint test, if there is one."""
        return Coins(self.test_coins, self.test_known) if self.test_coins else None

    @model_serializer(mode="wrap")
    def _without_what_came_later(self, content: SerializerFunctionWrapHandler) -> dict[str, object]:
        """An agreement without known coins has the same bytes, and so the same digest, as before there were any."""
        found: dict[str, object] = content(self)
        return {key: value for key, value in found.items() if value or key not in ("known", "test_known")}


class Cutting(_Frozen):
    """What makes an agreement preliminary: its round finds cut points and ranks, and nobody is asked anything else."""

    bins: Annotated[int, Field(strict=True, ge=2, le=MOST_BINS)]
    """Into how many bins every numeric attribute is to be cut."""


class Federation(_Frozen):
    """The whole agreement. `federation_from` checks one that comes from a file."""

    name: Title
    protocol: Protocol = "shares"
    parties: tuple[Party, ...]
    mixers: tuple[Mixer, ...] = ()
    policy: Policy
    privacy: Privacy | None = None
    """Nothing where no noise is agreed."""
    recipes: Annotated[tuple[str, ...], Field(max_length=MOST_RECIPES)] = ()
    """Besides the plain joint classifier, those that may be asked for; with noise all without costs and margin may."""
    cuts: Cutting | None = None
    """Of a preliminary agreement, on whose round the cut points of another one will rest."""
    dictionary: Dictionary
    changes: tuple[KeyChange, ...] = ()
    """By which members got other keys than their first. They are not part of what the digest is of."""

    @field_validator("parties")
    @classmethod
    def _several_parties(cls, parties: tuple[Party, ...]) -> tuple[Party, ...]:
        if len(parties) < 2:
            raise ValueError("a federation needs two parties at least")
        twice = _twice(party.name for party in parties)
        refuse(((i, "name"), "two parties have it") for i, party in enumerate(parties) if party.name in twice)
        return parties

    @field_validator("mixers")
    @classmethod
    def _two_mixers_or_none(cls, mixers: tuple[Mixer, ...]) -> tuple[Mixer, ...]:
        names = sorted(mixer.name for mixer in mixers)
        if names not in ([], ["a", "b"]):
            raise ValueError(f"there must be two mixers, a and b, or none; here: {', '.join(names)}")
        return tuple(sorted(mixers, key=lambda mixer: mixer.name))

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        members = self._two_party_problems() if self.two_party else self._mixer_problems()
        problems = [*members, *self._address_problems(), *self._policy_problems(), *self._protocol_problems()]
        refuse(problems or [*self._recipe_problems(), *self._cut_problems(), *self._key_problems()])
        refuse(self._privacy_problems())
        refuse(change_problems(self.digest(), self.first_keys, self.changes) if self.changes else ())
        return self

    def _two_party_problems(self) -> Iterator[Problem]:
        if len(self.parties) != 2:
            yield ("parties",), f"without mixers there must be exactly two parties, here are {len(self.parties)}"
        elif sum(party.address is not None for party in self.parties) != 1:
            yield ("parties",), "without mixers exactly one party has an address: it listens, and the other dials"

    def _mixer_problems(self) -> Iterator[Problem]:
        mixers = {mixer.name for mixer in self.mixers}
        for i, party in enumerate(self.parties):
            if party.address is not None:
                yield ("parties", i, "address"), "with mixers nobody dials a party; it must have no address"
            if party.name in mixers:
                yield ("parties", i, "name"), "a mixer has it"

    def _address_problems(self) -> Iterator[Problem]:
        parties = [("parties", i, party.address) for i, party in enumerate(self.parties)]
        mixers = [("mixers", i, mixer.address) for i, mixer in enumerate(self.mixers)]
        given = [(kind, i, host_and_port(address)) for kind, i, address in parties + mixers if address is not None]
        twice = _twice(address for _, _, address in given)
        return (((kind, i, "address"), "two nodes have it") for kind, i, address in given if address in twice)

    def _key_problems(self) -> Iterator[Problem]:
        places: list[tuple[str, Sequence[Party | Mixer]]] = [("parties", self.parties), ("mixers", self.mixers)]
        for name, why in key_problems(self.first_keys):
            yield from (
                ((kind, i, "key"), why)
                for kind, members in places
                for i, member in enumerate(members)
                if member.name == name
            )

    def _policy_problems(self) -> Iterator[Problem]:
        most = self.policy.max_rows_each or self.dictionary.max_rows
        if self.policy.min_rows > most:
            yield ("policy", "min_rows"), f"{self.policy.min_rows} patients are needed, and {most} are allowed"
        if self.policy.minimum > len(self.parties):
            yield ("policy", "minimum"), f"{self.policy.minimum} hospitals are needed, {len(self.parties)} are listed"

    def _protocol_problems(self) -> Iterator[Problem]:
        if self.protocol != "paillier":
            return
        if not self.two_party:
            yield ("protocol",), "paillier works between two hospitals without mixers"
        if self.policy.folds > 1:
            yield ("policy", "folds"), "paillier has no evaluation; agree on one fold, or on shares"
        for i, attribute in enumerate(self.dictionary.attributes):
            if not attribute.exact:
                refusal = f"paillier takes no attributes of kind {attribute.kind}"
                advice = f"agree on {attribute.in_its_place}, or on shares"
                yield ("dictionary", "attributes", i, "kind"), f"{refusal}; {advice}"

    def _recipe_problems(self) -> Iterator[Problem]:
        personal = set()
        for i, text in enumerate(self.recipes):
            try:
                recipe = read_recipe(text)
                recipe.refuse_unknown_classes(self.dictionary.classes)
                if recipe.base != "own":
                    self._refuse_unfit(recipe)
            except MixbayesError as error:
                yield ("recipes", i), str(error)
                continue
            if str(recipe) != text:
                yield ("recipes", i), f"it is written {str(recipe)!r}"
            if self._tells_the_other(recipe):
                yield ("recipes", i), f"{READ_BY_THE_OTHER}; agree on shares, or leave it out"
            personal |= {recipe.plain} if recipe.personal else set()
        if not self.privacy and len(personal) > MOST_PERSONAL:
            yield ("recipes",), f"without noise at most {MOST_PERSONAL} of them are personal, here are {len(personal)}"
        if _twice(self.recipes):
            yield ("recipes",), "a recipe is there twice"

    def _cut_problems(self) -> Iterator[Problem]:
        if not self.cuts:
            return
        if self.protocol == "paillier":
            yield ("protocol",), "cut points are found on shares"
        if self.gives_model:
            yield ("privacy", "release"), "a preliminary agreement gives cut points alone; agree on labels here"
        if self.recipes:
            yield ("recipes",), "a preliminary agreement answers no questions; list them in the one to come"
        if self.policy.folds > 1 or self.policy.test_share > 0:
            yield ("policy",), "a preliminary agreement judges no classifier; folds and test_share come with the next"
        if not any(attribute.exact for attribute in self.dictionary.attributes):
            yield ("dictionary", "attributes"), "there is none that could be cut or ranked"
        try:
            widths_for(self.layout, self.cuts.bins)
        except MixbayesError as error:
            yield ("cuts",), str(error)

    def _privacy_problems(self) -> Iterator[Problem]:
        agreed, release, test = self.privacy, self.release, self.test_release
        if not agreed or not release:
            return
        yield from _broken("coins", release, agreed.epsilon, agreed.delta)
        yield from self._test_problems(agreed)
        if test and agreed.test_epsilon:
            yield from _broken("test_coins", test, agreed.test_epsilon, agreed.delta)
        # Totals that are not below those of a round have room for it, so that nothing need be computed.
        once, left_out = agreed.epsilon + (agreed.test_epsilon or 0.0), agreed.delta * len(self.releases)
        enough = agreed.total_epsilon >= once and agreed.total_delta >= left_out
        if not enough and not keeps(self.releases, agreed.total_epsilon, agreed.total_delta):
            found = cost(self.releases, agreed.total_delta)
            yield ("privacy", "total_epsilon"), f"one round costs {found:.4g} at delta {agreed.total_delta:g}"

    def _test_problems(self, agreed: Privacy) -> Iterator[Problem]:
        """The joint test has noise of its own where patients are kept aside for it, and only there."""
        if self.joint_test and not (agreed.test_epsilon and agreed.test_coins):
            yield ("privacy", "test_epsilon"), "patients are kept aside (policy, test_share): say it, and test_coins"
        if not self.joint_test and (agreed.test_epsilon or agreed.test_coins):
            yield ("privacy", "test_epsilon"), "there is no joint test: it needs mixers, and a test_share above 0"

    def _refuse_unfit(self, recipe: Recipe) -> None:
        """Refuse a recipe whose numbers are too long for the protocol."""
        if self.protocol == "paillier":
            fitting_bits(self.layout, USUAL_BITS, recipe)
        else:
            precision_for(self.layout, recipe)

    @property
    def two_party(self) -> bool:
        """Whether two hospitals work without mixers."""
        return not self.mixers

    @property
    def layout(self) -> Layout:
        """Where each count stands, and how large it can be."""
        coins = self.privacy.noise if self.privacy else None
        policy = self.policy
        terms = Terms(len(self.parties), policy.min_rows, policy.max_rows_each, coins, folds=policy.folds)
        return Layout(self.dictionary, terms)

    def why_not(self, recipe: Recipe) -> str:
        """Why this recipe may not be asked for, or nothing if it may."""
        if recipe.base == "own":
            return "it is the hospital's own classifier, for which nobody else is asked"
        if self._tells_the_other(recipe):
            return f"{READ_BY_THE_OTHER}, agree on shares"
        if recipe == JOINT or str(recipe) in self.recipes:
            return ""
        if not self.privacy:
            return "without noise only the recipes that the agreement lists may be asked for"
        if recipe.costs or recipe.unsure is not None:
            return "costs and a margin must be listed in the agreement"
        return ""

    def _tells_the_other(self, recipe: Recipe) -> bool:
        """Whether the other hospital could compare cells of a recipe, in which own counts are, with its guesses."""
        return self.protocol == "paillier" and self.privacy is not None and recipe.personal

    @property
    def asked_anew(self) -> bool:
        """Whether the computing parties need contributions while they answer: for personal recipes and evaluations."""
        if self.cuts:
            return False
        return (
            self.privacy is not None
            or self.policy.folds > 1
            or any(read_recipe(text).base != "own" for text in self.recipes)
        )

    @property
    def bins_to_find(self) -> int | None:
        """Into how many bins attributes are to be cut, if this agreement is preliminary."""
        return self.cuts.bins if self.cuts else None

    @property
    def release(self) -> Release | None:
        """What one round gives away of a patient, if noise is agreed."""
        return release_of(self.privacy.noise, self.layout) if self.privacy else None

    @property
    def joint_test(self) -> bool:
        """Whether hospitals keep patients aside by whom mixers judge the joint classifier."""
        return bool(self.mixers) and self.policy.test_share > 0

    @property
    def rows_asked_aside(self) -> range:
        """Of how many rows a hospital may ask for the joint test: with noise all ask about the same number."""
        if self.privacy:
            number = asked(self.layout.rows_each, self.policy.test_share)
            return range(number, number + 1)
        return range(1, MOST_ASIDE_ASKED + 1)

    @property
    def test_coins(self) -> Coins | None:
        """Of the noise on each figure of the joint test, if noise is agreed."""
        return self.privacy.test_noise if self.privacy and self.joint_test else None

    @property
    def test_release(self) -> Release | None:
        """What the joint test of one round gives away of a patient, if noise is agreed."""
        figures = changed(self.layout.rows_each, self.policy.test_share)
        return Release(self.test_coins, figures, figures_of(self.layout.classes)) if self.test_coins else None

    @property
    def releases(self) -> list[Release]:
        """All that one round gives away of a patient, if noise is agreed: the counts, and the joint test."""
        return [one for one in (self.release, self.test_release) if one]

    @property
    def gives_model(self) -> bool:
        """Whether hospitals get the noisy counts themselves."""
        return self.privacy is not None and self.privacy.release == "model"

    @property
    def transfers(self) -> TransferKind:
        """How the two computing parties make their oblivious transfers."""
        return KINDS[self.policy.transfers]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The hospitals, in the agreement's order."""
        return tuple(party.name for party in self.parties)

    @property
    def listener(self) -> Party | None:
        """The hospital that the other one dials, where there are no mixers."""
        return next((party for party in self.parties if party.address is not None), None)

    def party(self, name: str) -> Party:
        """The hospital of this name, or a refusal that lists those there are."""
        return self._member("party", self.parties, name)

    def mixer(self, name: str) -> Mixer:
        """The mixer of this name, or a refusal that lists those there are."""
        return self._member("mixer", self.mixers, name)

    def role_of(self, name: str) -> Role | None:
        """What the node of this name is, or None for a stranger."""
        return self._roles.get(name)

    @cached_property
    def _roles(self) -> dict[str, Role]:
        roles: dict[str, Role] = dict.fromkeys(self.names, "party")
        roles.update((mixer.name, "mixer") for mixer in self.mixers)
        return roles

    def title(self, name: str) -> str:
        """How messages call a node: `party va`, `mixer a`."""
        role = self.role_of(name)
        return f"{role} {name}" if role else f"{name!r}, who is not listed"

    @cached_property
    def first_keys(self) -> dict[str, str | None]:
        """By name, the fingerprint of the key that each member began with, where one is agreed."""
        return {party.name: party.key for party in self.parties} | {mixer.name: mixer.key for mixer in self.mixers}

    def key_of(self, name: str) -> str | None:
        """The fingerprint of the key that this node has now, or None if none is agreed."""
        return current_key(self.first_keys.get(name), self.changes, name)

    @property
    def unpinned(self) -> tuple[str, ...]:
        """Computing nodes whose keys are not agreed: whoever holds the authority's key can pose as them."""
        computing = self.mixers or self.parties
        return tuple(member.name for member in computing if member.key is None)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Checked like any agreement. The copy must not have the digest that this one has computed."""
        return type(self).model_validate(self.model_dump() | dict(update or {}))

    def canonical(self) -> str:
        """Its one JSON text: sorted keys, no spaces, ASCII, numbers as Python writes them. No key that came later."""
        return _canonical(self.model_dump(mode="json", exclude={"changes"}))

    def digest(self) -> str:
        """SHA-256 of the canonical text, in hex. Every call of another node is checked against it."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        return _sha256(self.canonical())

    def sections(self) -> dict[str, str]:
        """A short digest of every part, so that two nodes can say which one differs."""
        keyless = {"parties": {"__all__": {"key"}}, "mixers": {"__all__": {"key"}}}
        content = self.model_dump(mode="json", exclude=keyless)
        parts = {
            "name": content["name"],
            "protocol": content["protocol"],
            "members": [content["parties"], content["mixers"]],
            "keys": {name: key for name, key in self.first_keys.items() if key},
            "policy": content["policy"],
            "privacy": content["privacy"],
            "recipes": content["recipes"],
            "cuts": content["cuts"],
            "dictionary": content["dictionary"],
        }
        return {part: _sha256(_canonical(value))[:SHORT_DIGEST] for part, value in parts.items()}

    def _member(self, role: Role, members: Sequence[Member], name: str) -> Member:
        for member in members:
            if member.name == name:
                return member
        listed = ", ".join(member.name for member in members) or "none"
        other = self.role_of(name)
        instead = (
            f" {name} is a {other}: `mixbayes doctor` and the page of its node show how it stands." if other else ""
        )
        raise Unsupported(f"The federation {self.name!r} has no {role} {name!r}; it has {listed}.{instead}")


def federation_from(data: Mapping[str, object]) -> Federation:
    """Check an agreement read from a file; what is wrong comes as one `BadFederation`."""
    try:
        return Federation.model_validate(data)
    except ValidationError as error:
        wrong = "".join(f"\n  {line}" for line in lines(data, error))
        raise BadFederation(f"The agreement is not valid:{wrong}") from None


def _broken(field: str, release: Release, epsilon: float, delta: float) -> Iterator[Problem]:
    """Whether coins of the agreement do not keep what they are for."""
    if keeps([release], epsilon, delta):
        return
    found = cost([release], delta)
    promised = f"they give epsilon {found:.4g}" if math.isfinite(found) else "no epsilon is large enough"
    yield ("privacy", field), f"at delta {delta:g} {promised}, and {epsilon:g} is promised"


def _canonical(content: object) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
