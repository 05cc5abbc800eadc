"""One hidden layer on MNIST-shaped digits: steps so small that launching them is what is measured.

Linear 784 to 512, ReLU, Linear 512 to 10; mean cross-entropy; Adam at 0.001; batch 32.

Source: "notes on TensorFlow, PyTorch and Jittor", tables 1 and 2 (versions 2.6, 1.9 and 1.3; "MLP (1 hidden layer, 512
units) on MNIST dataset", 20 epochs), which name the width, the batch, the optimiser and its rate. They are silent on
the activation, on dropout and on Adam's epsilon: ReLU, none and 1e-8 are ours.
"""

from __future__ import annotations

from typing import Any

from bakeoff.spec.optimizer import Adam
from bakeoff.spec.workload import Size, Workload

WORKLOAD = Workload(
    name="mlp-mnist",
    summary="multilayer perceptron with one hidden layer on MNIST-shaped digits",
    source="notes on TensorFlow, PyTorch and Jittor, tables 1 and 2: one hidden layer of 512, batch 32, Adam at 0.001",
    sizes={
        "full": Size(
            batch_size=32, input_shape=(784,), classes=10, parameters=407_050, macs=406_528, config={"hidden": 512}
        ),
        "reduced": Size(
            batch_size=16, input_shape=(784,), classes=10, parameters=25_450, macs=25_408, config={"hidden": 32}
        ),
    },
    optimizer=Adam(learning_rate=1e-3),
    data=("digits", "synthetic", "huggingface"),
    learning_steps=450,
)


def build(nn: Any, size: Size) -> Any:
    """Make the model: (batch, 784) to logits (batch, 10)."""

    class Perceptron(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.hidden = nn.Linear(784, size.config["hidden"])
            self.head = nn.Linear(size.config["hidden"], size.classes)

        def forward(self, x: Any) -> Any:
            return self.head(nn.relu(self.hidden(x)))

    return Perceptron()


def loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Give the mean cross-entropy over the batch."""
    return nn.cross_entropy(outputs, targets)
