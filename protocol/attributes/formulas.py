"""Names that a spreadsheet would run as a formula.

Labels are class names, and people open files of labels in spreadsheets. The page "CSV Injection" of OWASP lists how a
cell that begins a formula can start programs or send other cells away. Names are agreed and come from others, so such
names are refused here. Changing them in the files instead would give one class two names.
"""

from __future__ import annotations

_BEGIN = ("=", "@", "\t", "\r", "\n", "\N{FULLWIDTH EQUALS SIGN}", "\N{FULLWIDTH COMMERCIAL AT}")
_SIGNS = ("+", "-", "\N{FULLWIDTH PLUS SIGN}", "\N{FULLWIDTH HYPHEN-MINUS}")
_REACH = "(|!"
"""A call of a function, another program, another sheet. Without them, a formula after a sign can only compute."""


def no_formula(name: str) -> str:
    """The name. Raises ValueError if a spreadsheet would run it; numbers, `+` and `-ve` are names like others."""
    if name.startswith(_BEGIN) or (name.startswith(_SIGNS) and any(mark in name for mark in _REACH)):
        raise ValueError(f"{name[:40]!r} would be a formula in a spreadsheet; give the class another name")
    return name
