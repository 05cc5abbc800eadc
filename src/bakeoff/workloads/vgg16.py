"""VGG16 on 224 x 224 colour images, 1000 classes: thirteen 3x3 convolutions and three dense layers, no normalisation.

Stages of 2, 2, 3, 3 and 3 convolutions with bias and ReLU (64, 128, 256, 512, 512 channels), each stage ended by a max
pooling that halves the map; then Linear 4096, ReLU, Dropout 0.5, twice, and Linear to the classes. Mean cross-entropy;
SGD with momentum 0.9, L2 of 5e-4, learning rate 1e-5: the paper's 0.01 diverges within three steps from weights that
keep the variance through ReLU, in every framework and in float64, because nothing normalises; a step costs the same.

Source: Simonyan and Zisserman, arXiv 1409.1556, table 1, column D, and section 3.1 (optimiser, dropout). Batch 64 as in
Dai et al., "Reveal training performance mystery between TensorFlow and PyTorch" (2022). torchvision's vgg16 is this
network; keras.applications.VGG16 has no dropout and the TensorFlow benchmarks' has 1001 classes.
"""

from __future__ import annotations

from typing import Any

from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

WORKLOAD = Workload(
    name="vgg16",
    summary="VGG16 on 224 x 224 colour images: 3x3 convolutions and very large dense layers",
    source="Simonyan and Zisserman, arXiv 1409.1556, column D; batch of Dai et al. 2022, table 2",
    sizes={
        "full": Size(
            batch_size=64,
            input_shape=(224, 224, 3),
            classes=1000,
            parameters=138_357_544,
            macs=15_470_264_320,
            config={"channels": (64, 128, 256, 512, 512), "dense": 4096},
        ),
        # 64 x 64, not 32 x 32: the last map is then 2 x 2, so that a wrong order of flattening shows.
        "reduced": Size(
            batch_size=4,
            input_shape=(64, 64, 3),
            classes=10,
            parameters=251_826,
            macs=20_370_048,
            config={"channels": (8, 16, 32, 64, 64), "dense": 64},
        ),
    },
    optimizer=SGD(learning_rate=1e-5, momentum=0.9, weight_decay=5e-4),
)

_CONVOLUTIONS = (2, 2, 3, 3, 3)
_DROPPED = 0.5


def build(nn: Any, size: Size) -> Any:
    """Make the model: (batch, height, width, 3) to logits (batch, classes)."""
    height, width, depth = size.input_shape
    channels: Any = size.config["channels"]
    dense: Any = size.config["dense"]
    halvings = 2 ** len(channels)

    class Stage(nn.Module):
        """Convolutions of the same width and a pooling that halves the map."""

        def __init__(self, inputs: int, outputs: int, count: int) -> None:
            super().__init__()
            widths = (inputs, *[outputs] * (count - 1))
            self.convolutions = nn.ModuleList([nn.Conv2d(narrow, outputs, 3, padding=1) for narrow in widths])

        def forward(self, x: Any) -> Any:
            for convolution in self.convolutions:
                x = nn.relu(convolution(x))
            return nn.max_pool2d(x, 2)

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            stages = zip((depth, *channels[:-1]), channels, _CONVOLUTIONS, strict=True)
            self.stages = nn.ModuleList([Stage(*stage) for stage in stages])
            self.first = nn.Linear((height // halvings, width // halvings, channels[-1]), dense)
            self.second = nn.Linear(dense, dense)
            self.head = nn.Linear(dense, size.classes)
            self.dropouts = nn.ModuleList([nn.Dropout(_DROPPED), nn.Dropout(_DROPPED)])

        def forward(self, x: Any) -> Any:
            for stage in self.stages:
                x = stage(x)
            x = nn.flatten(x)
            for layer, dropout in zip((self.first, self.second), self.dropouts, strict=True):
                x = dropout(nn.relu(layer(x)))
            return self.head(x)

    return Network()


def loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Give the mean cross-entropy over the batch."""
    return nn.cross_entropy(outputs, targets)
