"""A patient is classified: a form made from the dictionary, the question, and the label, which is never kept."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Sequence

from mixbayes.node.questions import ID_BYTES
from mixbayes.node.rounds.state import SERVING
from mixbayes.pages.at_hospital import AtHospital
from mixbayes.pages.classifiers import accuracy, in_words, of_classes, of_label, short_accuracy
from mixbayes.pages.door import Session
from mixbayes.pages.frame import Shown
from mixbayes.pages.parts import (
    button,
    choice,
    failure,
    form,
    hidden,
    keys,
    link,
    listed,
    moment,
    notice,
    paragraphs,
    section,
    table,
)
from mixbayes.pages.patient import (
    BEYOND,
    CONFIRMED,
    FEW_OPTIONS,
    Answers,
    Patient,
    field_of,
    read_patient,
)
from mixbayes.pages.texts import Texts
from mixbayes.parties.applications import BEST
from mixbayes.protocol.attributes.entry import Measurement, OneOption, Option, SomeOptions
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.bayes.recipe import JOINT, UNSURE, Recipe, read_recipe
from mixbayes.protocol.errors import MixbayesError
from mixbayes.report.markup import Markup, element, joined
from mixbayes.tables.encoding import encode_query

QUESTION, RECIPE, EDIT = "question", "recipe", "edit"
_NOT_CARRIED = {QUESTION, RECIPE, EDIT, "form_key"}
_EMPTY: Answers = {}
_NONE = Patient({}, {})


def classify_page(
    texts: Texts,
    node: AtHospital,
    session: Session,
    answers: Answers = _EMPTY,
    patient: Patient = _NONE,
    wrong: str = "",
    error: MixbayesError | None = None,
) -> Shown:
    """The form. After a mistake it has the same answers, and says what is wrong above them and beside each."""
    said = joined(_problems(texts, node, patient, wrong), _error(texts, error))
    body = joined(said, _before(texts, node), _form(texts, node, session, answers, patient), _upload(texts, session))
    status = 422 if wrong or patient.problems else 503 if error else 200
    return Shown(texts("classify.heading"), body, status, failed=status != 200)


def answered_page(texts: Texts, node: AtHospital, session: Session, answers: Answers) -> Shown:
    """What the form asked, answered; or the form again, with what is wrong."""
    dictionary = node.federation.dictionary
    patient = read_patient(dictionary, answers)
    if answers.get(EDIT):
        return classify_page(texts, node, session, answers)
    if patient.problems:
        return classify_page(texts, node, session, answers, patient)
    if patient.empty:
        return classify_page(texts, node, session, answers, patient, texts("classify.nothing_said"))
    try:
        recipe = chosen_recipe(node, answers)
        rows = patient.columns()
        id = question_id(session, answers, str(recipe), "\0".join(patient.cells.values()))
        (label,) = node.labels(encode_query(dictionary, rows).codes, rows, recipe, id).tolist()
    except MixbayesError as error:
        return classify_page(texts, node, session, answers, patient, error=error)
    return Shown(texts("classify.answer"), _answer(texts, node, session, answers, patient, recipe, label))


def chosen_recipe(node: AtHospital, answers: Answers) -> Recipe:
    text = (*answers.get(RECIPE, ()), "")[0]
    if text == BEST:
        return node.best() or JOINT
    return read_recipe(text or str(JOINT))


def question_id(session: Session, answers: Answers, *content: str) -> bytes:
    """The same for the same form and content, so that a page loaded anew is not charged again."""
    parts = (session.form_key, *answers.get(QUESTION, ())[:1], *content)
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).digest()[:ID_BYTES]


# The form.


def _problems(texts: Texts, node: AtHospital, patient: Patient, wrong: str) -> Markup:
    """All that is wrong, each with a way to its field."""
    links = [
        link(f"#{field_of(position)}", texts(f"classify.{patient.problems[one.name]}_in", name=one.heading))
        for position, one in enumerate(node.federation.dictionary.attributes)
        if one.name in patient.problems
    ]
    if not links and not wrong:
        return Markup()
    confirm = Markup()
    if BEYOND in patient.problems.values():
        tick = element("input", type="checkbox", name=CONFIRMED, value="yes", id=CONFIRMED, form="patient")
        words = element("label", texts("classify.confirm"), for_=CONFIRMED)
        confirm = element("p", tick, words, class_="tick")
    return notice("trouble", texts("classify.wrong"), paragraphs(wrong), listed(links), confirm)


def _error(texts: Texts, error: MixbayesError | None) -> Markup:
    if error is None:
        return Markup()
    return notice("trouble", texts("classify.not_answered"), failure(error))


def _before(texts: Texts, node: AtHospital) -> Markup:
    """What a person should know before asking."""
    seen = node.watching.seen.status
    left = ""
    if seen and seen.state == SERVING:
        left = texts("classify.left", left=f"{seen.budget_left:,}")
    whom = texts("classify.other_sees" if node.federation.two_party else "classify.mixers_see")
    said = paragraphs(texts("classify.before"), f"{whom} {left}".strip())
    if seen and seen.unreachable:
        return joined(notice("trouble", texts("classify.away", who=", ".join(seen.unreachable))), said)
    return said


def _form(texts: Texts, node: AtHospital, session: Session, answers: Answers, patient: Patient) -> Markup:
    attributes = node.federation.dictionary.attributes
    fields = [
        _field(texts, field_of(position), one, answers.get(field_of(position), ()), patient.problems.get(one.name, ""))
        for position, one in enumerate(attributes)
    ]
    question = (*answers.get(QUESTION, ()), secrets.token_hex(ID_BYTES))[0]
    made = form(
        "/classify",
        session.form_key,
        hidden(QUESTION, question),
        *fields,
        recipe_field(texts, node, (*answers.get(RECIPE, ()), "")[0], "recipe"),
        element("p", button(texts("classify.ask"))),
    )
    return section(texts("classify.one"), Markup(made.replace("<form ", '<form id="patient" ', 1)))


def _field(texts: Texts, id: str, attribute: Attribute, given: Sequence[str], problem: str) -> Markup:
    entry = attribute.entry
    if isinstance(entry, SomeOptions) and len(entry.options) <= FEW_OPTIONS:
        return _ticks(texts, id, attribute.heading, entry, given)
    said = hint(texts, entry)
    described = " ".join([f"{id}-hint"] * bool(said) + [f"{id}-wrong"] * bool(problem)) or None
    parts = [element("label", attribute.heading, for_=id)]
    parts += [element("p", said, class_="hint", id=f"{id}-hint")] if said else []
    parts += [element("p", _wrong(texts, entry, problem), class_="wrong", id=f"{id}-wrong")] if problem else []
    parts.append(_control(texts, id, entry, given, described, problem))
    return element("div", *parts, class_="field failed" if problem else "field")


def hint(texts: Texts, entry: OneOption | Measurement | SomeOptions) -> str:
    if isinstance(entry, Measurement):
        unit = f" {entry.unit}" if entry.unit else ""
        return texts("classify.between", low=f"{entry.low:g}", high=f"{entry.high:g}", unit=unit)
    if isinstance(entry, SomeOptions):
        return texts("classify.several", separator=entry.separator, none=entry.none)
    return ""


def _wrong(texts: Texts, entry: OneOption | Measurement | SomeOptions, problem: str) -> str:
    if isinstance(entry, Measurement):
        return texts(f"classify.{problem}", low=f"{entry.low:g}", high=f"{entry.high:g}")
    return texts("classify.unknown")


def _control(
    texts: Texts,
    id: str,
    entry: OneOption | Measurement | SomeOptions,
    given: Sequence[str],
    described: str | None,
    problem: str,
) -> Markup:
    value, invalid = (*given, "")[0], "true" if problem else None
    if isinstance(entry, OneOption):
        options = {"": texts("classify.not_known"), **{one.value: one.meaning for one in entry.options}}
        return choice(id, id, options, value, described)
    box = element(
        "input",
        type="text",
        name=id,
        id=id,
        value=value,
        inputmode="decimal" if isinstance(entry, Measurement) else None,
        size=12 if isinstance(entry, Measurement) else 40,
        autocomplete="off",
        aria_describedby=described,
        aria_invalid=invalid,
    )
    if isinstance(entry, Measurement) and entry.unit:
        return element("span", box, element("span", entry.unit), class_="with-unit")
    return box


def _ticks(texts: Texts, id: str, heading: str, entry: SomeOptions, given: Sequence[str]) -> Markup:
    """A box to tick for each value, and one that says that there is none of them."""
    options = (*entry.options, Option(entry.none, texts("classify.none_of_these")))
    boxes = [
        element(
            "p",
            element(
                "input",
                type="checkbox",
                name=id,
                value=option.value,
                id=id if at == 0 else f"{id}-{at}",
                checked="checked" if option.value in given else None,
            ),
            element("label", option.meaning, for_=id if at == 0 else f"{id}-{at}"),
            class_="tick",
        )
        for at, option in enumerate(options)
    ]
    hint = element("p", texts("classify.tick", most=entry.most), class_="hint")
    return element("fieldset", element("legend", heading), hint, *boxes)


def recipe_field(texts: Texts, node: AtHospital, chosen: str, id: str, words: str = "") -> Markup:
    """Whose classifier is asked, each with how often it is right."""
    known = node.known.last()
    options = {}
    if (best := _best(node)) and str(best) == chosen:
        chosen = BEST
    if best:
        options[BEST] = texts("recipe.best", which=in_words(texts, best), right=short_accuracy(texts, known, str(best)))
    for recipe in [one for one in node.recipes() if one != best]:
        right = short_accuracy(texts, known, str(recipe))
        options[str(recipe)] = texts("recipe.option", which=in_words(texts, recipe), right=right)
    usual = BEST if BEST in options else str(JOINT)
    label = element("label", words or texts("classify.recipe"), for_=id)
    hint = element("p", texts("classify.recipe_hint"), class_="hint", id=f"{id}-hint")
    return element("div", label, hint, choice(RECIPE, id, options, chosen or usual, f"{id}-hint"), class_="field")


def _best(node: AtHospital) -> Recipe | None:
    """Nothing while the node cannot say."""
    try:
        return node.best()
    except MixbayesError:
        return None


def _upload(texts: Texts, session: Session) -> Markup:
    return section(texts("classify.many"), element("p", link("/classify/table", texts("classify.upload"))))


# The answer.


def _answer(
    texts: Texts, node: AtHospital, session: Session, answers: Answers, patient: Patient, recipe: Recipe, label: int
) -> Markup:
    dictionary, known = node.federation.dictionary, node.known.last()
    meaning = meanings(texts, node)[label]
    status = node.watching.seen.status
    predicted = dictionary.class_title or dictionary.class_column
    found = notice(
        "answer",
        texts("classify.label_of", what=predicted),
        element("p", meaning, class_="label"),
        paragraphs(texts("classify.by", recipe=in_words(texts, recipe))),
    )
    right = section(
        texts("classify.how_sure"),
        accuracy(texts, known, str(recipe), status.round if status else 0),
        of_label(texts, known, str(recipe), label, meaning),
        of_classes(texts, known, str(recipe), meanings(texts, node)),
        paragraphs(_unknown(texts, patient)),
        paragraphs(texts("classify.no_diagnosis")),
    )
    heads = [texts("classify.head_attribute"), texts("classify.head_value")]
    said = table(texts("classify.caption"), heads, list(_said(texts, node, patient)))
    again = element("p", link("/classify", texts("classify.another")))
    asked = section(texts("classify.asked"), said, _same_again(texts, node, session, answers), again)
    return joined(found, right, asked, asked_at(texts, node))


def asked_at(texts: Texts, node: AtHospital) -> Markup:
    """What a printed answer needs to be known by."""
    status = node.watching.seen.status
    said = texts("classify.asked_at", round=status.round if status else "?", node=node.title)
    return joined(
        element("p", said, " ", moment(node.clock()), class_="hint"), paragraphs(texts("classify.never_kept"))
    )


def _same_again(texts: Texts, node: AtHospital, session: Session, answers: Answers) -> Markup:
    """The same patient for another classifier, or in the form again. Without a script the page carries the answers."""
    carried = [hidden(name, value) for name in answers if name not in _NOT_CARRIED for value in answers[name]]
    return form(
        "/classify",
        session.form_key,
        *carried,
        hidden(QUESTION, secrets.token_hex(ID_BYTES)),
        recipe_field(texts, node, (*answers.get(RECIPE, ()), "")[0], "recipe", texts("classify.ask_another")),
        element(
            "p",
            button(texts("classify.ask_this"), kind="quiet"),
            " ",
            button(texts("classify.change"), EDIT, "yes", "quiet"),
        ),
    )


def _unknown(texts: Texts, patient: Patient) -> str:
    """That little was known of the patient, where that is so."""
    number = sum(not cell for cell in patient.cells.values())
    return texts.many("classify.unknown", number, all=len(patient.cells)) if 2 * number > len(patient.cells) else ""


def _said(texts: Texts, node: AtHospital, patient: Patient) -> Iterator[tuple[str, str]]:
    for one in node.federation.dictionary.attributes:
        cell = patient.cells[one.name]
        yield one.heading, _meant(texts, one, cell) if cell else texts("classify.not_known")


def _meant(texts: Texts, attribute: Attribute, cell: str) -> str:
    entry = attribute.entry
    if isinstance(entry, Measurement):
        number = float(cell)
        value, nearest = f"{number:g} {entry.unit}".strip(), min(max(number, entry.low), entry.high)
        return value if nearest == number else texts("classify.counted_as", value=value, bound=f"{nearest:g}")
    names = {option.value: option.meaning for option in entry.options}
    if isinstance(entry, OneOption):
        return names[cell]
    return ", ".join(names.get(value, value) for value in cell.split(entry.separator))


def meanings(texts: Texts, node: AtHospital) -> tuple[str, ...]:
    """What a person calls each answer; `unsure` comes after the last class."""
    found = tuple(option.meaning for option in node.federation.dictionary.class_options)
    return (*found, texts("classify.unsure", answer=UNSURE))


def share_of_labels(texts: Texts, node: AtHospital, labels: Sequence[int]) -> Markup:
    """How many patients got each label."""
    names = meanings(texts, node)
    return keys([(names[at], f"{labels.count(at):,}") for at in range(len(names)) if at in labels])
