"""What the pages of a hospital's node show and do, at real nodes, without a script."""

from __future__ import annotations

import base64
import csv
import json
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from mixbayes.node.disk.audit import entries
from mixbayes.pages.known import FILE
from mixbayes.pages.upload import FOLDER, _rows_of
from mixbayes.parties.desk import at_own_node
from mixbayes.tables.columns import Columns
from tests.pages.visitor import Reply, Visitor
from tests.pages.ward import NAMES, Ward, patients

PATIENCE = 60
MEANINGS = {"0": "no sign of it", "1": "narrowed arteries"}


def once(visitor: Visitor, path: str, holds: Callable[[Reply], bool]) -> Reply:
    """The page, looked at until it says what is waited for."""
    until = time.monotonic() + PATIENCE
    while not holds(reply := visitor.open(path)):
        assert time.monotonic() < until, reply.text
        time.sleep(0.05)
    return reply


def left(ward: Ward) -> int:
    with at_own_node(ward.site.federation, ward.site.identity("north"), ward.site.keys) as own:
        return own.status().budget_left


def filled(rows: Columns, at: int) -> list[tuple[str, str]]:
    """A patient of a table as somebody fills in the form."""
    cells = {name: str(rows.texts(name)[at]) for name in NAMES}
    several = [("a4", code) for code in cells["dx"].split(";")]
    return [("a0", cells["age"]), ("a1", cells["sex"]), ("a2", cells["cp"]), ("a3", cells["trestbps"]), *several]


def answer(reply: Reply) -> str:
    found = re.search('class="label">([^<]+)<', reply.body)
    assert found, reply.text
    return found[1]


def test_the_overview_says_how_the_round_stands_and_who_is_there(manager: Visitor) -> None:
    text = manager.open("/").text
    assert "Round 1 answers questions" in text
    assert "party north (this node) has contributed" in text
    assert "mixer b answers, version" in text
    assert "This is round 1. The agreement allows 10 rounds." in text


def test_a_doctor_sees_whether_questions_are_answered_and_no_more(doctor: Visitor) -> None:
    text = doctor.open("/").text
    assert "Round 1 answers questions" in text
    assert "party south" not in text
    assert "certificate" not in text


def test_the_table_is_looked_at_and_what_leaves_it_is_said(heart: Ward, manager: Visitor) -> None:
    before = manager.open("/table").text
    cells = heart.site.federation.layout.size
    assert f"Counts, {cells:,} numbers" in before
    assert "Never: a row of the table" in before
    manager.send("/table")
    text = once(manager, "/table", lambda reply: "Columns of the table" in reply.text).text
    assert "120" in text
    assert "trestbps a number" in text
    assert "dx a list of values" in text
    assert "predicted column" in text


@pytest.mark.parametrize("recipe", ["joint", "own", "personal:weight=10:prior=own"])
def test_a_patient_gets_the_label_that_the_command_gives(heart: Ward, doctor: Visitor, recipe: str) -> None:
    rows = patients(seed=77, rows=3)
    with at_own_node(heart.site.federation, heart.site.identity("north"), heart.site.keys) as own:
        codes = np.empty((0, 0), np.int32)
        labels = own.labels(codes, rows, private=True, progress=lambda done: None, recipe=recipe)
    for at, label in enumerate(labels.tolist()):
        said = doctor.send("/classify", *filled(rows, at), ("recipe", recipe), ("question", f"{at}"))
        assert said.status == 200, said.text
        assert answer(said) == list(MEANINGS.values())[label]


def test_the_answer_says_what_was_asked_in_words_and_is_not_kept(doctor: Visitor) -> None:
    said = doctor.send("/classify", ("a0", "61"), ("a2", "4"), ("a4", "E11"), ("recipe", "own"), ("question", "q"))
    assert "Age 61 years" in said.text
    assert "Chest pain no pain" in said.text
    assert "Other diagnoses diabetes" in said.text
    assert "Sex not known" in said.text
    assert said.headers["Cache-Control"] == "no-store"
    assert "narrowed arteries" not in doctor.open("/classify").text.replace("Coronary heart disease", "")


def test_nothing_of_a_patient_is_written_down(heart: Ward, doctor: Visitor) -> None:
    doctor.send("/classify", ("a0", "87.625"), ("a3", "233.375"), ("recipe", "joint"), ("question", "nowhere"))
    for folder in (heart.site.folder,):
        for path in folder.rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                assert b"87.625" not in content, path
                assert b"233.375" not in content, path
    assert "87.625" not in heart.site.journals["north"].getvalue()


