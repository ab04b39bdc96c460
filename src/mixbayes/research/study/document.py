"""The document that is written from the results: its words and tables, no figure of which comes from elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from mixbayes.research.study.hospitals import ABSENT, CLASSES, PEOPLE, PRESENT
from mixbayes.research.study.in_short import in_short
from mixbayes.research.study.method import head, method
from mixbayes.research.study.recipes_in_words import section
from mixbayes.research.study.results import Hospital, Joining, Nodes, Privacy, Protecting, Results, Starting
from mixbayes.research.study.words import NONE, listed, percent, points, share, signed, table, wrapped

NAME = "four-hospitals"


def document(results: Results) -> str:
    """The whole text, in Markdown."""
    parts = [
        head(results, NAME),
        in_short(results),
        _hospitals(results),
        _joining(results),
        _starting(results.starting),
        section(results.recipes, results.setup.recipe_repeats, results.setup.recipe_folds),
        _protecting(results),
        _privacy(results),
        _running(results),
        method(results),
    ]
    return wrapped("\n\n".join(part.strip() for part in parts))


def _hospitals(results: Results) -> str:
    columns = ("", "patients", "healthy", "sick", "cells missing", "mostly missing", "zeros that are no measurement")
    return f"""
## The hospitals

{table(columns, map(_hospital_row, results.hospitals))}

*Sick* (`{PRESENT}`): angiography showed a coronary vessel that is narrowed by more than half. *Healthy*
(`{ABSENT}`): it showed none. All were suspected to be ill, so they are patients and not the general population.

- {_not_the_same(results.hospitals)}A missing cell counts for nothing in training and in questions, so no patient and no
  column is dropped. If only one hospital measured something, the joint classifier knows it from that hospital.
- A cholesterol or a blood pressure of zero is no measurement. All four hospitals first replace it by a missing cell.
  A real federation has to agree on such rules; the next section says what happens if it does not.
"""


def _not_the_same(hospitals: Sequence[Hospital]) -> str:
    same = len({frozenset(one.mostly_missing) for one in hospitals}) == 1
    return "" if same else "The hospitals did not measure the same things. "


def _hospital_row(one: Hospital) -> tuple[str, ...]:
    gone = ", ".join(f"{column} ({percent(part)} %)" for column, part in one.mostly_missing.items())
    zeros = ", ".join(f"{times} of {column}" for column, times in one.zeros.items())
    people = (f"{one.classes[label]}" for label in CLASSES)
    return (one.name, f"{one.rows}", *people, f"{percent(one.missing)} %", gone or NONE, zeros or NONE)


def _joining(results: Results) -> str:
    first = (
        "patients of",
        "always the commonest class",
        "own classifier",
        "the other three's",
        "pooled",
        "joint",
        "gain, points",
    )
    second = ("patients of", "", "number", "own classifier", "joint", "gain, points")
    return f"""
## What joining brings

The table has accuracies in percent, with the 95 % interval in parentheses. Every patient was labelled by classifiers
that had not learned from this patient. *Pooled* is one classifier trained on all tables in one place, and *joint* is
the same classifier without pooling. The gain is the joint accuracy less the own accuracy.

{table(first, map(_accuracy_row, results.joining))}

In the row *all four*, every patient is labelled by the classifier of the patient's own hospital, by that of the other
three hospitals, and by the joint classifier.

![Left above: accuracy of each hospital's own classifier and of the joint one. Left below: what joining gains a
hospital with few patients. Right: what each protection costs, in all hospitals and in one.]({NAME}.svg)

The next table says how many percent of the healthy are labelled healthy, and of the sick, sick:

{table(second, _recall_rows(results))}

{_if_zeros_stay(results)}
"""


def _accuracy_row(one: Joining) -> tuple[str, ...]:
    classifiers = (share(each.accuracy) for each in (one.alone, one.others, one.pooled, one.joint))
    return (one.hospital, percent(one.commonest), *classifiers, points(one.gain))


def _recall_rows(results: Results) -> Iterator[tuple[str, ...]]:
    for one in results.joining:
        for label in CLASSES:
            number = sum(each.classes[label] for each in results.hospitals if each.name == one.hospital)
            number = number or sum(each.classes[label] for each in results.hospitals)
            both = (share(each.recall[label]) for each in (one.alone, one.joint))
            yield one.hospital, PEOPLE[label], f"{number}", *both, points(one.gain_of_class[label])


def _if_zeros_stay(results: Results) -> str:
    hospitals = results.joining[:-1]
    changed = [one for one in hospitals if abs(one.zeros_kept - one.joint.accuracy.value) >= 0.005]
    if not changed:
        return "If zeros are not replaced by missing cells, no hospital's joint accuracy changes by half a point."
    each = ", ".join(
        f"{one.hospital} {percent(one.zeros_kept)} instead of {percent(one.joint.accuracy.value)}" for one in changed
    )
    same = [one.hospital for one in hospitals if one not in changed]
    others = f"; at {listed(same)} it changes by less than half a point" if same else ""
    better = [one for one in changed if one.zeros_kept > one.joint.accuracy.value + 0.01]
    warning = (
        " A higher accuracy with zeros is misleading. A zero tells at which hospital a patient is, and so how common "
        "the disease is there. It says nothing about the patient, and disappears as soon as the hospital measures."
    )
    what = f"**If zeros are not replaced by missing cells**, the joint accuracy is: {each}{others}."
    return what + warning * bool(better)


def _starting(starting: Sequence[Starting]) -> str:
    sizes = sorted({one.own for one in starting})
    found = {(one.hospital, one.own): one for one in starting}
    rows = (
        (name, *(_start_cell(found[name, own]) for own in sizes))
        for name in dict.fromkeys(one.hospital for one in starting)
    )
    return f"""
