"""DCGAN's generator from its paper and the example of PyTorch: a dense layer, and convolutions over widened maps.

A transposed convolution is computed here as an ordinary one, with the kernel turned round, over the map with zeros
between its points; the first one, of a single point, as a matrix product. Rate and beta1 are the paper's, section 4.
"""

from __future__ import annotations

import torch
from torch.nn.functional import conv2d, pad

from bakeoff.spec.batch import ArraySpec
from independent.implementation import Implementation

OPTIMIZER = {"type": "adam", "learning_rate": 2e-4, "beta1": 0.5, "beta2": 0.999, "epsilon": 1e-8}

KERNEL = 4


class Dense(torch.nn.Module):
    """Numbers to a map as high and wide as the kernel."""

    def __init__(self, inputs, outputs):
        """Make the weight."""
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(inputs, outputs, KERNEL, KERNEL))

    def forward(self, x):
        """Return the product as a map."""
        return (x @ self.weight.flatten(1)).unflatten(1, self.weight.shape[1:])


class Doubled(torch.nn.Module):
    """A map to one twice as high and wide."""

    def __init__(self, inputs, outputs):
        """Make the weight."""
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(inputs, outputs, KERNEL, KERNEL))

    def forward(self, x):
        """Convolve the map with a zero after each point, of which the last ones are part of the border."""
        batch, channels, height, width = x.shape
        spread = torch.zeros(batch, channels, height, 2, width, 2)
        spread[:, :, :, 0, :, 0] = x
        spread = pad(spread.reshape(batch, channels, 2 * height, 2 * width), (2, 1, 2, 1))
        return conv2d(spread, self.weight.transpose(0, 1).flip(2, 3))


class Network(torch.nn.Module):
    """Layers, each with BatchNorm and ReLU, and a last one with tanh."""

    def __init__(self, numbers, widths):
        """Make the layers."""
        super().__init__()
        pairs = list(zip(widths, (*widths[1:], 3), strict=True))
        self.ups = torch.nn.ModuleList([Dense(numbers, widths[0]), *(Doubled(*pair) for pair in pairs)])
        self.norms = torch.nn.ModuleList([torch.nn.BatchNorm2d(width) for width in widths])

    def forward(self, x):
        """Return images."""
        for up, norm in zip(self.ups, self.norms, strict=False):
            x = torch.clamp(norm(up(x)), min=0)
        return torch.tanh(self.ups[-1](x))


def layers(network):
    """Name the workload's layers."""
    paths = ["first", *(f"layers.{number}" for number in range(len(network.norms) - 1))]
    found = {f"ups.{len(paths)}": "last"}
    for number, path in enumerate(paths):
        found |= {f"ups.{number}": f"{path}.up", f"norms.{number}": f"{path}.norm"}
    return found


def loss(outputs, images):
    """Return the mean of the squared differences."""
    return ((outputs - images) ** 2).sum() / outputs.numel()


SIZES = {
    "full": Implementation(
        batch_size=64,
        inputs={"noise": ArraySpec(shape=(100,))},
        targets={"images": ArraySpec(shape=(64, 64, 3))},
        parameters=3_576_704,
        network=lambda: Network(100, (512, 256, 128, 64)),
    ),
}
