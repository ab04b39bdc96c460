"""How the study was done, and what it cannot say."""

from __future__ import annotations

from mixbayes.research.study.hospitals import SOURCE
from mixbayes.research.study.results import Results


def command(results: Results) -> str:
    """What was typed."""
    quick = " --quick" if results.setup.quick else ""
    return f"mixbayes study --data-dir DIR --out FOLDER --seed {results.setup.seed}{quick}"


def head(results: Results, name: str) -> str:
    """Title, and where the figures come from."""
    quick = "\n\n**A quick run, to try the command. Its figures say nothing.**" if results.setup.quick else ""
    return f"""
# Four hospitals: what joining brings, and what it costs to protect a table first

Written by `{command(results)}` (mixbayes {results.setup.version}).
DIR holds the heart disease tables of four hospitals as CSV files: {SOURCE}

Every figure below is one that the command measured and printed; [{name}.json]({name}.json) has them all, and
more.{quick}
"""


def method(results: Results) -> str:
    """The last section."""
    setup, checked = results.setup, results.checked
    times = "once" if setup.repeats == 1 else f"{setup.repeats} times, with other folds each time"
    return f"""
## How it was done, and what it cannot say

- **Cross-validation.** Each hospital's patients are dealt into {setup.folds} folds, class by class. Every fold is
  labelled by what learned from the others. This is done {times}. Numbers are Gaussian, the smoothing is 1. The
  dictionary, which has values and bounds but no counts, comes from all tables, the rows asked about included, as
  people would agree on it beforehand. Protections see the rows that are learned from, and no others.
- **What ran, and what was computed in the clear.** Without protection every joint label comes from the protocol
  itself, all roles in memory. With protections in all hospitals that is so in the first split. Together these are
  {checked.trainings} trainings and {checked.labels:,} labels, of which {checked.equal:,} are those of the
  clear-text reference: the same integer arithmetic without shares. **All other labels with protections come from
  that reference, for speed.** Own classifiers, those of the other three, the pooled one and those with few patients
  are the textbook's, in floating point.
- **Intervals** are over patients: Wilson's for a share; for a difference Agresti and Min's, which compares every
  patient with himself. A patient counts once, however often he was asked about. The intervals say what other
  patients of the same hospitals could have shown. They leave out most of what other training rows would have
  changed, and they say nothing of a fifth hospital.
- **Recipes** are computed in the clear, in floating point, with other folds: {setup.recipe_folds}, dealt class by
  class, {"once" if setup.recipe_repeats == 1 else f"{setup.recipe_repeats} times"}. Inside each a hospital evaluates
  by five folds of what is left, as its node does. Noise is drawn anew for every fold; δ is 1e-6. That the weights are
  0 and 10 was suggested by these tables; the rule that chooses among recipes was not made with them.
- **Many comparisons.** One in twenty differences leaves zero by chance, and there are many here. Read sizes, not
  ranks.
- **Protections are drawn anew in every split.** A hospital in a federation releases once, and may be less lucky.
- **One disease, one classifier, four hospitals.** Where hospitals differ in how common the disease is, one joint
  share of sick people cannot suit them all; recipes with a prior of each hospital can. What they do elsewhere is on
  [a page of its own](joining.md).
- The tables are by A. Janosi (Budapest), W. Steinbrunn (Zurich), M. Pfisterer (Basel) and R. Detrano (Long Beach
  and Cleveland).
"""
