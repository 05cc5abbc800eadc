"""Inception v3 on 299 x 299 colour images, 1000 classes: blocks of parallel convolutions, each with BatchNorm.

A stem of five convolutions and two poolings, three blocks of up to 5x5 convolutions, one that halves the map, four of
1x7 and 7x1, one that halves it, two of 1x3 beside 3x1; then the mean over height and width, Dropout 0.5, and Linear to
the classes. BatchNorm has epsilon 1e-3, a scale, and momentum 0.1; means over 3x3 do not count the padding. Mean
cross-entropy; SGD with momentum 0.9, L2 of 1e-4, learning rate 0.0005: in a network this deep, without residuals, the
gradients of the first layers start large, and at 0.0025 every step magnifies rounding tenfold.

The size `full-auxiliary` has the auxiliary head too: in training, and only there, its cross-entropy counts with weight
0.4. Its MACs are those in training; in evaluation they are those of `full`.

Source: Szegedy et al., arXiv 1512.00567, and torchvision's inception_v3 for the blocks. Where implementations part:
the BatchNorm of keras and of the TensorFlow benchmarks has no scale, the latter take a maximum in the last block,
torchvision counts the padding in its means. Weight 0.4: the TensorFlow benchmarks. Batch 64: Dai et al., "Reveal
training performance mystery between TensorFlow and PyTorch" (2022), who name neither auxiliary head nor optimiser.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

_BLOCKS: dict[str, Any] = {"narrowed": 1, "pooled": (32, 64, 64), "tall": (128, 160, 160, 192), "forked": 2}

WORKLOAD = Workload(
    name="inceptionv3",
    summary="Inception v3 on 299 x 299 colour images: many small parallel convolutions",
    source="Szegedy et al., arXiv 1512.00567, blocks as in torchvision; batch of Dai et al. 2022, table 2",
    sizes={
        "full": Size(
            batch_size=64,
            input_shape=(299, 299, 3),
            classes=1000,
            parameters=23_834_568,
            macs=5_713_216_096,
            config=_BLOCKS | {"auxiliary": ()},
        ),
        "full-auxiliary": Size(
            batch_size=64,
            input_shape=(299, 299, 3),
            classes=1000,
            parameters=27_161_264,
            macs=5_718_899_296,
            config=_BLOCKS | {"auxiliary": (5, 3)},
        ),
        # One block of each kind, an eighth of the channels, and images for which a smaller pooling leaves the auxiliary
        # head the map of at least 5 x 5 that it takes.
        "reduced": Size(
            batch_size=4,
            input_shape=(139, 139, 3),
            classes=10,
            parameters=209_184,
            macs=9_922_300,
            config={"narrowed": 8, "pooled": (64,), "tall": (192,), "forked": 1, "auxiliary": (2, 1)},
        ),
    },
    optimizer=SGD(learning_rate=0.0005, momentum=0.9, weight_decay=1e-4),
)

_AUXILIARY_WEIGHT = 0.4
_DROPPED = 0.5
_EPSILON = 1e-3


class Conv(NamedTuple):
    """A convolution without bias, BatchNorm and ReLU; `padded` keeps the map's size but for the stride."""

    outputs: int
    kernel: tuple[int, int] = (1, 1)
    stride: int = 1
    padded: bool = True


MEAN, LARGEST = "mean of 3x3", "largest of 3x3, stride 2"
Step = Any
"""Conv, MEAN, LARGEST, or a list of paths, each a list of steps, that start from one map and are joined by channels."""

_STEM = [
    Conv(32, (3, 3), 2, padded=False),
    Conv(32, (3, 3), padded=False),
    Conv(64, (3, 3)),
    LARGEST,
    Conv(80),
    Conv(192, (3, 3), padded=False),
    LARGEST,
]
_HALVING = [
    [Conv(384, (3, 3), 2, padded=False)],
    [Conv(64), Conv(96, (3, 3)), Conv(96, (3, 3), 2, padded=False)],
    [LARGEST],
]
_LAST_HALVING = [
    [Conv(192), Conv(320, (3, 3), 2, padded=False)],
    [Conv(192), Conv(192, (1, 7)), Conv(192, (7, 1)), Conv(192, (3, 3), 2, padded=False)],
    [LARGEST],
]
_FORK = [[Conv(384, (1, 3))], [Conv(384, (3, 1))]]
_FORKED = [[Conv(320)], [Conv(384), _FORK], [Conv(448), Conv(384, (3, 3)), _FORK], [MEAN, Conv(192)]]


def _small(pooled: int) -> Step:
    """Give a block of up to 5x5."""
    return [
        [Conv(64)],
        [Conv(48), Conv(64, (5, 5))],
        [Conv(64), Conv(96, (3, 3)), Conv(96, (3, 3))],
        [MEAN, Conv(pooled)],
    ]