def test_a_page_that_is_loaded_anew_is_not_charged_again(heart: Ward, doctor: Visitor) -> None:
    form = [("a0", "50"), ("recipe", "joint"), ("question", "the same")]
    before = left(heart)
    first = doctor.send("/classify", *form)
    assert left(heart) == before - 1
    assert answer(doctor.send("/classify", *form)) == answer(first)
    assert left(heart) == before - 1
    doctor.send("/classify", ("a0", "51"), *form[1:])
    assert left(heart) == before - 2
    doctor.send("/classify", *form[:2], ("question", "another form"))
    assert left(heart) == before - 3


def test_every_form_is_another_question(doctor: Visitor) -> None:
    assert doctor.open("/classify").hidden("question") != doctor.open("/classify").hidden("question")


def test_a_mistake_is_named_above_the_form_and_beside_its_field(heart: Ward, doctor: Visitor) -> None:
    before = left(heart)
    said = doctor.send("/classify", ("a0", "sixty"), ("a1", "1"), ("question", "m"), ("recipe", "joint"))
    assert said.status == 422
    assert said.title.startswith("Not done.")
    assert '<a href="#a0">Age: this is not a number</a>' in said.body
    assert 'aria-invalid="true"' in said.body
    assert 'value="sixty"' in said.body
    assert '<option value="1" selected="selected">male</option>' in said.body
    assert said.hidden("question") == "m"
    assert left(heart) == before


def test_a_number_out_of_range_is_confirmed_first(heart: Ward, doctor: Visitor) -> None:
    asked = ("/classify", ("a3", "600"), ("question", "r"), ("recipe", "joint"))
    said = doctor.send(*asked)
    assert said.status == 422
    assert "Blood pressure: this number is out of range" in said.text
    assert "Correct it, or confirm it above" in said.text
    assert doctor.send(*asked, ("confirmed", "yes")).status == 200


def test_an_empty_form_is_not_asked(heart: Ward, doctor: Visitor) -> None:
    before = left(heart)
    said = doctor.send("/classify", ("a0", ""), ("question", "e"), ("recipe", "joint"))
    assert said.status == 422
    assert "Nothing is filled in" in said.text
    assert left(heart) == before


@pytest.mark.parametrize("recipe", ["king", "personal:weight=50", "joint:unsure=2"])
def test_a_recipe_that_is_not_agreed_is_refused_in_words(doctor: Visitor, recipe: str) -> None:
    said = doctor.send("/classify", ("a0", "50"), ("question", "x"), ("recipe", recipe))
    assert said.status == 503
    assert "There is no answer" in said.text
    assert "[E" in said.text


def test_markup_in_a_form_is_shown_and_not_run(doctor: Visitor) -> None:
    said = doctor.send("/classify", ("a0", '"><script>alert(1)</script>'), ("question", '"><b>'), ("recipe", "joint"))
    assert "<script" not in said.body
    assert "<b>" not in said.body
    assert "&lt;script&gt;" in said.body


CSV = "case,age,sex,cp,trestbps,dx,ward\nA-1,61,1,4,160,E11;I10,x\nA-2,45,0,1,,none,y\nA-3,,,,,,z\n"


def saved(reply: Reply) -> str:
    found = re.search(r'href="data:text/csv;charset=utf-8;base64,([^"]+)" download="labels.csv"', reply.body)
    assert found, reply.text
    return base64.b64decode(found[1]).decode()


def test_a_file_of_patients_gets_labels_beside_its_case_numbers(heart: Ward, doctor: Visitor) -> None:
    before = left(heart)
    said = doctor.upload("/classify/table", "new.csv", CSV.encode(), ("known_by", "case"), ("recipe", "joint"))
    assert said.status == 200, said.text
    lines = saved(said).splitlines()
    assert lines[0] == "case,label"
    assert [line.partition(",")[0] for line in lines[1:]] == ["A-1", "A-2", "A-3"]
    assert {line.partition(",")[2] for line in lines[1:]} <= {"0", "1"}
    assert "3 patients are classified" in said.text
    assert "'ward' is not one that was learned from" in said.text
    assert left(heart) == before - 3


