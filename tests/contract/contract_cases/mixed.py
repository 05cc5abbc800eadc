"""Contenders with several options each, for the tests of options."""

from __future__ import annotations

MIXED = [
    "torch:precision=bfloat16,layout=nhwc,optimizer_kernel=fused,attention=flash",
    "torch:precision=float16,optimizer_kernel=foreach,onednn=off,attention=math",
    "torch:mode=compiled,graph_optimization=off,onednn=on",
    "jax:precision=bfloat16,graph_optimization=off,attention=math",
    "jax:precision=float16,convolution=products",
    "tensorflow:precision=bfloat16,graph_optimization=off,onednn=off",
    "tensorflow:precision=float16,onednn=on,grappler=no-folding",
]
"""Each value that a framework has on a processor is in one of them; several stand together to save processes."""

RECURRENT = [
    "torch:lstm=cell",
    "torch:lstm=block",
    "jax:lstm=cell",
    "tensorflow:lstm=cell",
    "tensorflow:lstm=block",
    "tensorflow:lstm=fused",
]
"""Each value of `lstm` that is no framework's default on a processor."""
