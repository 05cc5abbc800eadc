"""torchvision's fcn_resnet50 without its auxiliary head, in its full width on a small image.

Batch, rate, momentum and L2 are the defaults of torchvision's references/segmentation/train.py.
"""

from __future__ import annotations

from functools import partial

from torchvision.models.segmentation import fcn_resnet50

from bakeoff.spec.batch import ArraySpec
from independent.implementation import Implementation, cross_entropy

OPTIMIZER = {
    "type": "sgd",
    "learning_rate": 0.01,
    "momentum": 0.9,
    "weight_decay": 1e-4,
    "schedule": {"type": "polynomial", "steps": 30 * 1464 // 8, "power": 0.9, "warmup_steps": 0, "final": 0.0},
}

CLASSES = 21
VOID = 21

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


def segmenting(make):
    """Make a network, which gives a dict of its heads' outputs, and take the only one."""
    network = make(weights=None, weights_backbone=None, num_classes=CLASSES, aux_loss=False)
    network.register_forward_hook(lambda module, arguments, outputs: outputs["out"])
    return network


def backbone_layers(network):
    """Name the workload's layers of the dilated ResNet-50, whose blocks are counted through all stages."""
    stages = [f"layer{number}" for number in (1, 2, 3, 4)]
    blocks = [f"{name}.{place}" for name in stages for place in range(len(network.backbone[name]))]
    parts = {
        f"backbone.{block}.{part}": f"blocks.{number}.{named}"
        for number, block in enumerate(blocks)
        for part, named in PARTS.items()
    }
    return parts | {"backbone.conv1": "stem.conv", "backbone.bn1": "stem.norm"}


def layers(network):
    """Name the workload's layers."""
    head = {"classifier.0": "narrow.conv", "classifier.1": "narrow.norm", "classifier.4": "head"}
    return backbone_layers(network) | head


def loss(outputs, labels):
    """Return the cross-entropy of those pixels alone that have a class."""
    has_class = labels != VOID
    return cross_entropy(outputs.movedim(1, -1)[has_class], labels[has_class])


def pixels(height, width):
    """Declare the labels of an image's pixels."""
    return {"pixels": ArraySpec(shape=(height, width), dtype="int32", high=CLASSES + 1)}


SIZES = {
    "full": Implementation(
        batch_size=8,
        input_shape=(480, 480, 3),
        targets=pixels(480, 480),
        parameters=32_957_013,
        network=partial(segmenting, fcn_resnet50),
        # A last map of 9 x 7 points, more than what a dilation of 4 reaches.
        computed_shape=(72, 56, 3),
        computed=pixels(72, 56),
    ),
}
