"""How a method checks a parameter that is a list of names, or several lists."""

from __future__ import annotations

from typing import Any

from sklearn.utils._param_validation import HasMethods


class ListsOfNames(HasMethods):  # type: ignore[misc]  # scikit-learn publishes no types, and takes only its own
    """A parameter that is a list of names, or a list of such lists."""

    def __init__(self) -> None:
        super().__init__(["__len__"])

    def is_satisfied_by(self, val: Any) -> bool:
        return _is_list(val) and (_are_names(val) or all(_is_list(part) and _are_names(part) for part in val))

    def __str__(self) -> str:
        return "a list of names or a list of such lists"


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _are_names(values: Any) -> bool:
    return all(isinstance(name, str) for name in values)
