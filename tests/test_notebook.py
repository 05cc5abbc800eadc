"""docs/results.ipynb: its cells run, one after another, where they stand."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[1] / "docs" / "results.ipynb"


def test_the_notebook_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every code cell runs in order, and what it shows at its end is there; the figures are those of the report."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    monkeypatch.chdir(NOTEBOOK.parent)
    names: dict[str, Any] = {}
    shown = [show("".join(cell["source"]), names) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(shown) >= 6
    assert not [one for one in shown if one is None]
    result = names["result"]
    assert "<table>" in result._repr_html_()
    told = {one.label: one.median_step_s * 1e6 for one in result.outcome.contenders}
    assert dict(names["step_us"]) == pytest.approx(told, rel=0.02)
    assert names["chart"].to_dict()["encoding"]["y"]["field"] == "step_us"


def test_the_notebook_is_one() -> None:
    """It is of nbformat 4.5: every cell has an id of its own, and holds no output, which would be another machine's."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    cells = notebook["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    for cell in cells:
        extra = {"outputs", "execution_count"} if cell["cell_type"] == "code" else set()
        assert set(cell) == {"cell_type", "id", "metadata", "source"} | extra
        assert not cell.get("outputs")


def show(source: str, names: dict[str, Any]) -> Any:
    """Run a cell as a notebook does, and return the value of its last line."""
    tree = ast.parse(source)
    assert isinstance(tree.body[-1], ast.Assign | ast.Expr | ast.ImportFrom | ast.Import)
    if not isinstance(tree.body[-1], ast.Expr):
        exec(compile(tree, "cell", "exec"), names)  # noqa: S102 - our own
        return names
    last = ast.Expression(tree.body.pop().value)
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102
    return eval(compile(last, "cell", "eval"), names)  # noqa: S307
