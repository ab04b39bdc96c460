"""A federation of heart wards whose nodes run here, each with its page."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mixbayes.node.rounds.state import SERVING
from mixbayes.pages.opening import PageSettings, hospital_page, mixer_page
from mixbayes.pages.server import LINK
from mixbayes.parties.examination import Patient
from mixbayes.tables.columns import Columns
from mixbayes.tables.sources.how import How
from tests.services.helpers import Site, make_site

NONE, SOME = "absent", "present"
DICTIONARY: dict[str, Any] = {
    "class_column": "num",
    "classes": ["0", "1"],
    "class_title": "Coronary heart disease",
    "class_meanings": ["no sign of it", "narrowed arteries"],
    "attributes": [
        {"name": "age", "kind": "numeric", "low": 18.0, "high": 100.0, "title": "Age", "unit": "years"},
        {"name": "sex", "kind": "nominal", "values": ["0", "1"], "title": "Sex", "meanings": ["female", "male"]},
        {
            "name": "cp",
            "kind": "nominal",
            "values": ["1", "2", "3", "4"],
            "title": "Chest pain",
            "meanings": ["typical angina", "atypical angina", "other pain", "no pain"],
        },
        {"name": "trestbps", "kind": "numeric", "low": 70.0, "high": 250.0, "title": "Blood pressure", "unit": "mmHg"},
        {
            "name": "dx",
            "kind": "several",
            "values": ["E11", "I10", "E78"],
            "title": "Other diagnoses",
            "meanings": ["diabetes", "hypertension", "high cholesterol"],
            "most": 3,
        },
    ],
}
NAMES = ("age", "sex", "cp", "trestbps", "dx", "num")


def patients(seed: int, rows: int = 120) -> Columns:
    """Drawn, not copied: older patients with silent ischaemia are ill more often."""
    random = np.random.default_rng(seed)
    ill = random.random(rows) < 0.5
    age = np.clip(random.normal(50 + 10 * ill, 9), 18, 99).astype(int)
    pain = np.where(ill & (random.random(rows) < 0.7), 4, random.integers(1, 5, rows))
    pressure = np.clip(random.normal(125 + 14 * ill, 15), 75, 240).astype(int)
    others = [";".join(code for code in ("E11", "I10", "E78") if random.random() < 0.3) or "none" for _ in ill]
    cells = (age, random.integers(0, 2, rows), pain, pressure, np.array(others), ill.astype(int))
    return Columns.of(NAMES, [np.array(list(map(str, column)), np.str_) for column in cells], rows)


def write(path: Path, rows: Columns) -> Path:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(rows.names)
        writer.writerows(zip(*(rows.texts(name) for name in rows.names), strict=True))
    return path


@dataclass(frozen=True)
class Ward:
    """A hospital that serves, with its page, at a federation of two more and two mixers."""

    site: Site
    data: Path
    port: int
    mixer_port: int
    mixer_b: ExitStack
    """Closed, it takes mixer b away."""

    @property
    def page(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def mixer_page(self) -> str:
        return f"http://127.0.0.1:{self.mixer_port}"

    def link(self, name: str = "north") -> str:
        """The link that lies in a node's state folder now."""
        return (self.site.state(name) / LINK).read_text().strip()


def token(link: str) -> str:
    found = re.fullmatch(r"http://127\.0\.0\.1:\d+/enter/([\w-]{43})", link)
    assert found, link
    return found[1]


@contextmanager
def ward(folder: Path, texts: Path | None = None, keys: Path | None = None, **changes: Any) -> Iterator[Ward]:
    """North's node and mixer a with their pages, everybody else without. The page calls the key folder `keys`."""
    policy = {"folds": 3, "budget": 1000, "minimum": 2} | changes.pop("policy", {})
    site = make_site(folder / "site", name="Heart study", dictionary=DICTIONARY, policy=policy, **changes)
    site.tables |= {name: patients(seed) for seed, name in enumerate(site.federation.names, 1)}
    data = write(folder / "north.csv", site.tables["north"])
    with ExitStack() as stack:
        mixer_b = stack.enter_context(ExitStack())
        mixer_b.enter_context(site.mixer("b"))
        mixer_a = stack.enter_context(site.mixer("a"))
        site.contribute("south", "west")
        north = stack.enter_context(site.hospital("north"))
        site.wait_for(SERVING)
        settings = PageSettings("127.0.0.1:0", texts)
        of_north = Patient(site.file, "north", keys or site.keys, str(data), How(), site.state("north"), None)
        of_mixer = Patient(site.file, "a", site.keys, None, How(), site.state("a"), None)
        port = stack.enter_context(hospital_page(settings, of_north, site.federation, site.log("north"), north))
        mixer_port = stack.enter_context(mixer_page(settings, of_mixer, site.federation, site.log("a"), mixer_a))
        yield Ward(site, data, port, mixer_port, mixer_b)
