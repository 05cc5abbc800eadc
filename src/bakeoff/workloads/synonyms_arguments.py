"""What stands for the arguments that other libraries' layers and functions have, where the vocabulary's lack them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

RENAMED: dict[str, str] = {
    "eps": "epsilon",
    **dict.fromkeys(("use_bias", "bias_attr"), "bias"),
    **dict.fromkeys(("kernel_size", "pool_size", "window_shape"), "kernel"),
    **dict.fromkeys(("strides", "window_strides"), "stride"),
    **dict.fromkeys(("dilation_rate", "kernel_dilation"), "dilation"),
    **dict.fromkeys(("feature_group_count", "num_groups"), "groups"),
    "filters": "out_channels",
    "count_include_pad": "count_padding",
    "dim": "axis",
    **dict.fromkeys(("p", "drop_prob", "dropout_rate"), "rate"),
    **dict.fromkeys(("negative_slope", "alpha"), "slope"),
    **dict.fromkeys(("is_causal", "use_causal_mask"), "causal"),
    "ignore_index": "ignore",
    "input_size": "in_features",
    **dict.fromkeys(("normalized_shape", "num_features", "num_channels", "embedding_dim"), "features"),
    **dict.fromkeys(("hidden_size", "units"), "hidden"),
    **dict.fromkeys(("num_embeddings", "vocab_size"), "entries"),
    **dict.fromkeys(("hx", "initial_state", "initial_carry"), "state"),
    **dict.fromkeys(("min", "a_min"), "low"),
    **dict.fromkeys(("max", "a_max"), "high"),
    "mode": "method",
}
"""By an argument of other libraries the one that has its meaning here, where what is called has such a one."""

_ANY = ""
_RECURRENT = ("LSTM", "GRU", "LSTMCell", "GRUCell")
_LAYERS_ABOVE = "of layers above each other each is an attribute, and takes the sequence of the one below"
_BETWEEN = "between layers it is self.drop(sequence), with nn.Dropout(rate) as self.drop"
_OF_WEIGHTS = "weights are dropped by dropout=self.drop, with nn.Dropout(rate) as self.drop"
_MASK = (
    "a boolean one in which True attends is mask, and numbers that are added are bias; one whose True is left out, as "
    "MultiheadAttention's may be, is mask=nn.logical_not(it)"
)
_COUNTED = "nn.reshape(nn.to_float(nn.logical_not(nn.equal(ids, padding))), (batch, length, 1))"
_INSIDE = "it is tanh, and sigmoid in the gates"
_BIASES = "biases says how many there are, 1 or 2"
_POSITIVE = (
    "with targets of 0 and 1 it is nn.mean((1.0 + (p - 1.0) * nn.to_float(targets)) * "
    'nn.binary_cross_entropy(logits, targets, reduction="none"))'
)
_BY_CLASS = (
    "weight is a number for each class, and the mean is over the weights' sum; over the batch it is "
    'nn.mean(nn.cross_entropy(logits, labels, weight=weight, reduction="none"))'
)
_BY_SAMPLE = 'it is nn.mean of the weights times the losses by reduction="none"'
_LAST = "it is over the last axis"
_SEQUENCES = "sequences are (batch, length, features)"
_BOTH = "it returns all of it: sequence, state = layer(x)"
_FIRST_VALUES = "first values are bakeoff's, the same in all frameworks"
_REAL = "nn.to_float(x) makes real numbers of integers"


def _alike(arguments: Iterable[str], said: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return what is said of several arguments alike."""
    return {argument: dict(said) for argument in arguments}


SAID_BY: dict[str, dict[str, str]] = {
    **_alike(("keepdims", "keepdim", "keep_dims"), {_ANY: "nn.reshape puts the axis back"}),
    "dim": dict.fromkeys(("softmax", "log_softmax"), _LAST),
    "axis": dict.fromkeys(("softmax", "log_softmax"), _LAST),
    "dims": {"permute_dims": "dims is axes here", "flip": "axis is one of them", "roll": "axis is one of them"},
    **_alike(("num_layers", "layers"), dict.fromkeys(_RECURRENT, _LAYERS_ABOVE)),
    "dropout": dict.fromkeys(_RECURRENT, _BETWEEN),
    **_alike(("dropout_p", "dropout_rate"), {"attention": _OF_WEIGHTS} | dict.fromkeys(_RECURRENT, _BETWEEN)),
    **_alike(("attn_mask", "attention_mask"), {"attention": _MASK}),
    **_alike(("batch_first", "time_major"), {_ANY: _SEQUENCES}),
    **_alike(("return_sequences", "return_state", "return_carry"), {_ANY: _BOTH}),
    "go_backwards": {_ANY: "nn.flip(x, 1) turns a sequence round"},
    **_alike(("bias", "use_bias"), dict.fromkeys(_RECURRENT, _BIASES) | {"attention": ""}),
    **_alike(("units", "features"), {"Linear": "it is out_features here"}),
    "alpha": {"elu": "it is 1"},
    "activation": {_ANY: "a function is called on the result: nn.relu(x)"} | dict.fromkeys(_RECURRENT, _INSIDE),
    "recurrent_activation": dict.fromkeys(_RECURRENT, _INSIDE),
    "pos_weight": {"binary_cross_entropy": _POSITIVE},
    **_alike(("class_weight", "class_weights"), {"cross_entropy": _BY_CLASS}),
    "sample_weight": dict.fromkeys(("cross_entropy", "binary_cross_entropy", "mse"), _BY_SAMPLE),
    "from_logits": {_ANY: "it takes logits"},
    **_alike(("affine", "elementwise_affine", "use_scale"), {_ANY: "a scale, and where it has one a bias, is trained"}),
    "track_running_stats": {_ANY: "running statistics are always kept"},
    "padding_mode": {
        "Conv1d": "nn.concat of slices, and of nn.flip of them, before it puts other values around a sequence",
        "Conv2d": "nn.pad2d(x, ..., mode) before it puts other values around a map, and padding is 0",
    },
    "padding_idx": {
        "Embedding": f"times {_COUNTED} a row counts nowhere",
        "EmbeddingBag": f"it is the nn.sum over axis 1 of an nn.Embedding's rows times {_COUNTED}",
    },
    "inplace": {_ANY: "arrays are values, and nothing is written in their place"},
    "approximate": {"gelu": "nn.gelu_tanh(x) is the approximation by tanh"},
    "align_corners": {_ANY: "centres are those of align_corners=False"},
    "dtype": {_ANY: "precision is an option of a contender"}
    | dict.fromkeys(("arange", "one_hot", "sum", "mean", "cumsum"), _REAL),
    "device": {_ANY: "the device is the contender's"},
    **_alike(("kernel_initializer", "bias_initializer", "kernel_init", "bias_init", "init"), {_ANY: _FIRST_VALUES}),
    "data_format": {_ANY: "feature maps have the layout that each framework prefers"},
}
"""How an argument is said here, by its name elsewhere and by what it is given to, or "" for all others."""


def of_argument(called: str, argument: str, here: Collection[str]) -> str:
    """Return how an argument is said that something lacks whose own are `here`; empty where nothing near is known."""
    said = SAID_BY.get(argument, {})
    if called in said:
        return f"; {said[called]}" if said[called] else ""
    if (renamed := RENAMED.get(argument)) in here:
        return f"; {argument} is {renamed} here"
    return f"; {said[_ANY]}" if _ANY in said else ""
