"""Attention by JAX's own function, whose implementation the option `attention` chooses, and which programs have."""
# ruff: noqa: FBT001, FBT002 - `causal` is positional in the vocabulary

from __future__ import annotations

from typing import Any, Literal

import jax
import jax.numpy as jnp

from bakeoff.frameworks.dropping import drops
from bakeoff.frameworks.jax import phase
from bakeoff.spec.errors import UnsupportedError

IMPLEMENTATIONS: dict[str, Literal["xla", "cudnn"]] = {"default": "xla", "math": "xla", "cudnn": "cudnn"}
"""By value of the option `attention`; xla is what JAX 0.10 takes by itself on every device."""

CUDNNS_CALL = "__cudnn$fmha"
"""What the name of cuDNN's attention begins with in XLA's programs (jax/_src/cudnn/fused_attention_stablehlo.py)."""

_chosen: list[Literal["xla", "cudnn"]] = ["xla"]
"""The implementation in force in this process."""

_has_attended = [False]
"""Whether an attention was traced since."""


def choose(attention: str) -> None:
    """Set the implementation by the option's value."""
    _chosen[0] = IMPLEMENTATIONS[attention]


def forget() -> None:
    """Begin anew: what was traced before is another model's."""
    _has_attended[0] = False


def taken() -> str | None:
    """Return the implementation that this process's programs have, by the option's words; None without attention."""
    if not _has_attended[0]:
        return None
    device = jax.devices()[0]
    executables = [] if device.platform == "cpu" else device.client.live_executables()  # a processor has XLA's alone
    programs = (module.to_string() for one in executables for module in one.hlo_modules())
    return "cudnn" if any(CUDNNS_CALL in program for program in programs) else "math"


def attention(  # noqa: PLR0913, PLR0917 - the vocabulary's signature
    q: jax.Array,
    k: jax.Array,
    v: jax.Array,
    causal: bool = False,
    mask: Any = None,
    bias: Any = None,
    scale: float | None = None,
    dropout: Any = None,
) -> jax.Array:
    """Return scaled dot-product attention of (batch, length, heads, features), as JAX's own function computes it.

    That function takes the softmax in float32 whatever its arguments are, values of as many features as the keys, and
    no dropout; in float64, for other values, and where weights are dropped, its formula is written out.
    """
    _has_attended[0] = True
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    if phase.in_training() and drops(dropout, getattr(dropout, "rate", 0.0)):
        if _chosen[0] == "cudnn":
            raise UnsupportedError(_NO_DROPOUT)
        return _written_out(q, k, v, causal, mask, bias, scale, dropout)
    if q.dtype == jnp.float64 or v.shape[-1] != k.shape[-1]:
        return _written_out(q, k, v, causal, mask, bias, scale)
    if _chosen[0] == "cudnn":
        bias, mask = (_for_each_pair(one, q.shape[1], k.shape[1]) for one in (bias, mask))
    try:
        return jax.nn.dot_product_attention(
            q, k, v, bias, mask, scale=scale, is_causal=causal, implementation=_chosen[0]
        )
    except (ValueError, RuntimeError, NotImplementedError) as error:
        if _chosen[0] == "xla":
            raise
        msg = f"attention=cudnn: cuDNN's attention in JAX refuses this one: {error}"
        raise UnsupportedError(msg) from error


_NO_DROPOUT = (
    "attention=cudnn: jax.nn.dot_product_attention takes no dropout on its weights, which this model has; choose "
    "attention=default or math"
)


def _for_each_pair(values: Any, queries: int, keys: int) -> Any:
    """Return a mask or bias with an element for each query and key, as cuDNN wants them; None as it is."""
    return None if values is None else jnp.broadcast_to(values, (*values.shape[:-2], queries, keys))


def _written_out(  # noqa: PLR0913, PLR0917 - as above
    q: jax.Array, k: jax.Array, v: jax.Array, causal: bool, mask: Any, bias: Any, scale: float, dropout: Any = None
) -> jax.Array:
    """Return the same by its formula, with the softmax in no less than float32, too, and its weights dropped."""
    groups = q.shape[2] // k.shape[2]
    k, v = (one if groups == 1 else jnp.repeat(one, groups, axis=2) for one in (k, v))
    precise = jnp.promote_types(q.dtype, jnp.float32)
    logits = jnp.einsum("bqhf,bkhf->bhqk", q, k, preferred_element_type=precise) * scale
    if bias is not None:
        logits = logits + bias
    if causal:
        earlier = jnp.tril(jnp.ones(logits.shape[-2:], bool))
        mask = earlier if mask is None else mask & earlier
    if mask is not None:
        logits = jnp.where(mask, logits, jnp.finfo(logits.dtype).min)
    weights = jax.nn.softmax(logits).astype(k.dtype)
    return jnp.einsum("bhqk,bkhf->bqhf", weights if dropout is None else dropout(weights), v)
