"""The document that is written from the results: its words and tables, no figure of which comes from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mixbayes.research.study import releases_in_words as releases
from mixbayes.research.study.hospitals import ABSENT, CLASSES, PEOPLE, PRESENT
from mixbayes.research.study.in_short import in_short
from mixbayes.research.study.method import head, method
from mixbayes.research.study.recipes_in_words import section
from mixbayes.research.study.results import Hospital, Joining, Nodes, Results, Starting
from mixbayes.research.study.words import NONE, listed, percent, points, share, table, wrapped

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
        releases.section(results),
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
hospital with few patients. Right: what each protection costs, in all hospitals and in one. Below: the accuracy of each
protection against what an attacker gets from the released tables.]({NAME}.svg)

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
them, on one machine, which may have done other work too. The mixers do not see the rows that are asked about.

{table(columns, map(_node_row, nodes))}

{"A protection does not change the bytes of contributions and training: they depend only on the dictionary. " * same}The
bytes of questions include transfers made ahead, used or not; in a slow run they can be nearly twice as many. A
protection costs only time at the hospital: {min(seconds):.2f} to {max(seconds):.2f} seconds for all tables.
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
