"""Whether PyTorch's products of float32 are computed in TF32, as measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from bakeoff.frameworks import tf32

if TYPE_CHECKING:
    from numpy.typing import NDArray


def measured(device: str) -> dict[str, bool]:
    """Multiply and convolve by the operations that compiled code calls, too; under autocast they would be others."""

    def multiply(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
        return (torch.from_numpy(left).to(device) @ torch.from_numpy(right).to(device)).cpu().numpy()

    def convolve(image: NDArray[Any], kernel: NDArray[Any]) -> NDArray[Any]:
        maps = torch.from_numpy(image).to(device).permute(0, 3, 1, 2)
        weight = torch.from_numpy(kernel).to(device).permute(3, 2, 0, 1)
        return torch.nn.functional.conv2d(maps, weight, padding=1).permute(0, 2, 3, 1).cpu().numpy()

    return tf32.measured(multiply, convolve)
