"""The pairs of the zoo's benchmarks, and when ours is slower than the ready-made one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaled import recurrent, scaled, shorter

if TYPE_CHECKING:
    from pathlib import Path

SIZES = {"resnet50": (64, 8), "vgg16": (224, 2), "inceptionv3": (139, 8), "vit-b16": (224, 2)}
"""Side of the images and batch on a processor. VGG16's dense layers and ViT's positions fix theirs: another side would
be another model."""

SEQUENCES = {"imdb-lstm": 32}
"""Workloads without images, and their batch on a processor: at their full size, whose layers are small enough."""

LANGUAGE = {"gpt2": (2, 128, 2), "bert-base": (2, 128, 2)}
"""Layers, tokens and batch on a processor of models whose layers have their full width and vocabulary: of GPT-2's 12
layers and 1024 tokens, and of BERT's 12 layers, whose 128 tokens are all."""

LAYERS = {"lstm": ("LSTM", False), "lstm-both": ("LSTM", True), "gru": ("GRU", False), "gru-both": ("GRU", True)}
"""Recurrent layers by themselves, and whether they have both directions: 256 wide, over 16 sequences of 100 places."""


def of_workload(
    name: str, folder: Path, side: int | None = None, batch: int | None = None, depth: int | None = None
) -> tuple[str, int, str]:
    """Return the workload's name or file at the size of its pair, its batch, and that size in words.

    `depth` is the number of layers of a model of language in place of its pair's own.
    """
    if name in LAYERS:
        count = batch or 16
        return str(recurrent(*LAYERS[name], count, folder)), count, f"{count} x 100 places"
    if name in LANGUAGE:
        layers, length, count = LANGUAGE[name]
        layers, count = depth or layers, batch or count
        return str(shorter(name, layers, length, count, folder)), count, f"{count} x {length} tokens, {layers} layers"
    if name in SEQUENCES:
        count = batch or SEQUENCES[name]
        return name, count, str(count)
    usual, count = SIZES[name]
    side, count = side or usual, batch or count
    return str(scaled(name, side, count, folder)), count, f"{count} x {side} x {side}"


SLOWER = 0.97
"""Below this ratio, ready-made over ours, ours is slower."""


def verdict(low: float, high: float) -> str:
    """Say in words whether ours is slower, from the interval of the ratio."""
    if low >= SLOWER:
        return "not slower"
    return "SLOWER" if high < SLOWER else "cannot be told"
