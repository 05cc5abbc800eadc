from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from bakeoff.spec.errors import ModelFileError
from bakeoff.spec.vocabulary import FUNCTIONS, LOSSES, VOCABULARY
from bakeoff.spec.workload import Size
from bakeoff.workloads import plan
from bakeoff.workloads.load import load

# Drawn once, for seed 0.
WEIGHT = [1.1446807384490967, -0.09032541513442993]
ROWS = [-0.6078979969024658, -0.357638955116272]

SIZE = Size(batch_size=2, input_shape=(4, 4, 3), classes=5)


def model(**layers: Any) -> Any:
    """Give a build function of one module with these attributes, each made from nn."""

    def build(nn: Any, size: Any) -> Any:
        class Model(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                for name, make in layers.items():
                    setattr(self, name, make(nn))

            def forward(self, x: Any) -> Any:
                return x

        return Model()

    return build


def fault(build: Any) -> str:
    """Give the message with which a model is refused."""
    with pytest.raises(ModelFileError) as error:
        plan.parameters(build, SIZE)
    return str(error.value)


@pytest.mark.parametrize(
    ("make", "shapes"),
    [
        (lambda nn: nn.Linear(4, 3), {"a.weight": (4, 3), "a.bias": (3,)}),
        (lambda nn: nn.Linear(4, 3, bias=False), {"a.weight": (4, 3)}),
        (lambda nn: nn.Linear((2, 3, 4), 5), {"a.weight": (24, 5), "a.bias": (5,)}),
        (lambda nn: nn.Conv2d(2, 6, 3, stride=2, padding=1), {"a.weight": (3, 3, 2, 6), "a.bias": (6,)}),
        (lambda nn: nn.Conv2d(2, 6, 1, bias=False), {"a.weight": (1, 1, 2, 6)}),
        (lambda nn: nn.Conv2d(2, 6, (1, 7), padding=(0, 3), bias=False), {"a.weight": (1, 7, 2, 6)}),
        (lambda nn: nn.LayerNorm(7, epsilon=1e-3), {"a.scale": (7,), "a.bias": (7,)}),
        (lambda nn: nn.BatchNorm(7), {"a.scale": (7,), "a.bias": (7,)}),
        (lambda nn: nn.Parameter((1, 5, 7)), {"a": (1, 5, 7)}),
        (lambda nn: nn.Embedding(11, 4), {"a.weight": (11, 4)}),
        (lambda nn: nn.Dropout(0.5), {}),
        (lambda nn: nn.ModuleList([nn.Dropout(0.1), nn.Embedding(2, 3)]), {"a.1.weight": (2, 3)}),
    ],
)
def test_canonical_names_and_shapes(make: Any, shapes: Any) -> None:
    """Every layer's parameters have their canonical names and layout."""
    found = plan.parameters(model(a=make), SIZE)
    assert {name: parameter.shape for name, parameter in found.items()} == shapes


def test_state_is_apart_from_parameters() -> None:
    """Running statistics have names, a momentum and drawn values, and are no parameters."""
    build = model(a=lambda nn: nn.BatchNorm(64, momentum=0.25), b=lambda nn: nn.LayerNorm(64))
    state = plan.state(build, SIZE)
    assert {name: (array.shape, array.momentum) for name, array in state.items()} == {
        "a.running_mean": ((64,), 0.25),
        "a.running_variance": ((64,), 0.25),
    }
    assert not state.keys() & plan.parameters(build, SIZE).keys()
    values = plan.state_values(build, SIZE, 0)
    assert np.abs(values["a.running_mean"]).max() > 0.1
    assert values["a.running_variance"].min() > 0.1
    assert np.ptp(values["a.running_variance"]) > 0.1


def test_names_are_paths_of_attributes() -> None:
    """A parameter's name is the path to its layer, through modules and lists."""
    inner = model(deep=lambda nn: nn.Linear(2, 2))

    def build(nn: Any, size: Any) -> Any:
        return model(blocks=lambda nn: nn.ModuleList([inner(nn, size)]), top=lambda nn: inner(nn, size))(nn, size)

    assert set(plan.parameters(build, SIZE)) == {
        "blocks.0.deep.weight",
        "blocks.0.deep.bias",
        "top.deep.weight",
        "top.deep.bias",
    }


def test_the_plan_knows_every_name() -> None:
    """A model may name everything of the vocabulary while it is built, and functions refuse to be called then."""
    for name in VOCABULARY:
        plan.parameters(model(kept=lambda nn, name=name: getattr(nn, name)), SIZE)
    for name in (*FUNCTIONS, *LOSSES):
        assert f"nn.{name} computes on arrays" in fault(model(a=lambda nn, name=name: getattr(nn, name)(1)))


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda nn: nn.Linear(4, 3, use_bias=False), "use_bias"),
        (lambda nn: nn.Linear(4), "out_features"),
        (lambda nn: nn.Linear(4.0, 3), "in_features=4.0"),
        (lambda nn: nn.Linear((4, 3), 3), "(height, width, channels)"),
        (lambda nn: nn.Linear(4, 0), "out_features=0"),
        (lambda nn: nn.Conv2d(2, 6, (3, 3, 3)), "kernel=(3, 3, 3)"),
        (lambda nn: nn.Conv2d(2, 6, (3, 0)), "kernel=0"),
        (lambda nn: nn.Conv2d(2, 6, 3, padding="same"), "padding='same'"),
        (lambda nn: nn.Conv2d(2, 6, 3, stride=0), "stride=0"),
        (lambda nn: nn.LayerNorm(7, epsilon=0.0), "epsilon=0.0"),
        (lambda nn: nn.BatchNorm(7, epsilon=0.0), "epsilon=0.0"),
        (lambda nn: nn.BatchNorm(7, momentum=1.0), "weight of the new value"),
        (lambda nn: nn.Parameter(3), "shape=3"),
        (lambda nn: nn.Parameter((3, 0)), "shape=0"),
        (lambda nn: nn.ModuleList([nn.Parameter((3,))]), "holds layers and modules"),
        (lambda nn: nn.Dropout(1.0), "rate=1.0"),
        (lambda nn: nn.ModuleList([1]), "number 0 is 1"),
        (lambda nn: [nn.Linear(2, 2)], "nn.ModuleList"),
        (lambda nn: {"a": nn.Linear(2, 2)}, "nn.ModuleList"),
    ],
)
def test_mistakes_are_told_with_the_users_line(make: Any, told: str) -> None:
    """A wrong argument or a plain list of layers is refused, with the line in the file where it stands."""
    message = fault(model(a=make))
    assert told in message
    assert message.startswith(f"{__file__}:")
    assert not message.startswith(f"{__file__}:?")


