"""A local method out of the texts of a command. What stands in a file is read from it here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mixbayes.protocol.errors import BadData
from mixbayes.tables.method_table import as_command_error

if TYPE_CHECKING:
    from mixbayes.local_methods.base import LocalMethod
    from mixbayes.local_methods.domain import Domain

IN_FILES = ("taxonomies", "cuts")
"""Parameters that a command names a JSON file for."""


def configured_method(
    name: str,
    settings: Mapping[str, str],
    seed: int | np.random.Generator | None = None,
    domain: Domain | None = None,
) -> LocalMethod:
    """The method with these settings, and what is public of its columns; what is wrong ends the command."""
    from mixbayes.local_methods.registry import configured  # slow to import

    read = {key: _content(Path(text)) if key in IN_FILES else text for key, text in settings.items()}
    with as_command_error():
        return configured(name, read, seed, domain)


def _content(path: Path) -> str:
    """The text of a file, if it is JSON."""
    try:
        text = path.read_text(encoding="utf-8")
        json.loads(text)
    except OSError as error:
        raise BadData(f"{path} cannot be read: {error.strerror}. Name a file in JSON.") from None
    except UnicodeDecodeError:
        raise BadData(f"{path} is no text in UTF-8. Name a file in JSON.") from None
    except json.JSONDecodeError as error:
        raise BadData(f"{path} is no JSON: line {error.lineno}, {error.msg}. Correct it.") from None
    return text
