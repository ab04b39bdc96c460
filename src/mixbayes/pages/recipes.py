"""The recipes: whose classifier may be asked, how often each is right here, and which one is the usual answer."""

from __future__ import annotations

from collections.abc import Iterator

from mixbayes.node.rounds.state import SERVING
from mixbayes.pages.at_hospital import AtHospital
from mixbayes.pages.classifiers import in_words, short_accuracy
from mixbayes.pages.door import Role, Session
from mixbayes.pages.frame import Shown
from mixbayes.pages.job import State
from mixbayes.pages.known import Evaluated
from mixbayes.pages.parts import (
    button,
    code,
    failure,
    form,
    hidden,
    link,
    local,
    moment,
    notice,
    paragraphs,
    section,
    table,
)
from mixbayes.pages.texts import Texts
from mixbayes.protocol.bayes.recipe import Recipe, read_recipe
from mixbayes.protocol.errors import MixbayesError
from mixbayes.report.evaluated import evaluated
from mixbayes.report.markup import Markup, element, joined
from mixbayes.report.page import Run, built

RECIPE = "recipe"


def recipes_page(texts: Texts, node: AtHospital, session: Session, error: MixbayesError | None = None) -> Shown:
    known, manager = node.known.last(), session.role is Role.MANAGER
    try:
        best = node.best()
    except MixbayesError as failed:
        best, error = None, error or failed
    said = notice("trouble", texts("recipes.failed"), failure(error)) if error else Markup()
    parts = [said, paragraphs(texts("recipes.what")), _table(texts, node, session, known, best)]
    if manager:
        parts.append(_evaluation(texts, node, session, known))
    return Shown(texts("recipes.heading"), joined(*parts), 503 if error else 200, failed=error is not None)


def remembered(texts: Texts, node: AtHospital, session: Session, text: str) -> Shown:
    """The node takes this recipe from now on where `best` is asked for."""
    try:
        node.remember_best(read_recipe(text))
    except MixbayesError as error:
        return recipes_page(texts, node, session, error)
    return recipes_page(texts, node, session)


def evaluation_report(texts: Texts, node: AtHospital, version: str) -> str | None:
    """The report of the last evaluation, a whole document of its own."""
    found = node.known.last()
    if found is None:
        return None
    notes = [texts("recipes.exact_figures")] if node.federation.privacy else []
    begun = local(found.time)
    return built(evaluated([found.document], notes=notes), Run(texts("recipes.by_page"), version, begun))


def _table(texts: Texts, node: AtHospital, session: Session, known: Evaluated | None, best: Recipe | None) -> Markup:
    heads = [texts(f"recipes.head_{name}") for name in ("whose", "text", "right", "usual")]
    every: list[Recipe] = list(dict.fromkeys([*node.recipes(), *filter(None, [best])]))
    rows = [
        [
            in_words(texts, recipe),
            code(str(recipe)),
            _here(texts, known, str(recipe)),
            _usual(texts, session, recipe, recipe == best),
        ]
        for recipe in every
    ]
    return table(texts("recipes.caption"), heads, rows)


def _here(texts: Texts, known: Evaluated | None, recipe: str) -> str:
    right = short_accuracy(texts, known, recipe)
    return texts("recipes.best_here", right=right) if known and known.document["best"] == recipe else right


def _usual(texts: Texts, session: Session, recipe: Recipe, is_best: bool) -> Markup:
    if is_best:
        return element("strong", texts("recipes.is_usual"))
    if session.role is not Role.MANAGER:
        return Markup()
    words = element("span", texts("recipes.make_usual"), " ", element("span", str(recipe), class_="aside"))
    return form("/recipes/usual", session.form_key, hidden(RECIPE, str(recipe)), button(words, kind="quiet"))


def _evaluation(texts: Texts, node: AtHospital, session: Session, known: Evaluated | None) -> Markup:
    state = node.evaluating.state
    parts = list(_how_far(texts, state))
    if known:
        document = known.document
        parts.append(paragraphs(texts("recipes.recommended", recipe=document["recommended"] or texts("recipes.none"))))
        parts.append(paragraphs(str(document["why"])))
        words = texts("recipes.evaluated", rows=f"{document['rows']:,}", round=known.round)
        parts.append(element("p", words, " ", moment(known.time), class_="hint"))
        parts.append(element("p", link("/evaluation", texts("recipes.report"))))
    if not state.running:
        parts.append(_begin(texts, node, session))
    return section(texts("recipes.evaluation"), *parts)


def _how_far(texts: Texts, state: State[dict[str, object]]) -> Iterator[Markup]:
    if state.running:
        far = texts("recipes.how_far", done=state.done, total=state.total) if state.total else ""
        again = element("p", link("/recipes", texts("page.look_again")))
        yield notice("attention", texts("recipes.evaluating"), paragraphs(far), again)
    elif state.error:
        yield notice("trouble", texts("recipes.failed"), failure(state.error))


def _begin(texts: Texts, node: AtHospital, session: Session) -> Markup:
    status = node.watching.seen.status
    if node.federation.policy.folds == 1:
        return paragraphs(texts("recipes.no_folds"))
    if not status or status.state != SERVING:
        return paragraphs(texts("recipes.not_yet"))
    takes = f"{node.evaluation_takes:,}"
    if node.evaluation_takes > status.budget_left:
        return paragraphs(texts("recipes.too_much", takes=takes, left=f"{status.budget_left:,}"))
    return joined(
        paragraphs(texts("recipes.what_it_takes"), texts("recipes.charged", takes=takes)),
        form("/recipes/evaluate", session.form_key, button(texts("recipes.evaluate"))),
    )
