"""The simple convolutional network of the ApX comparison on 224 x 224 colour images, with a large dense layer.

Three times a 3x3 convolution, ReLU and a max pooling that halves the map (32, 64, 128 channels), then Linear 128, ReLU,
Linear 10. Mean cross-entropy; batch 32.

Source: the CNN article, https://apxml.com/posts/tensorflow-vs-pytorch-vs-jax-performance-benchmark (March 2025). It
gives the kinds of layers, the images, the classes and the batch, but neither widths nor optimiser: they are ours.
"""

from __future__ import annotations

from typing import Any

from bakeoff.spec.optimizer import Adam
from bakeoff.spec.workload import Size, Workload

WORKLOAD = Workload(
    name="cnn-apx",
    summary="simple convolutional network with a large dense layer on 224 x 224 colour images",
    source="the CNN article, https://apxml.com/posts/tensorflow-vs-pytorch-vs-jax-performance-benchmark",
    sizes={
        "full": Size(
            batch_size=32,
            input_shape=(224, 224, 3),
            classes=10,
            parameters=12_939_722,
            macs=518_620_416,
            config={"channels": (32, 64, 128), "dense": 128},
        ),
        "reduced": Size(
            batch_size=8,
            input_shape=(32, 32, 3),
            classes=10,
            parameters=22_778,
            macs=827_712,
            config={"channels": (8, 16, 32), "dense": 32},
        ),
    },
    optimizer=Adam(learning_rate=1e-3),
)


def build(nn: Any, size: Size) -> Any:
    """Make the model: (batch, height, width, 3) to logits (batch, 10)."""
    height, width, depth = size.input_shape
    channels: Any = size.config["channels"]
    halvings = 2 ** len(channels)

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            pairs = zip((depth, *channels), channels, strict=False)
            self.convolutions = nn.ModuleList([nn.Conv2d(narrow, wide, 3, padding=1) for narrow, wide in pairs])
            self.dense = nn.Linear((height // halvings, width // halvings, channels[-1]), size.config["dense"])
            self.head = nn.Linear(size.config["dense"], size.classes)

        def forward(self, x: Any) -> Any:
            for convolution in self.convolutions:
                x = nn.max_pool2d(nn.relu(convolution(x)), 2)
            return self.head(nn.relu(self.dense(nn.flatten(x))))

    return Network()


def loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Give the mean cross-entropy over the batch."""
    return nn.cross_entropy(outputs, targets)
