from __future__ import annotations

from pathlib import Path

import pytest

from mixbayes.cli.progress import Talk
from mixbayes.research.joining.nested import Effort
from mixbayes.research.study.results import Results, from_json
from mixbayes.research.study.settings import QUICK
from mixbayes.research.study.study import Plan, study
from mixbayes.tables.columns import Columns
from tests.research.study.four import four_tables

COMMITTED = Path(__file__).parents[3] / "docs" / "four-hospitals.json"
SMALL = Plan(repeats=2, folds=3, settings=QUICK, recipes=Effort(2, 3), nodes=False, quick=True)


@pytest.fixture(scope="session")
def committed() -> Results:
    """What the repository's own document was written from."""
    return from_json(COMMITTED.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def tables() -> dict[str, Columns]:
    return four_tables()


@pytest.fixture(scope="session")
def small(tables: dict[str, Columns]) -> Results:
    """A study of generated tables, without nodes."""
    with Talk() as talk:
        return study(tables, SMALL, 0, talk)
