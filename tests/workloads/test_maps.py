"""Convolutions, norms, pools and sizes over shapes: what they give, what they count, and what they refuse."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size
from bakeoff.workloads import plan
from bakeoff.workloads.interpreter import vocabulary
from bakeoff.workloads.layers import NAMED_PADDINGS
from bakeoff.workloads.shape_functions import Counter
from bakeoff.workloads.shapes import LayoutError, Shape
from bakeoff.workloads.work import work_of

MAP = Shape((4, 9, 7, 6), kind="map")
SEQUENCE = Shape((4, 11, 6))
VECTOR = Shape((4, 6))


def nn() -> SimpleNamespace:
    """Return the vocabulary over shapes."""
    return vocabulary(Counter(), trains=True)


@pytest.mark.parametrize(
    ("give", "shape", "kind"),
    [
        (lambda nn: nn.Conv1d(6, 8, 3)(SEQUENCE), (4, 9, 8), "array"),
        (lambda nn: nn.Conv1d(6, 8, 3, stride=2, padding=2, dilation=2, groups=2)(SEQUENCE), (4, 6, 8), "array"),
        (lambda nn: nn.Conv2d(6, 8, 3, stride=(2, 1), padding=(1, 0))(MAP), (4, 5, 5, 8), "map"),
        (lambda nn: nn.Conv2d(6, 6, (3, 2), dilation=(2, 3), groups=6)(MAP), (4, 5, 4, 6), "map"),
        (lambda nn: nn.ConvTranspose2d(6, 2, 4, stride=2, padding=1)(MAP), (4, 18, 14, 2), "map"),
        (lambda nn: nn.ConvTranspose2d(6, 2, (3, 2), (3, 1), (0, 1), (2, 0))(MAP), (4, 29, 6, 2), "map"),
        (lambda nn: nn.BatchNorm(6)(SEQUENCE), (4, 11, 6), "array"),
        (lambda nn: nn.GroupNorm(3, 6)(MAP), (4, 9, 7, 6), "map"),
        (lambda nn: nn.GroupNorm(3, 6)(SEQUENCE), (4, 11, 6), "array"),
        (lambda nn: nn.ChannelNorm(6)(MAP), (4, 9, 7, 6), "map"),
        (lambda nn: nn.RMSNorm(6)(VECTOR), (4, 6), "array"),
        (lambda nn: nn.StochasticDepth(0.1)(MAP), (4, 9, 7, 6), "map"),
        (lambda nn: nn.max_pool2d(MAP, (3, 2), (2, 1), (1, 0)), (4, 5, 6, 6), "map"),
        (lambda nn: nn.avg_pool2d(MAP, 3, count_padding=True), (4, 3, 2, 6), "map"),
        (lambda nn: nn.max_pool1d(SEQUENCE, 3, 2, 1), (4, 6, 6), "array"),
        (lambda nn: nn.max_pool1d(SEQUENCE, 4, 3, 0, ceil_mode=True), (4, 4, 6), "array"),
        (lambda nn: nn.max_pool2d(MAP, 2, ceil_mode=True), (4, 5, 4, 6), "map"),
        (lambda nn: nn.max_pool2d(MAP, (10, 8), (2, 2), ceil_mode=True), (4, 1, 1, 6), "map"),
        (lambda nn: nn.avg_pool2d(MAP, (2, 3), (4, 5), (1, 1), ceil_mode=True), (4, 3, 2, 6), "map"),
        (lambda nn: nn.adaptive_avg_pool2d(MAP, (2, 5)), (4, 2, 5, 6), "map"),
        (lambda nn: nn.resize(MAP, (18, 7), "nearest"), (4, 18, 7, 6), "map"),
        (lambda nn: nn.resize(MAP, (4, 10), "bilinear"), (4, 4, 10, 6), "map"),
        (lambda nn: nn.pad2d(MAP, ((1, 0), (2, 3))), (4, 10, 12, 6), "map"),
        (lambda nn: nn.pad2d(MAP, ((8, 0), (6, 3)), "reflect"), (4, 17, 16, 6), "map"),
        (lambda nn: nn.pad2d(MAP, ((9, 0), (0, 0)), mode="replicate"), (4, 18, 7, 6), "map"),
        (lambda nn: nn.from_tokens(nn.tokens(MAP), (7, 9)), (4, 7, 9, 6), "map"),
        (lambda nn: MAP * nn.per_channel(VECTOR), (4, 9, 7, 6), "map"),
        (lambda nn: MAP + nn.per_channel(VECTOR[0]), (4, 9, 7, 6), "map"),
        (lambda nn: nn.split_channels(MAP, (1, 5))[1], (4, 9, 7, 5), "map"),
        (lambda nn: nn.channel_shuffle(MAP, 3), (4, 9, 7, 6), "map"),
    ],
)
def test_the_shape_of_the_result(give: Any, shape: tuple[int, ...], kind: str) -> None:
    """Every name gives the shape that its frameworks give (held against NumPy in the contract), and says what it is."""
    found = give(nn())
    assert (found.shape, found.kind) == (shape, kind)


@pytest.mark.parametrize(
    ("give", "told"),
    [
        (lambda nn: nn.Conv1d(6, 8, 3)(MAP), "nn.tokens(x)"),
        (lambda nn: nn.Conv1d(6, 8, 3)(VECTOR), "takes (batch, length, features)"),
        (lambda nn: nn.Conv1d(5, 8, 3)(SEQUENCE), "made for 5, given 6"),
        (lambda nn: nn.Conv1d(6, 8, 7, dilation=2)(SEQUENCE), "a window of 13 is larger"),
        (lambda nn: nn.Conv2d(6, 8, 3, groups=2)(Shape((4, 9, 7, 3), kind="map")), "made for 6, given 3"),
        (lambda nn: nn.Conv2d(6, 8, 4, dilation=3)(MAP), "a window of 10 is larger"),
        (lambda nn: nn.ConvTranspose2d(6, 2, 2)(SEQUENCE), "takes a feature map"),
        (lambda nn: nn.ConvTranspose2d(6, 2, 2, padding=9)(MAP), "nothing is left"),
        (lambda nn: nn.BatchNorm(6)(Shape((4, 2, 3, 6))), "(batch, length, features)"),
        (lambda nn: nn.GroupNorm(2, 6)(VECTOR), "takes a feature map or (batch, length, features)"),
        (
            lambda nn: nn.Conv2d(3, 8, 3)(Shape((2, 3, 32, 32), kind="map")),
            "declared with channels last, (32, 32, 3)",
        ),
        (lambda nn: nn.ConvTranspose2d(3, 8, 3)(Shape((2, 3, 8, 9), kind="map")), "channels last, (8, 9, 3)"),
        (lambda nn: nn.GroupNorm(2, 4)(MAP), "made for 4, given 6"),
        (lambda nn: nn.ChannelNorm(6)(SEQUENCE), "takes a feature map"),
        (lambda nn: nn.RMSNorm(6)(MAP), "which axis holds its channels"),
        (lambda nn: nn.max_pool2d(MAP, 3, padding=2), "more than half of the window"),
        (lambda nn: nn.max_pool2d(MAP, (1, 8)), "a window of 8 is larger"),
        (lambda nn: nn.max_pool2d(MAP, 2, stride=0), "stride=0"),
        (lambda nn: nn.avg_pool2d(MAP, 2, 2, 0, 1), "count_padding=1"),
        (lambda nn: nn.max_pool2d(MAP, 2, ceil_mode="yes"), "nn.max_pool2d: ceil_mode='yes': it must be True or False"),
        (lambda nn: nn.max_pool1d(SEQUENCE, 2, 2, 0, 1), "nn.max_pool1d: ceil_mode=1"),
        (lambda nn: nn.max_pool2d(MAP, 12, 2, ceil_mode=True), "a window of 12 is larger"),
        (lambda nn: nn.max_pool1d(MAP, 2), "nn.tokens(x)"),
        (lambda nn: nn.max_pool1d(SEQUENCE, (2, 2)), "kernel=(2, 2)"),
        (lambda nn: nn.adaptive_avg_pool2d(MAP, (0, 2)), "size=0"),
        (lambda nn: nn.resize(MAP, (10, 7), "nearest"), "whole factors only"),
        (lambda nn: nn.resize(MAP, (10, 7), "bicubic"), "nearest and bilinear"),
        (lambda nn: nn.resize(MAP, [18, 14], "nearest"), "size=[18, 14]: it must be a whole number or a tuple of two"),
        (lambda nn: nn.pad2d(MAP, 1), "((top, bottom), (left, right))"),
        (lambda nn: nn.pad2d(MAP, ((0, 0), (0, -1))), "sides=-1"),
        (lambda nn: nn.pad2d(MAP, ((0, 0), (0, 7)), "reflect"), "reflects at most 6 places"),
        (lambda nn: nn.pad2d(MAP, ((0, 0), (0, 1)), "circular"), "it has zeros, reflect, replicate"),
        (lambda nn: nn.from_tokens(SEQUENCE, (3, 4)), "3 x 4 places are 12 tokens"),
        (lambda nn: nn.per_channel(SEQUENCE), "(channels,) or (batch, channels)"),
        (lambda nn: MAP * nn.per_channel(Shape((5,))), "do not fit"),
        (lambda nn: nn.split_channels(MAP, (2, 3)), "these are 5 channels"),
        (lambda nn: nn.channel_shuffle(MAP, 4), "channels=6 cannot be divided"),
        (lambda nn: nn.map_size(SEQUENCE), "nn.map_size takes a feature map"),
    ],
)
def test_mistakes_are_told(give: Any, told: str) -> None:
    """A kind, a shape or an argument that a name has no meaning for is refused with what to do, or what is wrong."""
    with pytest.raises((LayoutError, ValueError), match=re.escape(told)):
        give(nn())


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda nn: nn.Conv1d(4, 6, (3,)), "kernel=(3,)"),
        (lambda nn: nn.Conv1d(4, 6, 3, groups=4), "out_channels=6 cannot be divided"),
        (lambda nn: nn.Conv2d(4, 6, 3, dilation=True), "dilation=True"),
        (lambda nn: nn.Conv2d(4, 8, 3, groups=8), "in_channels=4 cannot be divided"),
        (lambda nn: nn.Conv2d(4, 8, 3, dilation=(1, 0)), "dilation=0"),
        (lambda nn: nn.ConvTranspose2d(4, 8, 3, stride=2, output_padding=2), "must be below the stride"),
        (lambda nn: nn.GroupNorm(4, 6), "features=6 cannot be divided"),
        (lambda nn: nn.RMSNorm(6, epsilon=0.0), "epsilon=0.0"),
        (lambda nn: nn.StochasticDepth(1.0), "rate=1.0"),
        (
            lambda nn: nn.Conv2d(6, 8, 3, padding="same"),
            "same of a convolution of stride 1 and an odd kernel",
        ),
        (lambda nn: nn.Conv1d(6, 8, 3, padding="CAUSAL"), "causal is nn.pad(x, ((0, 0), (dilation * (kernel - 1), 0)"),
        (lambda nn: nn.Conv2d(6, 8, (3, 3), padding="valid"), "at least 0; valid is 0"),
    ],
)
def test_wrong_arguments_are_refused_while_the_model_is_built(make: Any, told: str) -> None:
    """A layer refuses what no framework could make."""
    with pytest.raises(ValueError, match=re.escape(told)):
        make(plan._VOCABULARY)


@pytest.mark.parametrize(
    ("make", "shapes"),
    [
        (lambda nn: nn.Conv1d(4, 6, 3, groups=2), {"weight": (3, 2, 6), "bias": (6,)}),
        (lambda nn: nn.Conv2d(4, 8, (3, 1), groups=4, bias=False), {"weight": (3, 1, 1, 8)}),
        (lambda nn: nn.ConvTranspose2d(4, 6, 2), {"weight": (2, 2, 6, 4), "bias": (6,)}),
        (lambda nn: nn.GroupNorm(2, 6), {"scale": (6,), "bias": (6,)}),
        (lambda nn: nn.ChannelNorm(6), {"scale": (6,), "bias": (6,)}),
        (lambda nn: nn.RMSNorm(6), {"scale": (6,)}),
        (lambda nn: nn.StochasticDepth(0.5), {}),
    ],
)
def test_canonical_names_and_shapes(make: Any, shapes: dict[str, tuple[int, ...]]) -> None:
    """Every layer's parameters have their canonical names and layout."""
    assert {name: array.shape for name, array in make(plan._VOCABULARY).parameters.items()} == shapes


