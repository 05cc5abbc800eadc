"""The vocabulary `nn` in which a model is written once: its names and what each means.

Every framework's `nn.py` provides exactly these names, in its own native classes and functions. A model never names an
axis for channels: feature maps have the layout that the framework prefers, and weights (canonical, see below) and
batches (channels last) are converted at the border, outside the timed region. Canonical layouts of parameters:

Linear     weight (in, out), bias (out,)
Conv1d     weight (kernel, in / groups, out), bias (out,)
Conv2d     weight (kernel height, kernel width, in / groups, out), bias (out,)
ConvTranspose2d  weight (kernel height, kernel width, out, in), bias (out,): of the Conv2d whose gradient it is
LayerNorm, GroupNorm, ChannelNorm  scale (features,), bias (features,)
RMSNorm    scale (features,)
BatchNorm  scale (features,), bias (features,); state: running_mean (features,), running_variance (features,)
Embedding  weight (entries, features)
Parameter  itself, of the shape that it is made with

A parameter's name is the path of attributes to its layer and then the name above: `blocks.0.conv.weight`; for a
Parameter it is the path alone: `class_token`. State is what training changes beside the parameters: it has no
gradient, no optimiser updates it, it does not count as a parameter, and evaluation reads it. Arrays take indices and
slices as NumPy's do: `x[:, 0]`.
"""

from __future__ import annotations

LAYERS: dict[str, str] = {
    "Module": "Base class: layers are attributes set in __init__, computation is forward(self, x, ...).",
    "ModuleList": "ModuleList(modules): layers in a list, iterable and indexable.",
    "Linear": (
        "Linear(in_features, out_features, bias=True): x @ weight + bias over the last axis. in_features as a tuple "
        "(height, width, channels) takes a flattened feature map of that shape, whatever the framework's layout is."
    ),
    "Conv1d": (
        "Conv1d(in_channels, out_channels, kernel, stride=1, padding=0, dilation=1, groups=1, bias=True): "
        "cross-correlation along the length of (batch, length, features); the same zero padding at both ends."
    ),
    "Conv2d": (
        "Conv2d(in_channels, out_channels, kernel, stride=1, padding=0, dilation=1, groups=1, bias=True): "
        "cross-correlation of a feature map; kernel, stride, padding and dilation are a number or (vertical, "
        "horizontal); the same zero padding on opposite sides. Of `groups` the outputs of each, side by side, see the "
        "inputs of the same one; with as many groups as inputs it is depthwise."
    ),
    "ConvTranspose2d": (
        "ConvTranspose2d(in_channels, out_channels, kernel, stride=1, padding=0, output_padding=0, bias=True): the "
        "gradient of Conv2d by its input; the result has (n - 1) * stride - 2 * padding + kernel + output_padding "
        "points along each axis, output_padding of them at the end."
    ),
    "LayerNorm": "LayerNorm(features, epsilon=1e-5): over the last axis.",
    "BatchNorm": (
        "BatchNorm(features, momentum=0.1, epsilon=1e-5): each channel of a feature map, or each feature of "
        "(batch, features) or (batch, length, features), over all the rest. Training normalises by the batch's mean "
        "and biased variance and moves the running ones by momentum x (batch's - running); evaluation normalises by "
        "the running ones. Whether the running variance takes the batch's biased or unbiased one is each framework's own "
        "(docs/decisions/007)."
    ),
    "GroupNorm": (
        "GroupNorm(groups, features, epsilon=1e-5): each group of neighbouring channels of each sample, a feature map "
        "or (batch, length, features), by its mean and biased variance."
    ),
    "ChannelNorm": "ChannelNorm(features, epsilon=1e-6): LayerNorm over the channels of a feature map at each place.",
    "RMSNorm": (
        "RMSNorm(features, epsilon=1e-6): x / sqrt(mean(x^2) + epsilon) * scale over the last axis; not for feature "
        "maps."
    ),
    "Embedding": "Embedding(entries, features): rows by integer index.",
    "Dropout": "Dropout(rate): scaled by 1 / (1 - rate) in training, nothing in evaluation.",
    "StochasticDepth": (
        "StochasticDepth(rate): in training each sample is zero at this rate and scaled by 1 / (1 - rate) else; "
        "nothing in evaluation."
    ),
    "Parameter": (
        "Parameter(shape): an array that is trained by itself, such as a class token or the embedding of positions; "
        "an attribute of a Module, used in forward like any array."
    ),
}

