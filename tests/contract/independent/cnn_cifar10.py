"""The CIFAR-10 network of https://github.com/TheSalon/fast-dpsgd, layer by layer as its pytorch.py lists them.

SGD at 0.15 and batches from 256 down are that repository's runtime_experiment.py.
"""

from __future__ import annotations

from torch.nn import AdaptiveAvgPool2d, AvgPool2d, Conv2d, Flatten, ReLU, Sequential

from independent.implementation import Implementation, cross_entropy

OPTIMIZER = {"type": "sgd", "learning_rate": 0.15, "momentum": 0.0, "weight_decay": 0.0}

loss = cross_entropy


def network():
    """Make the network."""
    return Sequential(
        *(Conv2d(3, 32, 3, 1, padding=1), ReLU(), Conv2d(32, 32, 3, 1, padding=1), ReLU(), AvgPool2d(2, 2)),
        *(Conv2d(32, 64, 3, 1, padding=1), ReLU(), Conv2d(64, 64, 3, 1, padding=1), ReLU(), AvgPool2d(2, 2)),
        *(Conv2d(64, 128, 3, 1, padding=1), ReLU(), Conv2d(128, 128, 3, 1, padding=1), ReLU(), AvgPool2d(2, 2)),
        *(Conv2d(128, 256, 3, 1, padding=1), ReLU(), Conv2d(256, 10, 3, 1, padding=1)),
        *(AdaptiveAvgPool2d(1), Flatten()),
    )


def layers(network):
    """Name the workload's layers."""
    stages = {
        str(5 * stage + place): f"stages.{stage}.{name}"
        for stage in range(3)
        for place, name in ((0, "first"), (2, "second"))
    }
    return stages | {"15": "wide", "17": "head"}


SIZES = {
    "full": Implementation(batch_size=256, input_shape=(32, 32, 3), classes=10, parameters=605_226, network=network),
}
SMALL = Implementation(input_shape=(32, 32, 3), classes=10, network=network)
