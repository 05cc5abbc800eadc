"""The work of a step, counted on the model: against the declared MACs, and against counts made by hand."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bakeoff.spec.optimizer import SGD, Adam, AdamW, Optimizer, RMSprop
from bakeoff.spec.workload import Size
from bakeoff.workloads.load import load, names
from bakeoff.workloads.work import work_of

SIZES = [(name, size) for name in names() for size in load(name).workload.sizes]


@pytest.mark.parametrize(("name", "size"), SIZES)
def test_the_forward_pass_is_the_declared_one(name: str, size: str) -> None:
    """The MACs of every shipped model's forward pass are those that its workload declares."""
    loaded = load(name)
    one = msgspec.structs.replace(loaded.size(size), batch_size=1)
    counts = [work_of(loaded.build, one, scenario, None) for scenario in ("infer", "train")]
    infer, train = (work for work in counts if work is not None)
    # An auxiliary head, and that of the next sentence, is declared with the rest, and runs in training alone.
    has_second = one.config.get("auxiliary") or name == "bert-base"
    assert infer.macs == one.macs or (has_second and infer.macs < one.macs)
    # Behind an embedding every operand depends on a parameter; images need no gradient.
    # A step that collects before its updates computes a part of that once, and the rest in each.
    least, most = (1, 3 * one.updates) if one.collected else (2, 3)
    assert least * one.macs <= train.macs <= most * one.macs
    assert infer.least_macs <= infer.macs


def perceptron(nn: Any, size: Size) -> Any:
    """Make two linear layers, and a mixture of their outputs by a product of matrices."""
    del size

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(8, 4)
            self.second = nn.Linear(4, 4, bias=False)

        def forward(self, x: Any) -> Any:
            x = self.second(nn.relu(self.first(x)))
            return nn.matmul(x, nn.permute_dims(x, (1, 0)))

    return Model()


@pytest.mark.parametrize(
    ("frozen", "gradients"),
    [
        (("first.*",), {"second": 1, "mixed": 2}),
        (("first.weight",), {"second": 2, "mixed": 2}),
        (("second.*",), {"first": 1, "second": 1, "mixed": 2}),
    ],
)
def test_gradients_of_frozen_weights_are_not_counted(frozen: tuple[str, ...], gradients: dict[str, int]) -> None:
    """A frozen beginning takes no backward pass, a frozen bias or a layer in between that of its inputs alone."""
    size = Size(batch_size=2, input_shape=(8,), classes=2)
    train = work_of(perceptron, size, "train", Adam(learning_rate=1e-3, frozen=frozen))
    products = {"first": 2 * 8 * 4, "second": 2 * 4 * 4, "mixed": 2 * 2 * 4}
    assert train.macs == sum(macs * (1 + gradients.get(name, 0)) for name, macs in products.items())
    assert train.state == 2 * (train.parameters - train.frozen)
    assert train.frozen == {"first.*": 36, "first.weight": 32, "second.*": 16}[frozen[0]]


def test_a_training_step_is_counted_by_hand() -> None:
    """Each product once forward, once for its weight, once for an input that depends on a parameter: not the batch."""
    size = Size(batch_size=2, input_shape=(8,), classes=2)
    infer = work_of(perceptron, size, "infer", Adam(learning_rate=1e-3))
    train = work_of(perceptron, size, "train", Adam(learning_rate=1e-3))
    assert infer is not None
    assert train is not None
    first, second, mixed = 2 * 8 * 4, 2 * 4 * 4, 2 * 2 * 4
    assert infer.macs == first + second + mixed
    assert train.macs == 2 * first + 3 * second + 3 * mixed
    assert train.parameters == 8 * 4 + 4 + 4 * 4
    assert (infer.state, train.state) == (0, 2 * train.parameters)
    assert (infer.batch_bytes, train.batch_bytes) == (4 * 16, 4 * 16 + 4 * 2)


def products(nn: Any, size: Size) -> Any:
    """Make two linear layers, and a mixture of what they give with the batch by a formula of three arrays."""
    del size

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(8, 4)
            self.second = nn.Linear(8, 3)

        def forward(self, x: Any) -> Any:
            return nn.einsum("bi,bj,bk->jk", x[:, :2], self.first(x), self.second(x))

    return Model()


def test_a_formula_is_counted_in_its_best_order() -> None:
    """A letter that one array alone has is added up before; two at a time the rest takes the fewest products."""
    size = Size(batch_size=5, input_shape=(8,), classes=3)
    infer, train = (work_of(products, size, scenario, None) for scenario in ("infer", "train"))
    assert infer is not None
    assert train is not None
    layers, scaled, mixed = 5 * 8 * (4 + 3), 5 * 3, 5 * 4 * 3
    assert infer.macs == infer.least_macs == layers + scaled + mixed
    assert train.macs == 2 * layers + 2 * scaled + 3 * mixed


def convolution(nn: Any, size: Size) -> Any:
    """Make one convolution of 3 x 3."""
    del size

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.only = nn.Conv2d(3, 5, 3, stride=2, padding=1)

        def forward(self, x: Any) -> Any:
            return nn.global_avg_pool2d(self.only(x))

    return Model()


def test_a_convolution_may_be_computed_with_fewer_multiplications() -> None:
    """At least one multiplication for each output and pair of channels is left by the fastest algorithms."""
    work = work_of(convolution, Size(batch_size=1, input_shape=(8, 8, 3), classes=5), "train", SGD(learning_rate=0.1))
    assert work is not None
    assert work.macs == 2 * 4 * 4 * 9 * 3 * 5
    assert work.least_macs == 2 * 4 * 4 * 3 * 5
    assert work.state == 0


@pytest.mark.parametrize(
    ("optimizer", "arrays"),
    [
        (SGD(learning_rate=0.1), 0),
        (SGD(learning_rate=0.1, momentum=0.9), 1),
        (RMSprop(learning_rate=0.1), 1),
        (RMSprop(learning_rate=0.1, momentum=0.9), 2),
        (Adam(learning_rate=0.1), 2),
        (AdamW(learning_rate=0.1), 2),
    ],
)
def test_what_an_optimiser_keeps_is_read_and_written(optimizer: Optimizer, arrays: int) -> None:
    """By the formula: a velocity, a mean of squares, or both, of every parameter."""
    work = work_of(convolution, Size(batch_size=1, input_shape=(8, 8, 3), classes=5), "train", optimizer)
    assert work is not None
    assert work.state == arrays * work.parameters