def test_without_a_column_the_rows_are_numbered(doctor: Visitor) -> None:
    said = doctor.upload("/classify/table", "new.csv", CSV.encode(), ("recipe", "own"))
    assert [line.partition(",")[0] for line in saved(said).splitlines()] == ["row", "1", "2", "3"]


@pytest.mark.parametrize(
    ("name", "content", "known_by", "why"),
    [
        ("new.csv", CSV, "number", "There is no column number"),
        ("new.pdf", CSV, "", "must end in one of .csv"),
        ("new.parquet", CSV, "", "must end in one of .csv"),
        ("new.csv", "age,sex\n61,1\n", "", "'cp' is missing"),
        ("new.csv", "", "", "new.csv"),
        ("", CSV, "", "No file was chosen"),
        ("new.xlsx", "not a workbook", "", "new.xlsx"),
        ("new.csv", CSV.replace("E11;I10", "J45").replace("none", "K20"), "", "'dx' is unknown"),
    ],
)
def test_a_file_that_cannot_be_asked_about_is_said(
    heart: Ward, doctor: Visitor, name: str, content: str, known_by: str, why: str
) -> None:
    before = left(heart)
    said = doctor.upload("/classify/table", name, content.encode(), ("known_by", known_by), ("recipe", "joint"))
    assert said.status == 422, said.text
    assert why in said.text
    assert "/tmp" not in said.text
    assert left(heart) == before


def test_an_unknown_column_may_be_asked_about_all_the_same(doctor: Visitor) -> None:
    content = CSV.replace("E11;I10", "J45").replace("none", "K20").encode()
    said = doctor.upload("/classify/table", "new.csv", content, ("recipe", "own"), ("anyway", "yes"))
    assert said.status == 200
    assert "unknown value in 2 of 3 rows" in said.text


def heart_takes(manager: Visitor) -> int:
    found = re.search(r"It uses up (\d+) of the patients", manager.open("/recipes").text)
    assert found
    return int(found[1])


def test_recipes_are_evaluated_remembered_and_known_beside_the_label(
    heart: Ward, manager: Visitor, doctor: Visitor
) -> None:
    assert "not evaluated here" in doctor.open("/recipes").text
    asked = ("/classify", ("a0", "70"), ("a2", "4"), ("recipe", "joint"))
    assert "Nobody has evaluated this classifier" in doctor.send(*asked, ("question", "k1")).text
    takes, before = heart_takes(manager), left(heart)
    manager.send("/recipes/evaluate")
    text = once(manager, "/recipes", lambda reply: "The whole report" in reply.text).text
    assert "On 120 patients, in round 1," in text
    assert re.search(r"right for \d+\.\d% of our patients", text)
    assert left(heart) == before - takes
    said = doctor.send(*asked, ("question", "k2")).text
    assert re.search(r"On 120 of this hospital's own patients, this classifier was right for \d+\.\d%", said)
    assert re.search(r"\d+ got the label narrowed arteries\. For \d+ of them \(\d+\.\d%\) it was right", said)
    report = manager.open("/evaluation")
    assert report.status == 200
    assert "unsafe-inline" in report.headers["Content-Security-Policy"]
    kept = heart.site.state("north") / FILE
    assert kept.stat().st_mode & 0o077 == 0
    manager.send("/recipes/usual", ("recipe", "own"))
    assert "this one" in manager.open("/recipes").text
    assert "the usual one: this hospital's own classifier" in doctor.open("/classify").text
    by_best = doctor.send("/classify", ("a0", "70"), ("recipe", "best"), ("question", "k3")).text
    assert "Answered by: this hospital's own classifier" in by_best


def test_a_recipe_that_may_not_be_asked_is_not_remembered(manager: Visitor) -> None:
    assert "[E" in manager.send("/recipes/usual", ("recipe", "joint:unsure=3")).text


def test_the_trail_is_shown_newest_first_and_checked(heart: Ward, manager: Visitor) -> None:
    text = manager.open("/trail").text
    written = list(entries(heart.site.state("north")))
    assert f"The trail is as it was written: {len(written):,} records" in text
    assert written[-1].hash in text
    only = manager.open("/trail?verb=contributed").text
    assert "contributed" in only
    assert "There is no such record" in manager.open("/trail?actor=nobody").text
    assert manager.open("/trail?before=x").status == 200


