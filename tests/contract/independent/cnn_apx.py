"""The simple CNN of the ApX article: "Conv2D, MaxPooling, and Dense layers" on 224 x 224 colour images of 10 classes.

Images, classes and batch are the article's; widths, and Adam at 0.001, are the project's own choices.
"""

from __future__ import annotations

from torch.nn import Conv2d, Flatten, Linear, MaxPool2d, ReLU, Sequential

from independent.implementation import Implementation, cross_entropy

OPTIMIZER = {"type": "adam", "learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}

loss = cross_entropy


def network(height=224, width=224):
    """Make the network for images of a height and width."""
    return Sequential(
        *(Conv2d(3, 32, 3, padding="same"), ReLU(), MaxPool2d(2)),
        *(Conv2d(32, 64, 3, padding="same"), ReLU(), MaxPool2d(2)),
        *(Conv2d(64, 128, 3, padding="same"), ReLU(), MaxPool2d(2)),
        *(Flatten(), Linear(height // 8 * (width // 8) * 128, 128), ReLU(), Linear(128, 10)),
    )


def layers(network):
    """Name the workload's layers."""
    return {"0": "convolutions.0", "3": "convolutions.1", "6": "convolutions.2", "10": "dense", "12": "head"}


SIZES = {
    "full": Implementation(
        batch_size=32,
        input_shape=(224, 224, 3),
        classes=10,
        parameters=12_939_722,
        network=network,
        flattened={"10.weight": (28, 28, 128)},
    ),
}
SMALL = Implementation(
    input_shape=(16, 24, 3), classes=10, network=lambda: network(16, 24), flattened={"10.weight": (2, 3, 128)}
)
