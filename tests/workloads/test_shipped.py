from __future__ import annotations

import pytest
from workload_shapes import macs

from bakeoff import data
from bakeoff.workloads import plan
from bakeoff.workloads.load import load, names

SIZES = [(name, size) for name in names() for size in load(name).workload.sizes]


def test_the_workloads_are_there() -> None:
    """The workloads of the first races are found by their names."""
    assert {"mlp-mnist", "mlp-1024", "cnn-cifar10", "cnn-apx"} <= set(names())
    assert {"resnet50", "resnet50-cifar10", "vgg16", "inceptionv3", "vit-b16"} <= set(names())


@pytest.mark.parametrize("name", names())
def test_every_workload_can_be_inferred(name: str) -> None:
    """Every shipped workload has both scenarios, but one that is published so, one given its outputs, and one of RL."""
    scenarios = load(name).workload.scenarios
    assert ("infer" in scenarios) == (name not in {"tacotron2", "rl-venv-ppo"})
    assert ("train" in scenarios) == (name != "mlp-1024")


@pytest.mark.parametrize("name", names())
def test_name_is_the_files(name: str) -> None:
    """A workload is found under the name that it gives itself, and states its source."""
    loaded = load(name)
    assert loaded.workload.name == name == loaded.path.stem.replace("_", "-")
    assert loaded.workload.source


@pytest.mark.parametrize("name", names())
def test_every_workload_has_both_sizes(name: str) -> None:
    """Every shipped workload has a full size and one that is quick on a small machine."""
    sizes = load(name).workload.sizes
    assert {"full", "reduced"} <= set(sizes)
    assert all(sizes["reduced"].macs < size.macs for name, size in sizes.items() if not name.endswith("reduced"))


@pytest.mark.parametrize(("name", "size"), SIZES)
def test_declared_parameters_are_the_models(name: str, size: str) -> None:
    """The declared count of parameters is exactly what the model has."""
    loaded = load(name)
    found = plan.parameters(loaded.build, loaded.size(size))
    assert sum(parameter.count for parameter in found.values()) == loaded.size(size).parameters


@pytest.mark.parametrize(("name", "size"), SIZES)
def test_declared_macs_are_the_models(name: str, size: str) -> None:
    """The declared multiply-accumulates are exactly those of the model's forward pass in training."""
    loaded = load(name)
    assert macs(loaded.build, loaded.size(size)) == loaded.size(size).macs


@pytest.mark.parametrize("name", names())
def test_data_sources_exist(name: str) -> None:
    """Every source of data that a workload names is one that there is."""
    assert set(load(name).workload.data) <= set(data.names())