def test_super_init_must_be_called() -> None:
    """A module that forgets super().__init__() is told so, as some frameworks would fail obscurely."""

    def build(nn: Any, size: Any) -> Any:
        class Model(nn.Module):
            def __init__(self) -> None:
                self.first = nn.Linear(2, 2)

            def forward(self, x: Any) -> Any:
                return self.first(x)

        return Model()

    assert "super().__init__()" in fault(build)


def test_build_must_return_a_module() -> None:
    """A build function that returns nothing is told what to return."""
    assert "build returned None" in fault(lambda nn, size: None)


def test_forward_is_needed() -> None:
    """A module without forward is refused by its class's name."""

    def build(nn: Any, size: Any) -> Any:
        class Half(nn.Module):
            pass

        return Half()

    assert "class Half has no method forward" in fault(build)


def test_shared_layers_have_the_name_of_their_first_path() -> None:
    """A layer under two attributes, or twice in a list, is one set of parameters."""

    def build(nn: Any, size: Any) -> Any:
        layer = nn.Linear(2, 2)
        block = model(deep=lambda nn: layer)(nn, size)
        return model(z=lambda nn: nn.ModuleList([block, layer, block]), a=lambda nn: layer, b=lambda nn: block)(
            nn, size
        )

    assert list(plan.parameters(build, SIZE)) == ["z.0.deep.weight", "z.0.deep.bias"]


def test_a_shared_parameter_is_refused() -> None:
    """A Parameter under two names is refused, with what to share instead: in MLX it is no object of its own."""

    def build(nn: Any, size: Any) -> Any:
        layer = nn.Parameter((2, 2))
        return model(a=lambda nn: layer, b=lambda nn: layer)(nn, size)

    assert "a and b are the same nn.Parameter" in fault(build)