## A hospital that begins with few patients

Here one hospital learns from only a few of its patients, drawn at random, and the three others from all of theirs.
Each cell has the accuracy of its own classifier, the accuracy of the joint classifier, and the gain in points:

{table(("patients of", *(f"{own} of its own" for own in sizes)), rows)}
"""


def _start_cell(one: Starting) -> str:
    return f"{percent(one.alone.value)}, {percent(one.joint.value)}: {points(one.gain)}"


def _protecting(results: Results) -> str:
    names = [one.name for one in results.hospitals]
    joint = results.joining[-1].joint
    columns = ("protection", "accuracy", "change", "healthy found", "change", "sick found", "change")
    pairs = ("protection", *(f"{name}: {PEOPLE[label]}" for name in names for label in CLASSES))
    changes = (
        (_name(one), *(points(one.cost_at[name]) + "†" * (name in one.refused) for name in names))
        for one in results.protecting
    )
    return f"""
## What protecting a table costs

A hospital may change its table by one of the local methods before it counts. Without protection, the joint classifier
labels {share(joint.accuracy)} % of all patients correctly, {percent(joint.recall[ABSENT].value)} % of the healthy and
{percent(joint.recall[PRESENT].value)} % of the sick. The next table has the same figures if **all four** hospitals
protect their tables in the same way, in percent, with the change in points:

{table(columns, map(_cost_row, results.protecting))}

The next table has the change of accuracy for the patients of each hospital, in points:

{table(("protection", *names), changes)}

If **only one** hospital protects its table, the accuracy over the patients of all four changes by these points:

{table(("protection", *(f"only {name}" for name in names)), (_one_row(one, names) for one in results.protecting))}

Over the same patients, the shares of the healthy and of the sick who are found change by these points:

{table(pairs, (_one_recall_row(one, names) for one in results.protecting))}

{_refusals(results)}
"""


def _name(one: Protecting) -> str:
    return f"`{one.setting}`"


def _cost_row(one: Protecting) -> tuple[str, ...]:
    found = ((percent(one.joint.recall[label].value), points(one.cost_of_class[label])) for label in CLASSES)
    return (
        _name(one) + "†" * bool(one.refused),
        percent(one.joint.accuracy.value),
        points(one.cost),
        *(cell for pair in found for cell in pair),
    )


def _one_row(one: Protecting, hospitals: Sequence[str]) -> tuple[str, ...]:
    return (_name(one), *(points(one.in_one[name]) if name in one.in_one else "†" for name in hospitals))


def _one_recall_row(one: Protecting, hospitals: Sequence[str]) -> tuple[str, ...]:
    of = one.in_one_of_class
    return (
        _name(one),
        *(signed(of[name][label].value) if name in of else "†" for name in hospitals for label in CLASSES),
    )


def _refusals(results: Results) -> str:
    splits = results.setup.repeats * results.setup.folds
    found = [
        f"- {_name(one)} at {name}, in {refusal.splits} of {splits} splits: {refusal.why}"
        for one in results.protecting
        for name, refusal in one.refused.items()
    ]
    if not found:
        return "Every hospital can use every setting."
    return "\n".join(["† A hospital cannot always use this setting. It then contributes nothing:", "", *found])


def _privacy(results: Results) -> str:
    weights = {one.name: one.rows for one in results.hospitals}
    first = results.hospitals[0].name
    rows = [("none: the unchanged table", *_privacy_cells(results.original, weights), "")]
    for one in results.protecting:
        measured = {name: release.privacy for name, release in one.releases.items()}
        seconds = sum(release.seconds for release in one.releases.values())
        rows.append((_released(one, weights), *_privacy_cells(measured, weights), f"{seconds:.2f}"))
    columns = ("protection", "rows unchanged", "smallest group", "S1", "S2", "interval", "VD", "seconds")
    promises = (
        (_name(one), one.releases[first].promise if first in one.releases else NONE) for one in results.protecting
    )
    return f"""
## What the released tables give away

In a federation nobody sees these tables: only shares of their counts leave a hospital. The measures say what could be
learned if a table leaked, or were passed on. They are for one release of each hospital's whole table. The smallest
group is the smallest of all hospitals, and the other measures are means over rows. Rows whose class a method
suppressed are left out first, because they are not counted. `{NONE}` means that the remaining rows cannot be compared
with the table row by row.

{table(columns, rows)}

{_without_some(results.protecting, weights)}

