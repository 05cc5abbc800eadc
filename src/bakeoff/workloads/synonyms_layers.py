"""How the vocabulary says what other libraries have a layer, a loss or a method of modules for."""

from __future__ import annotations

_ABSOLUTE = "nn.mean(nn.abs(outputs - targets))"
_HUBER = "nn.mean(nn.where(nn.less(d, 1.0), 0.5 * d * d, d - 0.5)), where d is nn.abs(outputs - targets)"
_LOGITS = "nn.cross_entropy(logits, labels), which takes logits and integers"
_ONE_HOT = "nn.cross_entropy(logits, targets), of whole labels, or of the share of each class in the logits' shape"
_BINARY = "nn.binary_cross_entropy(logits, targets), which takes logits"
_DIVERGENCE = "the mean or the sum of p * (nn.log(p) - nn.log(q))"
_RESIZE = "nn.resize(x, (height, width), method), by half-pixel centres, as align_corners=False is"
_INSTANCE = "nn.GroupNorm(features, features), with a scale and a bias"
_HEADS = "nn.Linear layers for queries, keys and values, and nn.attention(q, k, v)"
_BLOCK = "a module of nn.attention, nn.LayerNorm and nn.Linear, as the workload text-transformer has it"
_RECURRENT = "nn.scan(step, state, inputs), with nn.tanh of the sum of two nn.Linear in the step"
_LENGTHS = "an argument of the layer: sequence, (h, c) = self.lstm(x, lengths=lengths), with nn.LSTM as self.lstm"
_EACH_SAMPLE = "nn.StochasticDepth(rate)"
_EACH_CHANNEL = "x * nn.per_channel(self.drop(nn.global_avg_pool2d(x) * 0.0 + 1.0)), with nn.Dropout(rate) as self.drop"
_LARGEST_OF_MAP = "nn.flatten(nn.max_pool2d(x, nn.map_size(x)))"
_LARGEST_PLACES = (
    f"nn.max_pool2d(x, (height // rows, width // columns)) where these divide; to one place {_LARGEST_OF_MAP}"
)
_MEANS_OF_SEQUENCE = (
    "nn.mean(nn.reshape(x, (batch, windows, length // windows, features)), 2), of windows side "
    "by side; of all nn.mean(x, 1)"
)
_ZEROS_AROUND = "nn.pad2d(x, ((top, bottom), (left, right)))"
_ZEROS_OF_SEQUENCE = "nn.pad(x, ((0, 0), (before, after), (0, 0)))"
_BUFFER = "self.name = nn.constant(array), in __init__"
_TRAINED = "self.name = nn.Parameter(shape), in __init__"
_TRAINING = "nn.in_training(self)"
_LISTED = "nn.ModuleList([...]), or an attribute for each"
_LIST_OF_TRAINED = "an attribute for each: self.a = nn.Parameter(shape)"
_DEPTHWISE = "nn.Conv2d(channels, channels, kernel, groups=channels)"
_ROW = "nn.tokens of an nn.ConvTranspose2d, with kernel (1, kernel), of the map nn.from_tokens(x, (1, length))"
_FRAMEWORKS_OWN = "the step is bakeoff's, which calls the model, its loss and the optimiser of WORKLOAD"