FUNCTIONS: dict[str, str] = {
    "relu": "relu(x): max(x, 0).",
    "gelu": "gelu(x): the exact form, with the error function.",
    "tanh": "tanh(x).",
    "sigmoid": "sigmoid(x).",
    "softmax": "softmax(x): over the last axis.",
    "log_softmax": "log_softmax(x): over the last axis.",
    "in_training": (
        "in_training(module): whether forward computes for a training step, a Python bool; for what a model has only "
        "there, such as an auxiliary head, which its forward then returns as a second output."
    ),
    "max_pool2d": (
        "max_pool2d(x, kernel, stride=None, padding=0): padding never wins; stride None is the kernel; each is a "
        "number or (vertical, horizontal)."
    ),
    "max_pool1d": "max_pool1d(x, kernel, stride=None, padding=0): the same along the length of a sequence.",
    "avg_pool2d": (
        "avg_pool2d(x, kernel, stride=None, padding=0, count_padding=False): padded zeros count in the mean only where "
        "count_padding says so; numbers or pairs as for max_pool2d."
    ),
    "adaptive_avg_pool2d": (
        "adaptive_avg_pool2d(x, (height, width)): the mean of each of so many windows; the i-th is from "
        "floor(i * n / size) up to ceil((i + 1) * n / size) of n points."
    ),
    "global_avg_pool2d": "global_avg_pool2d(x): feature map to (batch, channels).",
    "flatten": "flatten(x): everything but the batch axis into one, in the framework's layout (see Linear).",
    "reshape": "reshape(x, shape): shape includes the batch axis; not for feature maps.",
    "tokens": "tokens(x): feature map to (batch, height * width, channels), row by row.",
    "from_tokens": (
        "from_tokens(x, (height, width)): (batch, height * width, channels), row by row, to a feature map."
    ),
    "per_channel": (
        "per_channel(v): (channels,) or (batch, channels) to what may be combined with a feature map, a number for "
        "each channel."
    ),
    "split_channels": "split_channels(x, sizes): a feature map for each of these numbers of channels, a sequence.",
    "channel_shuffle": (
        "channel_shuffle(x, groups): the first channels of all groups of neighbouring channels, then the second ones, "
        "and so on."
    ),
    "pad": "pad(x, ((top, bottom), (left, right))): a feature map with zeros around it.",
    "resize": (
        "resize(x, (height, width), method): of a feature map, by half-pixel centres, edges repeated, without "
        "antialiasing; method is 'nearest', for whole factors only, or 'bilinear'."
    ),
    "concat": "concat(arrays, axis): not for feature maps.",
    "concat_channels": "concat_channels(maps): feature maps of one height and width, joined by their channels.",
    "broadcast_to": "broadcast_to(x, shape): not for feature maps.",
    "permute_dims": "permute_dims(x, axes): not for feature maps.",
    "matmul": "matmul(a, b).",
    "attention": (
        "attention(q, k, v): softmax(q k^T / sqrt(features)) v for each head, without a mask; "
        "each (batch, length, heads, features), and so is the result."
    ),
    "mean": "mean(x, axis=None): not for feature maps.",
    "sum": "sum(x, axis=None): not for feature maps.",
}

LOSSES: dict[str, str] = {
    "cross_entropy": (
        "cross_entropy(logits, labels): mean over the batch; logits (batch, classes), labels (batch,) int32."
    ),
    "binary_cross_entropy": "binary_cross_entropy(logits, targets): from logits, mean over all elements.",
    "mse": "mse(outputs, targets): mean of squares over all elements.",
}

VOCABULARY: dict[str, str] = LAYERS | FUNCTIONS | LOSSES

DROPPING = ("Dropout", "StochasticDepth")
"""Layers that draw what to drop; the certificate puts those of rate 0 in their place."""
