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
EmbeddingBag  as Embedding
LSTM, GRU  input_weight (in, gates * hidden), recurrent_weight (hidden, gates * hidden), bias (gates * hidden,), with
           two biases recurrent_bias of the same shape, too; the backward direction's begin with backward_. Gates of an
           LSTM in the order i, f, g, o, of a GRU r, z, n
LSTMCell, GRUCell  as of one direction of an LSTM, of a GRU
Parameter  itself, of the shape that it is made with

A parameter's name is the path of attributes to its layer and then the name above: `blocks.0.conv.weight`; for a
Parameter it is the path alone: `class_token`. A layer or module that stands under two paths is one set of parameters,
which has the name of the first path, in the order of attributes; its gradients add up. A Parameter stands under one
path: share the module that holds it. State is what training changes beside the parameters: it has no
gradient, no optimiser updates it, it does not count as a parameter, and evaluation reads it. Arrays take indices and
slices as NumPy's do, but none that goes backward: `x[:, 0]`; no None, for which there is reshape, and no arrays, for
which there are take and where.

Values are real numbers in the step's precision, integers (int32, where a framework's own are not wider) or booleans.
Both operands of + - * are of one kind, and those of / and ** real numbers; `to_float` makes real numbers of the others.
A number before an array is Python's own: NumPy's would compute by itself where it does not know the array.

Where a function has a kink or a tie (abs at 0, clip at its bounds, the larger of two equal numbers), its gradient is
any value between those on both sides: each framework has its own. Where a function has no gradient, as sqrt at 0 where
it is infinite, its product with zero is no number either: so `where` passes NaN on from the branch that it does not
take. Choose the argument, not the result: sqrt(where(less(0, x), x, 1.0)).
"""

from __future__ import annotations

from types import SimpleNamespace


class GivenNames(SimpleNamespace):
    """What a model is given as `nn` where that is no framework's module; as one, it can be the key of a cache."""

    def __eq__(self, other: object) -> bool:
        """Return whether it is the same object."""
        return self is other

    def __hash__(self) -> int:  # type: ignore[override]  # SimpleNamespace has none
        """Return the hash of an object."""
        return object.__hash__(self)


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
    "LayerNorm": "LayerNorm(features, epsilon=1e-5, bias=True): over the last axis.",
    "BatchNorm": (
        "BatchNorm(features, momentum=0.1, epsilon=1e-5): each channel of a feature map, or each feature of "
        "(batch, features) or (batch, length, features), over all the rest. Training normalises by the batch's mean "
        "and biased variance and moves the running ones by momentum x (batch's - running); evaluation normalises by "
        "the running ones. Whether the running variance takes the batch's biased or unbiased one is each framework's "
        "own (docs/decisions/007)."
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
    "Embedding": (
        "Embedding(entries, features, std=1.0): rows by integer index, with first values from N(0, std^2); "
        "embedding.attend(x) is x @ weight^T over the last axis, by which a model's last layer shares the weight."
    ),
    "LSTM": (
        "LSTM(in_features, hidden, bidirectional=False, biases=1): called as sequence, (h, c) = lstm(x, state=None, "
        "lengths=None) with x (batch, length, features); i, f, o = sigmoid and g = tanh of x @ input_weight + bias + "
        "h @ recurrent_weight (+ recurrent_bias); c = f * c + i * g; h = o * tanh(c). sequence holds every h. With "
        "lengths (batch,) int32, from 1 on, steps beyond a sample's length leave its state and give zeros. The "
        "backward direction starts at each sample's own end; its outputs and states stand behind the forward ones, on "
        "the last axis. state (h, c), zeros where it is None. One bias is enough; a second one that a framework's own "
        "layer has is then fixed at zero, and no parameter."
    ),
    "GRU": (
        "GRU(in_features, hidden, bidirectional=False, biases=2): called as sequence, h = gru(x, state=None, "
        "lengths=None), as an LSTM; r, z = sigmoid of x @ input_weight + bias + h @ recurrent_weight + recurrent_bias; "
        "n = tanh(x's + r * h's): the reset after the product, as cuDNN has it; "
        "h = (1 - z) * n + z * h."
    ),
    "LSTMCell": (
        "LSTMCell(in_features, hidden, biases=1): called as h, c = cell(x, (h, c)): one step of an LSTM, "
        "x (batch, features)."
    ),
    "GRUCell": (
        "GRUCell(in_features, hidden, biases=2): called as h = cell(x, h): one step of a GRU, x (batch, features)."
    ),
    "EmbeddingBag": (
        'EmbeddingBag(entries, features, mode): "sum" or "mean" of the rows of integers (batch, n), as '
        "(batch, features); gradients are dense."
    ),
    "Dropout": "Dropout(rate): scaled by 1 / (1 - rate) in training, nothing in evaluation.",
    "StochasticDepth": (
        "StochasticDepth(rate): in training each sample is zero at this rate and scaled by 1 / (1 - rate) else; "
        "nothing in evaluation."
    ),
    "Parameter": (
        "Parameter(shape, std=1.0): an array that is trained by itself, with first values from N(0, std^2), such "
        "as a class token or the embedding of positions; "
        "an attribute of a Module, used in forward like any array."
    ),
    "constant": (
        "constant(array): a NumPy array on the device, real numbers in the step's precision; no parameter. Made once, "
        "in __init__, as an attribute of a Module: self.mask = nn.constant(array)."
    ),
    "RandomNormal": (
        "RandomNormal(): called with an array, gives independent draws of its shape from the standard normal "
        "distribution in training, anew in every step, and zeros in evaluation. Of a feature map: "
        "nn.from_tokens(noise(nn.tokens(x)), nn.map_size(x)). The certificate puts fixed numbers "
        "there, the same in all frameworks."
    ),
}