SAID_BY: dict[str, str] = {
    "Sequential": "nn.ModuleList([...]), and a loop over it in forward",
    "ModuleDict": _LISTED,
    "add_module": _LISTED,
    "ParameterList": _LIST_OF_TRAINED,
    "ParameterDict": _LIST_OF_TRAINED,
    "Variable": _TRAINED,
    "register_parameter": _TRAINED,
    "param": _TRAINED,
    "add_weight": _TRAINED,
    "Buffer": _BUFFER,
    "register_buffer": _BUFFER,
    "training": _TRAINING,
    "is_training": _TRAINING,
    "compact": "two methods: layers are made in __init__, and used in forward",
    "Model": "nn.Module",
    "Layer": "nn.Module",
    "functional": "nn itself: nn.relu(x)",
    "F": "nn itself: nn.relu(x)",
    "Identity": "the array itself",
    "Lambda": "a line of forward",
    "Input": "the argument of forward, whose shape a size declares",
    "Activation": "a function, called in forward: nn.relu(x)",
    "InstanceNorm": _INSTANCE,
    "InstanceNorm1d": _INSTANCE,
    "InstanceNorm2d": _INSTANCE,
    "InstanceNormalization": _INSTANCE,
    "LayerNorm2d": "nn.ChannelNorm(features)",
    "BatchNorm1d": "nn.BatchNorm(features)",
    "BatchNorm2d": "nn.BatchNorm(features)",
    "BatchNormalization": "nn.BatchNorm(features)",
    "SyncBatchNorm": "nn.BatchNorm(features)",
    "FrozenBatchNorm2d": "x * nn.per_channel(self.scale) + nn.per_channel(self.shift), each an nn.constant(array)",
    "LayerNormalization": "nn.LayerNorm(features)",
    "GroupNormalization": "nn.GroupNorm(groups, features)",
    "RMSNormalization": "nn.RMSNorm(features)",
    "Dense": "nn.Linear(in_features, out_features)",
    "Bilinear": "nn.einsum('bi,oij,bj->bo', a, self.weight, b), with an nn.Parameter(shape) as self.weight",
    "Embed": "nn.Embedding(entries, features)",
    "Conv": "nn.Conv2d(in_channels, out_channels, kernel), of sequences nn.Conv1d",
    "Convolution2D": "nn.Conv2d(in_channels, out_channels, kernel)",
    "conv_general_dilated": "nn.Conv2d(in_channels, out_channels, kernel), made in __init__",
    "DepthwiseConv2D": _DEPTHWISE,
    "SeparableConv2D": f"{_DEPTHWISE}, and behind it nn.Conv2d(channels, out_channels, 1)",
    "ConvTranspose": "nn.ConvTranspose2d(in_channels, out_channels, kernel, stride)",
    "ConvTranspose1d": _ROW,
    "Conv1DTranspose": _ROW,
    "conv_transpose1d": _ROW,
    "Conv2DTranspose": "nn.ConvTranspose2d(in_channels, out_channels, kernel, stride)",
    "MaxPooling1D": "nn.max_pool1d(x, kernel)",
    "MaxPooling2D": "nn.max_pool2d(x, kernel)",
    "AveragePooling2D": "nn.avg_pool2d(x, kernel)",
    "AvgPool1d": _MEANS_OF_SEQUENCE,
    "AveragePooling1D": _MEANS_OF_SEQUENCE,
    "AdaptiveAvgPool1d": _MEANS_OF_SEQUENCE,
    "AdaptiveMaxPool1d": "nn.max_pool1d(x, length // windows) where it divides; of all nn.max(x, 1)",
    "AdaptiveMaxPool2d": _LARGEST_PLACES,
    "AdaptiveMaxPooling2D": _LARGEST_PLACES,
    "adaptive_max_pool": _LARGEST_PLACES,
    "GlobalAveragePooling1D": "nn.mean(x, 1)",
    "GlobalAvgPool1D": "nn.mean(x, 1)",
    "GlobalMaxPool1D": "nn.max(x, 1)",
    "GlobalMaxPooling1D": "nn.max(x, 1)",
    "GlobalAveragePooling2D": "nn.global_avg_pool2d(x)",
    "GlobalAvgPool2D": "nn.global_avg_pool2d(x)",
    "global_avg_pool": "nn.global_avg_pool2d(x), of a sequence nn.mean(x, 1)",
    "GlobalMaxPooling2D": _LARGEST_OF_MAP,
    "global_max_pool2d": _LARGEST_OF_MAP,
    "ZeroPad1d": _ZEROS_OF_SEQUENCE,
    "ZeroPad2d": _ZEROS_AROUND,
    "ReflectionPad2d": f'{_ZEROS_AROUND[:-1]}, "reflect")',
    "ReplicationPad2d": f'{_ZEROS_AROUND[:-1]}, "replicate")',
    "ZeroPadding1D": _ZEROS_OF_SEQUENCE,
    "ZeroPadding2D": _ZEROS_AROUND,
    "pad1d": _ZEROS_OF_SEQUENCE,
    "ConstantPad1d": "nn.pad(x, ((0, 0), (before, after), (0, 0)), value)",
    "ConstantPad2d": f"{_ZEROS_AROUND} for zeros, which is the one value there is for maps",
    "constant_pad": "nn.pad(x, widths, value)",
    "constant_pad_nd": "nn.pad(x, widths, value)",
    "Upsample": _RESIZE,
    "interpolate": _RESIZE,
    "UpSampling2D": _RESIZE,
    "UpsamplingNearest2d": "nn.resize(x, (height, width), 'nearest')",
    "UpsamplingBilinear2d": "nn.resize(x, (height, width), 'bilinear'), by half-pixel centres, not by the corners",
    "Dropout1d": "x * nn.reshape(self.drop(nn.mean(x, 1) * 0.0 + 1.0), (batch, 1, features)), drop an nn.Dropout",
    "Dropout2d": _EACH_CHANNEL,
    "SpatialDropout2D": _EACH_CHANNEL,
    "DropPath": _EACH_SAMPLE,
    "GaussianNoise": "x + std * self.noise(x), with nn.RandomNormal() as self.noise",
    "RNN": _RECURRENT,
    "RNNCell": _RECURRENT,
    "SimpleRNN": _RECURRENT,
    "Bidirectional": "nn.LSTM(in_features, hidden, bidirectional=True), and so of nn.GRU",
    "TimeDistributed": "the layer itself: nn.Linear works on each place of (batch, length, features)",
    "pack_padded_sequence": _LENGTHS,
    "pad_packed_sequence": _LENGTHS,
    "Masking": _LENGTHS,
    "MultiheadAttention": _HEADS,
    "SelfAttention": _HEADS,
    "CrossAttention": _HEADS,
    "TransformerEncoderLayer": _BLOCK,
    "TransformerDecoderLayer": _BLOCK,
    "TransformerEncoder": _BLOCK,
    "TransformerDecoder": _BLOCK,
    "Transformer": _BLOCK,
    "GCNConv": "nn.sparse_matmul(x, rows, columns, values, count) behind nn.Linear, as the workload gcn-arxiv has it",
    "Rescaling": "x * scale + offset",
    "Average": "(a + b) / 2",
    "Unflatten": "nn.reshape(x, shape), of a map nn.from_tokens(x, (height, width))",
    "CrossEntropyLoss": "nn.cross_entropy(logits, labels)",
    "NLLLoss": _LOGITS,
    "nll_loss": _LOGITS,
    "sparse_categorical_crossentropy": _LOGITS,
    "SparseCategoricalCrossentropy": _LOGITS,
    "softmax_cross_entropy_with_integer_labels": "nn.cross_entropy(logits, labels, reduction='none')",
    "softmax_cross_entropy": _ONE_HOT,
    "categorical_crossentropy": _ONE_HOT,
    "bce": _BINARY,
    "BCELoss": _BINARY,
    "BCEWithLogitsLoss": "nn.binary_cross_entropy(logits, targets)",
    "binary_crossentropy": _BINARY,
    "binary_cross_entropy_with_logits": "nn.binary_cross_entropy(logits, targets)",
    "sigmoid_binary_cross_entropy": "nn.binary_cross_entropy(logits, targets, reduction='none')",
    "MSELoss": "nn.mse(outputs, targets)",
    "mean_squared_error": "nn.mse(outputs, targets)",
    "l1": _ABSOLUTE,
    "L1Loss": _ABSOLUTE,
    "mae": _ABSOLUTE,
    "mean_absolute_error": _ABSOLUTE,
    "huber": _HUBER,
    "HuberLoss": _HUBER,
    "smooth_l1": _HUBER,
    "SmoothL1Loss": _HUBER,
    "CTCLoss": "nn.ctc(logits, labels, logit_lengths, label_lengths), the batch before the time, the blank first",
    "kl_div": _DIVERGENCE,
    "KLDivLoss": _DIVERGENCE,
    "kl_divergence": _DIVERGENCE,
    "PoissonNLLLoss": "nn.mean(nn.exp(outputs) - targets * outputs)",
    "GaussianNLLLoss": "nn.mean(nn.log(v) + d * d / v) / 2, where d is outputs - targets, and v the variance",
    "SoftMarginLoss": "nn.mean(nn.softplus(-targets * outputs))",
    "dice_loss": "1.0 - 2.0 * nn.sum(p * targets) / (nn.sum(p) + nn.sum(targets)), where p is nn.sigmoid(logits)",
    "hinge": "nn.mean(nn.relu(1.0 - targets * outputs))",
    "MarginRankingLoss": "nn.mean(nn.relu(margin - targets * (a - b)))",
    "TripletMarginLoss": "nn.mean(nn.relu(near - far + margin)), both are nn.sqrt(nn.sum(d * d, -1)) of a difference",
}
"""By a name of other libraries, in any capitals and with or without underscores: what it is here."""

