"""torchvision's efficientnet_b0, whose 1x1 convolutions of one point are products here, as in the workload.

RMSProp with decay 0.9, momentum 0.9 and weight decay 1e-5, and a rate times 0.97 every 2.4 epochs, are the paper's;
epsilon 1e-3, the rate of 0.256 for 4096 images, and BatchNorm without decay are the authors' code's:
https://github.com/tensorflow/tpu, models/official/efficientnet.
"""

from __future__ import annotations

import torch
from torchvision.models.efficientnet import efficientnet_b0
from torchvision.ops import SqueezeExcitation

from independent.implementation import Implementation, cross_entropy

STEPS = 1_281_167 / 64
"""In an epoch of ImageNet."""

OPTIMIZER = {
    "type": "rmsprop",
    "learning_rate": 0.256 / (4096 / 64),
    "decay": 0.9,
    "epsilon": 1e-3,
    "momentum": 0.9,
    "weight_decay": 1e-5,
    "no_decay": ["*norm.scale", "*norm.bias"],
    "schedule": {"type": "exponential", "every": round(2.4 * STEPS), "factor": 0.97, "staircase": True},
}

BLOCK = ("expand", "depthwise", "", "project")
"""What the four parts of torchvision's blocks are, the third of which is the squeeze-and-excitation."""

loss = cross_entropy


class OnePoint(torch.nn.Linear):
    """A 1x1 convolution of a map of one point, whose weight is a matrix."""

    def forward(self, x):
        """Return a map of one point."""
        return super().forward(x[:, :, 0, 0])[:, :, None, None]


def network():
    """Make the network."""
    made = efficientnet_b0(num_classes=1000)
    for module in made.modules():
        if isinstance(module, SqueezeExcitation):
            module.fc1 = OnePoint(module.fc1.in_channels, module.fc1.out_channels)
            module.fc2 = OnePoint(module.fc2.in_channels, module.fc2.out_channels)
    return made


def layers(network):
    """Name the workload's layers, whose blocks are counted through all stages."""
    last = len(network.features) - 1
    convolutions = {"features.0": "stem", f"features.{last}": "last"}
    found = {"classifier.1": "head"}
    blocks = [
        (f"features.{stage}.{place}", one)
        for stage in range(1, last)
        for place, one in enumerate(network.features[stage])
    ]
    for number, (path, one) in enumerate(blocks):
        for place, part in enumerate(BLOCK[-len(one.block) :]):
            native = f"{path}.block.{place}"
            if part:
                convolutions[native] = f"blocks.{number}.{part}"
            else:
                found |= {f"{native}.fc1": f"blocks.{number}.squeeze", f"{native}.fc2": f"blocks.{number}.excite"}
    for native, named in convolutions.items():
        found |= {f"{native}.0": f"{named}.conv", f"{native}.1": f"{named}.norm"}
    return found


SIZES = {
    "full": Implementation(
        batch_size=64,
        input_shape=(224, 224, 3),
        classes=1000,
        parameters=5_288_548,
        network=network,
        computed_shape=(56, 40, 3),
    ),
}
