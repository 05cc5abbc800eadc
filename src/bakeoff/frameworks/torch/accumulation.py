"""In which type products of matrices are summed, as far as PyTorch reports it."""

from __future__ import annotations

from typing import Any

import torch


def accumulation(dtype: Any, device: str) -> str | None:
    """Return it for half precision on CUDA, which alone has switches for it; None elsewhere, where it is not reported.

    Source: PyTorch's notes on numerical accuracy, "Reduced Precision Reduction for FP16 and BF16 GEMMs" and "Full FP16
    Accumulation". Not run on a GPU by us.
    """
    switches = torch.backends.cuda.matmul
    if device != "cuda" or dtype not in (torch.float16, torch.bfloat16):
        return None
    if dtype is torch.float16 and switches.allow_fp16_accumulation:
        return "float16"
    is_float16 = dtype is torch.float16
    name = "fp16" if is_float16 else "bf16"
    reduced = getattr(switches, f"allow_{name}_reduced_precision_reduction")
    return f"float32, partial sums may be in {'float16' if is_float16 else 'bfloat16'}" if reduced else "float32"
