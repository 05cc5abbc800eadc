from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from bakeoff import data
from bakeoff.spec.errors import ModelFileError, UsageError
from bakeoff.workloads.load import load

if TYPE_CHECKING:
    from pathlib import Path

    from bakeoff.spec.trial import Inputs

FILE = """
import numpy as np

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

WORKLOAD = Workload(
    name="mine",
    summary="one layer",
    source="a test",
    sizes={{
        "full": Size(
            batch_size=4,
            inputs={{"x": ArraySpec(shape=(2,))}},
            targets={{"y": ArraySpec(dtype="int32", high=3), "sure": ArraySpec(dtype="bool")}},
        )
    }},
    optimizer=SGD(learning_rate=0.1),
)


def build(nn, size):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(2, 3)

        def forward(self, x):
            return self.first(x)

    return Model()


def loss(nn, outputs, targets):
    return nn.cross_entropy(outputs, targets["y"])


def data(size, samples, seed):
    count = 10
    x, y, sure = np.full((count, 2), seed + 0.5), np.arange(count) % 3, np.arange(count) % 2 == 0
    return {returned}
"""

LINE = FILE[: FILE.index("def data(")].count("\n") + 1
GOOD = '{"y": y, "x": x, "sure": sure}'


def prepared(folder: Path, returned: str, source: str | None = None) -> tuple[Path, Inputs]:
    """Write a workload whose function returns this, and its batches."""
    path = folder / "mine.py"
    path.write_text(FILE.format(returned=returned))
    loaded = load(path)
    size = loaded.size("full")
    return path, data.prepare(source, loaded.workload, size, 4, 7, folder / "batches", file=loaded.path)


def test_a_files_own_data_are_its_default(tmp_path: Path) -> None:
    """What the function gives is written in the declared types and order, as far as it fills batches."""
    _, inputs = prepared(tmp_path, GOOD)
    assert inputs.source == "own (of mine.py, seed 7)"
    assert (inputs.batches, inputs.has_test, inputs.inputs, inputs.targets) == (2, False, ("x",), ("y", "sure"))
    found = {name: np.load(tmp_path / "batches" / f"{name}.npy") for name in ("x", "y", "sure")}
    assert {name: array.dtype.name for name, array in found.items()} == {"x": "float32", "y": "int32", "sure": "bool"}
    assert found["x"].tolist() == [[[7.5, 7.5]] * 4] * 2
    assert found["y"].tolist() == [[0, 1, 2, 0], [1, 2, 0, 1]]


def test_random_batches_can_still_be_asked_for(tmp_path: Path) -> None:
    """A file with data of its own has what it had before, too; its own have no location."""
    path, inputs = prepared(tmp_path, GOOD, "synthetic")
    assert inputs.source.startswith("synthetic")
    assert load(path).workload.data == ("own", "synthetic")
    with pytest.raises(UsageError, match="own data have no location"):
        data.named("own:here", load(path).workload)