def test_long_trails_are_shown_in_parts(heart: Ward, manager: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mixbayes.pages.trail.AT_ONCE", 2)
    reply = manager.open("/trail")
    before = int(reply.hidden("before"))
    older = manager.open(f"/trail?before={before}").text
    assert f" {before - 1} " in older
    assert f" {before} 20" not in older


def test_an_examination_says_what_is_in_order(manager: Visitor) -> None:
    said = manager.send("/examination")
    assert said.status == 200
    assert "Checks that found nothing wrong" in said.text
    assert "The certificate holds until" in said.text


def test_the_log_names_who_came_and_no_secret(heart: Ward, manager: Visitor) -> None:
    log = heart.site.journals["north"]
    assert log.says("somebody came to the page", '"role": "manager"')
    assert next(iter(manager.cookies.values())) not in log.getvalue()
    (told,) = [line["link"] for line in log.lines if "link" in line]
    assert told != heart.link()


def test_a_mistake_of_the_page_is_said_without_its_place(manager: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*about: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr("mixbayes.pages.site.trail_page", fails)
    said = manager.open("/trail")
    assert said.status == 500
    assert "[E300]" in said.text
    assert "secret" not in said.text
    assert "Traceback" not in said.text


def test_uploads_leave_nothing_behind(heart: Ward, doctor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")  # what would use another folder fails
    large = "".join(f"A-{at},{at % 60 + 20},1,4,{at % 90 + 90},E11\n" for at in range(40_000))
    said = doctor.upload(
        "/classify/table", "new.csv", f"case,{','.join(NAMES[:-1])}\n{large}".encode(), ("recipe", "own")
    )
    assert "40,000 patients are classified" in said.text
    doctor.upload("/classify/table", "new.csv", b"age\n1\n", ("recipe", "own"))
    assert list((heart.site.state("north") / FOLDER).iterdir()) == []


def test_a_file_with_too_many_patients_is_refused_however_small_it_is(
    doctor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mixbayes.pages.upload.MOST_ROWS", 2)
    said = doctor.upload("/classify/table", "new.csv", CSV.encode(), ("recipe", "own"))
    assert said.status == 422
    assert "more than 2 patients" in said.text


def test_one_file_is_read_at_a_time(doctor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    entered, go_on = threading.Event(), threading.Event()

    def slow(*about: Any) -> Any:
        entered.set()
        go_on.wait(PATIENCE)
        return _rows_of(*about)

    monkeypatch.setattr("mixbayes.pages.upload._rows_of", slow)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(doctor.upload, "/classify/table", "new.csv", CSV.encode(), ("recipe", "own"))
        entered.wait(PATIENCE)
        second = doctor.upload("/classify/table", "new.csv", CSV.encode(), ("recipe", "own"))
        go_on.set()
        assert "Another file is being read" in second.text
        assert first.result(PATIENCE).status == 200


@pytest.mark.parametrize("cell", ["=1+1", "+cmd", "-x", "@SUM(A1)", "\t=1"])
def test_a_spreadsheet_computes_nothing_in_the_labels(doctor: Visitor, cell: str) -> None:
    content = f'case,age,sex,cp,trestbps,dx\n"{cell}",61,1,4,160,E11\n-5,61,1,4,160,E11\n'
    said = doctor.upload("/classify/table", "new.csv", content.encode(), ("known_by", "case"), ("recipe", "own"))
    _, first, second = csv.reader(saved(said).splitlines())
    assert first[0] == f"'{cell}".replace("\t", "\t")
    assert second[0] == "-5"


@pytest.mark.parametrize("content", ["{}", "[]", "x", '{"evaluation": {"own": {}}}'])
def test_a_kept_evaluation_of_another_version_is_none(heart: Ward, manager: Visitor, content: str) -> None:
    kept = heart.site.state("north") / FILE
    before = kept.read_text() if kept.exists() else None
    agreement = heart.site.federation.digest()
    kept.write_text(
        json.dumps(
            {"agreement": agreement, "round": 1, "time": 0.0, "evaluation": {"own": {}}}
            | (json.loads(content) if content.startswith("{") else {})
        )
        if content != "x"
        else content
    )
    assert "not evaluated here" in manager.open("/recipes").text
    assert manager.open("/classify").status == 200
    kept.unlink() if before is None else kept.write_text(before)
