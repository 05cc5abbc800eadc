from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from workload_shapes import macs

from bakeoff.workloads import plan
from bakeoff.workloads.load import load


def given_to(layer: str, workload: str) -> set[tuple[Any, ...]]:
    """Give what a full-size model hands to a layer beside its width, every distinct one."""
    kind = getattr(plan._VOCABULARY, layer)
    found = set()

    def made(*args: Any, **kwargs: Any) -> Any:
        found.add((*args[layer != "Dropout" :], *sorted(kwargs.items())))
        return kind(*args, **kwargs)

    loaded = load(workload)
    loaded.build(SimpleNamespace(**vars(plan._VOCABULARY) | {layer: made}), loaded.size("full"))
    return found


@pytest.mark.parametrize(
    ("workload", "layer", "expected"),
    [
        ("resnet50", "BatchNorm", {(("epsilon", 1e-5), ("momentum", 0.1))}),
        ("resnet50-cifar10", "BatchNorm", {(("epsilon", 1e-5), ("momentum", 0.1))}),
        ("inceptionv3", "BatchNorm", {(("epsilon", 1e-3), ("momentum", 0.1))}),
        ("vgg16", "BatchNorm", set()),
        ("vit-b16", "LayerNorm", {(("epsilon", 1e-6),)}),
        ("vgg16", "Dropout", {(0.5,)}),
        ("inceptionv3", "Dropout", {(0.5,)}),
        ("resnet50", "Dropout", set()),
        ("vit-b16", "Dropout", set()),
    ],
)
def test_normalisation_and_dropout_are_the_declared_ones(workload: str, layer: str, expected: Any) -> None:
    """Epsilon, momentum and rate, in which libraries differ, are handed over by every layer and never a default."""
    assert given_to(layer, workload) == expected


def test_the_auxiliary_head_costs_nothing_in_evaluation() -> None:
    """Inception's auxiliary head is there in training only: in evaluation the work is that of the model without it."""
    loaded = load("inceptionv3")
    without, with_it = loaded.size("full"), loaded.size("full-auxiliary")
    assert macs(loaded.build, with_it, training=False) == without.macs == macs(loaded.build, without, training=False)
    assert macs(loaded.build, with_it) > without.macs


def test_the_strides_of_v1_are_another_count() -> None:
    """A ResNet-50 whose stages have their stride in the first 1x1 has 3,857,973,248 MACs: not what is declared."""
    loaded = load("resnet50")
    text = loaded.path.read_text().replace("ConvNorm(inputs, width, 1)", "ConvNorm(inputs, width, 1, stride)")
    other: dict[str, Any] = {"__name__": "v1"}
    exec(compile(text.replace("ConvNorm(width, width, 3, stride)", "ConvNorm(width, width, 3)"), "v1", "exec"), other)  # noqa: S102 - the shipped file itself
    assert macs(other["build"], loaded.size("full")) == 3_857_973_248 < loaded.size("full").macs


@pytest.mark.parametrize(
    ("workload", "biases", "told"),
    [
        ("deepspeech2", 2, "86,618,400"),
        ("tacotron2", 1, "26,085,761"),
        ("gnmt", 1, "160,634,433"),
        ("imdb-lstm", 2, "1,081,402"),
    ],
)
def test_the_other_choice_of_biases_is_the_count_that_is_told(workload: str, biases: int, told: str) -> None:
    """A file tells how many parameters its LSTMs would have with the other choice of biases; counted, it is that."""
    loaded = load(workload)

    def with_biases(layer: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(plan._VOCABULARY, layer)(*args, **kwargs | {"biases": biases})

    layers = {layer: partial(with_biases, layer) for layer in ("LSTM", "LSTMCell")}
    nn = SimpleNamespace(**vars(plan._VOCABULARY) | layers)
    arrays = plan.parameters(lambda _, size: loaded.build(nn, size), loaded.size("full"))
    assert f"{sum(array.count for array in arrays.values()):,}" == told
    assert told in loaded.path.read_text()