def test_held_out_samples_are_those_with_the_ending(tmp_path: Path) -> None:
    """Arrays whose names end in _test are kept for the accuracy."""
    _, inputs = prepared(
        tmp_path, '{"y": y, "x": x, "sure": sure, "y_test": y[:3], "x_test": x[:3], "sure_test": sure[:3]}'
    )
    assert inputs.has_test
    assert len(np.load(tmp_path / "batches" / "x_test.npy")) == 3


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        ("x", "ndarray; it must return a dict of arrays by name: x, y, sure"),
        ('{"x": x, "y": y}', "arrays called x, y; the size declares x, y, sure"),
        ('{"x": x, "y": y, "sure": sure, "x_test": x}', "the size declares x, y, sure, x_test, y_test, sure_test"),
        ('{"x": x[:, :1], "y": y, "sure": sure}', "x of shape (10, 1); it must be (samples, 2)"),
        ('{"x": x, "y": y.astype(float), "sure": sure}', "y of float64; it is declared as int32"),
        ('{"x": x, "y": y + 1, "sure": sure}', "y from 1 to 3; it is declared from 0 to below 3"),
        ('{"x": x, "y": y, "sure": sure * 1}', "sure of int64; it is declared as bool"),
        ('{"x": x * 1e300, "y": y, "sure": sure}', "x with numbers that are not finite in float32"),
        ('{"x": x, "y": y[1:], "sure": sure}', "10 of x, 9 of y, 10 of sure; each array must hold the same samples"),
        ('{"x": x[:0], "y": y[:0], "sure": sure[:0]}', "at least one"),
    ],
)
def test_what_is_not_as_declared_is_told_with_its_line(returned: str, told: str, tmp_path: Path) -> None:
    """Names, shapes, kinds, ranges and finite numbers are checked, and the message begins with the function's line."""
    with pytest.raises(ModelFileError) as refused:
        prepared(tmp_path, returned)
    assert str(refused.value).startswith(f"{tmp_path / 'mine.py'}:{LINE}: data returned ")
    assert told in str(refused.value)


@pytest.mark.parametrize(("beyond", "told"), [(0, ""), (-1, "x from -1 to 8; it is declared from 1 to below 9")])
def test_padding_is_zeros_whatever_the_integers_begin_with(beyond: int, told: str, tmp_path: Path) -> None:
    """Letters that count from 1 have 0 beyond their length, as batches have it; anything less is told."""
    letters = 'ArraySpec(shape=(2,), dtype="int32", low=1, high=9, length="n")'
    declared = f'"x": {letters}, "n": ArraySpec(dtype="int32", low=1, high=3)'
    returned = f'{{"x": np.array([[5, {beyond}], [4, 8]] * 5), "n": np.array([1, 2] * 5), "y": y, "sure": sure}}'
    path = tmp_path / "mine.py"
    path.write_text(FILE.replace('"x": ArraySpec(shape=(2,))', declared).format(returned=returned))
    loaded = load(path)
    size = loaded.size("full")
    if told:
        with pytest.raises(ModelFileError) as refused:
            data.prepare(None, loaded.workload, size, 4, 7, tmp_path / "batches", file=path)
        assert told in str(refused.value)
        return
    inputs = data.prepare(None, loaded.workload, size, 4, 7, tmp_path / "batches", file=path)
    assert (inputs.batches, inputs.inputs) == (2, ("x", "n"))


def test_what_the_function_raises_has_its_line(tmp_path: Path) -> None:
    """A function that fails is told as a model that fails."""
    with pytest.raises(ModelFileError, match=rf"mine.py:{LINE + 3}: in data: ZeroDivisionError"):
        prepared(tmp_path, "1 / 0")


def test_processes_that_the_function_forks_end_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """os._exit(), which the function itself must not call, ends those of multiprocessing."""
    forks = """count = 10
    import multiprocessing
    child = multiprocessing.get_context("fork").Process(target=int)
    child.start()
    child.join()
    assert child.exitcode == 0
"""
    monkeypatch.setitem(globals(), "FILE", FILE.replace("count = 10\n", forks))
    _, inputs = prepared(tmp_path, "{'x': x, 'y': y, 'sure': sure}")
    assert inputs.batches == 2


def test_a_file_without_the_function_has_no_own_data(tmp_path: Path) -> None:
    """The message says which function would give them."""
    path = tmp_path / "mine.py"
    path.write_text(FILE.format(returned=GOOD).replace("def data(", "def other("))
    with pytest.raises(
        UsageError, match=r"no data from 'own'; valid: synthetic; a function data\(size, samples, seed\)"
    ):
        data.named("own", load(path).workload)
    path.write_text(FILE.format(returned=GOOD).replace("data(size, samples, seed)", "data(size)"))
    with pytest.raises(ModelFileError, match=r"cannot be called as data\(size, samples, seed\)"):
        load(path)
