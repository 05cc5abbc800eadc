"""torchvision's inception_v3, with means that do not count the padding, as keras.applications.InceptionV3 has them.

The auxiliary head's weight of 0.4 is the TensorFlow benchmarks'; momentum 0.9, L2 of 1e-4 and the rate of 0.0005 are
the project's own choices.
"""

from __future__ import annotations

from functools import partial

import torch
from torch.nn import Identity, Linear
from torch.nn.functional import avg_pool2d
from torchvision.models.inception import (
    BasicConv2d,
    Inception3,
    InceptionA,
    InceptionAux,
    InceptionB,
    InceptionC,
    InceptionD,
    InceptionE,
)

from independent.implementation import Implementation, cross_entropy

OPTIMIZER = {"type": "sgd", "learning_rate": 0.0005, "momentum": 0.9, "weight_decay": 1e-4}

AUXILIARY_WEIGHT = 0.4
DROPOUT = 0.5

STEM = {0: "Conv2d_1a_3x3", 1: "Conv2d_2a_3x3", 2: "Conv2d_2b_3x3", 4: "Conv2d_3b_1x1", 5: "Conv2d_4a_3x3"}
"""The workload's steps 3 and 6 are poolings."""
FIRST_BLOCK = 7
EARLY = ("Mixed_5b", "Mixed_5c", "Mixed_5d", "Mixed_6a", "Mixed_6b", "Mixed_6c", "Mixed_6d", "Mixed_6e")
LATE = ("Mixed_7a", "Mixed_7b", "Mixed_7c")

A = {
    "branch1x1": "0.layers.0",
    "branch5x5_1": "1.layers.0",
    "branch5x5_2": "1.layers.1",
    "branch3x3dbl_1": "2.layers.0",
    "branch3x3dbl_2": "2.layers.1",
    "branch3x3dbl_3": "2.layers.2",
    "branch_pool": "3.layers.1",
}
B = {
    "branch3x3": "0.layers.0",
    "branch3x3dbl_1": "1.layers.0",
    "branch3x3dbl_2": "1.layers.1",
    "branch3x3dbl_3": "1.layers.2",
}
C = {
    "branch1x1": "0.layers.0",
    "branch7x7_1": "1.layers.0",
    "branch7x7_2": "1.layers.1",
    "branch7x7_3": "1.layers.2",
    "branch7x7dbl_1": "2.layers.0",
    "branch7x7dbl_2": "2.layers.1",
    "branch7x7dbl_3": "2.layers.2",
    "branch7x7dbl_4": "2.layers.3",
    "branch7x7dbl_5": "2.layers.4",
    "branch_pool": "3.layers.1",
}
D = {
    "branch3x3_1": "0.layers.0",
    "branch3x3_2": "0.layers.1",
    "branch7x7x3_1": "1.layers.0",
    "branch7x7x3_2": "1.layers.1",
    "branch7x7x3_3": "1.layers.2",
    "branch7x7x3_4": "1.layers.3",
}
E = {
    "branch1x1": "0.layers.0",
    "branch3x3_1": "1.layers.0",
    "branch3x3_2a": "1.layers.1.paths.0.layers.0",
    "branch3x3_2b": "1.layers.1.paths.1.layers.0",
    "branch3x3dbl_1": "2.layers.0",
    "branch3x3dbl_2": "2.layers.1",
    "branch3x3dbl_3a": "2.layers.2.paths.0.layers.0",
    "branch3x3dbl_3b": "2.layers.2.paths.1.layers.0",
    "branch_pool": "3.layers.1",
}
PATHS = {"InceptionA": A, "InceptionB": B, "InceptionC": C, "InceptionD": D, "InceptionE": E}
"""Where in the workload's blocks torchvision's convolutions are."""


def network(*, auxiliary, classes=1000, blocks=None):
    """Make the network."""
    network = Inception3(
        num_classes=classes,
        aux_logits=auxiliary,
        transform_input=False,
        inception_blocks=blocks,
        init_weights=False,
        dropout=DROPOUT,
    )
    for module in network.modules():
        if hasattr(module, "branch_pool"):
            module.branch_pool.register_forward_pre_hook(without_padding)
    return network


def without_padding(module, arguments):
    """Turn means over 3 x 3 with the padding's zeros counted into means of what lies within the map."""
    (means,) = arguments
    share_within = avg_pool2d(torch.ones_like(means), 3, stride=1, padding=1)
    return (means / share_within,)


class Narrow(BasicConv2d):
    """torchvision's convolution with BatchNorm and ReLU, with an eighth of the channels."""

    def __init__(self, in_channels, out_channels, **arguments):
        """Keep the image's three channels."""
        super().__init__(max(in_channels // 8, 3), out_channels // 8, **arguments)


def small_network():
    """Make the network with an eighth of the channels, one block or two of each kind, and the auxiliary head."""
    kinds = (InceptionA, InceptionB, InceptionC, InceptionD, InceptionE, InceptionAux)
    blocks = [Narrow, *(partial(kind, conv_block=Narrow) for kind in kinds)]
    short = network(auxiliary=True, classes=10, blocks=blocks)
    for name in ("Mixed_5d", "Mixed_6c", "Mixed_6d", "Mixed_6e", "Mixed_7c"):
        setattr(short, name, Identity())
    short.fc, short.AuxLogits.fc = Linear(2048 // 8, 10), Linear(768 // 8, 10)
    return short


def layers(network):
    """Name the workload's layers; a block that was taken out is not counted."""
    convolutions = {name: f"early.layers.{place}" for place, name in STEM.items()}
    for part, names, first in (("early", EARLY, FIRST_BLOCK), ("late", LATE, 0)):
        blocks = [(name, getattr(network, name)) for name in names]
        blocks = [(name, block) for name, block in blocks if not isinstance(block, Identity)]
        for place, (name, block) in enumerate(blocks, first):
            for branch, path in PATHS[type(block).__name__].items():
                convolutions[f"{name}.{branch}"] = f"{part}.layers.{place}.paths.{path}"
    convolutions |= {"AuxLogits.conv0": "auxiliary.path.layers.0", "AuxLogits.conv1": "auxiliary.path.layers.1"}
    found = {"fc": "head", "AuxLogits.fc": "auxiliary.head"}
    for native, named in convolutions.items():
        found |= {f"{native}.conv": f"{named}.conv", f"{native}.bn": f"{named}.norm"}
    return found


def loss(outputs, labels):
    """Return the cross-entropy, with 0.4 times that of the auxiliary head where it computes."""
    if not isinstance(outputs, tuple):
        return cross_entropy(outputs, labels)
    return cross_entropy(outputs[0], labels) + AUXILIARY_WEIGHT * cross_entropy(outputs[1], labels)


SIZES = {
    "full": Implementation(
        batch_size=64,
        input_shape=(299, 299, 3),
        classes=1000,
        parameters=23_834_568,
        network=lambda: network(auxiliary=False),
        computed_shape=(107, 107, 3),
    ),
    # A smaller image leaves the auxiliary head no map to pool.
    "full-auxiliary": Implementation(
        batch_size=64,
        input_shape=(299, 299, 3),
        classes=1000,
        parameters=27_161_264,
        network=lambda: network(auxiliary=True),
    ),
}
SMALL = Implementation(
    input_shape=(299, 299, 3),
    classes=10,
    network=small_network,
    config={"narrowed": 8, "pooled": (32, 64), "tall": (128,), "forked": 1, "auxiliary": (5, 3)},
)