def _tall(inner: int) -> Step:
    """Give a block of 1x7 and 7x1."""
    wide, tall = Conv(inner, (1, 7)), Conv(inner, (7, 1))
    return [
        [Conv(192)],
        [Conv(inner), wide, Conv(192, (7, 1))],
        [Conv(inner), tall, wide, tall, Conv(192, (1, 7))],
        [MEAN, Conv(192)],
    ]


def build(nn: Any, size: Size) -> Any:
    """Make the model: (batch, 299, 299, 3) to logits (batch, classes), in training with those of the auxiliary head."""
    config: Any = size.config
    path = _path(nn, _conv_norm(nn, config["narrowed"]))

    class Auxiliary(nn.Module):
        def __init__(self, inputs: int, kernel: int, stride: int) -> None:
            super().__init__()
            self.kernel, self.stride = kernel, stride
            self.path = path(inputs, [Conv(128), Conv(768, (5, 5), padded=False)])
            self.head = nn.Linear(self.path.outputs, size.classes)

        def forward(self, x: Any) -> Any:
            return self.head(nn.global_avg_pool2d(self.path(nn.avg_pool2d(x, self.kernel, stride=self.stride))))

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            small, tall = map(_small, config["pooled"]), map(_tall, config["tall"])
            self.early = path(size.input_shape[-1], [*_STEM, *small, _HALVING, *tall])
            self.late = path(self.early.outputs, [_LAST_HALVING, *[_FORKED] * config["forked"]])
            self.dropout = nn.Dropout(_DROPPED)
            self.head = nn.Linear(self.late.outputs, size.classes)
            self.auxiliary = Auxiliary(self.early.outputs, *config["auxiliary"]) if config["auxiliary"] else None

        def forward(self, x: Any) -> Any:
            early = self.early(x)
            logits = self.head(self.dropout(nn.global_avg_pool2d(self.late(early))))
            if self.auxiliary is not None and nn.in_training(self):
                return logits, self.auxiliary(early)
            return logits

    return Network()


def _conv_norm(nn: Any, narrowed: int) -> Any:
    """Make the class of a convolution with BatchNorm and ReLU; a reduced size has fewer channels."""

    class ConvNorm(nn.Module):
        def __init__(self, inputs: int, conv: Conv) -> None:
            super().__init__()
            height, width = conv.kernel
            padding = (height // 2, width // 2) if conv.padded else 0
            self.outputs = conv.outputs // narrowed
            self.conv = nn.Conv2d(inputs, self.outputs, conv.kernel, stride=conv.stride, padding=padding, bias=False)
            self.norm = nn.BatchNorm(self.outputs, momentum=0.1, epsilon=_EPSILON)

        def forward(self, x: Any) -> Any:
            return nn.relu(self.norm(self.conv(x)))

    return ConvNorm


def _path(nn: Any, conv_norm: Any) -> Any:
    """Make the class of a path, which is steps one after another."""

    class Path(nn.Module):
        def __init__(self, inputs: int, steps: list[Step]) -> None:
            super().__init__()
            layers = []
            for step in steps:
                layers.append(kinds[type(step)](inputs, step))
                inputs = layers[-1].outputs
            self.layers = nn.ModuleList(layers)
            self.outputs = inputs

        def forward(self, x: Any) -> Any:
            for layer in self.layers:
                x = layer(x)
            return x

    class Pool(nn.Module):
        def __init__(self, inputs: int, kind: str) -> None:
            super().__init__()
            self.outputs, self.kind = inputs, kind

        def forward(self, x: Any) -> Any:
            if self.kind == MEAN:
                return nn.avg_pool2d(x, 3, stride=1, padding=1)
            return nn.max_pool2d(x, 3, stride=2)

    class Block(nn.Module):
        def __init__(self, inputs: int, paths: list[list[Step]]) -> None:
            super().__init__()
            self.paths = nn.ModuleList([Path(inputs, steps) for steps in paths])
            self.outputs = sum(path.outputs for path in self.paths)

        def forward(self, x: Any) -> Any:
            return nn.concat_channels([path(x) for path in self.paths])

    kinds = {Conv: conv_norm, str: Pool, list: Block}
    return Path


def loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Give the mean cross-entropy over the batch, and 0.4 times that of the auxiliary head where it has computed."""
    if not isinstance(outputs, tuple):
        return nn.cross_entropy(outputs, targets)
    logits, auxiliary = outputs
    return nn.cross_entropy(logits, targets) + _AUXILIARY_WEIGHT * nn.cross_entropy(auxiliary, targets)
