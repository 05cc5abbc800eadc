"""Faults in pools that are cut at their ends, in formulas, and in what a mixture of experts chooses by."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant

in_torch_maps, in_jax_maps, in_tensorflow_maps, in_mlx_maps, in_jittor_maps = (
    partial(Mutant, framework, "vocabulary", "maps.py") for framework in ("torch", "jax", "tensorflow", "mlx", "jittor")
)

in_torch, in_jax, in_tensorflow, in_mlx, in_jittor = (
    partial(Mutant, framework, "vocabulary", "functions.py")
    for framework in ("torch", "jax", "tensorflow", "mlx", "jittor")
)

CUT = {"case/pools that are cut at their ends": "outputs"}

ROUTED = {"case/routing by the largest": "outputs"}

LAST = "x.shape[axis] - 1 - mx.argmax(flip(x, axis), axis=axis)"

MUTANTS = [
    in_torch_maps(
        "the mean of a cut window counts the padding",
        [("count_include_pad=count_padding", "count_include_pad=count_padding or ceil_mode")],
        CUT,
    ),
    in_jax_maps(
        "the mean of a cut window counts what lies behind the padding",
        [("counts = not any(ends) and (", "counts = (")],
        CUT,
    ),
    in_tensorflow_maps(
        "the mean of a cut window never counts the padding",
        [("if count_padding and any(sides):", "if count_padding and any(sides) and not any(ends):")],
        CUT,
    ),
    in_mlx_maps("a cut window has the largest of its padding", [("ends, -math.inf), 0", "ends, 1.0), 0")], CUT),
    in_jittor_maps(
        "the mean of a cut window never counts the padding",
        [("windows.padding if count_padding else (0, 0)", "(0, 0)")],
        CUT,
    ),
    in_torch("top_k takes the smallest", [("torch.topk(x, k)", "torch.topk(x, k, largest=False)")], ROUTED),
    in_torch(
        "top_k has the largest last",
        [("torch.topk(x, k)", "(lambda found: (found[0].flip(-1), found[1].flip(-1)))(torch.topk(x, k))")],
        ROUTED,
    ),
    in_torch(
        "no gradient goes to the values of top_k",
        [("torch.topk(x, k)", "torch.topk(x.detach(), k)")],
        {"case/routing by the largest": "loss and gradients"},
    ),
    in_jax(
        "formulas with their results transposed",
        [
            (
                "jnp.einsum(formula, *arrays)",
                "(lambda found: found.T.reshape(found.shape))(jnp.einsum(formula, *arrays))",
            )
        ],
        {"case/sums of products by letters": "outputs"},
    ),
    in_tensorflow(
        "segments without a row have the least number",
        [("tf.where(found <= found.dtype.min, tf.zeros_like(found), found)", "found")],
        ROUTED,
    ),
    in_mlx("of equal numbers argmax takes the last", [("mx.argmax(x, axis=axis)", LAST)], ROUTED),
    in_jittor("segment_max is a sum", [('reindex_reduce("maximum"', 'reindex_reduce("add"')], ROUTED),
]