- *Rows unchanged*: the share of released rows that equal a row of the table in every column but the class.
- *Smallest group*: the smallest number of rows that share a combination of all columns. 1 means that somebody is
  unique.{_alone(results)}
- *S1*: somebody knows a few columns of a patient, drawn at random, and looks for them in the release. S1 is the mean
  of 1 divided by the number of rows that fit, or of 0 if none fits. A missing cell fits every value, so suppressing
  cells lowers S1. In a newly drawn table, a row that fits lies near people, whoever they are: a low S1 is good, and
  a high S1 proves nothing.
- *S2*: the share of the most frequent class among the rows that fit. It says how much the release tells about the
  diagnosis.
- *Interval*: the width of the interval around a released number that contains 95 % of the original numbers, as a
  multiple of the column's range. Suppressed cells are left out.
- *VD*: the size of the change of the numbers, relative to the numbers. Columns of large numbers dominate it.
- *Seconds*: the time to protect all these tables, on the machine of this run.

The next table has the promise that each setting makes about its release, as verified at {first}:

{table(("protection", "promise"), promises)}

Only what a promise says of the people in the table protects them. The rest is arithmetic.
"""


def _released(one: Protecting, hospitals: Collection[str]) -> str:
    return _name(one) + "†" * (set(one.releases) != set(hospitals))


def _without_some(protecting: Sequence[Protecting], weights: Mapping[str, int]) -> str:
    """Which releases are not of all hospitals, and over how many patients the row is then."""
    found = []
    for one in protecting:
        if lacking := [name for name in weights if name not in one.releases]:
            rows = sum(weights[name] for name in one.releases)
            found.append(f"{_name(one)} without {listed(lacking)}, over {rows} of {sum(weights.values())} patients")
    return f"† Not for all hospitals: {'; '.join(found)}." if found else ""


def _alone(results: Results) -> str:
    groups = [[release.privacy.k_anonymity or 1 for release in one.releases.values()] for one in results.protecting]
    if any(min(of_hospitals, default=1) > 1 for of_hospitals in groups):
        return ""
    return """
  It is 1 everywhere, because no setting makes whole rows equal. If a method promises groups, it promises them for
  some columns, for each of its projections, or for the rows from which a new row was drawn."""


def _privacy_cells(by_hospital: Mapping[str, Privacy], weights: Mapping[str, int]) -> tuple[str, ...]:
    groups = [one.k_anonymity for one in by_hospital.values() if one.k_anonymity is not None]
    unchanged = _mean({name: one.unchanged_rows for name, one in by_hospital.items()}, weights)
    measured = (
        {name: one.reidentification for name, one in by_hospital.items()},
        {name: one.attribute_disclosure for name, one in by_hospital.items()},
        {name: one.confidence_interval for name, one in by_hospital.items()},
        {name: one.vd for name, one in by_hospital.items()},
    )
    means = [_mean(values, weights) for values in measured]
    return (
        NONE if unchanged is None else f"{percent(unchanged)} %",
        f"{min(groups)}" if groups else NONE,
        *(NONE if mean is None else f"{mean:.3f}" for mean in means),
    )


def _mean(values: Mapping[str, float | None], weights: Mapping[str, int]) -> float | None:
    known = {name: value for name, value in values.items() if value is not None}
    total = sum(weights[name] for name in known)
    return sum(weights[name] * value for name, value in known.items()) / total if total else None


def _running(results: Results) -> str:
    nodes = results.nodes
    if not nodes:
        return "## Time and bytes\n\nA quick run starts no nodes."
    columns = (
        "",
        "questions",
        "labelled as pooled",
        *(f"{step}, s" for step in ("set-up", "contribution", "training", "questions")),
        *(f"{step}, bytes" for step in ("contributions", "training", "questions")),
    )
    same = len({(run.bytes.hospitals_to_mixers, run.bytes.training) for run in nodes}) == 1
    seconds = [sum(release.seconds for release in one.releases.values()) for one in results.protecting]
    return f"""
## Time and bytes

The first split also ran on real services: four hospitals and two mixers, each in its own process, with TLS between
them, all on one machine, which may have done other work too. The mixers do not see the rows that are asked about. The
first set-up includes the start of Python.

{table(columns, map(_node_row, nodes))}

{"A protection does not change the bytes of contributions and training: they depend only on the dictionary. " * same}The
bytes of questions are those of one run. Random transfers are made ahead while nobody asks, and all of them are counted,
used or not. In a slow run the bytes can be nearly twice as many. A protection costs only time at the hospital, before
anything is sent: {min(seconds):.2f} to {max(seconds):.2f} seconds for all tables.
"""


def _node_row(run: Nodes) -> tuple[str, ...]:
    seconds, moved = run.seconds, run.bytes
    return (
        f"all with `{run.protection}`" if run.protection else "no protection",
        f"{run.instances}",
        NONE if run.agreement is None else f"{percent(run.agreement)} %",
        *(f"{value:.2f}" for value in (seconds.setup, seconds.contribute, seconds.train, seconds.classify)),
        *(f"{value:,}" for value in (moved.hospitals_to_mixers, moved.training, moved.classification)),
    )
