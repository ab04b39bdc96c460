"""The page of a release: what became of the values, what it is still good for, what it gives away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mixbayes.report.figures import many, measured, share
from mixbayes.report.page import Page, Section
from mixbayes.report.release import Release, plain
from mixbayes.report.released_attacks import attacked
from mixbayes.report.released_risk import alike, attacker, in_common
from mixbayes.report.released_utility import classes, folds, utility
from mixbayes.report.released_values import clusters, distortion

_MOST_NAMES = 6


def measured_release(release: Release) -> Page:
    """Distortion, utility, risk."""
    before, after = release.rows
    return Page(
        title="What a release keeps, and what it gives away",
        lead=[
            f"The original has {many(before, 'row')}, the release {after:,}; {many(release.attributes, 'attribute')} "
            f"{'was' if release.attributes == 1 else 'were'} compared.",
            *_sentences(release),
        ],
        keys=_keys(release),
        sections=[
            Section("What the figures are about", release.notes),
            attacked(release),
            *(alike(release), in_common(release), attacker(release)),
            *(utility(release), *classes(release), *folds(release)),
            *(distortion(release), clusters(release)),
        ],
        gives_away=[
            "The page holds names of columns and of classes, shares and averages, and no row and no other cell of "
            "either table. The shares of a class that few people have are shares of few: they may tell something of "
            "one of them.",
            "Its measures are of one kind of attacker each: who knows the quasi-identifiers named above of somebody in "
            "the original, and looks for them in the table. They say nothing about attackers who know something else, "
            "and they promise nothing about what can be worked out by combining this release with another one.",
        ],
    )


def _sentences(release: Release) -> Iterator[str]:
    found = release.found
    before, after = found.original_risk.k_anonymity, found.risk.k_anonymity
    if before is not None and after is not None:
        yield (
            f"To somebody who knows {_known(found.quasi_identifiers)}, the rarest person of the original looks like "
            f"{_others(before)}, and the rarest of the release like {_others(after)}."
        )
    losses = [
        (each.original - each.released, name)
        for name, each in (found.utility or {}).items()
        if each.original is not None and each.released is not None
    ]
    if losses:
        most, name = max(losses)
        yield (
            f"What learns from the release loses at most {100 * most:.2f} percentage points of accuracy "
            f"({plain(name)})."
            if most > 0
            else "No classifier loses accuracy by learning from the release."
        )


def _known(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= _MOST_NAMES else f"these {len(names)} quasi-identifiers of somebody"


def _others(k: int) -> str:
    return "nobody else" if k == 1 else f"{many(k - 1, 'other')}"


def _keys(release: Release) -> list[tuple[str, str]]:
    risk, back = release.found.risk, release.found.attacks.reconstruction
    keys = [(share(back.patients.value), "of the patients were given back by an attack")] if back else []
    keys += [(measured(risk.k_anonymity), "rows share the rarest combination in the release")]
    if risk.reidentification is not None:
        keys.append((share(risk.reidentification), "chance to pick the right one of those who match (S1)"))
    losses = [each.released for each in (release.found.utility or {}).values() if each.released is not None]
    if losses:
        keys.append((share(max(losses)), "accuracy of the best classifier that learned from the release"))
    return keys