LACKED: dict[str, str] = {
    **dict.fromkeys(("Conv3d", "Conv3D", "ConvTranspose3d", "MaxPool3d", "AvgPool3d", "AdaptiveAvgPool3d"), ""),
    **dict.fromkeys(("AdaptiveMaxPool3d", "Conv3DTranspose", "ConvLSTMCell", "GlobalAvgPool3D", "GlobalMaxPool3D"), ""),
    **dict.fromkeys(("MaxUnpool1d", "MaxUnpool3d"), ""),
    **dict.fromkeys(("BatchNorm3d", "InstanceNorm3d", "Dropout3d", "ConvLSTM2D", "MaxUnpool2d", "LPPool2d"), ""),
    **dict.fromkeys(("FractionalMaxPool2d", "LocalResponseNorm", "WeightNorm", "SpectralNorm", "Fold"), ""),
    **dict.fromkeys(("AlphaDropout", "FeatureAlphaDropout"), "nn.Dropout(rate) drops to zero"),
    "RReLU": "nn.leaky_relu(x, slope) has one slope",
    "unfold": "nn.stack of slices puts windows of an array side by side, and nn.Conv2d goes over a map",
    **dict.fromkeys(
        ("ReflectionPad1d", "ReplicationPad1d", "CircularPad1d"),
        "nn.concat of slices, and of nn.flip of them, makes a sequence longer",
    ),
    "CircularPad2d": "nn.pad2d has the modes zeros, reflect and replicate",
    "init": "the first values of weights are bakeoff's, the same in all frameworks; nn.Parameter(shape, std=...)",
    **dict.fromkeys(
        ("parameters", "named_parameters", "state_dict", "zero_grad", "backward", "train", "eval", "optim", "grad"),
        _FRAMEWORKS_OWN,
    ),
    **dict.fromkeys(("device", "cuda", "cpu", "to"), "device and precision are options of a contender"),
    **dict.fromkeys(("jit", "compile"), "how a step is compiled is an option of a contender"),
    "sow": "in training a model may return a second output: nn.in_training(self)",
}
"""By a name of other libraries what to do, where the vocabulary has nothing for it; empty: nothing comes near."""

OF_MODULES = frozenset(
    (
        *("add_module", "register_buffer", "register_parameter", "param", "add_weight", "training", "is_training"),
        *("parameters", "named_parameters", "state_dict", "zero_grad", "train", "eval", "to", "cuda", "cpu", "sow"),
    )
)
"""What modules of other libraries have, and a model asks its own for."""
