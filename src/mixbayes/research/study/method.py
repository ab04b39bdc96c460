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
# Four hospitals: what joining brings, and what protecting a table first costs and hides

`{command(results)}` (mixbayes {results.setup.version}) wrote this page.
DIR holds the heart disease tables of four hospitals as CSV files: {SOURCE}

The command measured and printed every figure below; [{name}.json]({name}.json) has all of them, and more.{quick}
"""


def method(results: Results) -> str:
    """The last section."""
    setup, checked = results.setup, results.checked
    times = "once" if setup.repeats == 1 else f"{setup.repeats} times, with other folds each time"
    return f"""
## How it was done, and what it cannot say

- **Cross-validation.** Each hospital's patients are divided into {setup.folds} folds, class by class. A classifier that
  learned from the other folds labels each fold. This is done {times}. Numbers are Gaussian, and the smoothing is 1. The
  dictionary has values and bounds but no counts. It comes from all tables, including the tested rows, because people
  would agree on it beforehand. Protections see it, and only the rows of the training folds.
- **What ran, and what was computed in the clear.** Without protection, every joint label comes from the protocol
  itself, with all roles in memory. With protections in all hospitals, this is so in the first split. Together these are
  {checked.trainings} trainings and {checked.labels:,} labels, and {checked.equal:,} of these labels equal those of the
  clear-text reference: the same integer arithmetic without shares. **All other labels with protections come from
  that reference, for speed.** The own classifiers, those of the other three, the pooled classifier and those with few
  patients are textbook naive Bayes in floating point.
- **Attacks.** Reconstruction attacks one release of each whole table. Membership and attribute inference attack the
  releases of all splits: every patient is a member in some and held out in others, and counts once. If an attack
  fails, another may succeed. Seeds are fixed, so that the study can be repeated; a hospital's come from the system, and
  the promise of private synthesis needs that.
- **Intervals** are over patients: Wilson's interval for a share, and Agresti and Min's for a difference, which compares
  two labels of the same patient. A patient counts once, however often the patient was labelled. The intervals say how
  the figures could differ with other patients of the same hospitals. They leave out most of the effect of other
  training rows and other draws, and say nothing about a fifth hospital.
- **Recipes** are computed in the clear, in floating point, with other folds: {setup.recipe_folds}, divided class by
  class, {"once" if setup.recipe_repeats == 1 else f"{setup.recipe_repeats} times"}. Within the training rows of each
  fold, a hospital evaluates by five folds, as its node does. Noise is drawn anew for every fold; δ is 1e-6. These
  tables suggested the weights 0 and 10, but were not used to make the rule that chooses among recipes.
- **Many comparisons.** One interval in twenty excludes zero by chance, and there are many here. Read sizes, not
  ranks.
- **Protections are drawn anew in every split.** A hospital releases once, and may be less lucky.
- **One disease, one classifier, four hospitals.** If the disease is more common at one hospital than at another, one
  joint share of sick people cannot suit all of them; recipes with each hospital's own prior can. [What joining
  gained on real tables](joining.md) measures recipes on other tables.
- The tables are by A. Janosi (Budapest), W. Steinbrunn (Zurich), M. Pfisterer (Basel) and R. Detrano (Long Beach
  and Cleveland).
"""
