"""What dropout on attention's weights may be: a layer of nn.Dropout that the model holds; all else has its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_interpreter import HEADS, TOKENS, checked, write

from bakeoff.spec.errors import ModelFileError
from bakeoff.workloads.load import load
from bakeoff.workloads.work import work_of

TABLE = "self.table = nn.Embedding(11, 5)"


def written(folder: Path, layers: str, dropout: str) -> Path:
    """Write a model that attends with a dropout, by an expression."""
    return write(folder, TOKENS, f"{TABLE}; {layers}", f"{HEADS}; return nn.attention(x, x, x{dropout})[:, 0, 0]")


def test_a_layer_of_the_model_is_taken(tmp_path: Path) -> None:
    """Also one that stands in a list, and None."""
    checked(written(tmp_path, "self.drop = nn.Dropout(0.1)", ", dropout=self.drop"))
    checked(written(tmp_path, "self.drops = nn.ModuleList([nn.Dropout(0.1)])", ", dropout=self.drops[0]"))
    checked(written(tmp_path, "self.drop = None", ", dropout=self.drop"))


@pytest.mark.parametrize(
    ("layers", "dropout", "told"),
    [
        (
            "self.rate = 0.1",
            "self.rate",
            "dropout is 0.1; it must be a layer of the model, self.drop = nn.Dropout(rate)",
        ),
        ("self.rate = 0.1", "True", "dropout is True; it must be"),
        ("self.drop = nn.StochasticDepth(0.1)", "self.drop", "dropout is nn.StochasticDepth; it must be"),
        ("self.drop = nn.Linear(5, 5)", "self.drop", "dropout is nn.Linear; it must be"),
        ("self.rate = 0.1", "nn.Dropout(self.rate)", "nn.Dropout is a layer: make it once, while the model is built"),
        ("self.drops = (lambda drop: lambda: drop)(nn.Dropout(0.1))", "self.drops()", "the model does not hold it"),
    ],
)
def test_anything_else_is_refused_with_its_line(tmp_path: Path, layers: str, dropout: str, told: str) -> None:
    """A number would drop in evaluation, too, and another layer, or one that is no attribute, not in all frameworks."""
    path = written(tmp_path, layers, f", dropout={dropout}")
    with pytest.raises(ModelFileError) as refused:
        checked(path)
    assert str(refused.value).startswith(f"{path}:18: in forward: ")
    assert told in str(refused.value)


def test_it_is_no_product(tmp_path: Path) -> None:
    """The work of a step is counted as without it."""

    def macs(dropout: str) -> Any:
        loaded = load(written(tmp_path, "self.drop = nn.Dropout(0.1)", dropout))
        return work_of(loaded.build, loaded.size("full"), "train", loaded.workload.optimizer)

    assert macs(", dropout=self.drop") == macs("")
