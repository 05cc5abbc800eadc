"""What a file of this folder says of one size, and losses written from their formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import torch

from bakeoff.spec.batch import ArraySpec


class Implementation(msgspec.Struct, frozen=True, kw_only=True):
    """One size of a workload: the document's figures, and an independent network."""

    batch_size: int = 0
    """With `parameters`: 0 in SMALL, which no document has."""
    input_shape: tuple[int, ...] = ()
    """Of one sample, channels last."""
    classes: int = 0
    inputs: dict[str, ArraySpec] = {}
    """In place of `input_shape`, where arrays are declared by their names."""
    targets: dict[str, ArraySpec] = {}
    """In place of `classes`."""
    parameters: int = 0
    network: Callable[[], torch.nn.Module]
    computed_shape: tuple[int, ...] | None = None
    """A smaller image that goes through the same layers in less time; None: `input_shape`."""
    computed: dict[str, ArraySpec] = {}
    """Smaller arrays in the place of those that are declared by these names."""
    computed_batch: int = 2
    config: dict[str, int | tuple[int, ...]] = {}
    """What SMALL changes in the config of the workload's size `full`."""
    magnified: dict[str, float] = {}
    """By what drawn arrays are multiplied, by canonical name, where else a function's far piece is not reached."""
    flattened: dict[str, tuple[int, int, int]] = {}
    """Dense weights that take a flattened map, by the network's own name: the map's (height, width, channels)."""


def cross_entropy(logits: Any, labels: Any) -> Any:
    """Return the mean over the batch of log(sum of exp(logits)) - logit of the label."""
    return (torch.logsumexp(logits, 1) - logits[torch.arange(len(labels)), labels]).mean()
