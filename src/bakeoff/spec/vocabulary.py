"""The vocabulary `nn` in which a model is written once: its names and what each means.

Every framework's `nn.py` provides exactly these names, in its own native classes and functions. A model never names an
axis for channels: feature maps have the layout that the framework prefers, and weights (canonical, see below) and
batches (channels last) are converted at the border, outside the timed region. Canonical layouts of parameters:

Linear     weight (in, out), bias (out,)
Conv2d     weight (kernel height, kernel width, in, out), bias (out,)
LayerNorm  scale (features,), bias (features,)
BatchNorm  scale (features,), bias (features,); state: running_mean (features,), running_variance (features,)
Embedding  weight (entries, features)
LSTM, GRU  input_weight (in, gates * hidden), recurrent_weight (hidden, gates * hidden), bias (gates * hidden,), with
           two biases recurrent_bias of the same shape, too; the backward direction's begin with backward_. Gates of an
           LSTM in the order i, f, g, o, of a GRU r, z, n
LSTMCell   as an LSTM's of one direction
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
    "Conv2d": (
        "Conv2d(in_channels, out_channels, kernel, stride=1, padding=0, bias=True): cross-correlation; kernel and "
        "padding are a number or (vertical, horizontal); the same zero padding on opposite sides."
    ),
    "LayerNorm": "LayerNorm(features, epsilon=1e-5): over the last axis.",
    "BatchNorm": (
        "BatchNorm(features, momentum=0.1, epsilon=1e-5): each channel of a feature map, or each feature of "
        "(batch, features), over all the rest. Training normalises by the batch's mean and biased variance and moves "
        "the running ones by momentum x (batch's - running); evaluation normalises by the running ones. Whether the "
        "running variance takes the batch's biased or unbiased one is each framework's own (docs/decisions/007)."
    ),
    "Embedding": "Embedding(entries, features): rows by integer index.",
    "LSTM": (
        "LSTM(in_features, hidden, bidirectional=False, biases=1): called as sequence, (h, c) = lstm(x, state=None, "
        "lengths=None) with x (batch, length, features); i, f, o = sigmoid and g = tanh of x @ input_weight + bias + "
        "h @ recurrent_weight (+ recurrent_bias); c = f * c + i * g; h = o * tanh(c). sequence holds every h. With "
        "lengths (batch,) int32, from 1 on, steps beyond a sample's length leave its state and give zeros. The "
        "backward direction starts at each sample's own end; its outputs and states stand behind the forward ones, on "
        "the last axis. state (h, c), zeros where it is None. One bias is enough; a second one that a framework's own layer "
        "has is then fixed at zero, and no parameter."
    ),
    "GRU": (
        "GRU(in_features, hidden, bidirectional=False, biases=2): called as sequence, h = gru(x, state=None, "
        "lengths=None), as an LSTM; r, z = sigmoid of x @ input_weight + bias + h @ recurrent_weight + recurrent_bias; "
        "n = tanh(x's + r * h's): the reset after the product, as cuDNN has it; "
        "h = (1 - z) * n + z * h."
    ),
    "LSTMCell": (
        "LSTMCell(in_features, hidden, biases=1): h, c = cell(x, (h, c)): one step of an LSTM, x (batch, features)."
    ),
    "Dropout": "Dropout(rate): scaled by 1 / (1 - rate) in training, nothing in evaluation.",
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
    "max_pool2d": "max_pool2d(x, kernel, stride=None, padding=0): padding never wins; stride None is the kernel.",
    "avg_pool2d": "avg_pool2d(x, kernel, stride=None, padding=0): padded zeros are not counted in the mean.",
    "global_avg_pool2d": "global_avg_pool2d(x): feature map to (batch, channels).",
    "flatten": "flatten(x): everything but the batch axis into one, in the framework's layout (see Linear).",
    "reshape": "reshape(x, shape): shape includes the batch axis; not for feature maps.",
    "tokens": "tokens(x): feature map to (batch, height * width, channels), row by row.",
    "concat": "concat(arrays, axis): not for feature maps.",
    "concat_channels": "concat_channels(maps): feature maps of one height and width, joined by their channels.",
    "broadcast_to": "broadcast_to(x, shape): not for feature maps.",
    "permute_dims": "permute_dims(x, axes): not for feature maps.",
    "matmul": "matmul(a, b).",
    "attention": (
        "attention(q, k, v): softmax(q k^T / sqrt(features)) v for each head, without a mask; "
        "each (batch, length, heads, features), and so is the result."
    ),
    "scan": (
        "scan(step, state, inputs): step(state, x) -> (state, output) for each place of axis 1 of the inputs, in "
        "order; gives the last state, and the outputs stacked on axis 1. State, inputs and output are each an array or "
        "a tuple of arrays; x is the inputs' slice (batch, ...). A loop that is compiled once, where a framework has "
        "one; "
        "Dropout draws anew in every step; BatchNorm has no meaning inside, where it would see one step of many."
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