def test_a_shared_constant_is_no_parameter() -> None:
    """A constant under two names is allowed, and adds no parameter."""

    def build(nn: Any, size: Any) -> Any:
        mask = nn.constant(np.ones(2))
        return model(a=lambda nn: mask, b=lambda nn: mask, c=lambda nn: nn.Linear(2, 2))(nn, size)

    assert list(plan.parameters(build, SIZE)) == ["c.weight", "c.bias"]


def test_weights_depend_on_seed_and_name_only() -> None:
    """The order of attributes does not change a parameter's weights; another seed or another name does."""
    forward = plan.weights(model(a=lambda nn: nn.Linear(4, 3), b=lambda nn: nn.Linear(4, 3)), SIZE, 7)
    backward = plan.weights(model(b=lambda nn: nn.Linear(4, 3), a=lambda nn: nn.Linear(4, 3)), SIZE, 7)
    other = plan.weights(model(a=lambda nn: nn.Linear(4, 3)), SIZE, 8)
    np.testing.assert_array_equal(forward["a.weight"], backward["a.weight"])
    assert not np.array_equal(forward["a.weight"], forward["b.weight"])
    assert not np.array_equal(forward["a.weight"], other["a.weight"])


def test_weights_never_change() -> None:
    """The frozen stream gives these very numbers, in every version of NumPy: records of all times stay comparable."""
    weights = plan.weights(model(a=lambda nn: nn.Linear(2, 1), b=lambda nn: nn.Embedding(1, 2)), SIZE, 0)
    np.testing.assert_allclose(weights["a.weight"].ravel(), WEIGHT, rtol=1e-12)
    np.testing.assert_allclose(weights["b.weight"].ravel(), ROWS, rtol=1e-12)


def test_initial_values_show_mistakes() -> None:
    """Biases are not zero and scales are not one, so that what leaves them out computes something else."""
    weights = plan.weights(model(a=lambda nn: nn.Linear(64, 64), n=lambda nn: nn.LayerNorm(64)), SIZE, 0)
    assert np.abs(weights["a.bias"]).min() > 0
    assert np.abs(weights["n.scale"] - 1).max() > 0.1
    assert weights["a.weight"].dtype == np.float64
    # He et al.: the variance of a ReLU layer's weights is 2 / fan_in.
    assert weights["a.weight"].var() == pytest.approx(2 / 64, rel=0.1)


@pytest.mark.parametrize("layer", ["Embedding", "Parameter"])
def test_first_values_have_the_deviation_that_is_named(layer: str) -> None:
    """Rows and single arrays are drawn from N(0, std^2), of which the numbers at 1 are the multiples."""
    shape = (1000, 20)
    of = {
        "Embedding": lambda nn, **kw: nn.Embedding(*shape, **kw),
        "Parameter": lambda nn, **kw: nn.Parameter(shape, **kw),
    }
    (wide,) = plan.weights(model(a=of[layer]), SIZE, 0).values()
    (small,) = plan.weights(model(a=lambda nn: of[layer](nn, std=0.02)), SIZE, 0).values()
    assert small.std() == pytest.approx(0.02, rel=0.05)
    np.testing.assert_allclose(small, 0.02 * wide, rtol=1e-6)  # both are rounded to float32


@pytest.mark.parametrize("std", [0, -0.02, float("nan"), float("inf"), "0.02", True, None])
def test_a_deviation_that_is_none_is_refused(std: Any) -> None:
    """What is no number above 0 is named."""
    for make in (lambda nn: nn.Embedding(11, 4, std=std), lambda nn: nn.Parameter((2, 3), std=std)):
        assert f"std={std!r}: it is the standard deviation" in fault(model(a=make))


@pytest.mark.parametrize("name", ["gpt2", "bert-base"])
def test_language_models_begin_as_their_sources_do(name: str) -> None:
    """Embeddings of tokens, positions and segments are drawn with 0.02, so that logits are not in the hundreds."""
    loaded = load(name)
    found = plan.parameters(loaded.build, loaded.size("reduced"))
    drawn = [one.spread for one in found.values() if one.distribution == "normal"]
    assert len(drawn) >= 2
    assert set(drawn) == {0.02}


def test_planning_imports_no_numpy() -> None:
    """Listing parameters needs no NumPy, so that listing workloads is quick."""
    code = (
        "import sys; from bakeoff.workloads import plan; from bakeoff.workloads.load import load;"
        "w = load('cnn-apx'); assert plan.parameters(w.build, w.size('full')); sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
