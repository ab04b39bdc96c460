"""Recipes: which classifier answers a hospital, and what its answers may be.

| recipe | the counts behind its tables | its prior |
|---|---|---|
| `own` | the hospital's own; nobody is asked | the own patients |
| `joint` | those of all hospitals, N | all patients |
| `personal` | N + w · own | all patients, the own ones, or those of N + w · own (mixed) |

N stands for N~ where noise is agreed. A hospital knows its own counts, so a personal recipe tells it nothing that the
joint counts do not. Costs and the margin below which the answer is `unsure` go with any of them.

A recipe has one text, as in `personal:weight=3:prior=own:costs=sick=5:unsure=1`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Literal

from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.logarithm import FRACTION, fixed_log2_of
from mixbayes.protocol.errors import Unsupported

Base = Literal["own", "joint", "personal"]
Prior = Literal["joint", "own", "mixed"]
BASES: tuple[Base, ...] = ("own", "joint", "personal")
PRIORS: tuple[Prior, ...] = ("joint", "own", "mixed")

MOST_WEIGHT = 100
USUAL_WEIGHT, USUAL_PRIOR = 10, "own"
MOST_COST = 1000
"""A class costs at most so many times as much as another one would, and at least one such part."""
MOST_MARGIN = 32
"""Bits."""
UNSURE = "unsure"
"""The answer that names no class."""
LONGEST = 400
"""Bytes of a recipe's text."""
# A doubled quote is the end of one quoted part and the beginning of the next: there is only one way to match.
_FIELD = re.compile(r'((?:"[^"]*"|[^:"])*)(?::|$)')
_COST = re.compile(r'("(?:[^"]|"")*"|[^,"]*)=([0-9.]{1,8})(?:,|$)')
_NUMBER = re.compile(r"[0-9]{1,4}(\.[0-9]{1,3})?")


@dataclass(frozen=True)
class Recipe:
    """One recipe. `read_recipe` makes it of a text, and `str` the text of it."""

    base: Base
    weight: int = 0
    """How often the own patients count beyond once."""
    prior: Prior = "joint"
    costs: tuple[tuple[str, Fraction], ...] = ()
    """What it costs to miss a class, where it is not 1: by class, in the order of their names."""
    unsure: Fraction | None = None
    """The answer is `unsure` where the best score leads by less than so many bits."""

    @property
    def personal(self) -> bool:
        return self.base == "personal"

    @property
    def prior_apart(self) -> bool:
        """Whether the prior is not that of the counts behind the tables."""
        return self.prior == "own" or (self.prior == "joint" and self.weight > 0)

    @property
    def plain(self) -> Recipe:
        """The same classifier without costs and margin."""
        return Recipe(self.base, self.weight, self.prior)

    def answers(self, classes: int) -> int:
        """How many answers there are; the last one is `unsure` where that is one."""
        return classes + (self.unsure is not None)

    def offsets(self, classes: Sequence[str], fraction: int) -> list[int]:
        """What costs add to the score of each class, with so many fraction bits."""
        of_class = dict(self.costs)
        return [log2_in_integers(of_class.get(name, Fraction(1)), fraction) for name in classes]

    @property
    def offset_bits(self) -> int:
        """How far costs can move two scores apart, in bits."""
        values = [cost for _, cost in self.costs] + [Fraction(1)]
        return (int(max(values) / min(values)) + 1).bit_length() if self.costs else 0

    @property
    def moved_bits(self) -> int:
        """How far all that is particular to the recipe can move two scores apart, in bits."""
        return self.offset_bits + ceil(self.unsure or 0) + (self.prior == "own")

    def margin(self, fraction: int) -> int | None:
        """The margin with so many fraction bits, rounded to the nearest; nothing where no answer is unsure."""
        return None if self.unsure is None else round(self.unsure * (1 << fraction))

    def refuse_unknown_classes(self, classes: Sequence[str]) -> None:
        """Costs must name classes that there are, and `unsure` must not be one of them."""
        if self.unsure is not None and UNSURE in classes:
            raise Unsupported(f"The recipe {self} answers {UNSURE!r}, which is a class already.")
        if self.answers(len(classes)) > ring.WORD:
            raise Unsupported(
                f"The recipe {self} has {UNSURE!r} beside {len(classes)} classes; {ring.WORD} are possible."
            )
        for name, _ in self.costs:
            if name not in classes:
                raise Unsupported(f"The recipe {self} has a cost for {name!r}; the classes are {', '.join(classes)}.")

    def __str__(self) -> str:
        parts: list[str] = [self.base]
        if self.personal:
            parts += [f"weight={self.weight}", f"prior={self.prior}"]
        if self.costs:
            parts.append("costs=" + ",".join(f"{_quoted(name)}={_decimal(cost)}" for name, cost in self.costs))
        if self.unsure is not None:
            parts.append(f"unsure={_decimal(self.unsure)}")
        return ":".join(parts)


