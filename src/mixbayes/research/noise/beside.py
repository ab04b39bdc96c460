"""diffprivlib's GaussianNB on the same patients.

It does not import beside the scikit-learn that is installed here, so it runs in another interpreter's process.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from mixbayes.research.noise.crossing import Mean, dealt
from mixbayes.research.noise.patients import Patients

SCRIPT = Path(__file__).with_name("in_diffprivlib.py")
REPEATS = 5
"""It takes much longer than everything else."""
LONGEST = 600
"""Seconds."""


def measured(python: Path, patients: Patients, epsilons: Sequence[float], repeats: int = REPEATS) -> list[Mean]:
    """At each ε, of a table of numbers without a missing cell. Their bounds are given as public."""
    random = np.random.default_rng(0)
    folds = [dealt(patients.labels, random) for _ in range(repeats)]
    first = patients.sums.discrete + patients.sums.numbers
    numbers = patients.added[:, first : first + patients.sums.numbers]
    with TemporaryDirectory() as folder:
        file = Path(folder) / "given.npz"
        np.savez(file, numbers=numbers, labels=patients.labels, folds=np.array(folds), epsilons=np.array(epsilons))
        command = [str(python), "-I", str(SCRIPT), str(file)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=LONGEST)
    return [Mean(np.array(one)) for one in json.loads(done.stdout)]
