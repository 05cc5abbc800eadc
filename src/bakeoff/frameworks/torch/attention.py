"""Attention by PyTorch's own function, whose kernels the option `attention` chooses among, and which it took."""

# ruff: noqa: FBT001, FBT002 - `causal` is positional in the vocabulary

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from bakeoff.frameworks.dropping import stands_for_one
from bakeoff.spec.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

_CHOICES = {0: "math", 1: "flash", 2: "efficient", 3: "cudnn"}
"""The option's word for each value of PyTorch's enumeration (torch.nn.attention.SDPBackend)."""

_ASKED_CALLS = 100
"""Calls whose kernel PyTorch is asked for: some forward passes of a deep model, over before a clock runs."""

_taken: set[str] = set()
_left = [_ASKED_CALLS]


def forget() -> None:
    """Begin anew: what was taken before is another model's."""
    _taken.clear()
    _left[0] = _ASKED_CALLS


def leave_unasked() -> None:
    """Ask for no call's kernel: what the model attends by is not known to be the function below."""
    _left[0] = 0


def taken() -> str | None:
    """Return the kernels that PyTorch has taken, by the option's words; None where no attention was computed.

    Empty where it was not asked, as within torch.func and in ready-made models.
    """
    return None if _left[0] == _ASKED_CALLS else ", ".join(sorted(_taken))


def _note(q: Any, k: Any, v: Any, **asked: Any) -> None:
    """Ask PyTorch which kernel it takes for a call, whose arguments autocast makes short before."""
    _left[0] -= 1
    try:
        *heads, mask = (_cast(one) for one in (q, k, v, asked.pop("attn_mask")))
        taken = torch._fused_sdp_choice(*heads, attn_mask=mask, **asked)  # noqa: SLF001 - it has no public name
        _taken.add(_CHOICES[taken])
    except (AttributeError, KeyError, RuntimeError, TypeError):  # another PyTorch, or tensors of torch.func
        _left[0] = 0
        _taken.clear()


def _cast(one: Any) -> Any:
    """Return an argument in the type that autocast, where it is on, would give the function."""
    if one is None or not one.is_floating_point() or not torch.is_autocast_enabled(one.device.type):
        return one
    return one.to(torch.get_autocast_dtype(one.device.type))


def attention(  # noqa: PLR0913, PLR0917 - the vocabulary's signature
    q: Any,
    k: Any,
    v: Any,
    causal: bool = False,
    mask: Any = None,
    bias: Any = None,
    scale: float | None = None,
    dropout: Any = None,
) -> Any:
    """Scaled dot-product attention of (batch, length, heads, features), by PyTorch's fused kernels.

    PyTorch takes either its own causal mask or an array, which is boolean or added.
    """
    added = mask if bias is None else bias.to(q.dtype)
    if causal and added is not None:
        earlier = torch.ones(q.shape[1], q.shape[1], dtype=torch.bool, device=q.device).tril()
        mask = earlier if mask is None else mask & earlier
        added = mask if bias is None else added
    if bias is not None and mask is not None:
        added = torch.where(mask, added, -math.inf)
    heads = [one.transpose(1, 2) for one in (q, k, v)]
    asked = {"attn_mask": added, "is_causal": causal and added is None, "scale": scale}
    asked |= {"enable_gqa": k.shape[2] != q.shape[2], "dropout_p": 0.0}
    if dropout is not None and dropout.training:
        asked["dropout_p"] = dropout.p
    try:
        if dropout is None:
            attended = _noted(heads, asked)
        else:
            with _kernels(q, dropout):
                attended = _noted(heads, asked)
    except RuntimeError as error:
        if not any(said in str(error) for said in _SAID):
            raise
        raise UnsupportedError(_NO_KERNEL) from error
    return attended.transpose(1, 2)


def _noted(heads: Sequence[Any], asked: dict[str, Any]) -> Any:
    """Return attention by PyTorch's function, whose kernel is noted where that is still to be done."""
    if not torch.compiler.is_compiling() and _left[0]:
        _note(*heads, **asked)
    return F.scaled_dot_product_attention(*heads, **asked)


def _kernels(q: Any, dropout: Any) -> AbstractContextManager[Any]:
    """Return the context in which an attention takes the kernel that it takes where its dropout drops.

    On CUDA each kernel drops, else math alone: without this, the certificate would be of another one.
    """
    if not dropout.training or not stands_for_one(dropout) or q.device.type == "cuda":
        return nullcontext()
    if not torch.backends.cuda.math_sdp_enabled():
        raise UnsupportedError(_NO_KERNEL)
    return sdpa_kernel(SDPBackend.MATH)


_SAID = ("No available kernel", "Invalid backend")
"""What PyTorch says where no kernel is left: on a processor, and on CUDA (2.11 on an H200, `flash` with a mask)."""

_NO_KERNEL = (
    "none of PyTorch's kernels that attention=... allows computes this attention: flash, efficient and cudnn take "
    "neither a trained bias nor values of other features than the keys'; on CUDA flash takes no mask, and flash and "
    "cudnn take bfloat16 and float16 alone; on a processor flash takes no dropout; choose attention=default or math"
)
