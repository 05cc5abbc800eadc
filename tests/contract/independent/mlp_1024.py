"""Four dense layers for inference, from the notes on M1 chips: "1024 * 512 * 512 * 512 * 2 ... batch size 128".

ReLU between the layers is the project's own choice.
"""

from __future__ import annotations

from torch.nn import Linear, ReLU, Sequential

from independent.implementation import Implementation

OPTIMIZER = None


def network():
    """Make the network."""
    return Sequential(Linear(1024, 512), ReLU(), Linear(512, 512), ReLU(), Linear(512, 512), ReLU(), Linear(512, 2))


def layers(network):
    """Name the workload's layers."""
    return {"0": "layers.0", "2": "layers.1", "4": "layers.2", "6": "head"}


SIZES = {
    "full": Implementation(batch_size=128, input_shape=(1024,), classes=2, parameters=1_051_138, network=network),
}
SMALL = Implementation(input_shape=(1024,), classes=2, network=network)
