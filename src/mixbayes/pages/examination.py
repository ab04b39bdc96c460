"""What `mixbayes doctor` finds, with the remedies."""

from __future__ import annotations

from collections.abc import Sequence

from mixbayes.node.doctor.finding import Finding, Verdict
from mixbayes.node.log import printable
from mixbayes.pages.door import Session
from mixbayes.pages.frame import Shown
from mixbayes.pages.node import PageNode
from mixbayes.pages.parts import button, code, form, moment, notice, paragraphs, section, sentence, table
from mixbayes.pages.texts import Texts
from mixbayes.report.markup import Markup, element, joined

_KIND = {Verdict.PROBLEM: "trouble", Verdict.WARNING: "attention"}


def examination_page(texts: Texts, session: Session) -> Shown:
    """Before it: what it looks at, and the button."""
    body = joined(paragraphs(texts("examination.what")), _again(texts, session, "examination.begin"))
    return Shown(texts("examination.heading"), body)


def examined_page(texts: Texts, node: PageNode, session: Session) -> Shown:
    """Every wait in an examination ends within seconds."""
    findings = list(node.examined())
    bad = [one for one in findings if one.verdict is not Verdict.OK]
    fine = [one for one in findings if one.verdict is Verdict.OK]
    heads = [texts("examination.head_what"), texts("examination.head_found")]
    body = joined(
        _summary(texts, findings),
        *(_finding(texts, one) for one in sorted(bad, key=lambda one: one.verdict is Verdict.WARNING)),
        section(texts("examination.fine"), table(texts("examination.caption"), heads, [_row(one) for one in fine])),
        element("p", texts("examination.at"), " ", moment(node.clock()), class_="hint"),
        _again(texts, session, "examination.again"),
    )
    return Shown(texts("examination.heading"), body)


def _summary(texts: Texts, findings: Sequence[Finding]) -> Markup:
    problems = sum(one.verdict is Verdict.PROBLEM for one in findings)
    warnings = sum(one.verdict is Verdict.WARNING for one in findings)
    if not problems and not warnings:
        return notice("good", texts.many("examination.nothing", len(findings)))
    return paragraphs(f"{texts.many('examination.problems', problems)} {texts.many('examination.warnings', warnings)}")


def _finding(texts: Texts, one: Finding) -> Markup:
    """What is wrong and what to do; a table's columns stand on lines of their own."""
    heading = texts(f"examination.{one.verdict.lower()}", what=one.what)
    lines = [sentence(printable(line.strip())) for line in one.said.split("\n")]
    remedy = (
        element("p", element("strong", texts("examination.remedy")), " ", sentence(printable(one.remedy)))
        if one.remedy
        else ""
    )
    number = element("p", code(f"[{one.code}]"), class_="hint") if one.code else ""
    return notice(_KIND[one.verdict], heading, paragraphs(*lines), remedy, number)


def _row(one: Finding) -> list[str]:
    return [one.what, sentence(printable(one.said.replace("\n", "; ")))]


def _again(texts: Texts, session: Session, words: str) -> Markup:
    return form("/examination", session.form_key, button(texts(words)))
