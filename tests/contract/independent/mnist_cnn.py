"""The network of Opacus' examples/mnist.py and fast-dpsgd's pytorch.py, layer by layer as they list it; SGD at 0.15."""

from __future__ import annotations

from torch.nn import Conv2d, Flatten, Linear, MaxPool2d, ReLU, Sequential

from independent.implementation import Implementation, cross_entropy

OPTIMIZER = {"type": "sgd", "learning_rate": 0.15, "momentum": 0.0, "weight_decay": 0.0}

loss = cross_entropy


def network():
    """Make the network."""
    return Sequential(
        *(Conv2d(1, 16, 8, 2, padding=3), ReLU(), MaxPool2d(2, 1)),
        *(Conv2d(16, 32, 4, 2), ReLU(), MaxPool2d(2, 1)),
        *(Flatten(), Linear(32 * 4 * 4, 32), ReLU(), Linear(32, 10)),
    )


def layers(network):
    """Name the workload's layers."""
    del network
    return {"0": "first", "3": "second", "7": "hidden", "9": "head"}


SIZES = {
    "full": Implementation(
        batch_size=256,
        input_shape=(28, 28, 1),
        classes=10,
        parameters=26_010,
        network=network,
        flattened={"7.weight": (4, 4, 32)},
    ),
}
SMALL = Implementation(
    input_shape=(28, 28, 1),
    classes=10,
    network=network,
    flattened={"7.weight": (4, 4, 32)},
)
