"""Tell how far compiled gradients of a cut window's mean, whose padding counts, are from PyTorch's own operator's."""

from __future__ import annotations

import json
import sys

import torch
from torch.nn import functional

from bakeoff.frameworks.torch.maps import avg_pool2d

WINDOWS = ((4, 2), (2, 1), 1)
x = torch.linspace(-1.0, 1.0, 20).sin().reshape(1, 2, 5, 2).requires_grad_()
expected, found = (
    torch.autograd.grad(pool(x).square().sum(), x)[0]
    for pool in (
        lambda x: functional.avg_pool2d(x, *WINDOWS, ceil_mode=True, count_include_pad=True),
        torch.compile(lambda x: avg_pool2d(x, *WINDOWS, count_padding=True, ceil_mode=True)),
    )
)
sys.stdout.write(json.dumps(float((found - expected).abs().max())))
