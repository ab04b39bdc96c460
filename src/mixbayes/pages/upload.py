"""Several patients at once: a file comes in, and a page with their labels goes out. Neither is kept."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from werkzeug.datastructures import FileStorage

from mixbayes.node.questions import ID_BYTES
from mixbayes.pages.at_hospital import AtHospital
from mixbayes.pages.classifiers import accuracy, in_words
from mixbayes.pages.classify import QUESTION, chosen_recipe, hint, meanings, question_id, recipe_field, share_of_labels
from mixbayes.pages.door import Session
from mixbayes.pages.frame import Shown
from mixbayes.pages.parts import button, code, failure, form, hidden, link, listed, notice, paragraphs, section, table
from mixbayes.pages.patient import Answers
from mixbayes.pages.texts import Texts
from mixbayes.protocol.attributes.entry import Measurement
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.errors import BadData, MixbayesError
from mixbayes.report.markup import Markup, element, joined
from mixbayes.tables.columns import Columns, stacked
from mixbayes.tables.doubts import refuse_unknown_columns, unknown
from mixbayes.tables.encoding import encode_query
from mixbayes.tables.sources.opening import open_table
from mixbayes.tables.sources.source import Source
from mixbayes.transport.errors import TooEarly

MOST_ROWS, MOST_COLUMNS = 50_000, 2_000
"""Patients of a file, and columns: a small file can hold so much that the node would have no memory left for others."""
MOST_SHOWN = 200
"""Labels on the page; the file that it offers has all."""
FILE, KNOWN_BY, ANYWAY = "table", "known_by", "anyway"
_ENDINGS = (".csv", ".tsv", ".txt", ".xlsx")
FOLDER = "page-uploads"
"""In the state folder: where a file lies while it is read."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet would compute."""
_EMPTY: Answers = {}


def upload_page(
    texts: Texts,
    node: AtHospital,
    session: Session,
    answers: Answers = _EMPTY,
    error: MixbayesError | None = None,
) -> Shown:
    """The form for a file."""
    said = notice("trouble", texts("classify.not_answered"), failure(error)) if error else Markup()
    columns = listed([joined(code(one.name), " ", _cells(texts, one)) for one in node.federation.dictionary.attributes])
    made = form(
        "/classify/table",
        session.form_key,
        hidden(QUESTION, secrets.token_hex(ID_BYTES)),
        _file_field(texts),
        _known_by_field(texts, (*answers.get(KNOWN_BY, ()), "")[0]),
        recipe_field(texts, node, "", "recipe"),
        _anyway(texts),
        element("p", button(texts("upload.ask"))),
        files=True,
    )
    expected = section(texts("upload.columns"), paragraphs(texts("upload.columns_hint")), columns)
    one = element("p", link("/classify", texts("upload.one")))
    body = joined(said, paragraphs(texts("upload.before")), made, expected, one)
    return Shown(texts("upload.heading"), body, 422 if error else 200, failed=error is not None)


def uploaded_page(
    texts: Texts, node: AtHospital, session: Session, answers: Answers, file: FileStorage | None
) -> Shown:
    """The labels of the patients in the file, or the form again. One file is read at a time."""
    if not node.reading.acquire(blocking=False):
        return upload_page(texts, node, session, answers, TooEarly(texts("upload.busy")))
    try:
        return _labelled(texts, node, session, answers, file)
    except MixbayesError as error:
        return upload_page(texts, node, session, answers, error)
    finally:
        node.reading.release()


def _labelled(texts: Texts, node: AtHospital, session: Session, answers: Answers, file: FileStorage | None) -> Shown:
    if file is None or not file.filename:
        raise BadData(texts("upload.no_file"))
    recipe, dictionary = chosen_recipe(node, answers), node.federation.dictionary
    known_by = (*answers.get(KNOWN_BY, ()), "")[0].strip()
    rows, digest = _table_in(texts, file, node, known_by)
    codes = encode_query(dictionary, rows).codes
    if not answers.get(ANYWAY):
        refuse_unknown_columns(dictionary, rows, codes)
    identifiers = _identifiers(rows, known_by)
    doubts = list(unknown(dictionary, rows, known_by or None))
    labels = node.labels(codes, rows, recipe, question_id(session, answers, str(recipe), digest)).tolist()
    names = (*dictionary.classes, meanings(texts, node)[-1])
    told = _Labels(known_by or texts("upload.row"), identifiers, [names[label] for label in labels])
    status = node.watching.seen.status
    body = joined(
        notice(
            "answer", texts.many("upload.done", len(labels)), share_of_labels(texts, node, labels), _saved(texts, told)
        ),
        notice("attention", texts("upload.doubts"), listed([f"{doubt}." for doubt in doubts])) if doubts else "",
        section(
            texts("classify.how_sure"),
            paragraphs(texts("classify.by", recipe=in_words(texts, recipe))),
            accuracy(texts, node.known.last(), str(recipe), status.round if status else 0),
            paragraphs(texts("classify.no_diagnosis")),
        ),
        section(texts("upload.labels"), _shown(texts, told)),
        paragraphs(texts("classify.never_kept")),
        element("p", link("/classify/table", texts("upload.another"))),
    )
    return Shown(texts("classify.answer"), body)


