"""What an attacker gets from a release, and what guessing would get."""

from __future__ import annotations

from collections.abc import Iterator

from mixbayes.local_methods.attacks.claims import ShareInterval
from mixbayes.local_methods.attacks.people import Estimate
from mixbayes.report.figures import share
from mixbayes.report.page import Section, Table
from mixbayes.report.release import Release


def attacked(release: Release) -> Section:
    """Patients given back, who was in the table, and what is told of them."""
    found = release.found.attacks
    scores = found.reconstruction.scores.items() if found.reconstruction else []
    rows = [
        (name, f"{score.claims:,}", _with_interval(score.share), share(score.guessed.value)) for name, score in scores
    ]
    people = [
        (name, _with_interval(value), share(baseline))
        for name, value, baseline in (
            ("membership", found.membership, 0.0),
            ("attribute inference", found.attribute_inference, found.anybody),
        )
        if value is not None and baseline is not None
    ]
    heads = ["attack", "claims", "right (95% interval)", "guesses right"]
    tables = [Table("Attacks that need nothing but the release", heads, rows)] if rows else []
    told = ["attack", "value (95% interval)", "without the release of this table"]
    tables += [Table("What the release tells about those who were in the table", told, people)] if people else []
    return Section("What an attacker gets", list(_words(release)), tables=tables)


def _words(release: Release) -> Iterator[str]:
    found = release.found.attacks
    yield (
        "Somebody who gets the release, and nothing else, claims that certain patients are in the original. A claim of "
        "whole rows is right if a patient has every cell; one of places, as far as cells agree. Guesses are as many "
        "claims by somebody who draws from the released columns instead. Attacks that are not listed were not tried."
    )
    if found.reconstruction:
        best = found.reconstruction
        yield (
            f"Most complete patients come back by {best.attack}: {_with_interval(best.patients)}, "
            f"and by as many guesses {share(best.guessed)}. "
            + ("Some attacks were cut off, because they would have taken long." if best.cut_off else "")
        )
    yield (
        "Membership: by how much the bet on who was in the table is better than a coin, at 0% a coin and at 100% "
        "certain. Attribute inference: how many more attributes of members than of other people are told rightly."
    )
    for key in ("reconstruction", "membership", "attribute_inference"):
        if release.why(key):
            yield f"{key.replace('_', ' ').capitalize()} has no value: {release.why(key)}."


def _with_interval(value: ShareInterval | Estimate) -> str:
    return f"{share(value.value)} ({100 * value.low:.1f} to {100 * value.high:.1f}%)"
