"""Blocks of networks for small devices and of ConvNeXt, one behind the other; of the tests only.

An inverted residual of MobileNetV2 (arXiv 1801.04381) with squeeze-and-excitation, one of MobileNetV3 (arXiv
1905.02244), a unit of ShuffleNet (arXiv 1807.11164), a block of ConvNeXt (arXiv 2201.03545) with layer scale and
stochastic depth, and an atrous convolution as in DeepLab (arXiv 1706.05587).
"""

from __future__ import annotations

from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

SIZE = Size(batch_size=4, input_shape=(16, 16, 3), classes=5)

WORKLOAD = Workload(
    name="mobile",
    summary="blocks with depthwise and dilated convolutions",
    source="written for the tests",
    sizes={"full": SIZE, "reduced": SIZE},
    optimizer=SGD(learning_rate=0.1),
)


def build(nn, size):  # noqa: C901 - a class for each block, and each forward counts as a branch
    """Return the network."""

    class Inverted(nn.Module):
        def __init__(self, channels, width):
            super().__init__()
            self.expand = nn.Conv2d(channels, width, 1, bias=False)
            self.expand_norm = nn.BatchNorm(width)
            self.depthwise = nn.Conv2d(width, width, 3, padding=1, groups=width, bias=False)
            self.depthwise_norm = nn.BatchNorm(width)
            self.squeeze = nn.Linear(width, 4)
            self.excite = nn.Linear(4, width)
            self.project = nn.Conv2d(width, channels, 1, bias=False)

        def forward(self, x):
            inner = nn.clip(self.expand_norm(self.expand(x)), 0.0, 6.0)
            inner = nn.clip(self.depthwise_norm(self.depthwise(inner)), 0.0, 6.0)
            share = nn.sigmoid(self.excite(nn.relu(self.squeeze(nn.global_avg_pool2d(inner)))))
            return x + self.project(inner * nn.per_channel(share))

    class Excited(nn.Module):
        def __init__(self, channels, width):
            super().__init__()
            self.expand = nn.Conv2d(channels, width, 1, bias=False)
            self.expand_norm = nn.BatchNorm(width)
            self.depthwise = nn.Conv2d(width, width, 5, padding=2, groups=width, bias=False)
            self.depthwise_norm = nn.BatchNorm(width)
            self.squeeze = nn.Linear(width, 4)
            self.excite = nn.Linear(4, width)
            self.project = nn.Conv2d(width, channels, 1, bias=False)
            self.project_norm = nn.BatchNorm(channels)

        def forward(self, x):
            inner = nn.hard_swish(self.expand_norm(self.expand(x)))
            inner = nn.hard_swish(self.depthwise_norm(self.depthwise(inner)))
            share = nn.hard_sigmoid(self.excite(nn.relu(self.squeeze(nn.global_avg_pool2d(inner)))))
            return x + self.project_norm(self.project(inner * nn.per_channel(share)))

    class Shuffled(nn.Module):
        def __init__(self, channels):
            super().__init__()
            half = channels // 2
            self.portion = half
            self.point = nn.Conv2d(half, half, 1)
            self.depthwise = nn.Conv2d(half, half, 3, padding=1, groups=half)

        def forward(self, x):
            kept, rest = nn.split_channels(x, (self.portion, self.portion))
            rest = self.depthwise(nn.relu(self.point(rest)))
            return nn.channel_shuffle(nn.concat_channels([kept, rest]), 2)

    class Next(nn.Module):
        def __init__(self, channels):
            super().__init__()
            self.depthwise = nn.Conv2d(channels, channels, 7, padding=3, groups=channels)
            self.norm = nn.ChannelNorm(channels)
            self.wide = nn.Linear(channels, 4 * channels)
            self.narrow = nn.Linear(4 * channels, channels)
            self.scale = nn.Parameter((channels,))
            self.drop = nn.StochasticDepth(0.1)

        def forward(self, x):
            inner = nn.tokens(self.norm(self.depthwise(x)))
            inner = nn.from_tokens(self.narrow(nn.gelu(self.wide(inner))), (8, 8))
            return x + self.drop(inner * nn.per_channel(self.scale))

    class Mobile(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Conv2d(3, 8, 3, stride=2, padding=1)
            self.inverted = Inverted(8, 16)
            self.excited = Excited(8, 16)
            self.shuffled = Shuffled(8)
            self.next = Next(8)
            self.atrous = nn.Conv2d(8, 8, 3, padding=2, dilation=2)
            self.grouped = nn.Conv2d(8, 8, 3, stride=2, padding=1, groups=2)
            self.head = nn.Linear((2, 2, 8), size.classes)

        def forward(self, x):
            x = self.next(self.shuffled(self.excited(self.inverted(self.stem(x)))))
            x = self.grouped(nn.relu(self.atrous(x)))
            return self.head(nn.flatten(nn.adaptive_avg_pool2d(nn.relu(x), (2, 2))))

    return Mobile()


def loss(nn, outputs, targets):
    """Return the mean cross-entropy."""
    return nn.cross_entropy(outputs, targets)