def of_one(layer: Any) -> Any:
    """Return the build function of a model of one layer."""

    def build(nn: Any, size: Size) -> Any:
        del size

        class Model(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.layer = layer(nn)

            def forward(self, x: Any) -> Any:
                return self.layer(x)

        return Model()

    return build


@pytest.mark.parametrize(
    ("layer", "shape", "macs", "saved"),
    [
        (lambda nn: nn.Conv2d(6, 8, 3, groups=2), (9, 7, 6), 7 * 5 * 9 * 3 * 8, 9),
        (lambda nn: nn.Conv2d(6, 6, 3, padding=1, groups=6), (9, 7, 6), 9 * 7 * 9 * 6, 9),
        (lambda nn: nn.Conv2d(6, 8, 3, stride=(2, 1), dilation=2), (9, 7, 6), 3 * 3 * 9 * 6 * 8, 9),
        (lambda nn: nn.Conv1d(6, 8, 5, stride=2), (11, 6), 4 * 5 * 6 * 8, 5),
        (lambda nn: nn.ConvTranspose2d(6, 8, 4, stride=2, padding=1), (9, 7, 6), 9 * 7 * 16 * 6 * 8, 16),
        (lambda nn: nn.GroupNorm(2, 6), (9, 7, 6), 0, 1),
    ],
)
def test_products_are_counted_by_hand(layer: Any, shape: tuple[int, ...], macs: int, saved: int) -> None:
    """One MAC for each weight that a place of the result sees; transposed, for each that sees a place of the input."""
    size = Size(batch_size=2, input_shape=shape, classes=2)
    infer = work_of(of_one(layer), size, "infer", None)
    train = work_of(of_one(layer), size, "train", SGD(learning_rate=0.1))
    assert infer is not None
    assert train is not None
    assert (infer.macs, infer.least_macs) == (2 * macs, 2 * macs // saved)
    assert train.macs == 2 * infer.macs  # the batch itself needs no gradient
    count = sum(array.count for array in plan.parameters(of_one(layer), size).values())
    assert train.parameters == (count if macs else 0)


def test_what_is_said_of_paddings_by_name_keeps_the_length() -> None:
    """Same keeps it at stride 1 with an odd kernel, causal with any, as the messages have it."""
    said = NAMED_PADDINGS["same"].partition(" is ")[2].partition(" where")[0].partition(". For")[0]
    for kernel, dilation in ((3, 1), (5, 2), (7, 3)):
        padding = eval(said, {"kernel": kernel, "dilation": dilation})  # noqa: S307 - ours
        same = nn().Conv1d(6, 8, kernel, padding=padding, dilation=dilation)
        assert same(SEQUENCE).dims == (4, 11, 8)
    before = NAMED_PADDINGS["causal"].partition("causal is ")[2].removesuffix(" before it")
    padded = eval(before, {"nn": nn(), "x": SEQUENCE, "kernel": 4, "dilation": 2})  # noqa: S307 - ours
    assert nn().Conv1d(6, 8, 4, dilation=2)(padded).dims == (4, 11, 8)


def test_stochastic_depth_drops() -> None:
    """A model with it draws its own losses, as one with Dropout does; at rate 0 it does not."""
    size = Size(batch_size=2, input_shape=(4, 4, 2), classes=2)
    assert plan.drops(of_one(lambda nn: nn.StochasticDepth(0.5)), size)
    assert not plan.drops(of_one(lambda nn: nn.StochasticDepth(0.0)), size)


def test_a_transposed_convolution_leads_back() -> None:
    """It goes from the shape that the convolution with the same arguments gives to the one that this was given."""
    shape = (4, 18, 14, 2)
    down = nn().Conv2d(2, 6, 4, stride=2, padding=1)(Shape(shape, kind="map"))
    assert nn().ConvTranspose2d(6, 2, 4, stride=2, padding=1)(down).shape == shape
