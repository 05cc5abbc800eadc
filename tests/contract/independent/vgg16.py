"""torchvision's vgg16 without its pooling to 7 x 7, which changes nothing in images of 224 x 224.

Momentum, L2 and dropout are Simonyan and Zisserman's, arXiv 1409.1556, section 3.1; the rate of 1e-5 in place of their
0.01, from which training diverges, is the project's own choice.
"""

from __future__ import annotations

from independent.implementation import Implementation, cross_entropy
from torch.nn import Identity, Linear
from torchvision.models.vgg import VGG, cfgs, make_layers

OPTIMIZER = {"type": "sgd", "learning_rate": 1e-5, "momentum": 0.9, "weight_decay": 5e-4}

CONVOLUTIONS = (2, 2, 3, 3, 3)
DROPOUT = 0.5

loss = cross_entropy


def network(height, width, classes):
    """Make the network for images of a height and width."""
    network = VGG(make_layers(cfgs["D"]), num_classes=classes, init_weights=False, dropout=DROPOUT)
    network.avgpool = Identity()
    network.classifier[0] = Linear(512 * (height // 32) * (width // 32), 4096)
    return network


def layers(network):
    """Name the workload's layers: a stage of torchvision's list is convolutions and ReLUs by turns, and a pooling."""
    found, place = {"classifier.0": "first", "classifier.3": "second", "classifier.6": "head"}, 0
    for stage, count in enumerate(CONVOLUTIONS):
        for number in range(count):
            found[f"features.{place}"] = f"stages.{stage}.convolutions.{number}"
            place += 2
        place += 1
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
SMALL = Implementation(
    input_shape=(32, 64, 3),
    classes=10,
    network=lambda: network(32, 64, 10),
    flattened={"classifier.0.weight": (1, 2, 512)},
)
