"""Which devices PyTorch can use, why it cannot use the others, and how each is waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable


def _already_there() -> None:
    """Wait for nothing: on a processor an operation returns when its result is there."""


SYNCHRONIZE: dict[str, Callable[[], None]] = {
    "cpu": _already_there,
    "cuda": torch.cuda.synchronize,
    "mps": torch.mps.synchronize,
}


def why_unavailable(device: str) -> str:
    """Return why a device cannot be used; nothing when it can."""
    if device == "cuda" and not torch.cuda.is_available():
        cause = "is built without CUDA" if torch.version.cuda is None else f"with CUDA {torch.version.cuda} finds none"
        return f"no CUDA device: PyTorch {torch.__version__} {cause}"
    if device == "mps" and not torch.backends.mps.is_available():
        cause = "finds none" if torch.backends.mps.is_built() else "is built without MPS, which only macOS has"
        return f"no MPS device: PyTorch {torch.__version__} {cause}"
    return ""
