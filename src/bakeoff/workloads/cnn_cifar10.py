"""The CIFAR-10 convolutional network of the fast-dpsgd comparison: eight convolutions, no dense layer.

Three stages of two 3x3 convolutions with ReLU and an average pooling (32, 64, 128 channels), then a 3x3 convolution to
256 with ReLU, one to the classes, and the mean over height and width. Mean cross-entropy; SGD at 0.15.

Source: https://github.com/TheSalon/fast-dpsgd (Subramani, Vadivelu and Kamath, arXiv 2010.09063). Its PyTorch, JAX and
TensorFlow files agree on this network; batch 256 is the first of its list 256, 128, 64, 32, 16.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

WORKLOAD = Workload(
    name="cnn-cifar10",
    summary="convolutional network of eight layers on 32 x 32 colour images",
    source="https://github.com/TheSalon/fast-dpsgd: the CIFAR-10 network",
    sizes={
        "full": Size(
            batch_size=256,
            input_shape=(32, 32, 3),
            classes=10,
            parameters=605_226,
            macs=43_720_704,
            config={"channels": (32, 64, 128), "last": 256},
        ),
        "reduced": Size(
            batch_size=8,
            input_shape=(32, 32, 3),
            classes=10,
            parameters=42_450,
            macs=2_967_552,
            config={"channels": (8, 16, 32), "last": 64},
        ),
    },
    optimizer=SGD(learning_rate=0.15),
    scenarios=("train", "infer", "per-sample-gradients"),
    data=("synthetic", "huggingface"),
)


def build(nn: Any, size: Size) -> Any:
    """Make the model: (batch, 32, 32, 3) to logits (batch, 10)."""
    channels: Any = size.config["channels"]

    class Stage(nn.Module):
        """Two convolutions of the same width and a pooling that halves the map."""

        def __init__(self, in_channels: int, out_channels: int) -> None:
            super().__init__()
            self.first = nn.Conv2d(in_channels, out_channels, 3, padding=1)
            self.second = nn.Conv2d(out_channels, out_channels, 3, padding=1)

        def forward(self, x: Any) -> Any:
            return nn.avg_pool2d(nn.relu(self.second(nn.relu(self.first(x)))), 2)

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            widths = (size.input_shape[-1], *channels)
            self.stages = nn.ModuleList([Stage(*pair) for pair in pairwise(widths)])
            self.wide = nn.Conv2d(widths[-1], size.config["last"], 3, padding=1)
            self.head = nn.Conv2d(size.config["last"], size.classes, 3, padding=1)

        def forward(self, x: Any) -> Any:
            for stage in self.stages:
                x = stage(x)
            return nn.global_avg_pool2d(self.head(nn.relu(self.wide(x))))

    return Network()


def loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Give the mean cross-entropy over the batch."""
    return nn.cross_entropy(outputs, targets)
