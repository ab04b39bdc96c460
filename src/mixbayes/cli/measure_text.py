"""The measures of a release for people, on stdout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table as Shown
from rich.text import Text

from mixbayes.local_methods.measures.disclosure import Unknown

if TYPE_CHECKING:
    from mixbayes.local_methods.attacks.claims import ShareInterval
    from mixbayes.local_methods.attacks.people import Estimate
    from mixbayes.local_methods.measures.comparison import Comparison, OfClass
    from mixbayes.local_methods.measures.folds import Folds, Side, Sides

DISTORTION = (
    ("confidence_interval", "confidence interval", "width that holds 95 % of the differences, in ranges"),
    ("vd", "size of the change (VD)", "norm of the differences over that of the original"),
    ("rp", "ranks by which values move (RP)", "ranks by which a value moves"),
    ("rk", "values that keep their rank (RK)", "share of values that keep their rank"),
    ("cp", "ranks by which means move (CP)", "ranks by which the mean of an attribute moves"),
    ("ck", "means that keep their rank (CK)", "share of attributes whose mean keeps its rank"),
)
RISK = (
    ("k_anonymity", "k-anonymity", "rows with the rarest combination of quasi-identifiers"),
    ("l_diversity", "l-diversity", "fewest sensitive values that a combination has"),
    ("entropy_l_diversity", "entropy l-diversity", "as many equally frequent values would be as uncertain"),
    ("t_closeness", "t-closeness", "furthest that sensitive values of a combination are from the table's: 0 to 1"),
    ("reidentification", "re-identification (S1)", "mean over queries of one over the rows found"),
    ("attribute_disclosure", "attribute disclosure (S2)", "mean over queries of the commonest class's share of them"),
)
"""Key, name and what it is."""
FOUND = (
    ("pd", "pd", "of its rows, those found"),
    ("pf", "pf", "of other rows, those found by mistake"),
    ("precision", "precision", "of the rows found, those of the class"),
    ("accuracy", "accuracy", "of all rows, those rightly said to be of it or not"),
)
MOST_CLASSES_SHOWN = 10
VERDICTS = {"win": "better", "tie": "no different", "loss": "worse"}


def show(found: Comparison, left_out: str) -> None:
    """All of it."""
    console = Console(highlight=False)
    for table in filter(None, (_attacks(found), _measures(found), _classes(found), _folds(found), _clusterings(found))):
        console.print(table)
    for note in filter(None, (*notes(found), left_out)):
        console.print(Text(note), soft_wrap=True)


def figure(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _measures(found: Comparison) -> Shown:
    return _shown(["", "original", "released", ""], _rows(found))


def _rows(found: Comparison) -> Iterator[Sequence[str]]:
    """Name, of the original, of the release, and what it is or why it is not."""
    why = found.why_not
    for key, name, meaning in DISTORTION:
        yield name, "", figure(getattr(found, key)), why.get(key, meaning)
    for key, name, meaning in RISK:
        before, after = getattr(found.original_risk, key), getattr(found.risk, key)
        yield name, figure(before), figure(after), why.get(key, meaning)
    if not found.utility:
        yield "accuracy", "", figure(None), why["utility"]
    for classifier, accuracy in (found.utility or {}).items():
        yield classifier, figure(accuracy.original), figure(accuracy.released), _kept(found, classifier)
    if not found.clustering:
        yield "clusters", "", figure(None), why["clustering"]
        return
    moved, rand = found.clustering.misclassification_error, found.clustering.adjusted_rand
    yield "misclassification error", "", figure(moved), "differences of the sizes of matched clusters, per row"
    yield "adjusted Rand index", "", figure(rand), "1 for the same clusters, 0 for unrelated ones"


def _kept(found: Comparison, classifier: str) -> str:
    kept = found.kept_utility
    delta = kept.delta_r[classifier] if kept else None
    if kept is None or delta is None:
        return "accuracy of what learned from it"
    return f"accuracy of what learned from it; ΔR {delta:.4g}: {'kept' if kept.kept[classifier] else 'not kept'}"


def _attacks(found: Comparison) -> Shown:
    """What an attacker gets, and what nobody needs a release for."""
    return _shown(["attack", "gets", "95 % interval", "by guessing", ""], _attacked(found), "what an attacker gets")


def _attacked(found: Comparison) -> Iterator[Sequence[str]]:
    got, why = found.attacks, found.why_not
    for name, score in got.reconstruction.scores.items() if got.reconstruction else ():
        if score.claims:
            verdict = "more than guessing" if score.beats_guessing else "no more than guessing"
            cut = ", cut off" if score.cut_off else ""
            claimed = f"of {score.claims} claims; {score.patients:g} patients complete: {verdict}{cut}"
            yield name, figure(score.share.value), between(score.share), figure(score.guessed.value), claimed
    if got.reconstruction:
        quiet = [name for name, score in got.reconstruction.scores.items() if not score.claims]
        yield "no claims by", "0", "", "", ", ".join(quiet) or "none"
    else:
        yield "reconstruction", figure(None), "", "", why["reconstruction"]
    people = (
        ("membership", got.membership, 0.0, "advantage over a coin of who bets on members: 0 to 1"),
        ("attribute inference", got.attribute_inference, got.anybody, "attributes told of members and of nobody else"),
    )
    for name, value, by_guessing, meaning in people:
        why_not = why.get(name.replace(" ", "_"), meaning)
        interval = between(value) if value else ""
        yield name, figure(value.value if value else None), interval, figure(by_guessing if value else None), why_not


def between(value: ShareInterval | Estimate) -> str:
    """Its 95 % interval."""
    return f"{value.low:.3f} to {value.high:.3f}"


def _classes(found: Comparison) -> Shown | None:
    """What became of each class, if they are few."""
    if not found.detection or _many(found.detection):
        return None
    rows = [
        (classifier, name, *(_change(each, key) for key, _, _ in FOUND))
        for classifier, classes in found.detection.items()
        for name, each in classes.items()
    ]
    heads = ["classifier", "class", *(name for _, name, _ in FOUND)]
    return _shown(heads, rows, "each class, after learning from the original → from the release")


def _many(detection: object) -> bool:
    return isinstance(detection, dict) and any(len(classes) > MOST_CLASSES_SHOWN for classes in detection.values())


def _change(each: OfClass, key: str) -> str:
    return f"{figure(getattr(each.original, key))} → {figure(getattr(each.released, key))}"


def _folds(found: Comparison) -> Shown | None:
    """Quartiles and tests, of all folds and classes."""
    if not found.folds:
        return None
    rows = [
        (classifier, measure, _quartiles(each.of_all.original), _quartiles(each.of_all.released), tested(each.of_all))
        for classifier, spreads in found.folds.of_classifier.items()
        for measure, each in spreads.items()
    ]
    heads = ["classifier", "measure", "original", "released", "the release is"]
    return _shown(heads, rows, "lower quartile, median, upper quartile, of all folds and classes")


def _quartiles(side: Side) -> str:
    of = side.quartiles
    return figure(None) if of is None else f"{of.lower:.3g}, {of.median:.3g}, {of.upper:.3g}"


def tested(sides: Sides) -> str:
    """What the test says, in words."""
    return figure(None) if sides.test is None else f"{VERDICTS[sides.test.verdict]} (p = {sides.test.p_value:.3g})"


def _clusterings(found: Comparison) -> Shown | None:
    """The clusters of the release, beside those of the original with another seed."""
    if not found.clusterings:
        return None
    rows = [
        (f"k = {each.clusters}", what, figure(one.misclassification_error), figure(one.adjusted_rand))
        for each in found.clusterings
        for what, one in (("released", each.released), ("not perturbed, another seed", each.unperturbed))
    ]
    return _shown(["clusters", "", "misclassification error", "adjusted Rand index"], rows)


def _shown(heads: Sequence[str], rows: Iterator[Sequence[str]] | Sequence[Sequence[str]], title: str = "") -> Shown:
    table = Shown(*heads, title=title or None)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def notes(found: Comparison) -> Iterator[str]:
    """What the figures are about."""
    match = "may hold what is asked for" if found.unknown is Unknown.WILDCARD else "matches no query"
    yield "Row i of the release is taken for row i of the original."
    if found.paired_by_chance:
        yield (
            "But no column says so: the rows were shuffled or drawn anew. The size of the change, the ranks by which "
            "values move, the interval and the clusters are those of pairs by chance; `protect` knows the pairs."
        )
    yield f"Quasi-identifiers: {', '.join(found.quasi_identifiers)}."
    if found.risk.l_diversity is not None:
        yield f"Sensitive, for l-diversity and t-closeness: {found.sensitive}. A missing cell counts for no value."
    yield "k-anonymity: a missing cell equals a missing cell."
    if found.risk.k_anonymity == 1:
        yield (
            "A k-anonymity of 1 is expected where rows are drawn anew, as by condensation: they are all different. "
            "Then l-diversity is 1 as well, and t-closeness large."
        )
    yield (
        "Attacks: shares of claims about patients that are right. Only the attacks named here were tried. Membership "
        "and inference are about somebody who gets the release, not about somebody who asks for labels."
    )
    yield f"S1 and S2: {found.queries} queries; a missing cell {match}."
    yield from _notes_on_utility(found)
    if found.clustering:
        yield f"Clusters: k-means with k = {found.clusters}."


def _notes_on_utility(found: Comparison) -> Iterator[str]:
    if found.kept_utility:
        verdict = {None: "not known", True: "kept", False: "not kept"}[found.kept_utility.by_all]
        yield (
            f"Utility: {verdict}. It is kept if ΔR = R_p − {1 - found.kept_utility.tolerance:g} R_o, of the accuracies "
            "after learning from the release and from the original, is not below 0 for tree, nearest neighbour and svm."
        )
    if found.detection:
        yield f"Of each class: {'; '.join(f'{name}: {meaning}' for _, name, meaning in FOUND)}."
        if _many(found.detection):
            yield f"More than {MOST_CLASSES_SHOWN} classes: --json and --report have the figures of each."
    if found.folds:
        yield _told(found.folds)


def _told(folds: Folds) -> str:
    from mixbayes.local_methods.measures.ranking import Verdict  # slow to import
    from mixbayes.local_methods.measures.utility import FOLDS

    counts = (folds.count(verdict) for verdict in (Verdict.WIN, Verdict.TIE, Verdict.LOSS))
    wins, ties, losses = counts
    return (
        f"{folds.repeats} times {FOLDS} folds: by a Mann-Whitney test at 95 % the release is better in {wins} of the "
        f"measures, no different in {ties} and worse in {losses}. Folds share rows, so the test finds too many "
        "differences rather than too few."
    )