FUNCTIONS: dict[str, str] = {
    "relu": "relu(x): max(x, 0).",
    "gelu": "gelu(x): the exact form, with the error function.",
    "tanh": "tanh(x).",
    "sigmoid": "sigmoid(x).",
    "silu": "silu(x): x * sigmoid(x).",
    "gelu_tanh": "gelu_tanh(x): x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2.",
    "elu": "elu(x): x above 0, else exp(x) - 1.",
    "leaky_relu": "leaky_relu(x, slope): x above 0, else slope * x; libraries' slopes differ, so there is no default.",
    "softplus": "softplus(x): log(1 + exp(x)).",
    "hard_sigmoid": "hard_sigmoid(x): clip(x + 3, 0, 6) / 6.",
    "hard_swish": "hard_swish(x): x * hard_sigmoid(x).",
    "exp": "exp(x).",
    "log": "log(x): natural.",
    "sqrt": "sqrt(x).",
    "rsqrt": "rsqrt(x): 1 / sqrt(x).",
    "abs": "abs(x).",
    "sin": "sin(x): x in radians.",
    "cos": "cos(x): x in radians.",
    "stop_gradient": "stop_gradient(x): x, through which no gradient flows back.",
    "clip": "clip(x, low, high): low and high are numbers.",
    "maximum": "maximum(a, b): element by element, of real numbers; one of them may be a number.",
    "minimum": "minimum(a, b): element by element, of real numbers; one of them may be a number.",
    "less": "less(a, b): a < b as booleans; one of them may be a number.",
    "less_equal": "less_equal(a, b): a <= b as booleans; one of them may be a number.",
    "equal": "equal(a, b): a == b as booleans; one of them may be a number.",
    "logical_and": "logical_and(a, b): of booleans.",
    "logical_or": "logical_or(a, b): of booleans.",
    "logical_not": "logical_not(x): of booleans.",
    "where": "where(condition, a, b): a where the booleans are true, else b; one of a and b may be a number.",
    "to_float": (
        "to_float(x): integers or booleans as real numbers in the step's precision, which is why it names no type as "
        "the array API's astype does; a gradient ends there."
    ),
    "arange": "arange(stop): the integers from 0 to below stop.",
    "one_hot": "one_hot(x, n): a last axis of n real numbers, 1 at the place of the integer, which is 0 to n - 1.",
    "softmax": "softmax(x): over the last axis.",
    "log_softmax": "log_softmax(x): over the last axis.",
    "in_training": (
        "in_training(module): whether forward computes for a training step, a Python bool; for what a model has only "
        "there, such as an auxiliary head, which its forward then returns as a second output."
    ),
    "max_pool2d": (
        "max_pool2d(x, kernel, stride=None, padding=0, ceil_mode=False): padding never wins; stride None is the "
        "kernel; each is a number or (vertical, horizontal). A last window that does not fit into the padded map is "
        "left out, or with ceil_mode cut at its end, where it begins on the map or in the padding before it."
    ),
    "max_pool1d": (
        "max_pool1d(x, kernel, stride=None, padding=0, ceil_mode=False): the same along the length of a sequence."
    ),
    "avg_pool2d": (
        "avg_pool2d(x, kernel, stride=None, padding=0, count_padding=False, ceil_mode=False): padded zeros count in "
        "the mean only where count_padding says so; numbers or pairs, and ceil_mode, as for max_pool2d: what of a "
        "window lies behind the padding counts nowhere."
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
    "split_channels": "split_channels(x, sizes): a feature map for each of these numbers of channels, in a list.",
    "channel_shuffle": (
        "channel_shuffle(x, groups): the first channels of all groups of neighbouring channels, then the second ones, "
        "and so on."
    ),
    "pad2d": (
        'pad2d(x, ((top, bottom), (left, right)), mode="zeros"): a feature map with more around it: zeros; with '
        '"reflect" what lies inside, as in a mirror, the edge itself not twice; with "replicate" the edge.'
    ),
    "resize": (
        "resize(x, (height, width), method): of a feature map, by half-pixel centres, edges repeated, without "
        "antialiasing; method is 'nearest', for whole factors only, or 'bilinear'."
    ),
    "map_size": "map_size(x): the (height, width) of a feature map, two whole numbers of Python.",
    "columns": (
        "columns(x): feature map to (batch, width, height * channels), column by column, with a row's channels "
        "together; of a spectrogram with frequencies as its height, a sequence over time."
    ),
    "column_mask": (
        "column_mask(x, lengths): for a feature map and integers (batch,), a map of one row and one channel with 1 in "
        "the columns before each sample's length and 0 from there on; times the map, it leaves what is no padding."
    ),
    "floor_divide": (
        "floor_divide(x, number): integers, none below 0, divided by a whole number from 1 on and rounded down, as "
        "lengths are by a stride."
    ),
    "concat": "concat(arrays, axis): not for feature maps.",
    "concat_channels": "concat_channels(maps): feature maps of one height and width, joined by their channels.",
    "stack": "stack(arrays, axis): arrays of one shape along a new axis; not for feature maps.",
    "split": "split(x, sizes, axis): a list of parts of these lengths, not cut points; not for feature maps.",
    "take": (
        "take(table, indices, axis=0): what stands at each integer along an axis, which the axes of the indices "
        "replace. Indices are 0 to length - 1: beyond it some frameworks raise, some give zeros or NaN, others read "
        "elsewhere."
    ),
    "take_along_axis": (
        "take_along_axis(x, indices, axis): one element for each integer, in the same place along all other axes, "
        "whose lengths are those of x. Indices as in take."
    ),
    "segment_sum": (
        "segment_sum(x, segments, count): row i of the result is the sum of the rows of x whose integer in segments "
        "(rows,) is i, zeros where there is none; integers are 0 to count - 1, in any order."
    ),
    "segment_max": (
        "segment_max(x, segments, count): as segment_sum, but the largest of a segment's rows, element by element; "
        "0.0 where there is none."
    ),
    "sparse_matmul": (
        "sparse_matmul(x, rows, columns, values, count): the product of a sparse matrix (count, n), with values at "
        "(rows, columns), and x (n, features): row i is the sum of value * x[column] over the elements of row i, zeros "
        "where it has none. rows, columns and values (elements,), rows in ascending order; elements at one place add "
        "up. No gradient goes into the values: where they are trained, segment_sum(values * take(x, columns), ...)."
    ),
    "flip": "flip(x, axis): the other way round along one axis; not for feature maps.",
    "roll": "roll(x, shift, axis): element i moves to i + shift, from the end to the start; not for feature maps.",
    "pad": "pad(x, widths, value=0.0): (before, after) elements of a value for each axis; not for feature maps.",
    "broadcast_to": "broadcast_to(x, shape): not for feature maps.",
    "permute_dims": "permute_dims(x, axes): not for feature maps.",
    "matmul": "matmul(a, b).",
    "einsum": (
        "einsum(formula, *arrays): a sum of products by the letters of the axes, as 'bhqd,bhkd->bhqk': each element of "
        "the result is the sum, over the letters that it lacks, of the arrays' products. Two to six arrays, a letter "
        "for each axis, none twice in one array, equal lengths under one letter; the result's axes behind the arrow. "
        "In which order more than two are multiplied is each framework's own. Not for feature maps."
    ),
    "attention": (
        "attention(q, k, v, causal=False, mask=None, bias=None, scale=None, dropout=None): softmax(scale q k^T + bias) "
        "v for each head; each (batch, length, heads, features), and so is the result; scale None is 1 / "
        "sqrt(features). mask is boolean, True attends; mask and bias go with (batch, heads, length of q, length of "
        "k), an axis of 1 for all. causal: each position attends to itself and to those before, of equal lengths. "
        "Fewer heads of k and v than of q, where they divide: each serves the next few of q. A row that attends to "
        "nothing has no one meaning: it is 0 or the mean of v, by framework (docs/options.md), and a model must not "
        "have one. dropout is a layer nn.Dropout(rate) of the model, as in dropout=self.drop: each weight of the "
        "softmax is dropped by itself, as that layer drops; a kernel that cannot is then not taken (docs/options.md)."
    ),
    "scan": (
        "scan(step, state, inputs): step(state, x) -> (state, output) for each place of axis 1 of the inputs, in "
        "order; gives the last state, and the outputs stacked on axis 1. State, inputs and output are each an array or "
        "a tuple of arrays; x is the inputs' slice (batch, ...). A loop that is compiled once, where a framework has "
        "one; Dropout draws anew in every step; BatchNorm has no meaning inside, where it would see one step of many."
    ),
    "mean": "mean(x, axis=None): not for feature maps.",
    "sum": "sum(x, axis=None): not for feature maps.",
    "max": "max(x, axis=None): the largest; not for feature maps.",
    "argmax": (
        "argmax(x, axis): the integer of the largest along an axis, of equal ones the first, without a gradient; not "
        "for feature maps."
    ),
    "top_k": (
        "top_k(x, k): the k largest of the last axis, the largest first, and their integers: (values, indices). A "
        "gradient goes to the values; equal ones may come in any order. Not for feature maps."
    ),
    "cumsum": "cumsum(x, axis): sums of all elements up to each one, with it; not for feature maps.",
}

LOSSES: dict[str, str] = {
    "cross_entropy": (
        "cross_entropy(logits, labels, label_smoothing=0.0, ignore=None, reduction='mean', weight=None): of the "
        "softmax over the last axis; labels int32 of the shape of all axes before it: logits (batch, classes) or "
        "(batch, length, classes), or a feature map with labels (batch, height, width). For each label (1 - "
        "label_smoothing) * -log p[label] + label_smoothing * the mean over all classes of -log p. Labels of the "
        "number `ignore` count nowhere: their loss is 0, and the mean is over the others. reduction is 'mean' or 'sum' "
        "over all labels, or 'none': one loss for each. weight is a number for each class, as a tuple or an array that "
        "is not trained: each -log p above is times its class's, and the mean is over the sum of the weights of the "
        "labels that count. Labels of real numbers and of the logits' shape, t, are the share of each class: the sum "
        "over the classes of -weight * ((1 - label_smoothing) * t + label_smoothing / classes) * log p, whose mean is "
        "over all places, whatever the weights are; no label is there to ignore."
    ),
    "binary_cross_entropy": (
        "binary_cross_entropy(logits, targets, weights=None, reduction='mean'): from logits, for each element "
        "-t log sigmoid(x) - (1 - t) log(1 - sigmoid(x)). weights are broadcast to the elements, numbers or a mask: "
        "the mean is sum(weights * losses) / sum(weights), the sum and 'none' are those of weights * losses."
    ),
    "mse": (
        "mse(outputs, targets, weights=None, reduction='mean'): for each element (output - target)^2; weights and "
        "reduction as in binary_cross_entropy."
    ),
    "ctc": (
        "ctc(logits, labels, logit_lengths, label_lengths): connectionist temporal classification (Graves et al. "
        "2006), the sum over the samples of -log p(labels), over the batch size; logits (batch, time, classes) before "
        "the softmax, class 0 the blank; labels (batch, most) int32, of which a sample's first label_lengths count and "
        "are no blanks; lengths (batch,) int32, of at least one label and one frame. A sample whose labels do not fit, "
        "with a frame each and one between two equal ones, adds nothing and has no gradient."
    ),
}

VOCABULARY: dict[str, str] = LAYERS | FUNCTIONS | LOSSES

DROPPING = ("Dropout", "StochasticDepth")
"""Layers that draw what to drop; the certificate puts those of rate 0 in their place."""
