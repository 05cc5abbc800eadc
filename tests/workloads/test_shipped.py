from __future__ import annotations

import math

import pytest

from bakeoff import data
from bakeoff.workloads import plan
from bakeoff.workloads.load import load, names

SIZES = [(name, size) for name in names() for size in load(name).workload.sizes]


def test_the_first_workloads_are_there() -> None:
    """The four workloads of the first race are found by their names."""
    assert {"mlp-mnist", "mlp-1024", "cnn-cifar10", "cnn-apx"} <= set(names())


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
    assert set(sizes) == {"full", "reduced"}
    assert sizes["reduced"].macs < sizes["full"].macs


@pytest.mark.parametrize(("name", "size"), SIZES)
def test_declared_parameters_are_the_models(name: str, size: str) -> None:
    """The declared count of parameters is exactly what the model has."""
    loaded = load(name)
    found = plan.parameters(loaded.build, loaded.size(size))
    assert sum(parameter.count for parameter in found.values()) == loaded.size(size).parameters


@pytest.mark.parametrize(("name", "size"), SIZES)
def test_declared_macs_are_at_least_those_of_one_use(name: str, size: str) -> None:
    """Every weight is used at least once in a forward pass, so there are at least as many MACs."""
    loaded = load(name)
    found = plan.parameters(loaded.build, loaded.size(size))
    weights = sum(math.prod(parameter.shape) for key, parameter in found.items() if key.endswith("weight"))
    assert loaded.size(size).macs >= weights


@pytest.mark.parametrize("name", names())
def test_data_sources_exist(name: str) -> None:
    """Every source of data that a workload names is one that there is."""
    assert set(load(name).workload.data) <= set(data.names())
