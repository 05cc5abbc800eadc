"""The small convolutional network on which differentially private training is compared: 26,010 parameters.

Convolution of 16 filters of 8x8, stride 2, padding 3; ReLU; maximum over 2x2 with stride 1; convolution of 32 filters
of 4x4, stride 2; ReLU; maximum over 2x2 with stride 1; Linear 512 to 32, ReLU, Linear 32 to 10. Mean cross-entropy; SGD
at 0.15, batch 256. No normalisation over the batch, so that each sample has a gradient of its own.

Source: https://github.com/TheSalon/fast-dpsgd (Subramani, Vadivelu and Kamath, arXiv 2010.09063), experiment `mnist`:
its PyTorch, JAX and TensorFlow files agree on this network ("same" padding of the 8x8 filters is 3 on both sides);
Opacus' examples/mnist.py has the same one. Batch 256 is the first of its list 256, 128, 64, 32, 16.
"""

from __future__ import annotations

from typing import Any

from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

WORKLOAD = Workload(
    name="mnist-cnn",
    summary="small convolutional network on MNIST-shaped digits",
    source="https://github.com/TheSalon/fast-dpsgd: the experiment mnist; Opacus' examples/mnist.py",
    sizes={
        "full": Size(
            batch_size=256,
            input_shape=(28, 28, 1),
            classes=10,
            parameters=26_010,
            macs=422_208,
            config={"first": 16, "second": 32, "hidden": 32},
        ),
        "reduced": Size(
            batch_size=8,
            input_shape=(28, 28, 1),
            classes=10,
            parameters=3_014,
            macs=65_184,
            config={"first": 4, "second": 8, "hidden": 16},
        ),
    },
    optimizer=SGD(learning_rate=0.15),
    scenarios=("train", "infer", "per-sample-gradients"),
    data=("synthetic", "huggingface"),
)


def build(nn: Any, size: Size) -> Any:
    """Make the model: (batch, 28, 28, 1) to logits (batch, 10)."""
    config: Any = size.config

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Conv2d(1, config["first"], 8, stride=2, padding=3)
            self.second = nn.Conv2d(config["first"], config["second"], 4, stride=2)
            self.hidden = nn.Linear((4, 4, config["second"]), config["hidden"])
            self.head = nn.Linear(config["hidden"], size.classes)

        def forward(self, x: Any) -> Any:
            x = nn.max_pool2d(nn.relu(self.first(x)), 2, 1)
            x = nn.max_pool2d(nn.relu(self.second(x)), 2, 1)
            return self.head(nn.relu(self.hidden(nn.flatten(x))))

    return Network()


def loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Return the mean cross-entropy over the batch."""
    return nn.cross_entropy(outputs, targets)
