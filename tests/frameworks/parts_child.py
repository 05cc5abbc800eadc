"""Run in PyTorch's interpreter by test_parts.py: convolutions taken apart, held against PyTorch's own calls."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import torch

from bakeoff.frameworks.torch import parts
from bakeoff.frameworks.torch.engine import Engine
from bakeoff.measure.memory import ResidentPeak, resident_bytes

if TYPE_CHECKING:
    from bakeoff.spec.trial import Purpose

LAYERS: dict[str, tuple[torch.nn.Module, tuple[int, ...]]] = {
    "maps": (torch.nn.Conv2d(3, 4, 3, padding=1), (7, 3, 9, 8)),
    "strided, dilated, in groups, without a bias": (
        torch.nn.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(0, 1), dilation=(1, 2), groups=2, bias=False),
        (5, 4, 11, 10),
    ),
    "sequences": (torch.nn.Conv1d(3, 4, 5, stride=2), (6, 3, 17)),
    "volumes": (torch.nn.Conv3d(2, 3, 2), (4, 2, 5, 4, 6)),
    "few places, strided, dilated, without a bias": (
        torch.nn.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 2), dilation=(1, 2), bias=False),
        (5, 4, 6, 5),
    ),
    "one place of a kernel that is mostly beside it": (torch.nn.Conv2d(3, 4, 3, padding=1), (7, 3, 1, 1)),
    "few places of a kernel of 1": (torch.nn.Conv2d(3, 4, 1, stride=2), (7, 3, 5, 5)),
}


PURPOSES: tuple[Purpose, ...] = ("reference", "program", "certify", "time")

NONE = 1 << 40
"""Larger than anything here."""


class Counted(parts.Parts):
    """Counts the convolutions that are computed by other calls."""

    def __init__(self) -> None:
        """Begin with none."""
        super().__init__()
        self.apart = 0

    def computed(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Count one that is."""
        place = {parts._FORWARD: 0, parts._BACKWARD: 1}.get(function)
        if place is not None:
            self.apart += bool(parts._parts(*args[place:]))
        return super().computed(function, args, kwargs)


def passed(layer: torch.nn.Module, x: torch.Tensor, context: Any) -> list[torch.Tensor]:
    """Return a layer's outputs and gradients."""
    layer.zero_grad()
    x = x.clone().requires_grad_()
    with context:
        outputs = layer(x)
        (outputs * torch.linspace(-1.0, 1.0, outputs.numel(), dtype=x.dtype).reshape(outputs.shape)).sum().backward()
    assert x.grad is not None
    return [outputs.detach(), x.grad, *(one.grad.clone() for one in layer.parameters() if one.grad is not None)]


def of_layers(large_bytes: int, large_weight: int) -> dict[str, tuple[int, float]]:
    """Return for each layer how many passes were computed by other calls, and how far they are off at most."""
    parts.LARGE_BYTES, parts.LARGE_WEIGHT, parts.PART_BYTES = large_bytes, large_weight, 500
    torch.manual_seed(0)
    found = {}
    for name, (layer, shape) in LAYERS.items():
        x, counted = torch.randn(shape, dtype=torch.float64), Counted()
        own = passed(layer.double(), x, nullcontext())
        other = passed(layer, x, counted)
        errors = [float((one - mine).norm() / one.norm()) for one, mine in zip(own, other, strict=True)]
        found[name] = (counted.apart, max(errors))
    return found


def left_alone() -> dict[str, int]:
    """Return how many passes were computed by other calls where there is no need."""
    parts.PART_BYTES, parts.LARGE_WEIGHT = 1, 200
    layers = {
        "float32": (torch.nn.Conv2d(3, 40, 3), torch.float32, 1),
        "small": (torch.nn.Conv2d(3, 4, 3).double(), torch.float64, 512 << 20),
        "a kernel of 1": (torch.nn.Conv2d(3, 4, 1).double(), torch.float64, 1),
        "transposed": (torch.nn.ConvTranspose2d(3, 40, 3).double(), torch.float64, 1),
        "few places, a small weight": (torch.nn.Conv2d(3, 3, 3).double(), torch.float64, NONE),
        "a large weight, not few places": (torch.nn.Conv2d(3, 40, 3, padding=2).double(), torch.float64, NONE),
    }
    found = {}
    for name, (layer, dtype, large_bytes) in layers.items():
        parts.LARGE_BYTES, counted = large_bytes, Counted()
        passed(layer, torch.randn((5, 3, 6, 6), dtype=dtype), counted)
        found[name] = counted.apart
    return found


def held_bytes() -> list[int]:
    """Return by how much memory grows at most within a large convolution, in parts and then at once."""
    parts.LARGE_BYTES, parts.PART_BYTES = 64 << 20, 1 << 20
    layer, x = torch.nn.Conv2d(8, 1, 5, padding=2).double(), torch.zeros((32, 8, 56, 56), dtype=torch.float64)
    found = []
    with parts.Parts(), torch.inference_mode():
        layer(x[:1])  # the first call of a process loads more than its kernel
    for context in (parts.Parts(), nullcontext()):
        before, peak = resident_bytes(), ResidentPeak()
        with context, torch.inference_mode():
            layer(x)
        found.append((peak.read_bytes() or 0) - (before or 0))
    return found


if __name__ == "__main__":
    torch.set_num_threads(1)
    told: dict[str, Any] = {
        "bytes": held_bytes(),
        "large": of_layers(1, NONE),
        "few": of_layers(NONE, 1),
        "alone": left_alone(),
    }
    told["purposes"] = [one for one in PURPOSES if isinstance(Engine().easing(one), parts.Parts)]
    sys.stdout.write(json.dumps(told) + "\n")
