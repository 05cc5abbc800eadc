"""torchvision's models, imported so that they come also where its compiled operators are of another build."""

from __future__ import annotations

from typing import Any

import torch

_UNUSED = ("nms", "qnms")
"""Operators for detection, which torchvision 0.28 describes when it is imported."""


def imported() -> Any:
    """Import torchvision's models, also where its compiled operators are of another build of PyTorch.

    A torchvision for CUDA beside a PyTorch for processors fails as it describes operators for detection. Its
    classifiers use none of them: they are declared, with nothing behind them.
    """
    try:
        import torchvision.models
    except RuntimeError as error:
        if not any(f"torchvision::{name} does not exist" in str(error) for name in _UNUSED):
            raise
        for name in _UNUSED:
            torch.library.define(f"torchvision::{name}", "(Tensor boxes, Tensor scores, float threshold) -> Tensor")
        import torchvision.models
    return torchvision.models
