"""The pairs of the zoo's benchmarks, and when ours is slower than the ready-made one."""

from __future__ import annotations

SIZES = {"resnet50": (64, 8), "vgg16": (224, 2), "inceptionv3": (139, 8), "vit-b16": (224, 2)}
"""Side of the images and batch on a processor. VGG16's dense layers and ViT's positions fix theirs: another side would
be another model."""

SEQUENCES = {"imdb-lstm": 32}
"""Workloads without images, and their batch on a processor: at their full size, whose layers are small enough."""

SLOWER = 0.97
"""Below this ratio, ready-made over ours, ours is slower."""


def verdict(low: float, high: float) -> str:
    """Say in words whether ours is slower, from the interval of the ratio."""
    if low >= SLOWER:
        return "not slower"
    return "SLOWER" if high < SLOWER else "cannot be told"
