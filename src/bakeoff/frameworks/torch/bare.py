"""A training or inference loop in PyTorch as a user writes it; see frameworks/bare_loop.py.

Not run on a GPU by us.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable


def convolution(channels_in: int, channels_out: int) -> list[nn.Module]:
    """Return two convolutions with ReLU, and a mean over 2 x 2."""
    return [
        nn.Conv2d(channels_in, channels_out, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(channels_out, channels_out, 3, padding=1),
        nn.ReLU(),
        nn.AvgPool2d(2),
    ]


class Mean(nn.Module):
    """The mean over height and width."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Take (batch, channels, height, width), return (batch, channels)."""
        return x.mean((2, 3))


def model_of(workload: str) -> nn.Module:
    """Return a workload's model."""
    if workload == "mlp-mnist":
        return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10))
    if workload == "mlp-1024":
        layers = [layer for n in (1024, 512, 512) for layer in (nn.Linear(n, 512), nn.ReLU())]
        return nn.Sequential(*layers, nn.Linear(512, 2)).eval()
    body = [layer for pair in ((3, 32), (32, 64), (64, 128)) for layer in convolution(*pair)]
    return nn.Sequential(*body, nn.Conv2d(128, 256, 3, padding=1), nn.ReLU(), nn.Conv2d(256, 10, 3, padding=1), Mean())


def make(workload: str, batches: list[tuple[Any, Any]], device: str) -> tuple[Callable[..., Any], list[Any], Any]:
    """Return the step, its batches on the device, and what waits for a result."""
    torch.backends.cudnn.allow_tf32 = False
    model = model_of(workload).to(device)
    is_adam = workload == "mlp-mnist"
    optimizer = (
        torch.optim.Adam(model.parameters(), lr=1e-3) if is_adam else torch.optim.SGD(model.parameters(), lr=0.15)
    )
    criterion = nn.CrossEntropyLoss()
    data = []
    for images, labels in batches:
        first = images.transpose(0, 3, 1, 2).copy() if images.ndim == 4 else images  # noqa: PLR2004 - with channels
        data.append((torch.tensor(first, device=device), torch.tensor(labels, dtype=torch.int64, device=device)))

    def train(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    def infer(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        del y
        with torch.inference_mode():
            return model(x)

    def wait(result: torch.Tensor) -> None:
        del result
        if device == "cuda":
            torch.cuda.synchronize()

    return infer if workload == "mlp-1024" else train, data, wait
