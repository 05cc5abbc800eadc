"""torchvision's vgg16 without its pooling to 7 x 7, which changes nothing in images of 224 x 224.

Momentum, L2 and dropout are Simonyan and Zisserman's, arXiv 1409.1556, section 3.1; the rate of 1e-5 in place of their
0.01, from which training diverges, is the project's own choice.
"""

from __future__ import annotations

from torch.nn import Conv2d, Identity, Linear, MaxPool2d
from torchvision.models.vgg import VGG, cfgs, make_layers

from independent.implementation import Implementation, cross_entropy

OPTIMIZER = {"type": "sgd", "learning_rate": 1e-5, "momentum": 0.9, "weight_decay": 5e-4}

DROPOUT = 0.5

loss = cross_entropy


def network(height, width, classes, config=cfgs["D"], dense=4096):
    """Make the network for images of a height and width."""
    network = VGG(make_layers(config), num_classes=classes, init_weights=False, dropout=DROPOUT)
    network.avgpool = Identity()
    network.classifier[0] = Linear(config[-2] * (height // 32) * (width // 32), dense)
    network.classifier[3] = Linear(dense, dense)
    network.classifier[6] = Linear(dense, classes)
    return network


def layers(network):
    """Name the workload's layers: convolutions are counted within a stage, which a pooling ends."""
    found = {"classifier.0": "first", "classifier.3": "second", "classifier.6": "head"}
    stage = number = 0
    for place, layer in enumerate(network.features):
        if isinstance(layer, Conv2d):
            found[f"features.{place}"] = f"stages.{stage}.convolutions.{number}"
            number += 1
        elif isinstance(layer, MaxPool2d):
            stage, number = stage + 1, 0
    return found


SIZES = {
    "full": Implementation(
        batch_size=64,
        input_shape=(224, 224, 3),
        classes=1000,
        parameters=138_357_544,
        network=lambda: network(64, 64, 1000),
        computed_shape=(64, 64, 3),
        flattened={"classifier.0.weight": (2, 2, 512)},
    ),
}
NARROW = [8, 8, "M", 16, 16, "M", 16, 16, 16, "M", 16, 16, 16, "M", 16, 16, 16, "M"]
SMALL = Implementation(
    input_shape=(32, 64, 3),
    classes=10,
    network=lambda: network(32, 64, 10, NARROW, 32),
    config={"channels": (8, 16, 16, 16, 16), "dense": 32},
    flattened={"classifier.0.weight": (1, 2, 16)},
)
