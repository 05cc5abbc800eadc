"""What stands for the arguments that other libraries' layers and functions have, where the vocabulary's lack them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

_ABOVE = "of layers above each other each is an attribute, and takes the sequence of the one below"
_BATCH_FIRST = "sequences are (batch, length, features)"
_BOTH = "it returns all of it: sequence, state = layer(x)"
_FIRST_VALUES = "first values are bakeoff's, the same in all frameworks"
_OPTION = "precision and device are options of a contender"
_LOGITS = "it takes logits"
_VALUES = "arrays are values, and nothing is written in their place"
_POSITIVE = (
    "with targets of 0 and 1 it is "
    'nn.mean((1.0 + (p - 1.0) * targets) * nn.binary_cross_entropy(logits, targets, reduction="none"))'
)

RENAMED: dict[str, str] = {
    "eps": "epsilon",
    **dict.fromkeys(("use_bias", "bias_attr"), "bias"),
    **dict.fromkeys(("kernel_size", "pool_size", "window_shape"), "kernel"),
    **dict.fromkeys(("strides", "window_strides"), "stride"),
    **dict.fromkeys(("dilation_rate", "kernel_dilation"), "dilation"),
    **dict.fromkeys(("feature_group_count", "num_groups"), "groups"),
    "count_include_pad": "count_padding",
    **dict.fromkeys(("dim", "dims"), "axis"),
    **dict.fromkeys(("p", "drop_prob", "dropout_rate"), "rate"),
    **dict.fromkeys(("negative_slope", "alpha"), "slope"),
    **dict.fromkeys(("is_causal", "use_causal_mask"), "causal"),
    **dict.fromkeys(("attn_mask", "attention_mask"), "mask"),
    "ignore_index": "ignore",
    **dict.fromkeys(("class_weight", "class_weights"), "weight"),
    "input_size": "in_features",
    **dict.fromkeys(("normalized_shape", "num_features", "num_channels", "embedding_dim"), "features"),
    **dict.fromkeys(("hidden_size", "units", "hidden_features"), "hidden"),
    **dict.fromkeys(("num_embeddings", "vocab_size"), "entries"),
    **dict.fromkeys(("min", "a_min"), "low"),
    **dict.fromkeys(("max", "a_max"), "high"),
    "mode": "method",
}
"""By an argument of other libraries the one that has its meaning here, where what is called has such a one."""

SAID_BY: dict[str, str] = {
    **dict.fromkeys(("keepdims", "keepdim", "keep_dims"), "nn.reshape puts the axis back"),
    **dict.fromkeys(("num_layers", "layers"), _ABOVE),
    "dropout": "between layers it is self.drop(sequence), with nn.Dropout(rate) as self.drop",
    **dict.fromkeys(
        ("dropout_p", "dropout_rate"), "weights are dropped by dropout=self.drop, with nn.Dropout(rate) as self.drop"
    ),
    **dict.fromkeys(("batch_first", "time_major"), _BATCH_FIRST),
    **dict.fromkeys(("return_sequences", "return_state", "return_carry"), _BOTH),
    "go_backwards": "nn.flip(x, 1) turns a sequence round",
    "pos_weight": _POSITIVE,
    "from_logits": _LOGITS,
    **dict.fromkeys(("affine", "elementwise_affine", "use_scale"), "a scale, and where it has one a bias, is trained"),
    "track_running_stats": "running statistics are always kept",
    "padding_mode": "nn.pad2d(x, ..., mode) before it puts other values around a map",
    "padding_idx": "times a mask, as nn.to_float(nn.less(0, ids)) is one, a row counts nowhere",
    "inplace": _VALUES,
    "approximate": "nn.gelu_tanh(x) is the approximation by tanh",
    "align_corners": "centres are those of align_corners=False",
    "activation": "a function is called on the result: nn.relu(x)",
    **dict.fromkeys(("dtype", "device", "param_dtype"), _OPTION),
    **dict.fromkeys(("kernel_initializer", "bias_initializer", "kernel_init", "bias_init", "init"), _FIRST_VALUES),
    "data_format": "feature maps have the layout that each framework prefers",
}
"""By an argument that nothing here has, how it is said."""


def of_argument(argument: str, here: Collection[str]) -> str:
    """Return how an argument is said that something lacks whose own are `here`; empty where nothing near is known."""
    if (renamed := RENAMED.get(argument)) in here:
        return f"; {argument} is {renamed} here"
    return f"; {SAID_BY[argument]}" if argument in SAID_BY else ""
