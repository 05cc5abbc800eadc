"""EfficientNet-B0 on 224 x 224 colour images, 1000 classes: inverted residuals with squeeze-and-excitation.

A 3x3 convolution of stride 2; seven stages of blocks, each of which widens its map six times by a 1x1 convolution (the
first stage's does not), filters every channel by itself with a kernel of 3 or 5, weighs the channels, and narrows the
map again; a 1x1 convolution to 1280 channels; the mean over height and width; dropout; Linear to the classes. A block
that keeps its map's shape adds its input, and is itself left out at a rate that rises from block to block towards 0.2.
Each convolution has a BatchNorm, and SiLU behind it but where a block narrows. Mean cross-entropy.

Source: Tan and Le, arXiv 1905.11946, table 1; padding on both sides and BatchNorm (momentum 0.1, epsilon 1e-5) as in
torchvision's efficientnet_b0, where the authors' code has 0.01 and 1e-3. RMSProp with decay 0.9, momentum 0.9 and
weight decay 1e-5, and a rate of 0.256 times 0.97 every 2.4 epochs, are the paper's; the authors' code has epsilon 1e-3,
and 0.016 for each 256 images, which is 0.004 for our batch of 64, and decays all but BatchNorm's parameters. Its
RMSProp, TensorFlow 1's, adds epsilon inside the root, has the rate inside the momentum and begins its mean of squares
at 1; bakeoff's is PyTorch's. Left out is what stands beside the step: changed images, averaged weights, a warm-up and
smoothed labels.
"""

from __future__ import annotations

from typing import NamedTuple

from bakeoff.spec.optimizer import RMSprop
from bakeoff.spec.schedule import Exponential
from bakeoff.spec.workload import Size, Workload

STEPS_TO_DECAY = 48_044
"""2.4 epochs of 1,281,167 images in batches of 64."""

WORKLOAD = Workload(
    name="efficientnet-b0",
    summary="EfficientNet-B0 on 224 x 224 colour images: depthwise convolutions with squeeze-and-excitation",
    source="Tan and Le, arXiv 1905.11946, BatchNorm and padding as in torchvision",
    sizes={
        "full": Size(
            batch_size=64,
            input_shape=(224, 224, 3),
            classes=1000,
            parameters=5_288_548,
            config={
                "stem": 32,
                "counts": (1, 2, 2, 3, 3, 4, 1),
                "outputs": (16, 24, 40, 80, 112, 192, 320),
                "kernels": (3, 3, 5, 3, 5, 5, 3),
                "strides": (1, 2, 2, 2, 1, 2, 1),
                "expansions": (1, 6, 6, 6, 6, 6, 6),
                "last": 1280,
                "dropout": 0.2,
                "stochastic_depth": 0.2,
            },
        ),
        "reduced": Size(
            batch_size=4,
            input_shape=(32, 32, 3),
            classes=10,
            config={
                "stem": 16,
                "counts": (1, 2, 2),
                "outputs": (8, 12, 16),
                "kernels": (3, 3, 5),
                "strides": (1, 2, 1),
                "expansions": (1, 6, 6),
                "last": 32,
                "dropout": 0.2,
                "stochastic_depth": 0.2,
            },
        ),
    },
    optimizer=RMSprop(
        learning_rate=0.016 * 64 / 256,
        decay=0.9,
        epsilon=1e-3,
        momentum=0.9,
        weight_decay=1e-5,
        no_decay=("*norm.scale", "*norm.bias"),
        schedule=Exponential(every=STEPS_TO_DECAY, factor=0.97, staircase=True),
    ),
)


class Block(NamedTuple):
    """What one block is made of."""

    inputs: int
    outputs: int
    kernel: int
    stride: int
    expansion: int
    rate: float

    @property
    def adds(self):
        """Return whether the block adds its input."""
        return self.stride == 1 and self.inputs == self.outputs


def build(nn, size):
    """Make the model: images (batch, height, width, 3) to logits (batch, classes)."""
    config = size.config
    conv_norm = _conv_norm(nn)
    inverted = _inverted(nn, conv_norm)
    blocks = _blocks(config)

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = conv_norm(size.input_shape[-1], config["stem"], 3, stride=2)
            self.blocks = nn.ModuleList([inverted(block) for block in blocks])
            self.last = conv_norm(blocks[-1].outputs, config["last"], 1)
            self.dropout = nn.Dropout(config["dropout"])
            self.head = nn.Linear(config["last"], size.classes)

        def forward(self, x):
            x = nn.silu(self.stem(x))
            for block in self.blocks:
                x = block(x)
            x = nn.global_avg_pool2d(nn.silu(self.last(x)))
            return self.head(self.dropout(x))

    return Classifier()


def _blocks(config):
    """Return what every block is made of, the first of a stage with the stage's stride."""
    blocks, inputs, total = [], config["stem"], sum(config["counts"])
    columns = [config[name] for name in ("counts", "outputs", "kernels", "strides", "expansions")]
    for count, outputs, kernel, stride, expansion in zip(*columns, strict=True):
        for place in range(count):
            rate = config["stochastic_depth"] * len(blocks) / total
            blocks.append(Block(inputs, outputs, kernel, stride if place == 0 else 1, expansion, rate))
            inputs = outputs
    return blocks


def _conv_norm(nn):
    """Make the class of a convolution with its BatchNorm."""

    class ConvNorm(nn.Module):
        def __init__(self, inputs, outputs, kernel, stride=1, groups=1):
            super().__init__()
            padding = kernel // 2
            self.conv = nn.Conv2d(inputs, outputs, kernel, stride=stride, padding=padding, groups=groups, bias=False)
            self.norm = nn.BatchNorm(outputs, momentum=0.1, epsilon=1e-5)

        def forward(self, x):
            return self.norm(self.conv(x))

    return ConvNorm


def _inverted(nn, conv_norm):
    """Make the class of one block."""

    class Inverted(nn.Module):
        def __init__(self, block):
            super().__init__()
            width = block.inputs * block.expansion
            squeezed = max(1, block.inputs // 4)
            self.expand = conv_norm(block.inputs, width, 1) if block.expansion > 1 else None
            self.depthwise = conv_norm(width, width, block.kernel, stride=block.stride, groups=width)
            self.squeeze = nn.Linear(width, squeezed)
            self.excite = nn.Linear(squeezed, width)
            self.project = conv_norm(width, block.outputs, 1)
            self.stochastic_depth = nn.StochasticDepth(block.rate) if block.adds else None

        def forward(self, x):
            inner = nn.silu(self.expand(x)) if self.expand is not None else x
            inner = nn.silu(self.depthwise(inner))
            weights = nn.sigmoid(self.excite(nn.silu(self.squeeze(nn.global_avg_pool2d(inner)))))
            inner = self.project(inner * nn.per_channel(weights))
            return x + self.stochastic_depth(inner) if self.stochastic_depth is not None else inner

    return Inverted


def loss(nn, outputs, targets):
    """Return the mean cross-entropy over the batch."""
    return nn.cross_entropy(outputs, targets)
