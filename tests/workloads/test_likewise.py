"""What a workload's file does over shapes is one hash, by which another process tells that it does the same there."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bakeoff.spec.errors import ModelFileError
from bakeoff.workloads.likewise import check_likewise, numbers_sha256, steps_sha256
from bakeoff.workloads.load import load, names

if TYPE_CHECKING:
    from pathlib import Path

MODEL = """import os, sys
import numpy as np
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

THERE = "a_framework" in sys.modules or bool(os.environ.get("A_VARIABLE"))
SIZE = Size(batch_size=4, input_shape=(6,), classes=5)
WORKLOAD = Workload(name="mine", summary="s", source="s", sizes={{"full": SIZE}}, optimizer=SGD(learning_rate=0.1))


def build(nn, size):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.drop, self.head = nn.Dropout(0.5), nn.Linear(6, 5)
            {layers}

        def forward(self, x):
            {forward}
            return self.head(self.drop(x))

    return Model()


def loss(nn, outputs, targets):
    value = nn.cross_entropy(outputs, targets)
    {loss}
    return value
"""

OTHERWISE = {
    "another rate": {"layers": "self.drop = nn.Dropout(0.9 if THERE else 0.1)"},
    "another layer of the same parameters": {"layers": "self.norm = nn.LayerNorm(6, 1e-3 if THERE else 1e-5)"},
    "work that adds nothing": {
        "forward": "x = x + 0.0 * nn.sum(nn.matmul(x, nn.permute_dims(x, (1, 0)))) * 1.0 if THERE else x"
    },
    "another number": {"forward": "x = x * (2.0 if THERE else 1.0)"},
    "another loss": {"loss": "value = value + nn.mean(outputs * outputs) if THERE else value"},
    "an error": {"loss": "value = value / (0.0 if THERE else 1.0)"},
}


def hashed(folder: Path, **parts: str) -> tuple[Path, str]:
    """Write a model of which these parts are others than usual; return its file and the hash of what it does."""
    path = folder / "mine.py"
    path.write_text(MODEL.format(**dict.fromkeys(("layers", "forward", "loss"), "pass") | parts))
    return path, steps_sha256(loaded := load(path), loaded.size("full"), "train")


@pytest.mark.parametrize("where", ["sys.modules", "the environment"])
@pytest.mark.parametrize("name", OTHERWISE)
def test_a_file_that_asks_where_it_runs_is_told(
    name: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the framework's module or by a variable: layers, rates, operations or numbers that are others there."""
    path, before = hashed(tmp_path, **OTHERWISE[name])
    check_likewise(load(path), load(path).size("full"), "train", before)
    if where == "sys.modules":
        monkeypatch.setitem(sys.modules, "a_framework", ModuleType("a_framework"))
    else:
        monkeypatch.setenv("A_VARIABLE", "1")
    with pytest.raises(ModelFileError, match="makes other layers or computes something else in this process"):
        check_likewise(load(path), load(path).size("full"), "train", before)


def test_numbers_count_as_closely_as_libraries_agree_on_them(tmp_path: Path) -> None:
    """NumPy's number is Python's; the last digits, which differ by its version, are left out, and others count."""
    one, same, numpys, other = (
        hashed(tmp_path, forward=f"x = x * {number}")[1]
        for number in ("0.1234567", "0.12345670000000001", "np.float64(0.1234567)", "0.12346")
    )
    assert one == same == numpys != other


def test_what_a_file_reads_elsewhere_counts(tmp_path: Path) -> None:
    """A constant's values to the last bit, for the process that fixes a comparison; what it declares for all."""
    path, _ = hashed(tmp_path, layers="self.table = nn.constant(np.load(__file__ + '.npy'))")
    rate = path.with_suffix(".rate")
    path.write_text(path.read_text().replace("learning_rate=0.1", f"learning_rate=float(np.loadtxt({str(rate)!r}))"))
    found = []
    for value, learning_rate in ((1.0, "0.1"), (1.0, "0.1"), (1.0 + 1e-15, "0.1"), (1.0, "0.2")):
        np.save(f"{path}.npy", np.full((2, 3), value))
        rate.write_text(learning_rate)
        loaded = load(path)
        found.append([of(loaded, loaded.size("full"), "train") for of in (steps_sha256, numbers_sha256)])
    first, same, table, declared = found
    assert first == same
    assert table[0] == first[0]
    assert table[1] != first[1]
    assert len({*first, *declared}) == 4


@pytest.mark.parametrize("one", ["np.zeros((2, 3), 'int32')", "np.zeros((3, 2), 'float32')"])
def test_a_table_of_the_same_bytes_may_be_another_one(tmp_path: Path, one: str) -> None:
    """By its type, or by its shape."""
    found = set()
    for table in (one, "np.zeros((2, 3), 'float32')"):
        loaded = load(hashed(tmp_path, layers="self.t = nn.constant(np.load(__file__ + '.npy'))")[0])
        np.save(f"{loaded.path}.npy", eval(table))  # noqa: S307 - of this test
        found.add(numbers_sha256(loaded, loaded.size("full"), "train"))
    assert len(found - {""}) == 2


def test_what_cannot_be_run_on_the_sizes_own_batch_is_held_to_nothing(tmp_path: Path) -> None:
    """The batch that is asked for may be another one."""
    path, none = hashed(tmp_path, forward="assert False")
    assert not none
    check_likewise(load(path), load(path).size("full"), "train", none)


@pytest.mark.parametrize("name", names())
def test_every_shipped_workload_does_the_same_twice(name: str) -> None:
    """So that a race of it is held to that."""
    loaded = load(name)
    first, second = (steps_sha256(loaded, loaded.size("reduced"), loaded.workload.scenarios[0]) for _ in range(2))
    assert first == second != ""
