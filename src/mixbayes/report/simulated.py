"""The page of a simulation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mixbayes.report.answered import answered
from mixbayes.report.bars import Bar, bars
from mixbayes.report.confusion import MOST_SQUARES, confusion
from mixbayes.report.evaluated import Document, evaluation_sections, what_was_opened
from mixbayes.report.evaluated_words import predicted, verdict
from mixbayes.report.evaluation_document import read_evaluated
from mixbayes.report.figures import exact, many, seconds, share, size
from mixbayes.report.lanes import Lane, lanes
from mixbayes.report.markup import Markup, element, joined
from mixbayes.report.page import Page, Section, Table, whole_words
from mixbayes.report.palette import CROSSED, DOTTED, PLAIN, STRIPED, Fill
from mixbayes.simulation.flows import EVALUATING, MASKED, SEED
from mixbayes.simulation.outcome import Flow, Hospital, Outcome
from mixbayes.transport.conversation import ASKING, TRAINING

_PURPOSES = {
    SEED: "random seed",
    MASKED: "masked counts",
    TRAINING: "training",
    EVALUATING: "evaluation",
    ASKING: "classification",
}
_MOST_HOSPITALS = 8
"""With more, the picture of bytes shows these, and the others in sum."""
_JOINT = "jointly, nothing pooled"
_SURE = (
    "A simulation reads all tables on one machine: it shows what a real federation would find and cost, and protects "
    "nothing itself."
)


def simulated(outcome: Outcome, *, columns: Sequence[str] = (), evaluation: Sequence[Document] = ()) -> Page:
    """What was found, what it cost, and what was done to the tables.

    `columns` are those that a class is predicted from. `evaluation` are the documents of `--evaluate`, one for each
    hospital.
    """
    hospitals = many(len(outcome.hospitals), "hospital")
    return Page(
        title=f"{hospitals} classify together: a simulation",
        lead=[
            _found(outcome),
            predicted(outcome.class_column, outcome.classes, columns),
            *(verdict(read_evaluated(document)) for document in evaluation),
            _SURE,
        ],
        keys=list(_keys(outcome)),
        sections=[
            _accuracy(outcome),
            _confusion(outcome),
            *([answered(outcome.recipe)] if outcome.recipe else []),
            *evaluation_sections(evaluation),
            _protection(outcome),
            _noise(outcome),
            _flows(outcome),
            _time(outcome),
        ],
        gives_away=[*_gives_away(outcome), *(what_was_opened(evaluation) if evaluation else [])],
    )


def _found(outcome: Outcome) -> str:
    trained = sum(hospital.rows for hospital in outcome.hospitals)
    joint, agreement = outcome.accuracy.joint, outcome.agreement_with_pooled
    known = sum(map(sum, outcome.confusion or []))
    found = f"One classifier was trained on {many(trained, 'row')} that nobody pooled. "
    found += f"It labelled {many(outcome.instances, 'row')}"
    if joint is not None:
        found += f", {share(joint)} of {'them' if known == outcome.instances else 'those with a known class'} rightly"
    if agreement is not None:
        found += f"; {share(agreement)} of the labels {_equal(outcome)}"
    return found + "."


def _equal(outcome: Outcome) -> str:
    without = " without noise" * bool(outcome.privacy)
    if outcome.recipe:
        return (
            f"that were asked for by {outcome.recipe.recipe} are those that the same recipe gives on pooled counts"
            + without
        )
    return f"are those that a classifier on the pooled tables gives{without}"


def _keys(outcome: Outcome) -> Iterator[tuple[str, str]]:
    moved, took = outcome.bytes, outcome.seconds
    yield share(outcome.accuracy.joint), "of the joint labels are right"
    yield share(outcome.agreement_with_pooled), "are the labels of pooling" + " without noise" * bool(outcome.privacy)
    in_all_moved = moved.hospitals_to_mixers + moved.training + (moved.evaluation or 0) + moved.classification
    yield size(in_all_moved), "went from node to node"
    in_all = took.setup + took.contribute + took.train + (took.evaluate or 0) + took.classify
    yield seconds(in_all), "from set-up to the last label"


def _accuracy(outcome: Outcome) -> Section:
    heading = "How often the labels are right"
    compared = list(_compared(outcome))
    if outcome.accuracy.joint is None:
        return Section(
            heading, ["No row that was classified carries a known class, so nothing tells right from wrong."]
        )
    known = sum(map(sum, outcome.confusion or []))
    told = "; ".join(f"{one.name}: {share(one.accuracy)}" for one in compared)
    return Section(
        heading,
        [
            "Each hospital alone learns from its own rows. Pooled means that all tables are copied into one place, "
            "which a federation is there to avoid. Jointly means that all hospitals' counts are used and nobody sees "
            "them.",
            f"The labels were compared with {many(known, 'known class', 'known classes')}: one row is "
            f"{100 / known:.2f} percentage points.",
        ],
        bars(
            [Bar(one.name, one.accuracy, share(one.accuracy), one.fill) for one in compared],
            f"Bars of the share of right labels. {told}.",
            most=1.0,
            tick="{:.0%}".format,
            mark=outcome.accuracy.joint,
        ),
        "Share of right labels. The broken line is at the joint classifier's.",
        [_accuracy_table(compared, known)],
    )


@dataclass(frozen=True)
class _Compared:
    """One classifier beside the others."""

    name: str
    accuracy: float | None
    fill: Fill
    rows: int | None
    """Of training; None: those of the tables as they were."""


def _compared(outcome: Outcome) -> Iterator[_Compared]:
    together = sum(hospital.rows for hospital in outcome.hospitals)
    for hospital in outcome.hospitals:
        yield _Compared(f"{hospital.name} alone", outcome.accuracy.alone[hospital.name], STRIPED, hospital.rows)
    if any(hospital.protect for hospital in outcome.hospitals):
        yield _Compared("pooled without protection", outcome.accuracy.pooled_unprotected, CROSSED, None)
    yield _Compared("all tables pooled", outcome.accuracy.pooled, DOTTED, together)
    yield _Compared(_JOINT, outcome.accuracy.joint, PLAIN, together)


def _accuracy_table(compared: Sequence[_Compared], known: int) -> Table:
    rows = [
        (
            one.name,
            "as they were" if one.rows is None else exact(one.rows, f"{one.rows:,}"),
            "unknown" if one.accuracy is None else _right(one.accuracy, known),
            exact(one.accuracy, share(one.accuracy)),
        )
        for one in compared
    ]
    columns = ["trained on", "rows of training", f"right, of {known:,}", "share"]
    return Table("Right labels", columns, rows, chosen=len(rows) - 1)


def _right(accuracy: float, known: int) -> Markup:
    right = round(accuracy * known)
    return exact(right, f"{right:,}")


def _confusion(outcome: Outcome) -> Section:
    heading = "Which classes are taken for which"
    if outcome.confusion is None:
        return Section(heading, ["No true class is known, so this cannot be said."])
    names, counts = outcome.classes, outcome.confusion
    told = "; ".join(
        f"{row[at]} of {sum(row)} rows of class {name} rightly labelled"
        for at, (name, row) in enumerate(zip(names, counts, strict=True))
    )
    squares = len(names) <= MOST_SQUARES
    shown = (
        "Framed and blue: rightly labelled. Vermilion: taken for another class. The darker, the larger the share of "
        "the rows of that class."
    )
    return Section(
        heading,
        ["How many rows of each class the joint classifier gave each label."],
        confusion(names, counts, f"{'A square of counts' if squares else 'Bars'} by class: {told}."),
        shown if squares else "Share of the rows of each class that were rightly labelled.",
        [_by_class(names, counts), _taken_for(names, counts)],
    )


def _by_class(names: Sequence[str], counts: Sequence[Sequence[int]]) -> Table:
    rows = []
    for at, (name, row) in enumerate(zip(names, counts, strict=True)):
        found, labelled = sum(row), sum(other[at] for other in counts)
        rows.append((name, exact(found, f"{found:,}"), _part(row[at], found), _part(row[at], labelled)))
    columns = ["class", "rows", "of these, labelled so", "of those labelled so, right"]
    return Table("By class", columns, rows)


def _part(count: int, total: int) -> Markup:
    return exact(count / total, share(count / total)) if total else exact(None, "no row")


def _taken_for(names: Sequence[str], counts: Sequence[Sequence[int]]) -> Table:
    rows = [
        (names[i], names[j], exact(count, f"{count:,}"))
        for i, row in enumerate(counts)
        for j, count in enumerate(row)
        if count
    ]
    return Table("Rows by true class and label given", ["true class", "label given", "rows"], rows, numbers=1)


def _protection(outcome: Outcome) -> Section:
    hospitals = outcome.hospitals
    some = [hospital for hospital in hospitals if hospital.protect]
    left_out = sum(hospital.unlabelled for hospital in hospitals)
    coarsened = sum(hospital.coarsened for hospital in hospitals)
    words = [
        "A hospital may change its own table before it is counted. "
        + (
            f"{len(some)} of {many(len(hospitals), 'hospital')} did; what each method promises stands below."
            if some
            else "Here no hospital did."
        ),
        *(f"{hospital.name}: {hospital.changed}." for hospital in some if hospital.changed),
        *([f"Rows left without a class by this are not counted: {left_out:,}."] if left_out else []),
        *([f"Cells that were generalised or suppressed count as missing: {coarsened:,}."] if coarsened else []),
    ]
    told = "; ".join(
        f"{hospital.name}: {hospital.rows} rows, {hospital.protect or 'no protection'}" for hospital in hospitals
    )
    return Section(
        "What each hospital did to its table first",
        words,
        bars(
            [
                Bar(hospital.name, hospital.rows, many(hospital.rows, "row"), STRIPED if hospital.protect else PLAIN)
                for hospital in hospitals
            ],
            f"Bars of the rows that each hospital counted. {told}.",
            tick="{:,.0f}".format,
            whole=True,
        ),
        "Rows counted. Plain: the table as it was. Striped: changed first.",
        [_rows_table(hospitals), *([_verified(some)] if some else [])],
    )


def _rows_table(hospitals: Sequence[Hospital]) -> Table:
    rows = [
        (each.name, exact(each.rows, f"{each.rows:,}"), exact(each.unlabelled, f"{each.unlabelled:,}"))
        for each in hospitals
    ]
    return Table("Rows", ["hospital", "counted", "left out, without a class"], rows)


def _verified(hospitals: Sequence[Hospital]) -> Table:
    rows = [
        (each.name, joined(element("code", each.protect or ""), ": ", each.guarantee or "nothing"))
        for each in hospitals
    ]
    return Table("Protection", ["hospital", "method, and what was verified of its result"], rows, numbers=0)


def _noise(outcome: Outcome) -> Section:
    heading = "How far labels tell of a patient"
    if not (privacy := outcome.privacy):
        return Section(heading, outcome.about_noise)
    promise, noise = outcome.about_noise
    coins, deviation = privacy["noise"]["coins"], privacy["noise"]["standard_deviation"]
    rows = [
        ("epsilon promised", exact(privacy["epsilon"], f"{privacy['epsilon']:g}")),
        ("epsilon that the noise cost", exact(privacy["spent"], f"{privacy['spent']:.4g}")),
        ("delta", exact(privacy["delta"], f"{privacy['delta']:g}")),
        ("standard deviation of the noise on a count", exact(deviation, f"{deviation:.4g}")),
        *((f"coins of weight {1 << place}", exact(count, f"{count:,}")) for place, count in enumerate(coins)),
    ]
    return Section(
        heading,
        [
            f"Promised is {promise}. Whoever asks for labels, however often, learns no more of that row than this "
            "allows.",
            f"The noise: {noise}. Nobody knows it, neither of the two who draw it. It is drawn once on the counts "
            "that all hospitals have together, so that labels can differ from those of pooling without it.",
        ],
        tables=[Table("Noise", ["what", "number"], rows)],
    )


def _flows(outcome: Outcome) -> Section:
    moved, rounds = outcome.bytes, outcome.rounds
    total = (
        ("contributions of the hospitals", moved.hospitals_to_mixers, ""),
        ("training", moved.training, exact(rounds.training, f"{rounds.training:,}")),
        *(
            [("evaluation", moved.evaluation, exact(rounds.evaluation, f"{rounds.evaluation:,}"))]
            if moved.evaluation is not None
            else []
        ),
        ("classification", moved.classification, exact(rounds.classification, f"{rounds.classification:,}")),
    )
    shown = _shown(outcome.flows)
    told = "; ".join(
        f"{lane.sender} {'and' if lane.both_ways else 'to'} {lane.receiver}: {lane.what}, {size(lane.bytes)}"
        for lane in shown
    )
    return Section(
        "Who sends how much to whom",
        [*_who_talks(outcome), "A round is a change of direction: with a slow line, each costs one delay of the line."],
        lanes(shown, f"Arrows between the nodes. {told}.") if shown else None,
        "An arrow with one head is sent; with two heads it is a conversation, its bytes in both directions together. "
        "The thicker, the more: one step for ten times as much.",
        [
            Table(
                "Bytes by sender and receiver",
                ["between", "what", "bytes"],
                [
                    (_ends(flow), whole_words(_PURPOSES[flow.purpose]), exact(flow.bytes, f"{flow.bytes:,}"))
                    for flow in outcome.flows
                ],
                numbers=1,
            ),
            Table(
                "In all",
                ["what", "bytes", "rounds"],
                [(name, exact(count, f"{count:,}"), turns) for name, count, turns in total],
            ),
        ],
    )


def _who_talks(outcome: Outcome) -> Iterator[str]:
    if outcome.bytes.hospitals_to_mixers:
        yield (
            "Each hospital sends its counts once and in two parts: a random seed to mixer a, and to mixer b the counts "
            "masked by what the seed expands to. Neither part alone says anything of the table. The two mixers then "
            "compute with each other. A hospital that asks talks with both."
        )
    else:
        yield "The two hospitals compute with each other; no table, and no count that could be read, leaves either."


def _ends(flow: Flow) -> str:
    return f"{flow.sender} {'⇄' if flow.both_ways else '→'} {flow.receiver}"


def _shown(flows: Sequence[Flow]) -> list[Lane]:
    """Lanes for the picture; those of many hospitals are summed up."""
    senders = list(dict.fromkeys(flow.sender for flow in flows if not flow.both_ways))
    if len(senders) <= _MOST_HOSPITALS:
        return [_lane(flow) for flow in flows]
    named = set(senders[: _MOST_HOSPITALS - 1])
    rest = f"{len(senders) - len(named)} others"
    kept = [flow for flow in flows if flow.both_ways or flow.sender in named]
    sums: dict[tuple[str, str], int] = {}
    for flow in flows:
        if not flow.both_ways and flow.sender not in named:
            sums[flow.receiver, flow.purpose] = sums.get((flow.receiver, flow.purpose), 0) + flow.bytes
    others = [Flow(rest, receiver, purpose, count, False) for (receiver, purpose), count in sums.items()]
    sent = [flow for flow in kept if not flow.both_ways]
    return [_lane(flow) for flow in (*sent, *others, *(flow for flow in kept if flow.both_ways))]


def _lane(flow: Flow) -> Lane:
    return Lane(flow.sender, flow.receiver, _PURPOSES[flow.purpose], flow.bytes, flow.both_ways)


def _time(outcome: Outcome) -> Section:
    took = outcome.seconds
    phases = (
        ("set-up: starting every node", took.setup, DOTTED),
        ("contributions of the hospitals", took.contribute, STRIPED),
        ("training", took.train, PLAIN),
        *([("evaluation", took.evaluate, DOTTED)] if took.evaluate is not None else []),
        ("classification", took.classify, CROSSED),
    )
    told = "; ".join(f"{name}: {seconds(value)}" for name, value, _ in phases)
    return Section(
        "How long it took",
        ["All nodes ran on this machine. Between hospitals, the delay of the line comes on top, once for every round."],
        bars(
            [Bar(name, value, seconds(value), fill) for name, value, fill in phases],
            f"Bars of the seconds of each phase. {told}.",
            tick="{:g} s".format,
        ),
        "Seconds by phase.",
        [Table("Seconds", ["phase", "seconds"], [(name, exact(value, f"{value:.3f}")) for name, value, _ in phases])],
    )


def _gives_away(outcome: Outcome) -> list[str]:
    few = (
        ""
        if outcome.confusion is None
        else " The counts by class are of the rows classified; a small one can point at a person who is known to be "
        "among them."
    )
    return [
        "The page holds names of hospitals and classes, sums and shares, and no row and no cell of any table." + few,
        _of_labels(outcome),
    ]


def _of_labels(outcome: Outcome) -> str:
    if outcome.privacy:
        return (
            "The labels tell of counts with noise, and of one patient no more than was promised, however many there "
            "are. The promise is for rows: a patient with rows in two hospitals counts twice. It does not cover the "
            "classes, values, bounds and cut points, which a simulation takes from the tables, nor the accuracies and "
            "counts of this page, which come from the tables as they are."
        )
    return (
        "The labels themselves leak. Whoever asks often enough finds out where the classifier changes its mind, and "
        "so, roughly, the sums of the counts of all hospitals; between two hospitals that is the other one's table of "
        "counts. Whoever asks again after a training with one patient fewer learns about that patient. A real "
        "federation limits the rows that each hospital may ask about, and the rounds, and writes down who asked; that "
        "slows such a search and shows it, and does not prevent it. No noise is added."
    )
