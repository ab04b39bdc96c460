"""What a release gives away: how many look alike, what they have in common, and what an attacker finds."""

from __future__ import annotations

from mixbayes.report.bars import Bar, bars
from mixbayes.report.figures import exact, measured
from mixbayes.report.page import Section, Table
from mixbayes.report.pairs import Two, pairs
from mixbayes.report.palette import PLAIN, STRIPED
from mixbayes.report.release import Release, shares_table, told


def alike(release: Release) -> Section:
    """The rarest combination of what an attacker may know."""
    before, after = release.found.original_risk.k_anonymity, release.found.risk.k_anonymity
    rows = [(name, exact(k, measured(k))) for name, k in (("original", before), ("released", after))]
    said = f"original: {measured(before)}; released: {measured(after)}"
    drawn = [
        Bar(name, k, measured(k), fill) for name, k, fill in (("original", before, STRIPED), ("released", after, PLAIN))
    ]
    return Section(
        "How many look alike",
        [
            "Of all combinations of the quasi-identifiers, the rarest: so many rows share it (k-anonymity). With 1, "
            "somebody is the only one of the kind. More is better.",
            *filter(None, [release.why("k_anonymity")]),
        ],
        bars(drawn, f"Bars of the rows with the rarest combination. {said}.", tick="{:,.0f}".format, whole=True),
        "Rows that share the rarest combination.",
        [Table("k-anonymity", ["table", "rows"], rows)],
    )


def in_common(release: Release) -> Section:
    """The sensitive values of those who look alike."""
    before, after = release.found.original_risk, release.found.risk
    heading = "What those who look alike have in common"
    why = release.why("l_diversity")
    if why:
        return Section(heading, [f"This has no value: {why}."])
    sides = (("original", before, STRIPED), ("released", after, PLAIN))
    rows = [
        (name, *(exact(value, measured(value)) for value in (getattr(before, key), getattr(after, key))))
        for name, key in (
            ("different values (l)", "l_diversity"),
            ("by entropy (l)", "entropy_l_diversity"),
            ("distance (t)", "t_closeness"),
        )
    ]
    said = "; ".join(f"{name}: {measured(risk.l_diversity)}" for name, risk, _ in sides)
    return Section(
        heading,
        [
            "Whoever finds the rows of those who look alike learns what they have in common in "
            f"{release.found.sensitive}. The bars show how many different values the least diverse of these groups has "
            "(l-diversity). With 1, everybody in the group has the same, and it is disclosed. More is better.",
            "By entropy, rare values count for less. The distance is that of the group whose values are furthest from "
            "those of the whole table (t-closeness): from 0, where nobody learns anything from the group, up to 1.",
            *_drawn_anew(release),
        ],
        bars(
            [Bar(name, risk.l_diversity, measured(risk.l_diversity), fill) for name, risk, fill in sides],
            f"Bars of the different values in the least diverse group. {said}.",
            tick="{:,.0f}".format,
            whole=True,
        ),
        "Different values in the least diverse group.",
        [Table("l-diversity and t-closeness", ["measure", "original", "released"], rows)],
    )


def _drawn_anew(release: Release) -> list[str]:
    if release.found.risk.k_anonymity != 1:
        return []
    return [
        "Here at least one row of the release is like no other, and such a row is a group of its own, with one value. "
        "This is expected where rows are drawn anew. mixbayes protect also measures the groups that the method formed."
    ]


def attacker(release: Release) -> Section:
    """By random queries."""
    before, after = release.found.original_risk, release.found.risk
    both = [
        Two("re-identification (S1)", before.reidentification, after.reidentification),
        Two("attribute disclosure (S2)", before.attribute_disclosure, after.attribute_disclosure),
    ]
    missing = (release.why("reidentification"), release.why("attribute_disclosure"))
    return Section(
        "What an attacker finds",
        [
            "An attacker knows something of somebody in the original, and looks for it in the table. S1 is the chance "
            "to pick the right row among those that match, S2 the share of the commonest class among them: at 100% "
            "nothing is left to guess.",
            *(f"{two.name} has no value: {why}." for two, why in zip(both, missing, strict=True) if why),
        ],
        pairs(both, f"Chances of an attacker, original and release. {told(both)}."),
        "Chances of an attacker: less is better.",
        [shares_table("Risk", "measure", both)],
    )
