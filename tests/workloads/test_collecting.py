"""What a step collects before it updates is declared, checked before anything is started, and counted once."""

from __future__ import annotations

from pathlib import Path

import pytest

from bakeoff.spec.errors import ModelFileError
from bakeoff.workloads.interpreter import check_model
from bakeoff.workloads.load import load
from bakeoff.workloads.work import work_of

FILE = """from bakeoff.spec.optimizer import SGD
from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.workload import Size, Workload

INPUTS = {{"x": ArraySpec(shape=(6,)), "noise": ArraySpec(shape=(6,))}}
WORKLOAD = Workload(
    name="mine", summary="s", source="s", optimizer=SGD(learning_rate=0.1), scenarios=("train",),
    sizes={{"full": Size(batch_size=4, {size})}},
)


def build(nn, size):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(6, 5)

        {collect}

        def forward(self, x):
            return self.head(x["x"]) + x["seen"]

    return Model()


def loss(nn, outputs, targets, inputs):
    return nn.mean((outputs - inputs["seen"]) * outputs)
"""

DECLARED = 'inputs=INPUTS, collected={"seen": ArraySpec(shape=(5,))}, updates=3'
COLLECT = "def collect(self, x): return {'seen': self.head(x['noise'])}"


def checked(folder: Path, size: str = DECLARED, collect: str = COLLECT) -> None:
    """Load a user's file whose size and method are these, and check its model in training."""
    path = folder / "mine.py"
    path.write_text(FILE.format(size=size, collect=collect))
    loaded = load(path)
    check_model(loaded, loaded.size("full"), "train")


def test_what_is_collected_is_an_input_of_the_updates(tmp_path: Path) -> None:
    """A model that collects what its size declares passes, without any target."""
    checked(tmp_path)


@pytest.mark.parametrize(
    ("collect", "told"),
    [
        ("pass", "collect"),
        ("def collect(self, x): return {'other': self.head(x['noise'])}", "the size declares seen"),
        ("def collect(self, x): return {'seen': x['noise']}", r"\(4, 6\) as 'seen'; the size declares .*\(4, 5\)"),
        ("def collect(self, x): return self.head(x['noise'])", "return a dict"),
        ("def collect(self, x, n=[0]): n[0] += 1; return {'seen': self.head(x['noise'])}", "collect: defaults is"),
    ],
)
def test_another_collection_is_told_before_anything_is_started(tmp_path: Path, collect: str, told: str) -> None:
    """A method that is missing, or returns other names or shapes than the size declares, is an error that says so."""
    with pytest.raises(ModelFileError, match=told):
        checked(tmp_path, collect=collect)


@pytest.mark.parametrize(
    ("size", "told"),
    [
        (DECLARED.replace("updates=3", "updates=0"), "updates is 0"),
        ("inputs=INPUTS, classes=5, updates=2", "updates is 2; it must be 1, or more where `collected`"),
        (DECLARED.replace("inputs=INPUTS", 'inputs={"x": ArraySpec(shape=(6,))}'), "declare two inputs or more"),
        (DECLARED.replace('"seen"', '"noise"'), "'noise' is collected and is an array of the batch"),
        (DECLARED.replace("(5,)", "(0,)"), "each axis must be at least 1"),
    ],
)
def test_an_impossible_declaration_is_told(tmp_path: Path, size: str, told: str) -> None:
    """What cannot be collected, or be updated on, is an error that names the field."""
    with pytest.raises(ModelFileError, match=told):
        checked(tmp_path, size=size)


def test_it_is_for_training_alone(tmp_path: Path) -> None:
    """A workload that collects is refused another scenario than train."""
    path = tmp_path / "mine.py"
    text = FILE.format(size=DECLARED, collect=COLLECT)
    path.write_text(text.replace('scenarios=("train",)', 'scenarios=("train", "infer")'))
    with pytest.raises(ModelFileError, match="a workload that collects has the scenario train alone"):
        load(path)


def test_collecting_is_counted_once_and_updates_each_time(tmp_path: Path) -> None:
    """A step's products are those of one forward pass that collects, and of forward and backward passes per update."""
    path = tmp_path / "mine.py"
    path.write_text(FILE.format(size=DECLARED, collect=COLLECT))
    loaded = load(path)
    products = 4 * 6 * 5  # and as many again for the weight's gradient; the batch needs none
    work = work_of(loaded.build, loaded.size("full"), "train", loaded.workload.optimizer)
    assert work.macs == products + 3 * 2 * products
