"""How the vocabulary says what other libraries have a name for, for those who write that name."""

from __future__ import annotations

import difflib

from bakeoff.spec.vocabulary import FUNCTIONS, VOCABULARY

NUMPY = "NumPy's own arrays go into a model by nn.constant(array) in __init__, and its functions are those of nn"
"""What to do where NumPy is given an array of the model."""

_RESHAPE = "nn.reshape(x, shape)"
_AXES = "nn.permute_dims(x, axes)"
_LEAST = "-nn.max(-x, axis)"
_MADE = "nn.constant(array of NumPy), made in __init__"
_ABSOLUTE = "nn.mean(nn.abs(outputs - targets))"
_LARGEST = "nn.max(x, axis) + nn.log(nn.sum(nn.exp(x - most), axis)), where most is nn.reshape(nn.max(x, axis), shape)"

_LARGEST_K = "values, indices = nn.top_k(x, k)"

_NEAR = 0.75
"""How alike two names are, from 0 to 1, of which one may be meant for the other: by less, what is offered misleads."""

SAID_BY: dict[str, str] = {
    "relu6": "nn.clip(x, 0, 6)",
    "hardtanh": "nn.clip(x, -1, 1)",
    "clamp": "nn.clip(x, low, high)",
    "swish": "nn.silu(x)",
    "mish": "x * nn.tanh(nn.softplus(x))",
    "glu": "a * nn.sigmoid(b), with a, b = nn.split(x, sizes, axis)",
    "PReLU": "nn.relu(x) - slopes * nn.relu(-x), with nn.Parameter as slopes, of a map nn.per_channel(slopes)",
    "square": "x * x",
    "log1p": "nn.log(1.0 + x)",
    "expm1": "nn.exp(x) - 1.0",
    "tan": "nn.sin(x) / nn.cos(x)",
    "sign": "nn.to_float(nn.less(0.0, x)) - nn.to_float(nn.less(x, 0.0))",
    "add": "a + b",
    "subtract": "a - b",
    "multiply": "a * b",
    "divide": "a / b",
    "pow": "x ** number",
    "power": "x ** number",
    "transpose": _AXES,
    "T": _AXES,
    "permute": _AXES,
    "swapaxes": _AXES,
    "moveaxis": _AXES,
    "unsqueeze": _RESHAPE,
    "expand_dims": _RESHAPE,
    "squeeze": _RESHAPE,
    "view": _RESHAPE,
    "expand": "nn.broadcast_to(x, shape)",
    "repeat": "nn.reshape(x, shape) for an axis of 1, nn.broadcast_to(x, shape), and nn.reshape(x, shape) once more",
    "tile": "nn.reshape(x, shape) for an axis of 1, nn.broadcast_to(x, shape), and nn.reshape(x, shape) once more",
    "cat": "nn.concat(arrays, axis)",
    "concatenate": "nn.concat(arrays, axis)",
    "chunk": "nn.split(x, sizes, axis)",
    "zeros": _MADE,
    "ones": _MADE,
    "full": _MADE,
    "zeros_like": "x * 0.0",
    "ones_like": "x * 0.0 + 1.0",
    "array": _MADE,
    "tril": "nn.constant(numpy.tril(...)), made in __init__; within attention nn.attention(..., causal=True)",
    "triu": "nn.constant(numpy.triu(...)), made in __init__; within attention nn.attention(..., causal=True)",
    "var": "nn.mean((x - m) * (x - m), axis), where m is nn.reshape(nn.mean(x, axis), shape): the biased one",
    "std": "nn.sqrt of the variance nn.mean((x - m) * (x - m), axis), where m is nn.reshape(nn.mean(x, axis), shape)",
    "min": "-nn.max(-x, axis); of two arrays nn.minimum(a, b)",
    "amin": _LEAST,
    "amax": "nn.max(x, axis)",
    "logsumexp": _LARGEST,
    "argmin": "nn.argmax(-x, axis)",
    "topk": _LARGEST_K,
    "sort": f"{_LARGEST_K} with the axis' length as k, the largest first",
    "argsort": f"the indices of {_LARGEST_K} with the axis' length as k, the largest first",
    "tensordot": "nn.einsum(formula, a, b), with a letter for each axis",
    "bmm": "nn.matmul(a, b)",
    "outer": "nn.einsum('i,j->ij', a, b)",
    "dot": "nn.matmul(a, b)",
    "gather": "nn.take(x, indices, axis), or nn.take_along_axis(x, indices, axis)",
    "index_select": "nn.take(x, indices, axis)",
    "scatter": "nn.segment_sum(x, segments, count) or nn.segment_max(x, segments, count)",
    "scatter_add": "nn.segment_sum(x, segments, count)",
    "scatter_max": "nn.segment_max(x, segments, count)",
    "scatter_reduce": "nn.segment_sum(x, segments, count) or nn.segment_max(x, segments, count)",
    "unsorted_segment_sum": "nn.segment_sum(x, segments, count)",
    "unsorted_segment_max": "nn.segment_max(x, segments, count)",
    "segment_min": "-nn.segment_max(-x, segments, count)",
    "detach": "nn.stop_gradient(x)",
    "Sequential": "nn.ModuleList([...]), and a loop over it in forward",
    "ModuleDict": "an attribute for each, or nn.ModuleList([...])",
    "Identity": "the array itself",
    "InstanceNorm": "nn.GroupNorm(features, features), with a scale and a bias",
    "InstanceNorm2d": "nn.GroupNorm(features, features), with a scale and a bias",
    "LayerNorm2d": "nn.ChannelNorm(features)",
    "BatchNorm1d": "nn.BatchNorm(features)",
    "BatchNorm2d": "nn.BatchNorm(features)",
    "Dense": "nn.Linear(in_features, out_features)",
    "Embed": "nn.Embedding(entries, features)",
    "GRUCell": "nn.GRU, over a sequence of one step or of all",
    "MultiHeadAttention": "nn.Linear layers for queries, keys and values, and nn.attention(q, k, v)",
    "MultiheadAttention": "nn.Linear layers for queries, keys and values, and nn.attention(q, k, v)",
    "global_max_pool2d": "nn.flatten(nn.max_pool2d(x, nn.map_size(x)))",
    "pixel_shuffle": "",
    "upsample": "nn.resize(x, size, method)",
    "interpolate": "nn.resize(x, size, method)",
    "l1": _ABSOLUTE,
    "l1_loss": _ABSOLUTE,
    "mae": _ABSOLUTE,
    "mse_loss": "nn.mse(outputs, targets)",
    "huber": "nn.mean(nn.where(nn.less(d, 1.0), 0.5 * d * d, d - 0.5)), where d is nn.abs(outputs - targets)",
    "smooth_l1": "nn.mean(nn.where(nn.less(d, 1.0), 0.5 * d * d, d - 0.5)), where d is nn.abs(outputs - targets)",
    "kl_div": "the mean or the sum of p * (nn.log(p) - nn.log(q))",
    "nll_loss": "nn.cross_entropy(logits, targets), which takes logits",
    "bce": "nn.binary_cross_entropy(logits, targets), which takes logits",
    **dict.fromkeys(
        (
            "Conv3d",
            "floor",
            "round",
            "erf",
            "svd",
            "isnan",
            "arcsin",
            "arccos",
        ),
        "",
    ),
}
"""By a name of other libraries; empty: the vocabulary has nothing for it."""


def said_by(name: str) -> str:
    """Return how the vocabulary says what a name means elsewhere; empty where nothing near is known."""
    if name in SAID_BY:
        return f": it is {SAID_BY[name]}" if SAID_BY[name] else ", and nothing in it does that"
    folded = {_folded(one): one for one in VOCABULARY}
    near = difflib.get_close_matches(name, VOCABULARY, n=1, cutoff=_NEAR)
    close = [folded[_folded(name)]] if _folded(name) in folded else near
    return f"; did you mean nn.{close[0]}?" if close else ""


def of_attribute(name: str) -> str:
    """Return what stands for an attribute that arrays of other libraries have; empty where nothing near is known."""
    if name in FUNCTIONS:
        return f"; nn.{name} is a function"
    return f"; {name} is {SAID_BY[name]}" if SAID_BY.get(name) else ""


def _folded(name: str) -> str:
    """Return a name without what libraries differ in: capitals and underscores."""
    return name.replace("_", "").lower()
