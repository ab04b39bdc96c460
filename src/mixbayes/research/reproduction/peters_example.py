"""Peters, Figures 1.1 and 1.2: the motivating example, in which Bill is 33 % sure that Jenny has HIV, not 100 %."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mixbayes.local_methods.measures.disclosure import Unknown, attribute_disclosure, reidentification
from mixbayes.local_methods.tables import Codes
from mixbayes.research.reproduction.experiment import Experiment, Figures, Laboratory, Part, Row
from mixbayes.research.reproduction.peters import DEVIATIONS, PAPER

Records = Sequence[Sequence[str]]

BEFORE: Records = (
    ("Dawn", "Lawyer", "Female", "39", "Hepatitis"),
    ("Jenny", "Teacher", "Female", "23", "HIV"),
    ("John", "Nurse", "Male", "41", "HIV"),
    ("Stan", "Mayor", "Male", "56", "Hepatitis"),
)
AFTER: Records = (
    ("Dawn", "Lawyer", "Female", "35-40", "Hepatitis"),
    ("Jenny", "Teacher", "Female", "20-25", "HIV"),
    ("Mary", "Teacher", "Female", "20-25", "Hepatitis"),
    ("Joan", "Teacher", "Female", "20-25", "None"),
    ("John", "Nurse", "Male", "41", "HIV"),
    ("Stan", "Mayor", "Male", "56", "Hepatitis"),
)
CERTAINTY = {"Figure 1.1": 1.0, "Figure 1.2": 0.33}
"""Bill's, of Jenny's disease."""


def certainties(records: Records, name: str) -> Figures:
    """What somebody who knows the job, the sex and the age of a person learns from a table without names."""
    codes = coded(records)
    sought = codes[1:-1, [one[0] for one in records].index(name)][None]
    return {
        "S1": reidentification(codes[1:-1], sought, Unknown.NO_MATCH),
        "S2": attribute_disclosure(codes[1:-1], codes[-1], sought, Unknown.NO_MATCH),
    }


def coded(records: Records) -> Codes:
    """Columns × rows."""
    return np.array([np.unique(column, return_inverse=True)[1] for column in np.array(records).T], np.int64)


def figures_1(lab: Laboratory) -> Iterator[Row]:
    for title, records in (("Figure 1.1", BEFORE), ("Figure 1.2", AFTER)):
        for name in [one[0] for one in BEFORE]:
            published: Figures = {"S2": CERTAINTY[title]} if name == "Jenny" else {}
            yield Row(f"{title}, {name}", published, certainties(records, name))


EXPERIMENTS = (
    Experiment(
        "sap-figure-1.2",
        "Figures 1.1 and 1.2: how sure somebody is who knows the job, the sex and the age of a patient",
        PAPER,
        [Part("as printed in the thesis", [], figures_1)],
        "the figure is Jenny's alone, and comes from two added persons; nothing is suppressed, and of the other three "
        "patients the table tells as much as before",
        DEVIATIONS,
    ),
)
