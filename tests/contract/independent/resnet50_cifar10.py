"""torchvision's resnet50 with 10 classes, as it is and with a stem for small images, from the notes on Jittor, table 3.

The notes name RMSProp at 1e-3 and batch 32; the decay of 0.99 and the epsilon of 1e-8 are PyTorch's defaults.
"""

from __future__ import annotations

from functools import partial

from torch.nn import Conv2d, Identity
from torchvision.models.resnet import resnet50

from independent.implementation import Implementation
from independent.resnet50 import SMALL, layers, loss

__all__ = ["OPTIMIZER", "SIZES", "SMALL", "layers", "loss"]

OPTIMIZER = {"type": "rmsprop", "learning_rate": 1e-3, "decay": 0.99, "epsilon": 1e-8}


def network_for_small_images():
    """Make the network whose stem neither shrinks nor pools, as that of He et al., arXiv 1512.03385, section 4.2."""
    network = resnet50(num_classes=10)
    network.conv1 = Conv2d(3, 64, kernel_size=3, stride=1, padding=1, bias=False)
    network.maxpool = Identity()
    return network


# The last maps of 32 x 32 images are 1 x 1, where a BatchNorm of two samples has two values, and magnifies rounding.
SIZES = {
    "full": Implementation(
        batch_size=32,
        input_shape=(32, 32, 3),
        classes=10,
        parameters=23_528_522,
        network=partial(resnet50, num_classes=10),
        computed_shape=(40, 40, 3),
    ),
    "full-3x3-stem": Implementation(
        batch_size=32,
        input_shape=(32, 32, 3),
        classes=10,
        parameters=23_520_842,
        network=network_for_small_images,
        computed_shape=(12, 12, 3),
    ),
}
