"""Executes a notebook's code cells in their order and one namespace, as a notebook server would.

    python tests/docs/run_notebook.py docs/notebooks/NAME.ipynb

replaces the outputs in the file. In the tests it runs in a process of its own.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

Cell = dict[str, Any]


def execute(notebook: dict[str, Any]) -> None:
    """Run every code cell; what it prints, draws, or ends with is its output."""
    import matplotlib as mpl

    mpl.use("agg")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, start=1):
        cell["execution_count"] = number
        cell["outputs"] = list(_outputs("".join(cell["source"]), namespace, number))


def _outputs(source: str, namespace: dict[str, Any], number: int) -> list[Cell]:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        value = _run(source, namespace, f"cell {number}")
    found: list[Cell] = []
    if text := printed.getvalue():
        found.append({"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)})
    if value is not None:
        data: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
        found.append({"output_type": "execute_result", "execution_count": number, "data": data, "metadata": {}})
    return found + _pictures()


def _run(source: str, namespace: dict[str, Any], name: str) -> Any:
    """The value of the last expression, if the cell ends with one."""
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), namespace)
    return eval(compile(ast.Expression(last.value), name, "eval"), namespace) if last else None  # pyright: ignore[reportAttributeAccessIssue]


def _pictures() -> list[Cell]:
    from matplotlib import pyplot as plt

    found: list[Cell] = []
    for number in plt.get_fignums():
        file = io.BytesIO()
        plt.figure(number).savefig(file, format="png", dpi=80, metadata={"Software": None})
        encoded = base64.b64encode(file.getvalue()).decode()
        found.append({"output_type": "display_data", "data": {"image/png": encoded}, "metadata": {}})
    plt.close("all")
    return found


def main(path: Path) -> None:
    """Execute the file and write its outputs into it."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    execute(notebook)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
