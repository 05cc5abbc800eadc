"""torchvision's resnet50, which is v1.5: a stage's stride is in its first 3x3 convolution.

SGD with momentum 0.9 and L2 of 1e-4 is https://github.com/pytorch/examples, imagenet; its rate of 0.1 for 256 images is
taken in proportion to the batch.
"""

from __future__ import annotations

from functools import partial

from torch.nn import Identity, Linear, Sequential
from torchvision.models.resnet import Bottleneck, ResNet, resnet50

from independent.implementation import Implementation, cross_entropy

OPTIMIZER = {"type": "sgd", "learning_rate": 0.1 * 64 / 256, "momentum": 0.9, "weight_decay": 1e-4}

PARTS = {
    "conv1": "reduce.conv",
    "bn1": "reduce.norm",
    "conv2": "middle.conv",
    "bn2": "middle.norm",
    "conv3": "expand.conv",
    "bn3": "expand.norm",
    "downsample.0": "project.conv",
    "downsample.1": "project.norm",
}

loss = cross_entropy


def layers(network):
    """Name the workload's layers, whose blocks are counted through all stages."""
    stages = {name: stage for name, stage in network.named_children() if isinstance(stage, Sequential)}
    blocks = [f"{name}.{place}" for name, stage in stages.items() for place in range(len(stage))]
    parts = {
        f"{block}.{part}": f"blocks.{number}.{named}"
        for number, block in enumerate(blocks)
        for part, named in PARTS.items()
    }
    return parts | {"conv1": "stem.conv", "bn1": "stem.norm", "fc": "head"}


def two_stages():
    """Make the network with two stages of two blocks, whose second ones add their input without a projection."""
    network = ResNet(Bottleneck, [2, 2, 1, 1], num_classes=10)
    network.layer3, network.layer4 = Identity(), Identity()
    network.fc = Linear(network.layer2[-1].conv3.out_channels, 10)
    return network


SIZES = {
    "full": Implementation(
        batch_size=64,
        input_shape=(224, 224, 3),
        classes=1000,
        parameters=25_557_032,
        network=partial(resnet50, num_classes=1000),
        computed_shape=(40, 40, 3),
    ),
}
SMALL = Implementation(input_shape=(64, 64, 3), classes=10, network=two_stages, config={"stages": (2, 2)})