OWN, JOINT = Recipe("own"), Recipe("joint")


def read_recipe(text: str) -> Recipe:
    """The recipe of a text, or a refusal that says what a recipe looks like."""
    try:
        return _read(text)
    except ValueError as error:
        raise Unsupported(
            f"{text[:LONGEST]!r} is no recipe: {error}. One is own, joint, or personal:weight=10:prior=own (weight 0 "
            f"to {MOST_WEIGHT}, prior {', '.join(PRIORS)}), and each may have :costs=CLASS=5,OTHER=1 and :unsure=1."
        ) from None


def _read(text: str) -> Recipe:
    if len(text.encode()) > LONGEST:
        raise ValueError(f"it is longer than {LONGEST} bytes")
    named, *rest = _fields(text)
    if named not in BASES:
        raise ValueError(f"nothing is called {named!r}")
    base = BASES[BASES.index(named)]
    given = dict(_pairs(rest))
    if len(given) < len(rest):
        raise ValueError("it says something twice")
    if base != "personal" and {"weight", "prior"} & set(given):
        raise ValueError("only personal has a weight and a prior")
    costs = _costs(given.pop("costs")) if "costs" in given else ()
    unsure = _positive(given.pop("unsure"), MOST_MARGIN) if "unsure" in given else None
    weight, prior = _weight(given.pop("weight", str(USUAL_WEIGHT))), _prior(given.pop("prior", USUAL_PRIOR))
    if given:
        raise ValueError(f"nobody knows {next(iter(given))!r}")
    if base != "personal":
        return Recipe(base, costs=costs, unsure=unsure)
    if weight == 0 and prior != "own":
        raise ValueError("without weight and without an own prior it is `joint`")
    return Recipe(base, weight, prior, costs, unsure)


def _fields(text: str) -> list[str]:
    """The parts between colons that are not in quotes."""
    parts, at = [], 0
    while (found := _FIELD.match(text, at)) is not None:
        parts.append(found[1])
        at = found.end()
        if not found[0].endswith(":") or at > len(text):
            break
    if at < len(text) or found is None:
        raise ValueError("a quote has no end")
    return parts


def _pairs(fields: Sequence[str]) -> Iterator[tuple[str, str]]:
    for field in fields:
        name, sign, value = field.partition("=")
        if not sign:
            raise ValueError(f"{field!r} has no value")
        yield name, value


def _weight(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > len(str(MOST_WEIGHT)) or int(text) > MOST_WEIGHT:
        raise ValueError(f"a weight is a whole number from 0 to {MOST_WEIGHT}")
    return int(text)


def _prior(text: str) -> Prior:
    if text not in PRIORS:
        raise ValueError(f"a prior is one of {', '.join(PRIORS)}")
    return PRIORS[PRIORS.index(text)]


def _costs(text: str) -> tuple[tuple[str, Fraction], ...]:
    found: dict[str, Fraction] = {}
    at = 0
    while at < len(text):
        entry = _COST.match(text, at)
        if entry is None:
            raise ValueError("costs are written CLASS=5,OTHER=2")
        name = _unquoted(entry[1])
        if name in found:
            raise ValueError(f"{name!r} has two costs")
        found[name] = _positive(entry[2], MOST_COST)
        at = entry.end()
    if not found:
        raise ValueError("costs are written CLASS=5,OTHER=2")
    return tuple(sorted((name, cost) for name, cost in found.items() if cost != 1))


def _positive(text: str, most: int) -> Fraction:
    if not _NUMBER.fullmatch(text) or not Fraction(1, 1000) <= Fraction(text) <= most:
        raise ValueError(f"{text!r} is no number from 0.001 to {most} with at most three decimals")
    return Fraction(text)


def _decimal(number: Fraction) -> str:
    return f"{float(number):.3f}".rstrip("0").rstrip(".")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if re.search(r'[:,"=]', name) else name


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def log2_in_integers(number: Fraction, fraction: int) -> int:
    """log2 with so many fraction bits, in integers, so that every machine comes to the same."""
    return (fixed_log2_of(number.numerator) - fixed_log2_of(number.denominator)) << fraction - FRACTION