def _table_in(texts: Texts, file: FileStorage, node: AtHospital, known_by: str) -> tuple[Columns, str]:
    """The rows of the file and a digest of it. It lies in the state folder only while it is read."""
    name = Path(file.filename or "").name
    ending = Path(name).suffix.lower()
    if ending not in _ENDINGS:
        raise BadData(texts("upload.bad_ending", name=name, endings=", ".join(_ENDINGS)))
    content = file.stream.read()
    folder = node.state / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    with TemporaryDirectory(dir=folder) as place:
        path = Path(place, f"patients{ending}")
        path.write_bytes(content)
        try:
            rows = _rows_of(texts, open_table(path, node.how_of_files), known_by)
        except BadData as error:
            raise type(error)(str(error).replace(str(path), name)) from None
    return Columns(rows.names, rows.cells, rows.rows, name), hashlib.sha256(content).hexdigest()


def _rows_of(texts: Texts, source: Source, known_by: str) -> Columns:
    """All rows, part by part, unless there are too many."""
    if len(source.names) > MOST_COLUMNS:
        raise BadData(texts("upload.too_wide", columns=f"{MOST_COLUMNS:,}"))
    if known_by and known_by not in source.names:
        raise BadData(texts("upload.no_column", name=known_by, names=", ".join(source.names)))
    found: list[Columns] = []
    for part in source.parts(source.names):
        found.append(part.columns)
        if sum(one.rows for one in found) > MOST_ROWS:
            raise BadData(texts("upload.too_many", rows=f"{MOST_ROWS:,}"))
    return stacked(found) if found else source.read(source.names)


def _identifiers(rows: Columns, known_by: str) -> list[str]:
    return rows.texts(known_by).tolist() if known_by else [str(number) for number in range(1, rows.rows + 1)]


def _harmless(cell: str) -> str:
    """A cell that no spreadsheet computes. Numbers may begin with a sign."""
    if not cell.startswith(_FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


@dataclass(frozen=True)
class _Labels:
    """What is shown and offered as a file; nothing of it is kept here."""

    known_by: str
    identifiers: Sequence[str]
    labels: Sequence[str]

    @property
    def as_csv(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([_harmless(self.known_by), "label"])
        writer.writerows(zip(map(_harmless, self.identifiers), self.labels, strict=True))
        return text.getvalue()


def _saved(texts: Texts, told: _Labels) -> Markup:
    """The whole file inside the link, because it lies nowhere else."""
    content = base64.b64encode(told.as_csv.encode()).decode()
    data = f"data:text/csv;charset=utf-8;base64,{content}"
    return element("p", element("a", texts("upload.save"), href=data, download="labels.csv"))


def _shown(texts: Texts, told: _Labels) -> Markup:
    pairs = list(zip(told.identifiers, told.labels, strict=True))
    more = texts("upload.more", number=f"{len(pairs) - MOST_SHOWN:,}") if len(pairs) > MOST_SHOWN else ""
    made = table(texts("upload.caption"), [told.known_by, texts("upload.label")], pairs[:MOST_SHOWN])
    return joined(made, paragraphs(more))


def _cells(texts: Texts, attribute: Attribute) -> str:
    """What the cells of a column may say."""
    entry = attribute.entry
    if isinstance(entry, Measurement):
        return texts("upload.cells", title=attribute.heading, cells=hint(texts, entry))
    named = ", ".join(
        one.value if one.value == one.meaning else f"{one.value} ({one.meaning})" for one in entry.options
    )
    cells = f"{named}. {hint(texts, entry)}" if hint(texts, entry) else named
    return texts("upload.cells", title=attribute.heading, cells=cells)


def _file_field(texts: Texts) -> Markup:
    label = element("label", texts("upload.file"), for_=FILE)
    hint = element(
        "p",
        texts("upload.file_hint", rows=f"{MOST_ROWS:,}", endings=", ".join(_ENDINGS)),
        class_="hint",
        id="file-hint",
    )
    box = element("input", type="file", name=FILE, id=FILE, accept=",".join(_ENDINGS), aria_describedby="file-hint")
    return element("div", label, hint, box, class_="field")


def _known_by_field(texts: Texts, given: str) -> Markup:
    label = element("label", texts("upload.known_by"), for_=KNOWN_BY)
    hint = element("p", texts("upload.known_by_hint"), class_="hint", id="known-by-hint")
    box = element(
        "input",
        type="text",
        name=KNOWN_BY,
        id=KNOWN_BY,
        value=given,
        autocomplete="off",
        aria_describedby="known-by-hint",
    )
    return element("div", label, hint, box, class_="field")


def _anyway(texts: Texts) -> Markup:
    tick = element("input", type="checkbox", name=ANYWAY, id=ANYWAY, value="yes")
    return element("p", tick, element("label", texts("upload.anyway"), for_=ANYWAY), class_="tick")
