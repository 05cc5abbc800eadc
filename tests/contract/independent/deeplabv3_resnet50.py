"""torchvision's deeplabv3_resnet50 without its auxiliary head, in its full width on a small image.

Its ResNet, labels, loss and recipe are those of fcn_resnet50.
"""

from __future__ import annotations

from functools import partial

from torchvision.models.segmentation import deeplabv3_resnet50

from independent.fcn_resnet50 import OPTIMIZER, backbone_layers, loss, pixels, segmenting
from independent.implementation import Implementation

__all__ = ["OPTIMIZER", "SIZES", "layers", "loss"]

HEAD = {
    "0.convs.0.0": "pyramid.point.conv",
    "0.convs.0.1": "pyramid.point.norm",
    "0.convs.1.0": "pyramid.dilated.0.conv",
    "0.convs.1.1": "pyramid.dilated.0.norm",
    "0.convs.2.0": "pyramid.dilated.1.conv",
    "0.convs.2.1": "pyramid.dilated.1.norm",
    "0.convs.3.0": "pyramid.dilated.2.conv",
    "0.convs.3.1": "pyramid.dilated.2.norm",
    "0.convs.4.1": "pyramid.pooled.conv",
    "0.convs.4.2": "pyramid.pooled.norm",
    "0.project.0": "pyramid.join.conv",
    "0.project.1": "pyramid.join.norm",
    "1": "mix.conv",
    "2": "mix.norm",
    "4": "head",
}


def layers(network):
    """Name the workload's layers."""
    return backbone_layers(network) | {f"classifier.{part}": named for part, named in HEAD.items()}


SIZES = {
    "full": Implementation(
        batch_size=8,
        input_shape=(480, 480, 3),
        targets=pixels(480, 480),
        parameters=39_638_869,
        network=partial(segmenting, deeplabv3_resnet50),
        # A last map of 38 x 5 points: high enough for the dilation of 36, and narrow to take little time.
        computed_shape=(304, 40, 3),
        computed=pixels(304, 40),
    ),
}
