"""ResNet-50 v1.5 on 224 x 224 colour images, 1000 classes: bottlenecks of three convolutions, each with BatchNorm.

A 7x7 convolution of stride 2 and a 3x3 max pooling of stride 2; four stages of 3, 4, 6 and 3 bottlenecks (1x1, 3x3, 1x1
with four times the channels) around which the input is added, projected by a 1x1 convolution in each stage's first; the
mean over height and width; Linear to the classes. No convolution has a bias. Mean cross-entropy; SGD with momentum 0.9,
L2 of 1e-4 on all parameters, learning rate 0.1 x batch / 256.

v1.5 has a stage's stride in the 3x3 convolution. v1 has it in the first 1x1: the same parameters, 3,857,973,248 MACs,
6 % less work. torchvision, flax's example and NVIDIA's are v1.5; keras.applications.ResNet50 and the `resnet50` of the
TensorFlow benchmarks are v1, which alone may explain a published difference of a few per cent.

Source: He et al., arXiv 1512.03385, table 1; stride, BatchNorm (momentum 0.1, epsilon 1e-5) and symmetric padding as in
torchvision's resnet50; optimiser of https://github.com/pytorch/examples, imagenet. Batch 64 as in Dai et al., "Reveal
training performance mystery between TensorFlow and PyTorch" (2022), which names neither variant nor optimiser.
"""

from __future__ import annotations

from typing import Any

from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

WORKLOAD = Workload(
    name="resnet50",
    summary="ResNet-50 v1.5 on 224 x 224 colour images: convolutions with BatchNorm",
    source="He et al., arXiv 1512.03385, stride as in torchvision; batch of Dai et al. 2022, table 2",
    sizes={
        "full": Size(
            batch_size=64,
            input_shape=(224, 224, 3),
            classes=1000,
            parameters=25_557_032,
            macs=4_089_184_256,
            config={"width": 64, "stages": (3, 4, 6, 3), "stem": 7},
        ),
        "reduced": Size(
            batch_size=4,
            input_shape=(64, 64, 3),
            classes=10,
            parameters=511_514,
            macs=9_294_848,
            config={"width": 16, "stages": (1, 1, 1, 1), "stem": 7},
        ),
    },
    optimizer=SGD(learning_rate=0.025, momentum=0.9, weight_decay=1e-4),
)

_EXPANSION = 4
_STRIDED_STEM = 7
"""The kernel of ImageNet's stem, which has a stride and a pooling; one of 3, for small images, has neither."""


def build(nn: Any, size: Size) -> Any:
    """Make the model: (batch, height, width, 3) to logits (batch, classes)."""
    config: Any = size.config
    width = config["width"]
    strided = config["stem"] == _STRIDED_STEM
    conv_norm, bottleneck = _parts(nn)

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.stem = conv_norm(size.input_shape[-1], width, config["stem"], stride=2 if strided else 1)
            inputs, blocks = width, []
            for stage, count in enumerate(config["stages"]):
                for place in range(count):
                    stride = 2 if stage > 0 and place == 0 else 1
                    blocks.append(bottleneck(inputs, width * 2**stage, stride, projects=place == 0))
                    inputs = width * 2**stage * _EXPANSION
            self.blocks = nn.ModuleList(blocks)
            self.head = nn.Linear(inputs, size.classes)

        def forward(self, x: Any) -> Any:
            x = nn.relu(self.stem(x))
            if strided:
                x = nn.max_pool2d(x, 3, stride=2, padding=1)
            for block in self.blocks:
                x = block(x)
            return self.head(nn.global_avg_pool2d(x))

    return Network()


def _parts(nn: Any) -> tuple[Any, Any]:
    """Make the two classes that the network repeats."""

    class ConvNorm(nn.Module):
        """A convolution that keeps the map's size but for its stride, and its BatchNorm."""

        def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1) -> None:
            super().__init__()
            self.conv = nn.Conv2d(inputs, outputs, kernel, stride=stride, padding=kernel // 2, bias=False)
            self.norm = nn.BatchNorm(outputs, momentum=0.1, epsilon=1e-5)

        def forward(self, x: Any) -> Any:
            return self.norm(self.conv(x))

    class Bottleneck(nn.Module):
        """Three convolutions, and their input added to what they give."""

        def __init__(self, inputs: int, width: int, stride: int, *, projects: bool) -> None:
            super().__init__()
            self.reduce = ConvNorm(inputs, width, 1)
            self.middle = ConvNorm(width, width, 3, stride)
            self.expand = ConvNorm(width, width * _EXPANSION, 1)
            self.project = ConvNorm(inputs, width * _EXPANSION, 1, stride) if projects else None

        def forward(self, x: Any) -> Any:
            kept = self.project(x) if self.project is not None else x
            return nn.relu(self.expand(nn.relu(self.middle(nn.relu(self.reduce(x))))) + kept)

    return ConvNorm, Bottleneck


def loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Give the mean cross-entropy over the batch."""
    return nn.cross_entropy(outputs, targets)
