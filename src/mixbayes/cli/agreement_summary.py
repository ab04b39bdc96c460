"""An agreement as `mixbayes federation show` prints it: in lines, and what follows from it beside its JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from mixbayes.agreement.agreement import Federation
from mixbayes.agreement.members import Mixer, Party
from mixbayes.agreement.noise import (
    against_whom,
    all_rounds,
    document,
    exactly,
    in_words,
    joint_test_document,
    joint_test_in_words,
    spent_together,
)
from mixbayes.agreement.pinning import not_pinned


def promise(federation: Federation) -> dict[str, Any] | None:
    """What is promised, and what it costs: it stands in no agreement, but follows from it."""
    privacy, rounds = federation.privacy, federation.policy.rounds
    if not privacy:
        return None
    spent = spent_together(privacy, federation.releases, rounds)
    together = {"rounds": rounds, "epsilon": spent if math.isfinite(spent) else None, "delta": privacy.total_delta}
    test = joint_test_document(federation)
    return document(privacy, federation.layout) | {"all_rounds": together} | ({"joint_test": test} if test else {})


def summary(federation: Federation) -> Iterator[str]:
    """Its lines."""
    policy, dictionary = federation.policy, federation.dictionary
    yield f"federation:     {federation.name}"
    yield f"digest:         {federation.digest()}"
    yield f"protocol:       {federation.protocol}"
    yield f"hospitals:      {', '.join(map(_where, federation.parties))}"
    yield f"mixers:         {', '.join(map(_where, federation.mixers)) or 'none'}"
    yield from _key_summary(federation)
    yield f"minimum:        {policy.minimum} of {len(federation.parties)} hospitals"
    yield f"collect_hours:  {policy.collect_hours:g}"
    yield f"rounds:         {policy.rounds} at most"
    yield f"budget:         {policy.budget} rows for each hospital and round"
    yield f"timeout:        {policy.timeout:g} s"
    yield f"transfers:      {federation.transfers}"
    if not federation.two_party:
        yield f"ahead:          {policy.ahead} random transfers that the mixers keep made"
    yield f"rows:           {policy.min_rows} to {policy.max_rows_each or dictionary.max_rows} of every hospital"
    yield f"folds:          {_folds(federation)}"
    yield f"recipes:        {_recipes(federation)}"
    if federation.cuts:
        yield f"preliminary:    it finds the cut points of {federation.cuts.bins} bins, and answers no questions"
    yield from _noise_summary(federation)
    yield f"smoothing:      {dictionary.smoothing}"
    yield f"classes:        {', '.join(dictionary.classes)} (column {dictionary.class_column})"
    yield f"attributes:     {len(dictionary.attributes)}"
    width = max(map(len, dictionary.names))
    for attribute in dictionary.attributes:
        yield f"  {attribute.name:{width}}  {attribute.kind:7}  {attribute.described()}"
    yield "digests of parts, to find what differs:"
    for part, digest in federation.sections().items():
        yield f"  {part:10}  {digest}"


def _key_summary(federation: Federation) -> Iterator[str]:
    if warning := not_pinned(federation):
        yield f"keys:           {warning}"
    for name, key in present_keys(federation).items():
        last = max((change.number for change in federation.changes if change.member == name), default=0)
        yield f"key of {name + ':':8} {key}" + (f" (by change {last})" if last else "")


def present_keys(federation: Federation) -> dict[str, str]:
    """The present keys that are agreed, by member."""
    return {name: key for name in federation.first_keys if (key := federation.key_of(name))}


def _folds(federation: Federation) -> str:
    folds, aside = federation.policy.folds, federation.policy.test_share
    said = "none, so that nobody can evaluate" if folds == 1 else f"{folds}, to judge classifiers by"
    return said + (f"; {aside:.0%} of the patients are kept aside" if aside else "")


def _recipes(federation: Federation) -> str:
    listed = ", ".join(("joint", *federation.recipes))
    return f"{listed}, and any without costs and margin" if federation.privacy else listed


def _noise_summary(federation: Federation) -> Iterator[str]:
    privacy = federation.privacy
    if privacy is None:
        yield f"promise:        none. {exactly(federation)}"
        return
    promise, noise = in_words(privacy)
    yield f"promise:        {promise}"
    yield f"noise:          {noise}"
    yield f"it holds:       {against_whom(privacy)}"
    if test := "; ".join(joint_test_in_words(federation)):
        yield f"joint test:     {test}"
    yield f"rounds cost:    {all_rounds(privacy, federation.releases, federation.policy.rounds)}"
    yield f"release:        {privacy.release}"


def _where(member: Party | Mixer) -> str:
    return member.name if member.address is None else f"{member.name} at {member.address}"
