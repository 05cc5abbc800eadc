"""One hidden layer of 512 on digits, from the notes on TensorFlow, PyTorch and Jittor, tables 1 and 2.

The notes name the width, the batch, Adam and its rate. ReLU, and Adam's epsilon of 1e-8 with the betas of Kingma and
Ba, are the project's own choices.
"""

from __future__ import annotations

from torch.nn import Linear, ReLU, Sequential

from independent.implementation import Implementation, cross_entropy

OPTIMIZER = {"type": "adam", "learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}

loss = cross_entropy


def network():
    """Make the network."""
    return Sequential(Linear(784, 512), ReLU(), Linear(512, 10))


def layers(network):
    """Name the workload's layers."""
    return {"0": "hidden", "2": "head"}


SIZES = {
    "full": Implementation(batch_size=32, input_shape=(784,), classes=10, parameters=407_050, network=network),
}
SMALL = Implementation(input_shape=(784,), classes=10, network=network)
