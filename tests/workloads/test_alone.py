"""One layer of a model as a workload of its own: the shapes that it has in the whole, and what cannot be alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bakeoff.spec.errors import ModelFileError, UnknownNameError, UsageError
from bakeoff.store.layers import write_layer
from bakeoff.workloads import plan
from bakeoff.workloads.alone import call_of, text_of
from bakeoff.workloads.interpreter import check_model
from bakeoff.workloads.load import load

MODEL = """
from bakeoff.spec.optimizer import AdamW
from bakeoff.spec.workload import Size, Workload

SIZE = Size(batch_size=2, input_shape=(6, 6, 3), classes=2)
OPTIMIZER = AdamW(learning_rate=0.1, weight_decay=0.1, no_decay=("head.*",))
WORKLOAD = Workload(name="parts", summary="", source="", sizes={"full": SIZE}, optimizer=OPTIMIZER)


def build(nn, size):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.stages = nn.ModuleList([nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm(4)])
            self.hidden = nn.Linear((6, 6, 4), 8)
            self.memory = nn.LSTM(4, 8)
            self.unused = nn.Linear(2, 2)
            self.shift = nn.Parameter((8,))
            self.head = nn.Linear(8, 2)

        def forward(self, x):
            for stage in self.stages:
                x = stage(x)
            sequence, _ = self.memory(nn.tokens(x))
            return self.head(self.hidden(nn.flatten(x)) + sequence[:, 0] + self.shift)

    return Model()


def loss(nn, outputs, targets):
    return nn.cross_entropy(outputs, targets)
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Write the file of a model of parts; give its path."""
    file = tmp_path / "parts.py"
    file.write_text(MODEL, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("path", "inputs", "output", "own"),
    [
        ("stages.0", {"x0": (6, 6, 3)}, (6, 6, 4), {"layer.weight", "layer.bias"}),
        ("stages.1", {"x0": (6, 6, 4)}, (6, 6, 4), {"layer.scale", "layer.bias", "input_scale"}),
        ("hidden", {"x0": (6, 6, 4)}, (8,), {"layer.weight", "layer.bias", "input_scale"}),
        (
            "memory",
            {"x0": (36, 4)},
            (36, 8),
            {"layer.input_weight", "layer.recurrent_weight", "layer.bias", "input_scale"},
        ),
    ],
)
def test_a_part_has_the_shapes_that_it_has_in_the_whole(
    model: Path, path: str, inputs: dict[str, tuple[int, ...]], output: tuple[int, ...], own: set[str]
) -> None:
    """What depends on parameters before it has a gradient alone, too; a flattened map is flattened there."""
    alone = load(write_layer(str(model), path, model.parent))
    size = alone.workload.sizes["full"]
    assert {name: one.shape for name, one in size.inputs.items()} == inputs
    assert size.targets["y"].shape == output
    assert set(plan.parameters(alone.build, size)) == own
    check_model(alone, size, "train")


def test_it_is_named_by_the_whole_and_its_path(model: Path) -> None:
    """Its data are drawn, its optimiser is the whole's, and no pattern of names is left that names nothing."""
    alone = load(write_layer(str(model), "stages.0", model.parent))
    assert (alone.workload.name, alone.path.name) == ("parts-stages-0", "parts-stages-0.py")
    assert alone.workload.data == ("synthetic",)
    assert alone.workload.optimizer is not None
    assert alone.workload.optimizer.learning_rate == 0.1


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("stages", "nn.ModuleList is no layer that a model calls"),
        ("shift", "nn.Parameter is no layer that a model calls"),
        ("unused", "does not call unused in its forward pass"),
    ],
)
def test_what_is_never_called_is_refused(model: Path, path: str, said: str) -> None:
    """Each with what to name instead."""
    with pytest.raises(UsageError, match=said):
        text_of(load(model), path)


def test_an_unknown_path_lists_those_that_there_are(model: Path) -> None:
    """The whole is none of its layers."""
    with pytest.raises(UnknownNameError, match=r"Valid: head, hidden, memory, stages\.0, stages\.1, unused"):
        text_of(load(model), "stages.7")


def test_inputs_that_no_data_source_can_draw_are_refused() -> None:
    """Integers of a range that is known are drawn; a mask of random booleans would attend to nothing."""
    loaded = load("text-transformer")
    with pytest.raises(UsageError, match="booleans, which no data source draws with a meaning"):
        text_of(loaded, "layers.0")
    (words,) = call_of(loaded, "reduced", "words").inputs.values()
    assert (words.integer, words.high is not None) == (True, True)


def test_a_whole_that_has_changed_is_another(model: Path) -> None:
    """A part's file holds the hash of the file that it was taken from."""
    file = write_layer(str(model), "head", model.parent)
    model.write_text(MODEL.replace("0.1", "0.2"), encoding="utf-8")
    with pytest.raises(ModelFileError, match="has changed since head was taken from it"):
        load(file)


@pytest.mark.parametrize("what", ["link", "pipe", "link of the folder"])
def test_nothing_outside_of_the_results_is_written(model: Path, tmp_path: Path, what: str) -> None:
    """A stranger's folder may hold a link, which is replaced, or a pipe, which is not waited for."""
    results, theirs = tmp_path / "results", tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "parts-hidden.py").write_text("precious")
    results.mkdir()
    layers = results / "layers"
    if what == "link of the folder":
        layers.symlink_to(theirs)
        with pytest.raises(UsageError, match="layers is a link, and links are not followed: remove it, or name"):
            write_layer(str(model), "hidden", results)
    else:
        layers.mkdir()
        place = layers / "parts-hidden.py"
        place.symlink_to(theirs / "parts-hidden.py") if what == "link" else os.mkfifo(place)
        assert write_layer(str(model), "hidden", results) == place
        assert place.read_text() == text_of(load(str(model)), "hidden")
        assert list(layers.iterdir()) == [place]
    assert (theirs / "parts-hidden.py").read_text() == "precious"
