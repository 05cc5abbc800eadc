"""Faults in PyTorch's elementwise functions, indices, constants and draws."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant

in_functions = partial(Mutant, "torch", "vocabulary", "functions.py")

DRAWS = "torch.randn_like(x) if self.training else torch.zeros_like(x)"

MUTANTS = [
    in_functions(
        "gelu_tanh is the exact form",
        [('F.gelu(x, approximate="tanh")', "F.gelu(x)")],
        {"case/smooth curves": "outputs"},
    ),
    in_functions(
        "softplus is x from 1 on",
        [("threshold=_LINEAR", "threshold=1.0")],
        {"case/smooth curves": "outputs"},
    ),
    in_functions(
        "clip passes gradients on beyond its bounds",
        [("torch.clamp(x, low, high)", "x + (torch.clamp(x, low, high) - x).detach()")],
        {"case/curves of straight pieces": "loss and gradients"},
    ),
    in_functions(
        "segment_sum keeps a segment's last row",
        [("torch.index_add(", "torch.index_copy(")],
        {"case/indices, segments and constants": "outputs"},
    ),
    in_functions(
        "constants are held in float16",
        [('"f": _Settled.dtype', '"f": torch.float16')],
        {"case/indices, segments and constants": "outputs"},
    ),
    in_functions(
        "noise is the same in every step",
        [(DRAWS, f"torch.randn(x.shape, generator=torch.Generator().manual_seed(0)) if self.training else {DRAWS}")],
        {"normal": "equal losses of steps"},
    ),
    in_functions(
        "noise has the variance 1.5",
        [(DRAWS, f"1.5**0.5 * ({DRAWS})")],
        {"normal": "the variance of one layer"},
    ),
    in_functions(
        "noise is drawn in evaluation, too",
        [(DRAWS, "torch.randn_like(x)")],
        {"normal": "outputs in evaluation"},
    ),
]
